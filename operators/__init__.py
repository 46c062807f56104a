"""Operators: one step of the artist's work each. They read through the bridge, solve, write and report."""
