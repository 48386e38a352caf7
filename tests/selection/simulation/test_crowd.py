"""Simulated crowds, alone and against a live server."""

import threading
from io import StringIO

import httpx
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from selection import engine
from selection.management.commands import crowd as command
from selection.models import Answer, ApiToken, Run
from selection.simulation import crowd
from selection.simulation.crowd import SyntheticCrowd
from tests.worlds import make_run

GOLD = {f"q{i}": "yes" for i in range(400)}


def share_right(respond, worker):
    return sum(respond(worker, question, ["yes", "no"]) == "yes" for question in GOLD) / len(GOLD)


# -- alone


def test_synthetic_workers_have_their_accuracy():
    crowd = SyntheticCrowd({"w1": 0.95, "w2": 0.25}, GOLD, seed=3)
    assert share_right(crowd.respond, "w1") == pytest.approx(0.95, abs=0.05)
    assert share_right(crowd.respond, "w2") == pytest.approx(0.25, abs=0.08)


def test_synthetic_workers_repeat_their_answers():
    first, second = (SyntheticCrowd({"w1": 0.5}, GOLD, seed=3) for _ in range(2))
    questions = list(GOLD)
    backwards = [second.respond("w1", question, ["yes", "no"]) for question in questions[::-1]]
    assert [first.respond("w1", question, ["yes", "no"]) for question in questions] == backwards[
        ::-1
    ]


def test_synthetic_wrong_answers_are_choices_or_labels():
    never = SyntheticCrowd({"w1": 0.0}, {"a": "1", "b": "2"})
    assert {never.respond("w1", "a", ["1", "7", "8"]) for _ in range(5)} <= {"7", "8"}
    assert never.respond("w1", "a", []) == "2"
    assert never.respond("w1", "unknown", []) is None


def test_a_quarter_of_the_synthetic_workers_is_good():
    accuracy = crowd.draw_accuracies(24, seed=0)
    assert list(accuracy) == [f"w{i}" for i in range(1, 25)]
    assert sum(value > 0.9 for value in accuracy.values()) == 6
    assert sum(0.4 < value < 0.6 for value in accuracy.values()) == 10
    assert crowd.draw_accuracies(24, seed=0) == accuracy != crowd.draw_accuracies(24, seed=1)


# -- against a live server


@pytest.fixture
def advancing():
    """Advance runs in the background, like a Celery worker."""
    over = threading.Event()

    def advance() -> None:
        while not over.wait(0.02):
            for run in Run.objects.running():
                engine.advance(run.pk)
        connection.close()

    thread = threading.Thread(target=advance)
    thread.start()
    yield
    over.set()
    thread.join()


def play(url, token, run, *options):
    output = StringIO()
    call_command(
        "crowd",
        *("--url", url, "--token", token, "--run", str(run), *options),
        stdout=output,
    )
    return output.getvalue()


@pytest.fixture(autouse=True)
def in_haste(monkeypatch):
    monkeypatch.setattr(command, "LOOK_SECONDS", 0.05)


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.csv"
    path.write_text("\n".join(["question,answer", *(f"{key},yes" for key in GOLD)]))
    return path


@pytest.mark.django_db(transaction=True)
def test_command_plays_a_run_to_its_end(live_server, advancing, gold):
    run = make_run(n=4, k=1, epsilon=0.8, delta=0.3, algorithm="lucb", questions=400)
    rename(run)
    output = play(live_server.url, token(), run.pk, "--synthetic", "4", "--gold", str(gold))
    run.refresh_from_db()
    assert run.status == Run.Status.ENDED
    assert Answer.objects.filter(run=run, applied_in__isnull=False).count() > 0
    assert f"{run.name} (running)" in output
    assert "The run has ended." in output


@pytest.mark.django_db(transaction=True)
def test_a_wrong_token_run_or_address_is_refused_in_one_sentence(live_server, gold, monkeypatch):
    monkeypatch.setattr(command, "TRIES", 1)
    crowd_options = ["--synthetic", "4", "--gold", str(gold)]
    valid = token()
    wrong = {
        (live_server.url, "wrong", 1): "API token",
        (live_server.url, valid, 99): "The object is not in your team",
        (f"{live_server.url}/nowhere", valid, 1): "is not what a CrowdSelect API answers",
        ("nonsense", valid, 1): "is no address",
        ("http://127.0.0.1:1", valid, 1): "did not answer",
    }
    for (url, secret, run), message in wrong.items():
        with pytest.raises(CommandError, match=message) as caught:
            play(url, secret, run, *crowd_options)
        assert caught.value.returncode == 2
        assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_command_waits_for_the_server(advancing, live_server, gold, monkeypatch):
    run = make_run(n=4, k=1, epsilon=0.8, delta=0.3, algorithm="lucb", questions=400)
    rename(run)
    away = iter([True, True])
    request = httpx.Client.request

    def sometimes(self, method, url, **content):
        if next(away, False):
            raise httpx.ConnectError("connection refused")
        return request(self, method, url, **content)

    monkeypatch.setattr(httpx.Client, "request", sometimes)
    output = play(live_server.url, token(), run.pk, "--synthetic", "4", "--gold", str(gold))
    assert "The run has ended." in output


def test_command_requires_a_token(gold):
    with pytest.raises(CommandError, match="API token"):
        play("http://127.0.0.1:1", "", 1, "--synthetic", "4", "--gold", str(gold))


def token():
    return ApiToken.issue("crowd")


def rename(run):
    """Name the workers w1, w2, ... like those of synthetic crowds."""
    workers = list(run.pool.workers.order_by("-id"))
    for worker in workers:
        worker.key = f"w{int(worker.key[1:]) + 1}"
        worker.save()
