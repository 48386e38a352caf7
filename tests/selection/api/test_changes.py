"""Changes of runs and their workers by the API."""

import pytest
from django.test import Client

from selection.models import Answer, Run
from selection.questions import corrections
from selection.runs import lifecycle
from tests.worlds import crowd, make_run, play

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(token):
    return Client(headers={"authorization": f"Bearer {token}"})


@pytest.fixture
def run():
    return make_run(budget=100)


def send(api, method, path, body):
    return getattr(api, method)(f"/api/{path}", body, content_type="application/json")


def test_settings_are_changed_and_the_reply_states_the_effects(api, run):
    body = {"budget": 80, "minutes": 5, "reason": "cheaper"}
    reply = send(api, "patch", f"runs/{run.pk}", body).json()
    assert "The budget is 80 answers instead of 100 answers" in reply["changed"]["budget"]
    assert (reply["run"]["budget"], reply["run"]["minutes"]) == (80, 5)
    events = api.get(f"/api/runs/{run.pk}/history").json()["events"]
    assert ("token test", "cheaper") in [(event["actor"], event["reason"]) for event in events]


def test_null_is_a_value_and_a_missing_setting_stays(api, run):
    reply = send(api, "patch", f"runs/{run.pk}", {"budget": None}).json()
    assert (reply["run"]["budget"], reply["run"]["minutes"]) == (None, run.minutes)


def test_a_preview_changes_nothing(api, run):
    body = {"budget": 80, "enrolling": True, "preview": True}
    reply = send(api, "patch", f"runs/{run.pk}", body).json()
    assert set(reply["changed"]) == {"budget", "enrolling"}
    assert (reply["run"]["budget"], reply["run"]["enrolling"]) == (100, False)
    assert run.events.count() == 1


def test_a_time_without_its_zone_is_not_guessed(api, settings):
    settings.TIME_ZONE = "Europe/Berlin"
    run = make_run(enrolling=True)
    given = send(api, "patch", f"runs/{run.pk}", {"enrol_until": "2090-03-01T10:00:00"})
    assert (given.status_code, "with its zone" in given.json()["error"]) == (422, True)
    reply = send(
        api, "patch", f"runs/{run.pk}", {"enrol_until": "2090-03-01T10:00:00-05:00"}
    ).json()
    assert reply["run"]["enrol_until"] == "2090-03-01T15:00:00Z"
    assert "The roster closes 1 Mar 2090, 16:00 CET" in reply["changed"]["enrol_until"]


@pytest.mark.parametrize("name", ["k", "delta", "budgt"])
def test_unchangeable_setting_is_refused_and_not_ignored(api, run, name):
    """Check the refusal: a user that mistypes the budget would believe in it otherwise."""
    reply = send(api, "patch", f"runs/{run.pk}", {name: 4, "price": 0.2})
    assert (reply.status_code, reply.json()["field"]) == (422, name)
    assert Run.objects.get().price is None


def test_a_way_of_grading_that_there_is_not_is_refused(api, run):
    own = {"accepted": ["3"], "prompt": "1 + 2?", "grading": {"toleranz": 1}}
    path = f"question-sets/{run.question_set_id}/questions"
    reply = send(api, "put", path, {"questions": [own | {"question": "new"}]})
    assert reply.status_code == 422
    assert "toleranz" in reply.json()["field"]


def test_change_is_all_or_nothing(api, run):
    lifecycle.pause_run(run)
    reply = send(api, "patch", f"runs/{run.pk}", {"budget": 80, "archived": True})
    assert reply.status_code == 409
    assert "only a run that is ended" in reply.json()["error"]
    assert Run.objects.get().budget == 100


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"budget": 0}, 422, "at least 1 answer"),
        ({"budget": "many"}, 422, "budget"),
        ({"slots": None}, 422, "Max. open assignments: This field cannot be null."),
        ({"epsilon": None}, 422, "Accuracy ε: This field cannot be null."),
        ({"enrolling": False, "enrol_most": 9}, 409, "open it first"),
    ],
)
def test_a_refusal_is_one_line(api, run, body, status, words):
    reply = send(api, "patch", f"runs/{run.pk}", body)
    assert reply.status_code == status
    assert words in reply.json()["error"]
    assert "\n" not in reply.json()["error"]


