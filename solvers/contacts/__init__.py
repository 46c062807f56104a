"""Contacts: who touches what, when and where, read off a capture and kept apart from any body's proportions."""
