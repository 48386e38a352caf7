"""What starts the sweeps goes on when the clock is set anew."""

from datetime import timedelta
from pathlib import Path

import pytest

from crowdselect.beat import Scheduler
from crowdselect.celery import app


@pytest.fixture
def beat(tmp_path: Path, monkeypatch) -> Scheduler:
    monkeypatch.setattr(Scheduler, "producer", None)
    made = Scheduler(app, schedule_filename=str(tmp_path / "schedule"))
    made.tick()
    return made


@pytest.mark.parametrize("hours", [1, 24])
def test_it_waits_no_longer_for_the_next_sweep_when_the_clock_is_put_back(beat, settings, hours):
    for entry in beat.schedule.values():
        entry.last_run_at += timedelta(hours=hours)
    beat._heap = None
    assert beat.tick() <= settings.SWEEP_SECONDS


def test_it_sends_what_is_due_after_that(beat, monkeypatch, settings):
    sent = []
    monkeypatch.setattr(beat, "apply_entry", lambda entry, producer: sent.append(entry.name))
    beat.schedule["sweep"].last_run_at += timedelta(hours=1)
    beat.tick()
    now = app.now() + timedelta(seconds=settings.SWEEP_SECONDS + 1)
    monkeypatch.setattr(app, "now", lambda: now)
    beat.tick()
    assert sent == ["sweep"]
