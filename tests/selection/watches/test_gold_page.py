"""Gold questions on the worker's page, from the link to the alarm."""

import re

import pytest
from django.test import Client

from selection.models import AuditEntry, GoldAnswer, Question, Watch, WatchedWorker
from selection.watches import alarms, begin, steps
from selection.worker import links
from tests.pages import admin_url, text_of
from tests.worlds import make_questions

from .worlds import make_watch, settle, state_of

pytestmark = pytest.mark.django_db


def open_page(row: WatchedWorker, body: dict[str, object] | None = None):
    link = links.gold_address(row.pk, row.link_version)
    path = "/gold/" + link.rstrip("/").rpartition("/")[2] + "/"
    client = Client()
    return client.post(path, {"start": "yes"} if body is None else body, follow=True)


def question_on(page) -> int:
    return int(re.search(r'name="assignment" value="(\d+)"', page.content.decode()).group(1))


def given():
    return GoldAnswer.objects.exclude(response="")


def answer(row: WatchedWorker, response: str):
    return open_page(row, {"assignment": question_on(open_page(row)), "response": response})


def test_wrong_answers_on_the_page_raise_an_alarm():
    watch = make_watch(pace=Watch.Pace.WEEK, every=50)
    row = state_of(watch)
    for _ in range(25):
        page = answer(row, "no")
        assert page.status_code == 200
        assert "wrong" not in page.content.decode().lower()
    steps.advance_watch(watch.pk)
    row = state_of(watch)
    assert (row.answers, row.right, row.state) == (25, 0, WatchedWorker.State.ALARM)


def test_time_begins_when_the_worker_asks_for_the_question():
    """A mail program that opens the link starts nothing, nor does the answer before."""
    watch = make_watch(minutes=30)
    row = state_of(watch)
    link = links.gold_address(row.pk, row.link_version)
    first = Client().get("/gold/" + link.rstrip("/").rpartition("/")[2] + "/")
    assert "Minutes for each question: 30" in text_of(first)
    assert not GoldAnswer.objects.exists()
    assert "minutes left to answer" in text_of(open_page(row))
    assert "Next question" in text_of(answer(row, "yes"))
    assert GoldAnswer.objects.count() == 1


def test_question_that_is_not_answered_in_time_counts_as_not_right():
    watch = make_watch()
    row = state_of(watch)
    first = question_on(open_page(row))
    assert question_on(open_page(row)) == first
    settle(watch)
    assert (state_of(watch).answers, state_of(watch).right) == (1, 0)
    late = open_page(row, {"assignment": first, "response": "yes"})
    assert "Too late" in text_of(late)
    assert question_on(open_page(row)) != first


def test_question_that_was_not_shown_is_not_answered():
    row = state_of(make_watch(questions=1))
    page = open_page(row, {"assignment": Question.objects.get().pk, "response": "yes"})
    assert page.status_code == 200
    assert not GoldAnswer.objects.exists()


def test_workers_meet_each_question_once_in_a_drawn_order():
    watch = make_watch(questions=8)
    orders = []
    for worker in ("w0", "w1"):
        for _ in range(8):
            page = answer(state_of(watch, worker), "yes")
        assert "there are no more questions" in page.content.decode()
        answers = GoldAnswer.objects.filter(watched=state_of(watch, worker)).order_by("asked")
        orders.append(list(answers.values_list("question", flat=True)))
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]


@pytest.mark.parametrize(("settings", "most"), [({}, 10), ({"pace": "week", "every": 3}, 3)])
def test_pace_of_the_watch_ends_the_session(settings, most):
    row = state_of(make_watch(questions=20, **settings))
    for _ in range(most):
        page = answer(row, "yes")
    assert "No question for you right now" in page.content.decode()
    assert GoldAnswer.objects.filter(watched=row).count() == most


def test_tested_worker_gets_more_questions():
    watch = make_watch(questions=30)
    row = state_of(watch)
    for _ in range(10):
        answer(row, "no")
    steps.advance_watch(watch.pk)
    alarms.ACTIONS["requalify"](state_of(watch), "ada", "")
    for _ in range(15):
        answer(state_of(watch), "yes")
    assert question_on(open_page(state_of(watch)))


def test_repeated_and_foreign_answers_change_nothing():
    row = state_of(make_watch())
    body = {"assignment": question_on(open_page(row)), "response": "yes"}
    open_page(row, body)
    again = open_page(row, body | {"response": "no"})
    assert "your first answer to it counts" in again.content.decode()
    other = make_questions(1).questions.get()
    open_page(row, {"assignment": other.pk, "response": "yes"})
    assert [one.response for one in given()] == ["yes"]


def test_unusable_response_is_kept_on_the_page():
    row = state_of(make_watch())
    Question.objects.update(choices=["yes", "no"])
    page = answer(row, "perhaps")
    assert "not in the list" in page.content.decode()
    assert "Please give an answer first" in answer(row, "").content.decode()
    assert not given().exists()


def test_page_tells_a_pause_and_the_end():
    watch = make_watch()
    row = state_of(watch)
    alarms.pause_worker(row, "ada", "on leave")
    assert "A pause" in open_page(row).content.decode()
    alarms.ACTIONS["resume"](state_of(watch), "ada", "")
    question = question_on(open_page(row))
    begin.stop_watch(watch)
    assert open_page(row).status_code == 410
    late = open_page(row, {"assignment": question, "response": "yes"})
    assert late.status_code == 410
    begin.resume_watch(watch)
    begin.remove_workers(watch, ["w1"])
    gone = Client().get("/gold/" + "1.forged/")
    assert gone.status_code == 404
    assert not given().exists()


def test_retired_question_is_not_asked():
    watch = make_watch(questions=2)
    row = state_of(watch)
    shown = Question.objects.get(pk=question_on(open_page(row)))
    Question.objects.filter(pk=shown.pk).update(retired="2026-01-01T00:00Z")
    assert question_on(open_page(row)) != shown.pk
    late = open_page(row, {"assignment": shown.pk, "response": "yes"})
    assert late.status_code == 200
    assert not given().exists()


def test_replaced_link_says_so_and_answers_stay(requester, token):
    watch = make_watch()
    old = state_of(watch)
    answer(old, "no")
    page = admin_url("watch_page", watch.pk)
    requester.post(page, {"do": "link", "worker": old.pk, "why": "leaked"})
    lost = open_page(old)
    assert lost.status_code == 410
    assert "The sender of the link has replaced the link and sends the new link." in text_of(lost)
    assert open_page(old, {"assignment": 1, "response": "yes"}).status_code == 410
    row = state_of(watch)
    assert question_on(open_page(row))
    assert (given().count(), state_of(watch, "w1").link_version) == (1, 0)
    assert links.gold_address(row.pk, row.link_version) in requester.get(page).content.decode()
    entry = AuditEntry.objects.get(kind="gold link replaced")
    assert (entry.who, entry.why, entry.name) == ("requester", "leaked", "w0")
    api = Client(headers={"authorization": f"Bearer {token}"})
    at = f"/api/watches/{watch.pk}"
    moved = api.post(f"{at}/workers/w0/link", {}, content_type="application/json").json()
    assert moved["link"] == links.gold_address(row.pk, 2)
    requester.post(page, {"do": "links"})
    done = api.post(f"{at}/links", {"reason": "lost"}, content_type="application/json").json()
    assert done == {"replaced": 3}
    assert set(watch.workers.values_list("link_version", flat=True)) == {2, 4}
    assert AuditEntry.objects.filter(kind="gold links replaced").count() == 2
