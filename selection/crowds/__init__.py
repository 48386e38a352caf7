"""Crowds that play themselves, for replays, samples and tests: over HTTP or in one process."""
