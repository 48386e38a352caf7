"""Ask and tell, and requests sent in parts."""

import json
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from crowdselect_client import ApiError, Client, run


def client_of(answers: Any) -> Client:
    """Return a client of a server that maps path and body to a status and JSON."""

    def answer(request: httpx.Request) -> httpx.Response:
        status, reply = answers(request.url.path, json.loads(request.content or "{}"))
        return httpx.Response(status, json=reply)

    return Client("http://crowd.test", "cs_secret", transport=httpx.MockTransport(answer))


def claims(state: str, *numbers: int) -> list[dict[str, Any]]:
    slips = [{"id": number, "worker": "ada"} for number in numbers]
    return [{"worker": "ada", "state": state, "assignments": slips}]


@pytest.fixture
def naps(monkeypatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr(run, "time", SimpleNamespace(sleep=slept.append, monotonic=lambda: 0.0))
    return slept


def test_ask_yields_assignments_until_no_worker_may_get_more(naps):
    left = [
        claims("question", 1, 2),
        claims("wait"),
        claims("paused"),
        claims("question", 3),
        claims("done"),
    ]
    asked = client_of(lambda path, body: (200, left.pop(0))).run(7).ask(["ada"], every=4)
    assert [slip["id"] for slip in asked] == [1, 2, 3]
    assert naps == [4, 4]


def test_rounds_continue_while_one_worker_may_get_more(naps):
    left = [claims("done") + claims("wait"), claims("over") + claims("gone")]
    assert list(client_of(lambda path, body: (200, left.pop(0))).run(7).rounds(["a", "b"])) == []
    assert left == []


def test_worker_outside_the_run_raises_a_lookup_error(naps):
    with pytest.raises(LookupError, match="ada"):
        next(client_of(lambda path, body: (200, claims("unknown"))).run(7).ask(["ada"]))


def test_more_workers_than_one_request_takes_are_claimed_in_several():
    sent = []

    def answer(path: str, body: Any) -> Any:
        sent.append(len(body["workers"]))
        return 200, [{"worker": one, "state": "wait", "assignments": []} for one in body["workers"]]

    names = [f"w{number}" for number in range(250)]
    found = client_of(answer).run(7).claim(names)
    assert [claim["worker"] for claim in found] == names
    assert sent == [100, 100, 50]


@pytest.mark.parametrize(("status", "counts"), [(201, True), (200, True), (409, False)])
def test_tell_returns_true_only_for_a_counted_answer(status, counts):
    sent = []

    def answer(path: str, body: Any) -> Any:
        sent.append((path, body))
        return status, {"error": "Too late."}

    assert client_of(answer).run(7).tell(17, "good") is counts
    assert sent == [("/api/assignments/17/answer", {"response": "good"})]


def test_tell_raises_an_error_for_an_unknown_choice():
    with pytest.raises(ApiError, match="one of") as found:
        client_of(lambda *_: (422, {"error": "Choose one of: a, b."})).run(7).tell(17, "c")
    assert found.value.status == 422


def test_many_answers_are_sent_in_parts_and_each_has_its_result():
    def answer(path: str, body: Any) -> Any:
        assert path == "/api/answers"
        assert len(body["answers"]) <= 1000
        rows = [{"assignment": row["assignment"], "status": 201} for row in body["answers"]]
        return 200, {"new_answers": len(rows), "results": rows}

    results = client_of(answer).run(7).tell_many((number, "good") for number in range(2500))
    assert [row["assignment"] for row in results] == list(range(2500))


def test_rows_of_a_second_part_are_counted_on():
    def answer(path: str, body: Any) -> Any:
        bad = {"row": len(body["workers"]), "result": "refused", "reason": "No."}
        return 200, {"added": 1, "changed": 2, "unchanged": 3, "refused": 4, "rows": [bad]}

    done = client_of(answer).put_workers(1, [{"worker": str(n)} for n in range(10_003)])
    assert [row["row"] for row in done["rows"]] == [10_000, 10_003]
    assert [done[name] for name in ("added", "changed", "unchanged", "refused")] == [2, 4, 6, 8]


def test_waiting_has_an_end_if_one_is_given(naps, monkeypatch):
    hours = iter(range(10))
    monkeypatch.setattr(run.time, "monotonic", lambda: next(hours) * 3600)
    with pytest.raises(TimeoutError, match="“Spring” has not ended"):
        client_of(lambda *_: (200, {"status": "running", "name": "Spring"})).run(7).wait(
            at_most=5000
        )
    assert naps == [2]
