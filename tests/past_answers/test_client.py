"""Replays of past answers by the client, which waits for them."""

import pytest

from crowdselect.past_answers import plays, replay_requests
from crowdselect.past_answers.models import Replay
from crowdselect_client import ApiError, Client
from selection.models import ApiToken, Run
from selection.outbox import celery_messages, jobs
from tests.pasts import write_past

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


@pytest.fixture
def client(live_server, monkeypatch) -> Client:
    monkeypatch.setattr(plays, "SEEDS", 1)
    monkeypatch.setattr(replay_requests, "A_TURN", 1000.0)
    monkeypatch.setattr(celery_messages.current_app, "send_task", lambda *args, **options: None)
    with Client(live_server.url, ApiToken.issue("program")) as made:
        yield made


@pytest.fixture
def past(tmp_path) -> list[tuple[str, bytes]]:
    return [(path.name, path.read_bytes()) for path in write_past(tmp_path, [0.9, 0.5, 0.4], 30)]


@pytest.fixture
def work(client, monkeypatch) -> None:
    """Play on whenever the client asks for the state."""
    usual = client.show_replay

    def look(number: str):
        jobs.work_on_job(number)
        return usual(number)

    monkeypatch.setattr(client, "show_replay", look)


def test_a_replay_is_waited_for_and_kept(client, past, work):
    replay = client.replay(*past, every=0, k=1, epsilon=0.3)
    assert replay["result"]["headline"].endswith("answers would have been enough")
    pool = client.create_replay_pool(replay["id"])
    assert sorted(row["worker"] for row in client.workers(pool)) == ["w1", "w2", "w3"]
    run = client.create_replay_draft(replay["id"])
    assert Run.objects.get(pk=run.id).algorithm == "credible"
    client.delete_replay(replay["id"])
    assert not Replay.objects.exists()


def test_replay_raises_a_timeout_after_at_most_seconds(client, past):
    with pytest.raises(TimeoutError, match="is not done in 0 s"):
        client.replay(*past, every=0, at_most=0, k=1)


def test_a_failed_replay_is_an_error(client, past, work, monkeypatch):
    monkeypatch.setattr(replay_requests, "SMALL", 0)
    with pytest.raises(ApiError, match="has no column with the correct answers"):
        client.replay(past[0], every=0, k=1)
