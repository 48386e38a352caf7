"""Gold answers that do not count: at each door, once, with the reason."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from selection import connectors, db_clock, reports
from selection.connectors.platforms.label_studio import client as studio_client
from selection.models import (
    AuditEntry,
    GoldAnswer,
    Question,
    UncountedAnswer,
    Watch,
    default_team,
)
from selection.questions import corrections
from selection.watches import begin, gold
from selection.watches.gold import GivenGold
from tests.label_studio_stub import LEGACY, LabelStudioStub
from tests.label_studio_world import add_project, exchange, join, lying, user, watch_with
from tests.pages import admin_url, text_of

from .test_gold_page import open_page, question_on
from .worlds import answers, settle, state_of
from .worlds import make_watch as make_plain_watch

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(token: str) -> Client:
    return Client(headers={"authorization": f"Bearer {token}"})


def make_watch(**settings: object) -> Watch:
    watch = make_plain_watch(**settings)
    Question.objects.update(choices=["yes", "no"])
    return watch


def reasons(watch: Watch) -> dict[str, int]:
    counts = reports.count_uncounted_gold([watch])[watch.pk]
    return {each.reason: each.answers for each in counts}


def send(api: Client, watch: Watch, *rows: tuple[str, str, str]) -> int:
    given = [{"worker": w, "question": q, "response": r} for w, q, r in rows]
    address = f"/api/watches/{watch.pk}/gold"
    return api.post(address, {"answers": given}, content_type="application/json").status_code


# -- API


def test_rows_of_the_api_are_counted_by_reason(api):
    watch = make_watch()
    rows = [
        ("w0", "q0", "yes"),
        ("w0", "q0", "no"),
        ("w0", "q1", "maybe"),
        ("w9", "q1", "yes"),
        ("w1", "nowhere", "yes"),
    ]
    wanted = {"changed": 1, "unreadable": 1, "unknown": 2}
    for _ in range(2):  # a repeat changes nothing
        assert send(api, watch, *rows) == 200
        assert reasons(watch) == wanted
    assert set(UncountedAnswer.objects.values_list("door", flat=True)) == {"api"}
    shown = api.get(f"/api/watches/{watch.pk}").json()["uncounted"]
    assert {each["reason"]: each["answers"] for each in shown} == wanted
    assert api.get("/api/watches").json()[0]["uncounted"] == shown


def test_question_met_elsewhere_or_under_another_key_is_counted(api):
    watch = make_watch()
    Question.objects.filter(key__in=("q0", "q1")).update(prompt="The same question, twice?")
    send(api, watch, ("w0", "q0", "yes"), ("w0", "q1", "yes"))
    assert reasons(watch) == {"met": 1}


def test_mended_answer_is_not_counted_any_more(api):
    watch = make_watch()
    send(api, watch, ("w0", "q0", "maybe"))
    send(api, watch, ("w0", "q0", "yes"))
    assert reasons(watch) == {}


def test_late_answer_is_counted(api):
    watch = make_watch()
    gold.record_gold(watch, [GivenGold("w0", "q0", None)])
    settle(watch)
    send(api, watch, ("w0", "q0", "yes"))
    assert reasons(watch) == {"late": 1}


def test_answer_that_was_passed_over_is_counted():
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "y", 1))
    settle(watch)
    old = GivenGold("w0", "q0", "yes", gold.EARLIEST)
    (fate,) = gold.record_gold(watch, [old])
    assert (fate.result, reasons(watch)) == ("added", {"late": 1})


def test_repeats_of_counted_answers_are_no_losses(api):
    """Also after the watch was stopped, its worker left, or the question was retired."""
    watch = make_watch()
    send(api, watch, ("w0", "q0", "yes"), ("w0", "q1", "no"))
    corrections.retire_question(Question.objects.get(key="q0"), "ada", "broken")
    send(api, watch, ("w0", "q0", "yes"), ("w0", "q1", "no"))
    begin.remove_workers(watch, ["w0"])
    send(api, watch, ("w0", "q1", "no"))
    begin.MOVES["stop"](watch)
    assert send(api, watch, ("w0", "q1", "no")) == 409
    assert reasons(watch) == {}


def test_answers_to_a_stopped_watch_are_counted_until_they_are_sent_again(api):
    watch = make_watch()
    begin.MOVES["stop"](watch)
    assert send(api, watch, ("w0", "q0", "yes"), ("w1", "q0", "no")) == 409
    assert reasons(watch) == {"ended": 2}
    watch.refresh_from_db()
    begin.MOVES["resume"](watch)
    send(api, watch, ("w0", "q0", "yes"))
    assert reasons(watch) == {"ended": 1}


def test_first_answer_of_each_reason_is_in_the_history(api, requester):
    watch = make_watch()
    send(api, watch, ("w0", "q0", "maybe"))
    send(api, watch, ("w0", "q1", "maybe"), ("w9", "q1", "yes"))
    entries = AuditEntry.objects.filter(kind="uncounted", item=str(watch.pk))
    assert entries.filter(model="watch").count() == 2
    shown = text_of(requester.get(admin_url("watch_page", watch.pk)))
    assert "Not counted: 2 answers (it cannot be an answer to its question), 1 answer" in shown


# -- page


def test_late_answer_on_the_page_is_counted():
    watch = make_watch()
    row = state_of(watch)
    body = {"assignment": question_on(open_page(row)), "response": "yes"}
    settle(watch)
    open_page(row, body)
    assert reasons(watch) == {"late": 1}
    assert UncountedAnswer.objects.get().door == "page"


def test_second_answer_on_the_page_is_counted_if_it_differs():
    watch = make_watch()
    row = state_of(watch)
    body = {"assignment": question_on(open_page(row)), "response": "yes"}
    open_page(row, body)
    open_page(row, body)
    assert reasons(watch) == {}
    open_page(row, body | {"response": "no"})
    assert reasons(watch) == {"changed": 1}


def test_answer_outside_the_choices_on_the_page_is_counted_until_it_is_mended():
    watch = make_watch()
    row = state_of(watch)
    body = {"assignment": question_on(open_page(row)), "response": "maybe"}
    open_page(row, body)
    assert reasons(watch) == {"unreadable": 1}
    open_page(row, body | {"response": "yes"})
    assert reasons(watch) == {}


@pytest.mark.parametrize("end", ["retired", "stopped", "left"])
def test_answer_after_an_end_is_counted(end):
    watch = make_watch()
    row = state_of(watch)
    body = {"assignment": question_on(open_page(row)), "response": "yes"}
    if end == "retired":
        corrections.retire_question(Question.objects.get(pk=body["assignment"]), "ada", "broken")
    elif end == "stopped":
        begin.MOVES["stop"](watch)
    else:
        other = Question.objects.exclude(pk=body["assignment"]).first()
        gold.record_gold(watch, [GivenGold("w0", other.key, "yes")])
        begin.remove_workers(watch, ["w0"])
    shown = text_of(open_page(row, body))
    assert reasons(watch) == {"retired" if end == "retired" else "ended": 1}
    assert ("was withdrawn before your answer arrived" in shown) == (end == "retired")


def test_question_that_was_not_shown_leaves_no_trace():
    watch = make_watch(questions=1)
    open_page(state_of(watch), {"assignment": Question.objects.get().pk, "response": "yes"})
    assert not UncountedAnswer.objects.exists()


# -- file


def bring(api: Client, watch: Watch, text: str) -> None:
    file = SimpleUploadedFile("gold.csv", text.encode())
    sent = api.post(f"/api/watches/{watch.pk}/files", {"file": file}).json()
    assert reasons(watch) == {}  # not before it is imported
    address = f"/api/files/{sent['id']}/take"
    done = api.post(address, {}, content_type="application/json")
    assert done.status_code == 200, done.content


def test_rows_of_a_file_are_counted_by_reason(api):
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "yy"))
    text = (
        "worker,question,response\nw0,q0,yes\nw0,q1,no\nw1,q0,yes\nw1,q0,no\nw1,q1,maybe\n"
        "w9,q1,yes\nw1,nowhere,yes\n"
    )
    bring(api, watch, text)
    assert reasons(watch) == {"changed": 2, "unknown": 2, "unreadable": 1}
    assert set(UncountedAnswer.objects.values_list("door", flat=True)) == {"file"}
    assert GoldAnswer.objects.filter(watched=state_of(watch, "w1")).get().response == "yes"


# -- Label Studio


@pytest.fixture
def studio(settings):
    settings.CONNECTORS_INSIDE = True
    studio_client._access.clear()
    with LabelStudioStub() as stub:
        stub.invite(*(f"w{i}@example.org" for i in range(4)))
        yield stub


@pytest.fixture
def link(studio):
    connection = connectors.create_connection(
        default_team(), "label_studio", "Ours", {"token": LEGACY}, studio.url
    )
    return join(watch_with(studio, every=2), connection, add_project(studio, 1))


@pytest.mark.parametrize(
    ("response", "worker", "field", "reason"),
    [
        ("yes", None, "", "person"),
        ("maybe", "w0", "", "unreadable"),
        ("yes", "w0", "remark", "unreadable"),
    ],
)
def test_annotations_that_do_not_count(studio, link, response, worker, field, reason):
    by = user(studio, worker) if worker else 1
    named = {"name": field} if field else {}
    studio.annotate(lying(studio, link)[0], {"choices": [response]}, by, **named)
    exchange(link)
    exchange(link)
    assert reasons(link.watch) == {reason: 1}
    assert UncountedAnswer.objects.get().door == "label_studio"


def test_changed_annotation_is_counted_and_the_first_answer_stays(studio, link):
    (task,) = lying(studio, link)
    studio.annotate(task, {"choices": ["yes"]}, user(studio, "w0"))
    exchange(link)
    assert reasons(link.watch) == {}
    annotation = studio.tasks[task]["annotations"][0]
    annotation["result"][0]["value"] = {"choices": ["no"]}
    studio.tasks[task]["updated_at"] = db_clock.database_now().isoformat()
    exchange(link)
    assert (reasons(link.watch), GoldAnswer.objects.get().response) == ({"changed": 1}, "yes")
