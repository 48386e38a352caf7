"""Every answer counts, or is listed with its reason: at each door, once."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse

from packages.topk.tests.parameters import mostly_slow
from selection import connectors, db_clock, engine, reports
from selection.admin.page import object_url
from selection.answers import outages, presence, recording, uncounted
from selection.connectors.connector import OutsideAnswer
from selection.connectors.platforms.label_studio import news
from selection.engine import question_choice, withdrawal
from selection.engine.arrays import load_arrays
from selection.errors import Conflict, Refused
from selection.imports import commit, uploads, validate_answers
from selection.imports.row_parsers import AnswerRow
from selection.model_workers import ledger
from selection.models import (
    Answer,
    Assignment,
    Connection,
    Heartbeat,
    RecordedAnswer,
    Run,
    RunConnection,
    Upload,
    Webhook,
)
from selection.runs import lifecycle
from selection.worker import links
from tests.connector_stub import Stub, make_connection
from tests.selection.connectors.conftest import stub as stub
from tests.worlds import crowd, make_run, open_of

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def reasons(run: Run) -> dict[str, int]:
    run.refresh_from_db()
    return {each.reason: each.answers for each in reports.count_uncounted(run)}


def begun(**fields: object) -> Run:
    run = make_run(**{"hours_to_come": 48.0} | fields)
    engine.advance(run.pk)
    return run


def age(run: Run) -> None:
    """Let everything that was handed out or seen be long ago, and the tool be asked just now."""
    Assignment.objects.exclude(handed=None).update(handed=F("handed") - DAY)
    run.candidates.exclude(seen=None).update(seen=F("seen") - DAY)
    RunConnection.objects.update(polled=db_clock.database_now())


def withdraw(run: Run) -> int:
    """Withdraw what may be withdrawn from everybody; return the number."""
    arrays = load_arrays(run)
    withdrawal.take_back(arrays, np.arange(arrays.ids.size))
    for arm, count in enumerate(arrays.withdrawn.tolist()):
        run.candidates.filter(arm=arm).update(asked=F("asked") - count)
    return int(arrays.withdrawn.sum())


def exchange(link: RunConnection) -> None:
    connectors.exchange(link.connection_id)
    link.refresh_from_db()


@pytest.fixture
def client(token: str) -> Client:
    return Client(headers={"authorization": f"Bearer {token}"})


def post(client: Client, address: str, body: object) -> Any:
    return client.post(f"/api/{address}", body, content_type="application/json")


# -- what is out there stays


@pytest.fixture
def link(stub: Stub) -> RunConnection:
    link = connectors.connect_run(begun(slots_per_worker=2), make_connection())
    exchange(link)
    return link


def test_a_task_stays_while_its_worker_may_be_at_it(link):
    run, tasks = link.run, len(open_of(link.run))
    assert withdraw(run) == 0
    age(run)
    assert withdraw(run) == tasks > 0


def test_a_task_stays_while_its_worker_answers_others(link):
    run = link.run
    own = open_of(run)[0]
    age(run)
    presence.note_presence(run, [own.candidate_id])
    withdraw(run)
    assert {one.candidate_id for one in open_of(run)} == {own.candidate_id}


@pytest.mark.parametrize("trouble", ["unasked", "failing", "paused"])
def test_a_task_stays_until_its_tool_was_asked(link, trouble):
    """It may be answered already."""
    run = link.run
    age(run)
    if trouble == "unasked":
        RunConnection.objects.update(polled=db_clock.database_now() - timedelta(minutes=5))
    else:
        changes = {"failing": {"problem": "It is down."}, "paused": {"paused": True}}
        Connection.objects.update(**changes[trouble])
    assert withdraw(run) == 0


def test_a_task_of_a_worker_who_left_is_withdrawn(link):
    run = link.run
    gone = run.candidates.all()[0]
    run.candidates.filter(pk=gone.pk).update(gone="withdrawn")
    engine.advance(run.pk)
    assert gone.pk not in {one.candidate_id for one in open_of(run)}


def test_the_last_positions_alone_are_withdrawn(link):
    run, two = link.run, open_of(link.run)
    first, second = [one for one in two if one.candidate_id == two[0].candidate_id][:2]
    age(run)
    Assignment.objects.filter(pk=second.pk).update(handed=db_clock.database_now())
    withdraw(run)
    assert {first.pk, second.pk} <= {one.pk for one in open_of(run)}


def test_a_held_up_end_waits_for_tasks_that_may_be_answered(stub):
    run, respond = make_run(algorithm="certified", slots=18, epsilon=0.15), crowd(3, 2)
    link = connectors.connect_run(run, make_connection())
    for _ in range(200):
        engine.advance(run.pk)
        exchange(link)
        given = [
            one for one in open_of(run) if one.candidate.worker.key != "w0" or one.position < 12
        ]
        if not given:
            break
        news = [OutsideAnswer(link, one.pk, respond(one), revision="1") for one in given]
        connectors.take_news(news)
    run.refresh_from_db()
    assert run.status == Run.Status.RUNNING
    assert {one.candidate.worker.key for one in open_of(run)} == {"w0"}
    age(run)
    engine.advance(run.pk)
    run.refresh_from_db()
    assert run.ending == Run.Ending.GUARANTEE


@pytest.mark.parametrize("door", ["look", "file", "message"])
def test_a_question_that_a_program_has_is_not_withdrawn(door, client, requester):
    run = make_run(hours_to_come=48.0)
    if door == "message":
        Webhook.objects.create(url="https://example.org/", events=["assignment.opened"])
    engine.advance(run.pk)
    if door == "look":
        client.get(f"/api/runs/{run.pk}/assignments?peek=true")
    if door == "file":
        requester.get(reverse("admin:selection_run_open_csv", args=[run.pk]))
    assert withdraw(run) == 0
    assert not Assignment.objects.filter(handed=None).exists()


def test_models_are_at_nothing_that_is_handed_out():
    run = begun(algorithm="same-questions")
    presence.record_handed(one.pk for one in open_of(run))
    assert not Assignment.objects.exclude(handed=None).exists()


def test_an_outage_prolongs_the_time_that_a_worker_may_be_at_a_task(link):
    run, now = link.run, db_clock.database_now()
    Assignment.objects.update(handed=now - timedelta(hours=2))
    Heartbeat.objects.update_or_create(
        pk=Heartbeat.WEB, defaults={"at": now - timedelta(hours=1.5)}
    )
    outages.record_heartbeat(now)
    assert withdraw(run) == 0


# -- what does not count is listed


def test_an_answer_to_a_withdrawn_task_is_listed(link):
    run, own = link.run, open_of(link.run)[0]
    age(run)
    withdraw(run)
    assert reasons(run) == {}
    connectors.take_news([OutsideAnswer(link, own.pk, "yes", revision="1")] * 2)
    assert reasons(run) == {"withdrawn": 1}
    row = run.uncounted.get(number=own.pk)
    assert (row.door, row.candidate_id, row.question_id) == (
        "stub",
        own.candidate_id,
        own.question_id,
    )
    [event] = run.events.filter(kind=uncounted.EVENT)
    assert "its question was withdrawn before it came" in event.what


def test_answers_of_a_tool_that_do_not_count_are_listed(link):
    run = link.run
    first, second, third, fourth = open_of(run)[:4]

    def take(slip: Assignment, response: str, revision: str = "1", by: str = "") -> None:
        names = [by] if by else []
        connectors.take_news([OutsideAnswer(link, slip.pk, response, names, revision)])

    take(first, "yes", by="a stranger")
    take(second, "")
    take(third, "yes")
    assert reasons(run) == {"person": 1, "unreadable": 1}
    take(second, "yes", "2")  # corrected there
    assert reasons(run) == {"person": 1}
    Answer.objects.update(applied_in=1)
    take(third, "no", "2")
    lifecycle.stop_run(run)
    take(fourth, "yes")
    assert reasons(run) == {"person": 1, "changed": 1, "ended": 1}


def test_answers_of_programs_that_do_not_count_are_listed(client):
    run = begun()
    slips = open_of(run)
    client.get(f"/api/runs/{run.pk}/assignments?peek=true")
    late, withdrawn = slips[0], slips[1:3]
    Assignment.objects.filter(pk=late.pk).update(due=db_clock.database_now() - DAY)
    rest = slips[3]
    presence.record_shown(run, [rest.pk])
    age(run)
    withdraw(run)
    url = "assignments/{}/answer"
    assert post(client, url.format(late.pk), {"response": "yes"}).status_code == 409
    reply = post(client, url.format(withdrawn[0].pk), {"response": "yes"})
    assert (reply.status_code, reply.json()["error"]) == (409, uncounted.WITHDRAWN)
    answers = [{"assignment": one.pk, "response": "no"} for one in (*withdrawn, late)]
    reply = post(client, "answers", {"answers": answers}).json()
    assert [row["status"] for row in reply["results"]] == [409, 409, 409]
    assert reasons(run) == {"withdrawn": 2, "late": 1}
    lifecycle.stop_run(run)
    post(client, "answers", {"answers": [{"assignment": rest.pk, "response": "no"}]})
    assert reasons(run) == {"withdrawn": 2, "ended": 1, "late": 1}
    assert client.get(f"/api/runs/{run.pk}").json()["uncounted"][0] == {
        "reason": "withdrawn",
        "why": "its question was withdrawn before it came",
        "answers": 2,
    }


def test_a_withdrawn_question_of_another_team_is_unknown(client):
    run = begun()
    own = open_of(run)[0]
    presence.record_handed([own.pk])
    age(run)
    withdraw(run)
    with pytest.raises(Refused) as refusal:
        recording.record_answer(own.pk, "yes", team_id=run.team_id + 1)
    assert refusal.value.status == 404
    assert reasons(run) == {}


def test_late_answers_of_the_worker_s_page_are_listed():
    run = begun()
    first, second = (
        next(one for one in open_of(run) if one.candidate.worker.key == key) for key in ("w0", "w1")
    )
    presence.record_shown(run, [first.pk, second.pk])
    Assignment.objects.filter(pk=first.pk).update(due=db_clock.database_now() - DAY)
    for slip in (first, second):
        page = f"/work/{links.worker_token(slip.candidate_id)}/"
        if slip is second:
            lifecycle.stop_run(run)
        Client().post(page, {"assignment": slip.pk, "response": "yes"})
    assert reasons(run) == {"late": 1, "ended": 1}
    assert set(run.uncounted.values_list("door", flat=True)) == {"page"}


def rows_of(*answers: tuple[Assignment, str]) -> list[AnswerRow]:
    return [
        AnswerRow(line, one.candidate.worker.key, one.question.key, response)
        for line, (one, response) in enumerate(answers, 1)
    ]


@pytest.mark.parametrize("door", ["api", "file"])
def test_rows_that_do_not_count_are_listed(door):
    run = begun()
    late, twice, same, fresh = open_of(run)[:4]
    Assignment.objects.filter(pk=late.pk).update(due=db_clock.database_now() - DAY)
    for slip in (twice, same):
        recording.record_answer(slip.pk, "yes")
    rows = rows_of((late, "yes"), (twice, "no"), (same, "yes"), (fresh, "yes"))
    if door == "api":
        result = validate_answers.validate_answers(run, rows)
        validate_answers.record_valid_answers(run, result)
    else:
        lines = [f"{row.worker},{row.question},{row.response}" for row in rows]
        raw = "\n".join(["worker,question,response", *lines]).encode()
        upload = uploads.create_upload(Upload.Kind.ANSWERS, run, "answers.csv", raw)
        commit.commit_import(upload.pk)
    assert reasons(run) == {"late": 1, "changed": 1}
    assert set(run.uncounted.values_list("door", flat=True)) == {door}


def test_rows_for_an_ended_run_are_listed():
    run = begun()
    slip = open_of(run)[0]
    lifecycle.stop_run(run)
    run.refresh_from_db()
    with pytest.raises(Conflict):
        validate_answers.validate_answers(run, rows_of((slip, "yes"), (slip, "yes")))
    assert reasons(run) == {"ended": 1}


def test_a_file_for_an_ended_run_is_listed_row_by_row():
    run = begun()
    slip = open_of(run)[0]
    lifecycle.stop_run(run)
    run.refresh_from_db()
    pair = f"{slip.candidate.worker.key},{slip.question.key}"
    raw = f"worker,question,response\n{pair},yes\nnobody,{slip.question.key},yes\n".encode()
    upload = uploads.create_upload(Upload.Kind.ANSWERS, run, "answers.csv", raw)
    late, strange = upload.rows.order_by("line").values_list("why", flat=True)
    assert late == f"Too late: “{run}” has ended."
    assert "no worker “nobody”" in strange
    assert reasons(run) == {"ended": 1}
    assert run.uncounted.get().door == "file"


def test_replies_of_models_after_the_end_are_listed():
    run = begun(algorithm="same-questions")
    [slip] = Assignment.objects.select_related("candidate__run", "question").filter(
        pk=open_of(run)[0].pk
    )
    lifecycle.stop_run(run)
    slip.candidate.run.refresh_from_db()
    ledger._record_answers([(slip, "yes")])
    assert reasons(run) == {"ended": 1}
    assert run.uncounted.get().door == "model"


def test_answers_that_wait_when_the_run_ends_are_listed():
    run = begun(slots_per_worker=3)
    behind = next(one for one in open_of(run) if one.position == 1)
    recording.record_answer(behind.pk, "yes")
    engine.advance(run.pk)
    assert reasons(run) == {}
    lifecycle.stop_run(run)
    assert reasons(run) == {"unreached": 1}


def test_a_repeat_is_listed_once_and_told_once():
    run = begun()
    slips = open_of(run)[:2]
    lifecycle.stop_run(run)
    for slip in (*slips, *slips):
        with pytest.raises(Conflict):
            recording.record_answer(slip.pk, "yes")
    assert reasons(run) == {"ended": 2}
    assert run.events.filter(kind=uncounted.EVENT).count() == 1


def test_the_run_s_page_has_the_numbers(requester):
    run = begun()
    slip = open_of(run)[0]
    lifecycle.stop_run(run)
    with pytest.raises(Conflict):
        recording.record_answer(slip.pk, "yes")
    page = requester.get(object_url(run)).content.decode()
    assert "Not counted: 1 answer (it came after the end)." in page


@pytest.mark.parametrize("seed", mostly_slow([1, 2], ordinary=[1]))
def test_what_people_give_at_a_tool_counts_or_is_listed(stub, seed):
    """Answers are fetched late, or never before the end; time passes, and the run ends."""
    rng, given, new = np.random.default_rng(seed), dict[int, str](), set[int]()
    run, respond = make_run(n=8, slots=24, hours_to_come=48.0, epsilon=0.4), crowd(seed, 2)
    link = connectors.connect_run(run, make_connection())
    for turn in range(25):
        engine.advance(run.pk)
        exchange(link)
        run.refresh_from_db()
        there = [one for one in open_of(run) if one.pk in stub.there and one.pk not in given]
        for slip in there:
            if rng.random() < 0.4:
                given[slip.pk] = respond(slip)
                new.add(slip.pk)
                stub.answered.add(slip.pk)
        # Half of the new answers are not fetched in this turn; some old ones are, again.
        waiting = [number for number in given if rng.random() < (0.5 if number in new else 0.02)]
        stub.news = [OutsideAnswer(link, one, given[one], revision="1") for one in waiting]
        new -= set(waiting)
        if turn % 5 == 0:
            age(run)
    lifecycle.stop_run(run)
    stub.news = [OutsideAnswer(link, number, given[number], revision="1") for number in given]
    connectors.take_news(stub.news)
    stored = dict(run.answers.exclude(applied_in=None).values_list("assignment", "response"))
    waiting = set(run.answers.filter(applied_in=None).values_list("assignment", flat=True))
    listed = set(run.uncounted.exclude(at=None).values_list("number", flat=True))
    assert given.keys() == stored.keys() | waiting | listed
    assert not stored.keys() & (waiting | listed)
    assert sum(reasons(run).values()) == len(waiting | listed)
    assert {"withdrawn", "ended"} <= reasons(run).keys()


def test_an_imported_answer_to_a_retired_question_is_listed():
    run = begun()
    slip = open_of(run)[0]
    RecordedAnswer.objects.create(candidate=slip.candidate, question=slip.question, response="yes")
    type(slip.question).objects.filter(pk=slip.question_id).update(retired=db_clock.database_now())
    run.has_recorded, run.steps = True, slip.step
    question_choice._pass_over_retired(run)
    assert reasons(run) == {"retired": 1}
    assert not RecordedAnswer.objects.exists()


@pytest.mark.parametrize(
    ("annotation", "response"),
    [
        ({"was_cancelled": True, "result": []}, None),
        ({"result": []}, None),
        ({"result": [{"from_name": "answer", "value": {"choices": ["yes"]}}]}, "yes"),
        ({"result": [{"from_name": "remark", "value": {"text": ["a cat"]}}]}, ""),
        ({"result": [{"from_name": "answer", "value": {"brush": "…"}}]}, ""),
    ],
)
def test_an_annotation_that_cannot_be_read_is_no_skipped_task(annotation, response):
    assert news._answer(RunConnection(), 1, annotation).response == response
