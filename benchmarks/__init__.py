"""Benchmarks: ``make bench`` prints every table."""
