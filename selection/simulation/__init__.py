"""Crowds that are not there: simulated ones, recorded ones played again, and the demo."""
