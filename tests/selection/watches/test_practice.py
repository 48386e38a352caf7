"""A test of a fallen worker begins with practice, if the watch wants it."""

import json

import pytest
from django.test import Client

from selection import exports, privacy
from selection.errors import Conflict
from selection.models import (
    AuditEntry,
    Delivery,
    Endpoint,
    GoldAnswer,
    ModelServer,
    Practice,
    PracticeAnswer,
    Watch,
    Webhook,
    default_team,
)
from selection.watches import alarms, begin, gold, steps
from tests.pages import admin_url, text_of
from tests.worlds import make_questions

from .test_gold_page import answer, open_page, question_on
from .worlds import answers, make_watch, settle, state_of

pytestmark = pytest.mark.django_db


def practising_watch(required: bool = False, **settings: object) -> Watch:
    """Return a watch of which w0 fell, and practises two questions before a test."""
    watch = make_watch(tries=2, **settings)
    questions = watch.question_sets.get()
    for number in (1, 2):
        Practice.objects.create(
            question_set=questions, number=number, required=required, prompt=f"Practice {number}",
            accepted=["yes"], explanation="Because.",
        )  # fmt: skip
    begin.change_watch(watch, with_practice=True)
    gold.record_gold(watch, answers("w0", "n" * 20))
    steps.advance_watch(watch.pk)
    alarms.requalify_worker(state_of(watch), "ada", "trained")
    return watch


def practise(watch: Watch, response: str = "yes") -> str:
    """Answer the practice question that is shown; return the text of the next page."""
    row = state_of(watch)
    page = open_page(row)
    number = page.context["question"].assignment
    return text_of(open_page(row, {"practice": number, "response": response}))


def test_practice_comes_before_the_test_and_never_counts():
    Webhook.objects.create(url="https://example.org/", events=["watch.tested"])
    watch = practising_watch()
    gold.record_gold(watch, answers("w0", "y" * 60, 100))  # too early
    steps.advance_watch(watch.pk)
    assert state_of(watch).state == "practice"
    assert "this question does not count, and its answer is told" in text_of(
        open_page(state_of(watch))
    )
    assert "The answer would have been: yes" in practise(watch, "no")
    assert "That is right" in practise(watch)
    row = state_of(watch)
    assert (row.state, row.answers, row.tried) == ("testing", 0, 1)
    steps.recount_watch(watch)
    steps.advance_watch(watch.pk)
    assert state_of(watch).answers == 0
    answer(state_of(watch), "yes")
    assert question_on(open_page(state_of(watch)))
    gold.record_gold(watch, answers("w0", "y" * 70, 20))
    settle(watch)  # a question is on the worker's page
    assert state_of(watch).state == "fine"
    states = [json.loads(row.body)["data"]["state"] for row in Delivery.objects.order_by("pk")]
    assert states == ["practice", "testing", "fine"]
    kinds = ["tested again", "practised", "passed the test"]
    entries = AuditEntry.objects.filter(kind__in=kinds).order_by("pk")
    assert list(entries.values_list("kind", flat=True)) == kinds


def test_worker_out_of_practice_tries_has_failed_and_the_second_try_begins_with_practice():
    watch = practising_watch(required=True)
    questions = watch.question_sets.get()
    questions.tries = 2
    questions.save()
    practise(watch)
    assert "You have 1 try left." in practise(watch, "no")
    assert "A pause" in practise(watch, "no")
    row = state_of(watch)
    assert (row.state, row.why, row.tried) == ("paused", "did not pass the practice", 1)
    assert AuditEntry.objects.filter(kind="failed the test").exists()
    alarms.requalify_worker(row, "ada")
    for _ in range(2):
        assert "That is right" in practise(watch)
    assert state_of(watch).state == "testing"
    row.practised.update(done=False)  # a page from before is sent again
    sent = {"practice": row.practised.first().practice_id, "response": "no"}
    assert "your first answer to it counts" in text_of(open_page(state_of(watch), sent))
    gold.record_gold(watch, answers("w0", "n" * 30, 60))
    settle(watch)  # a question is on the worker's page
    with pytest.raises(Conflict, match="has had 2 tests"):
        alarms.requalify_worker(state_of(watch), "ada")


