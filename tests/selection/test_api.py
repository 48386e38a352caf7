"""The JSON API."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from selection import engine
from selection.models import Answer, Assignment
from tests.worlds import crowd, make_run, open_of, play

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(token):
    return Client(headers={"authorization": f"Bearer {token}"})


@pytest.fixture
def run():
    run = make_run(algorithm="adaptive-top-k")
    engine.advance(run.pk)
    return run


def post(api, path, body):
    return api.post(f"/api/{path}", body, content_type="application/json")


def test_without_a_valid_token_it_says_how_to_send_one(client, run):
    for headers in ({}, {"authorization": "Bearer wrong"}):
        reply = client.get(f"/api/runs/{run.pk}", headers=headers)
        assert reply.status_code == 401
        assert "Authorization: Bearer" in reply.json()["error"]


def test_it_shows_a_run_with_its_progress(api, run):
    shown = api.get(f"/api/runs/{run.pk}").json()
    assert (shown["status"], shown["progress"]["out"], shown["k"]) == ("running", 12, 2)


def test_it_lists_open_assignments_without_their_answers(api, run):
    listed = api.get(f"/api/runs/{run.pk}/assignments?limit=5").json()
    assert len(listed) == 5
    assert set(listed[0]) == {"id", "worker", "skill", "question", "prompt", "choices", "due"}
    mine = api.get(f"/api/runs/{run.pk}/assignments", {"worker": listed[0]["worker"]}).json()
    assert {row["worker"] for row in mine} == {listed[0]["worker"]}


def test_an_answer_is_created_once_and_the_sender_never_learns_whether_it_was_right(api, run):
    path = f"assignments/{open_of(run)[0].pk}/answer"
    first = post(api, path, {"response": "yes"})
    again = post(api, path, {"response": "no"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == {"assignment": open_of(run)[0].pk - 1, "duplicate": False}
    assert again.json()["duplicate"]
    assert Answer.objects.get().response == "yes"


def test_a_late_answer_is_a_conflict_in_one_line(api, run):
    late = open_of(run)[0]
    Assignment.objects.filter(pk=late.pk).update(due=timezone.now() - timedelta(minutes=1))
    reply = post(api, f"assignments/{late.pk}/answer", {"response": "yes"})
    assert reply.status_code == 409
    assert reply.json() == {"error": "Too late: the time to answer this question was up."}


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("assignments/999999/answer", {"response": "yes"}, 404, "no such assignment"),
        ("assignments/1/answer", {"reply": "yes"}, 422, "response"),
        ("assignments/x/answer", {"response": "yes"}, 422, "assignment_id"),
        ("runs/999999/moves/start", {}, 404, "nothing of this id"),
        ("runs/{run}/moves/start", {}, 409, "is running"),
        ("runs/{run}/answers", {"answers": [{"worker": "w1"}]}, 422, "question"),
    ],
)
def test_what_is_refused_says_so_in_one_line(api, run, path, body, status, words):
    reply = post(api, path.format(run=run.pk), body)
    assert reply.status_code == status
    assert words in reply.json()["error"]
    assert "\n" not in reply.json()["error"]


def test_it_takes_answers_made_elsewhere_and_names_bad_rows(api, run):
    out = open_of(run)[0]
    rows = [
        {"worker": out.candidate.worker.key, "question": out.question.key, "response": "yes"},
        {"worker": "nobody", "question": "q1", "response": "yes"},
    ]
    reply = post(api, f"runs/{run.pk}/answers", {"answers": rows}).json()
    assert (reply["now"], reply["waiting"]) == (1, 0)
    assert reply["problems"] == [{"row": 2, "why": "There is no worker “nobody” in this run."}]


def test_it_gives_standings_and_selection(api):
    run = play(make_run(questions=1500, slots=60, slots_per_worker=30), crowd(3, good=2))
    standings = api.get(f"/api/runs/{run.pk}/standings").json()
    assert [line["selected"] for line in standings] == [True, True] + [False] * 4
    selection = api.get(f"/api/runs/{run.pk}/selection").json()
    assert selection["certified"]
    assert {row["worker"] for row in selection["workers"]} == {"w0", "w1"}


def test_it_moves_a_run(api, run):
    assert post(api, f"runs/{run.pk}/moves/pause", {}).json()["status"] == "paused"
    assert post(api, f"runs/{run.pk}/moves/resume", {}).json()["status"] == "running"
    assert post(api, f"runs/{run.pk}/moves/stop", {}).json()["ending"] == "stopped"


def test_the_api_documents_itself(client):
    assert client.get("/api/docs").status_code == 200
    paths = client.get("/api/openapi.json").json()["paths"]
    assert "/api/assignments/{assignment_id}/answer" in paths
