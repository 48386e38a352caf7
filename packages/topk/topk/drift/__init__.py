"""Alarms for falling accuracy of workers after the selection; see docs/drift.md."""

from .detector import DriftDetector, LastingDetector, observe_each, select_alarms

__all__ = ["DriftDetector", "LastingDetector", "observe_each", "select_alarms"]
