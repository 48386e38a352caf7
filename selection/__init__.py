"""The Django app."""
