"""Formats of dates and times: the same everywhere, times always with their zone."""
