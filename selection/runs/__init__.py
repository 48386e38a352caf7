"""Runs: drafts, life, roster, changes, and their validation."""