def test_workers_join_and_are_listed_with_their_presence(api):
    run = make_run(n=0, enrolling=True)
    body = {"worker": "anna", "name": "Anna", "attributes": {"tongue": "en"}}
    first = send(api, "post", f"runs/{run.pk}/workers", body)
    assert (first.status_code, first.json()["presence"]) == (201, "invited")
    assert send(api, "post", f"runs/{run.pk}/workers", body).status_code == 200
    assert run.candidates.get().worker.attributes == {"tongue": "en"}
    api.post(
        first.json()["link"].removeprefix("http://127.0.0.1:8000"), {"start": "yes"}, follow=True
    )
    listed = api.get(f"/api/runs/{run.pk}/workers").json()
    assert [(row["worker"], row["presence"]) for row in listed] == [("anna", "active")]
    for key in ("b", "c"):
        send(api, "post", f"runs/{run.pk}/workers", {"worker": key})
    closed = send(api, "patch", f"runs/{run.pk}", {"enrolling": False}).json()
    assert "The guarantee covers the 3 on the roster" in closed["changed"]["enrolling"]
    late = send(api, "post", f"runs/{run.pk}/workers", {"worker": "late"})
    assert (late.status_code, "is closed" in late.json()["error"]) == (409, True)


def test_a_worker_is_withdrawn_and_comes_back(api, run):
    path = f"runs/{run.pk}/workers/w3"
    out = send(api, "post", f"{path}/withdraw", {"reason": "ill"}).json()
    assert out["presence"] == "withdrawn"
    assert send(api, "post", f"{path}/withdraw", {}).status_code == 422
    assert send(api, "post", f"{path}/return", {}).json()["presence"] == "active"
    assert send(api, "post", f"runs/{run.pk}/workers/nobody/withdraw", {}).status_code == 422


def test_a_verdict_by_hand_is_in_the_selection(api):
    run = play(make_run(), crowd(3, good=2), most=1)
    path = f"runs/{run.pk}/workers/w5/verdict"
    assert send(api, "post", path, {"verdict": "accepted"}).status_code == 422
    given = send(api, "post", path, {"verdict": "accepted", "reason": "known"})
    assert given.json()["by_hand"] == "accepted"
    selection = api.get(f"/api/runs/{run.pk}/selection").json()
    chosen = {row["worker"]: row["selected_by"] for row in selection["workers"]}
    assert chosen["w5"] == "hand"
    assert send(api, "post", path, {"verdict": None}).json()["by_hand"] == ""
    assert (
        send(api, "post", f"runs/{run.pk}/workers/x/verdict", {"verdict": None}).status_code == 404
    )


def test_a_run_is_archived_and_its_moves_are_in_the_history(api, run):
    send(api, "post", f"runs/{run.pk}/transitions/stop", {})
    assert send(api, "patch", f"runs/{run.pk}", {"archived": True}).json()["run"]["state"] == (
        "archived"
    )
    history = api.get(f"/api/runs/{run.pk}/history").json()
    assert [event["kind"] for event in history["events"]] == ["archive", "stop", "start"]


def test_budget_lost_to_a_retired_question_is_named_and_restored(api, run):
    play(run, crowd(1, good=2), most=3)
    assert api.get(f"/api/runs/{run.pk}").json()["wasted"] is None
    corrections.retire_question(
        Answer.objects.earliest("pk").assignment.question, "ada", "ambiguous"
    )
    lacks = api.get(f"/api/runs/{run.pk}").json()["wasted"]
    assert lacks["budget"] == 100 + lacks["answers"] > 100
    assert "for nothing" in lacks["words"]
    reply = send(api, "patch", f"runs/{run.pk}", {"budget": lacks["budget"]}).json()
    assert (reply["run"]["budget"], reply["run"]["wasted"]) == (lacks["budget"], None)


def test_the_history_has_the_steps(api, run):
    play(run, crowd(1, 2), most=2)
    steps = api.get(f"/api/runs/{run.pk}/history").json()["steps"]
    assert [step["number"] for step in steps] == [1, 2]


def test_the_price_changes_after_the_end_too(api, run):
    lifecycle.stop_run(run)
    body = {"price": 0.0125, "currency": "$"}
    reply = send(api, "patch", f"runs/{run.pk}", body).json()
    assert reply["changed"]["price"].startswith("An answer costs 0.0125 €")
    assert (reply["run"]["price"], reply["run"]["currency"]) == (0.0125, "$")
    assert send(api, "patch", f"runs/{run.pk}", {"price": -1}).status_code == 422
