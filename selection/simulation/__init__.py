"""Simulated crowds: synthetic ones, replayed recorded ones, and the demo."""
