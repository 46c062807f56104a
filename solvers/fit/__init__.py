"""Fit: a body solves its own motion against the contact script."""
