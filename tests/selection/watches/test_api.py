"""Watches by the API, from the end of a run to the export."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from selection.models import ApiToken, GoldAnswer, Run, WatchedWorker
from selection.runs import lifecycle
from selection.watches import steps
from tests.worlds import crowd, make_run, play

from .worlds import make_watch, settle, state_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(token):
    return Client(headers={"authorization": f"Bearer {token}"})


def send(api, method, path, body=None):
    return getattr(api, method)(f"/api/{path}", body or {}, content_type="application/json")


def ended_run(**settings: object) -> Run:
    run = make_run(**settings)
    play(run, crowd(1, good=2))
    run.refresh_from_db()
    if run.status != Run.Status.ENDED:
        lifecycle.stop_run(run)
        run.refresh_from_db()
    return run


def gold_rows(worker: str, responses: str) -> list[dict[str, str]]:
    words = {"y": "yes", "n": "no"}
    return [
        {"worker": worker, "question": f"q{i}", "response": words[one]}
        for i, one in enumerate(responses)
    ]


def test_selected_workers_of_a_run_are_watched_below_what_they_showed(api):
    run = ended_run()
    made = send(api, "post", "watches", {"name": "spring", "run": run.pk})
    assert made.status_code == 201, made.content
    watch = made.json()
    assert watch["question_sets"] == [run.question_set_id]
    assert watch["to_do"] == "There is no gold answer yet."
    rows = api.get(f"/api/watches/{watch['id']}/workers").json()
    shown = {row.worker.key: row.rewards / row.pulls for row in run.candidates.all() if row.pulls}
    assert len(rows) == run.k
    for row in rows:
        assert row["level"] <= shown[row["worker"]] - run.epsilon + 1e-9
    again = send(api, "post", "watches", {"name": "spring", "run": run.pk})
    assert (again.status_code, again.json()["error"]) == (422, "Name: This name is already in use.")


def test_pass_mark_of_the_run_is_the_level_of_its_workers(api):
    run = ended_run(pass_mark=0.62)
    watch = send(api, "post", "watches", {"name": "marked", "run": run.pk}).json()
    rows = api.get(f"/api/watches/{watch['id']}/workers").json()
    assert {row["level"] for row in rows} == {0.62}


def test_named_worker_of_a_run_keeps_the_shown_level(api):
    run = ended_run()
    send(api, "post", "watches", {"name": "all", "run": run.pk})
    shown = dict(WatchedWorker.objects.values_list("worker__key", "level"))
    worker = min(shown)
    body = {"name": "one", "run": run.pk, "workers": [{"worker": worker}]}
    watch = send(api, "post", "watches", body).json()
    rows = api.get(f"/api/watches/{watch['id']}/workers").json()
    assert [(row["worker"], row["level"]) for row in rows] == [(worker, shown[worker])]


def test_list_takes_as_many_queries_for_many_watches(api, django_assert_num_queries):
    make_watch()
    api.get("/api/watches")  # the first request stores the use of the token
    with CaptureQueriesContext(connection) as queries:
        one = api.get("/api/watches").json()
    for _ in range(4):
        make_watch(workers=5, questions=30)
    with django_assert_num_queries(len(queries)):
        rows = api.get("/api/watches").json()
    assert rows[0] == one[0]
    assert [row["gold_questions"] for row in rows] == [200, 30, 30, 30, 30]
    assert [sum(row["states"].values()) for row in rows] == [3, 5, 5, 5, 5]


def test_run_before_its_end_starts_no_watch(api):
    run = make_run()
    made = send(api, "post", "watches", {"name": "early", "run": run.pk})
    assert made.status_code == 409
    assert "has not ended" in made.json()["error"]


def test_gold_is_recorded_and_an_alarm_is_dismissed(api):
    watch = make_watch()
    at = f"watches/{watch.pk}"
    body = {"answers": gold_rows("w0", "n" * 20) + gold_rows("w9", "y")}
    done = send(api, "post", f"{at}/gold", body).json()
    assert (done["added"], done["refused"], done["rows"][20]["row"]) == (20, 1, 21)
    assert send(api, "post", f"{at}/gold", body).json()["unchanged"] == 20
    steps.advance_watch(watch.pk)
    shown = api.get(f"/api/{at}").json()
    assert shown["to_do"] == "1 worker has an alarm: pause or dismiss it."
    assert shown["states"] == {"alarm": 1, "fine": 2}
    alarmed = api.get(f"/api/{at}/workers?state=alarm").json()
    assert [row["worker"] for row in alarmed] == ["w0"]
    assert send(api, "post", f"{at}/workers/w0/transitions/dismiss").status_code == 422
    moved = send(api, "post", f"{at}/workers/w0/transitions/dismiss", {"reason": "new task"})
    assert (moved.json()["state"], moved.json()["reason"]) == ("fine", "new task")
    assert send(api, "post", f"{at}/workers/w0/transitions/resume").status_code == 409
    assert send(api, "post", f"{at}/workers/w9/transitions/pause").status_code == 404


def test_token_for_answers_records_gold_and_sees_no_grade():
    watch = make_watch()
    narrow = Client(headers={"authorization": f"Bearer {ApiToken.issue('n', scope='answer')}"})
    done = send(narrow, "post", f"watches/{watch.pk}/gold", {"answers": gold_rows("w0", "n")})
    assert done.json()["rows"] == [{"row": 1, "result": "added", "reason": ""}]
    assert narrow.get(f"/api/watches/{watch.pk}/gold").status_code == 403


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("2026-11-22T14:05:00", 422),
        ("2026-11-22T14:05:00Z", 200),
        ("0001-01-01T00:00:00+14:00", 200),
        (5, 422),
    ],
)
def test_time_of_asking_has_a_zone(api, asked, status):
    watch = make_watch()
    row = gold_rows("w0", "y")[0] | {"asked_at": asked}
    done = send(api, "post", f"watches/{watch.pk}/gold", {"answers": [row]})
    assert done.status_code == status, done.content
    assert status == 422 or done.json()["added"] == 1


def test_settings_and_workers_change_and_the_watch_stops(api):
    watch = make_watch()
    at = f"watches/{watch.pk}"
    changed = send(
        api, "patch", at, {"name": "other", "once_in": 500, "pause_on_alarm": True}
    ).json()
    assert (changed["name"], changed["once_in"], changed["pause_on_alarm"]) == ("other", 500, True)
    assert "at most one false alarm in 500 gold answers" in changed["false_alarms"]
    assert send(api, "delete", f"{at}/workers/w2").status_code == 204
    assert send(api, "put", f"{at}/workers", {"workers": [{"worker": "w2", "level": 0.5}]}).json()
    assert state_of(watch, "w2").level == 0.5
    assert send(api, "post", f"{at}/transitions/stop").json()["state"] == "stopped"
    assert send(api, "post", f"{at}/gold", {"answers": gold_rows("w0", "y")}).status_code == 409
    assert send(api, "post", f"{at}/transitions/resume").json()["state"] == "active"
    assert send(api, "delete", at).status_code == 204


def test_export_has_the_workers_and_the_answers(api):
    watch = make_watch(name="Spring")
    send(api, "post", f"watches/{watch.pk}/gold", {"answers": gold_rows("w1", "yn")})
    steps.advance_watch(watch.pk)

    def read(name):
        response = api.get(f"/api/watches/{watch.pk}/export?format={name}")
        return response, b"".join(response.streaming_content).decode("utf-8-sig")

    response, text = read("gold")
    assert response["Content-Disposition"] == 'attachment; filename="spring-gold.csv"'
    assert [line.split(",")[0] for line in text.splitlines()] == ["worker", "w1", "w1"]
    assert read("workers")[1].splitlines()[2].startswith("w1,fine,0.8,2,1,")
    _, text = read("json")
    assert [row["response"] for row in json.loads(text)["gold"]] == ["yes", "no"]
    listed = api.get(f"/api/watches/{watch.pk}/gold").json()
    assert [row["right"] for row in listed] == [True, False]


FILES = {
    "one.csv": "worker,question,response\nw0,q1,yes\nw1,q1,no\nw7,q1,no\n",
    "survey.csv": "worker,q1,q2\nw0,yes,no\nw1,yes,yes\n",
    "rows.jsonl": '{"worker": "w0", "question": "q1", "response": "yes"}\n'
    '{"worker": "w1", "question": "q2", "response": "no"}\n',
}


def test_line_without_a_response_was_asked_and_holds_the_later_ones(api):
    watch = make_watch()
    lines = "worker,question,response\nw0,q1,yes\nw0,q2,\nw0,q3,yes\nw1,q1,yes\n"
    file = SimpleUploadedFile("skipped.csv", lines.encode())
    sent = api.post(f"/api/watches/{watch.pk}/files", {"file": file}).json()
    assert (sent["accepted_rows"], sent["rejected_rows"]) == (4, 0)
    assert send(api, "post", f"files/{sent['id']}/take").json()["accepted_rows"] == 4
    steps.advance_watch(watch.pk)
    assert list(watch.workers.order_by("pk").values_list("answers", flat=True)) == [1, 1, 0]
    settle(watch)
    assert (state_of(watch).answers, state_of(watch).right) == (3, 2)
    later = SimpleUploadedFile("late.csv", b"worker,question,response\nw0,q2,yes\n")
    sent = api.post(f"/api/watches/{watch.pk}/files", {"file": later}).json()
    assert send(api, "post", f"files/{sent['id']}/take").json()["accepted_rows"] == 0


@pytest.mark.parametrize(("name", "added"), [("one.csv", 2), ("survey.csv", 4), ("rows.jsonl", 2)])
def test_file_of_answers_is_taken_and_undone(api, name, added):
    watch = make_watch()
    file = SimpleUploadedFile(name, FILES[name].encode())
    sent = api.post(f"/api/watches/{watch.pk}/files", {"file": file}).json()
    assert (sent["kind"], sent["state"], sent["accepted_rows"]) == ("gold", "done", added)
    assert send(api, "post", f"files/{sent['id']}/take").json()["accepted_rows"] == added
    steps.advance_watch(watch.pk)
    assert sum(watch.workers.values_list("met", flat=True)) == added
    assert send(api, "post", f"files/{sent['id']}/undo").status_code == 204
    assert not GoldAnswer.objects.exists()
    steps.advance_watch(watch.pk)
    assert set(watch.workers.values_list("met", "evidence")) == {(0, 0.0)}