def test_watch_without_practice_questions_cannot_practise(requester, token):
    watch = make_watch()
    edit = admin_url("watch_edit", watch.pk)
    assert "Practice before a test" not in text_of(requester.get(edit))
    api = Client(headers={"authorization": f"Bearer {token}"})
    at, change = f"/api/watches/{watch.pk}", {"with_practice": True}
    refused = api.patch(at, change, content_type="application/json")
    assert refused.status_code == 409
    assert "have no practice questions: add some" in refused.json()["error"]
    Practice.objects.create(question_set=make_questions(1), prompt="?", accepted=["a"])
    assert "Practice before a test" in text_of(requester.get(edit))  # another set may be chosen
    Practice.objects.create(question_set=watch.question_sets.get(), prompt="?", accepted=["a"])
    assert api.patch(at, change, content_type="application/json").json()["with_practice"] is True
    gold.record_gold(watch, answers("w0", "n" * 20))
    steps.advance_watch(watch.pk)
    Practice.objects.all().delete()
    with pytest.raises(Conflict, match="have no practice questions"):
        alarms.requalify_worker(state_of(watch), "ada")
    assert state_of(watch).tried == 0


@pytest.mark.parametrize("end", ["deleted", "turned off"])
def test_practice_that_is_no_longer_wanted_ends(end):
    watch = practising_watch()
    practise(watch)
    if end == "deleted":
        Practice.objects.filter(number=2).delete()
        assert question_on(open_page(state_of(watch)))
    else:
        begin.change_watch(watch, with_practice=False)
    assert state_of(watch).state == "testing"


def test_model_is_tested_without_practice():
    watch = practising_watch()
    row = state_of(watch, "w1")
    server = ModelServer.objects.create(name="here", url="https://example.org/v1")
    Endpoint.objects.create(worker=row.worker, server=server, model="m")
    alarms.pause_worker(row, "ada")
    alarms.requalify_worker(state_of(watch, "w1"), "ada")
    assert state_of(watch, "w1").state == "testing"


def test_page_api_files_and_personal_data_have_the_practice(requester, token, settings):
    watch = practising_watch()
    practise(watch, "no")
    page = text_of(requester.get(admin_url("watch_page", watch.pk)))
    assert "1 worker is practising before a test, by their gold link." in page
    assert "1 of 2 practice questions done" in page
    assert "try 1 of 2" in page
    api = Client(headers={"authorization": f"Bearer {token}"})
    rows = api.get(f"/api/watches/{watch.pk}/workers?state=practice").json()
    assert [row["worker"] for row in rows] == ["w0"]
    file = exports.watch_file(watch, "workers")
    assert "w0,practice," in b"".join(file.pieces).decode("utf-8-sig")
    (document,) = privacy.export_worker(privacy.same_person("w0", default_team()))["watches"]
    assert [(row["prompt"], row["response"]) for row in document["practice"]] == [
        ("Practice 1", "no")
    ]
    settings.RESPONSES_DAYS = 10
    PracticeAnswer.objects.update(at="2020-01-01T00:00Z")
    privacy.apply_retention()
    assert PracticeAnswer.objects.get().response == ""


def test_foreign_practice_question_is_not_found():
    watch = practising_watch()
    other = Practice.objects.create(question_set=make_questions(1), prompt="?", accepted=["a"])
    for odd in (other.pk, 2**62):
        page = open_page(state_of(watch), {"practice": odd, "response": "a"})
        assert page.status_code == 404
    sent = {"assignment": watch.question_sets.get().questions.first().pk, "response": "yes"}
    open_page(state_of(watch), sent)  # no gold during the practice
    assert GoldAnswer.objects.count() == 20
