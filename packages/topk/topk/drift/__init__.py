"""Alarms for workers whose accuracy falls after the selection; see docs/drift.md."""

from .detector import DriftDetector, LastingDetector, select_alarms

__all__ = ["DriftDetector", "LastingDetector", "select_alarms"]
