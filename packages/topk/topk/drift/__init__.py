"""Alarms for falling accuracy of workers after the selection; see docs/drift.md."""

from .detector import DriftDetector, LastingDetector, observe_each, select_alarms
from .mark_test import MarkTest

__all__ = ["DriftDetector", "LastingDetector", "MarkTest", "observe_each", "select_alarms"]
