"""Clearance: limbs kept out of the body's own skin."""
