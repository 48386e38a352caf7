"""Replays of few plays, done in one turn that the test takes."""

import pytest

from crowdselect.past_answers import plays, replay_requests
from selection.outbox import celery_messages


@pytest.fixture
def few_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plays, "SEEDS", 2)
    monkeypatch.setattr(replay_requests, "A_TURN", 1000.0)
    monkeypatch.setattr(celery_messages.current_app, "send_task", lambda *args, **options: None)
