"""Rate limits in tests: one minute that never ends, and no count of an earlier test."""

import time
from types import SimpleNamespace

import pytest

from selection.accounts import rate_limits


def begin_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Freeze the window, and clear the counts and the pause that an earlier test left."""
    move_clock(monkeypatch, 1_000_000.0)
    monkeypatch.setattr(rate_limits, "_here", rate_limits._WindowCounts())


def move_clock(monkeypatch: pytest.MonkeyPatch, moment: float) -> None:
    """Freeze the limits' clock at this moment."""
    clock = SimpleNamespace(time=lambda: moment, monotonic=time.monotonic)
    monkeypatch.setattr(rate_limits, "time", clock)
