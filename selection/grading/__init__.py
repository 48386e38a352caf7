"""Grading of responses, and normalisation of ids and numbers."""
