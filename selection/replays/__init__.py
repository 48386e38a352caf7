"""Replays of recorded answers: the answers that each algorithm would have needed."""
