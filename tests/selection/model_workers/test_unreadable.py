"""Replies without an answer: counted apart, asked about, and never a normal selection."""

import html
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from selection import db_clock, engine, reports
from selection.admin.page import object_url
from selection.errors import Conflict, Refused
from selection.model_workers import ledger, parsing, unreadable
from selection.models import Answer, ApiToken, Candidate, Job, ModelCall, Run
from selection.outbox import jobs
from selection.runs import lifecycle, unreadable_models
from tests.model_stub import ModelStub
from tests.selection.api.conftest import Program
from tests.selection.model_workers.conftest import make_model_run
from tests.selection.model_workers.test_concurrency import read_claims
from tests.selection.model_workers.test_dispatcher import play

pytestmark = pytest.mark.django_db


def odd_reply(model: str, text: str) -> str:
    return {"m0": "yes", "m1": ""}.get(model, '{"answer": "no"}')


def plain_reply(model: str, text: str) -> str:
    return "yes" if model == "m0" else '{"answer": "no"}'


def paused_run(models: int = 4, **options: Any) -> Run:
    """Return a run that was paused for m0, which sends no JSON, and m1, which sends nothing.

    Without a limit until both have lost enough: the first to reach it would pause the other, too.
    """
    with pytest.MonkeyPatch.context() as patch, ModelStub(odd_reply) as server:
        patch.setattr(unreadable, "MOST_LOST", unreadable.FIRST)
        run = make_model_run(server.url, models=models, endpoint={"parsing": "json"}, **options)
        for _ in range(100):
            if lost_enough(run):
                break
            play(run, turns=5)
    unreadable.pause_runs(run.model_calls.all())
    run.refresh_from_db()
    return run


def lost_enough(run: Run) -> bool:
    answers = Answer.objects.filter(assignment__candidate__run=run)
    counts = [
        answers.filter(assignment__candidate__worker__key=key).count() for key in ("w0", "w1")
    ]
    return min(counts) > unreadable.FIRST


def test_run_pauses_if_a_model_loses_more_than_a_fifth_of_its_first_replies() -> None:
    with ModelStub(plain_reply) as server:
        run = make_model_run(server.url, models=3, endpoint={"parsing": "json"})
        play(run, turns=100)
    run.refresh_from_db()
    assert run.status == Run.Status.PAUSED
    assert unreadable.list_asking(run) == ["w0"]


def test_unreadable_replies_are_counted_by_model() -> None:
    run = paused_run()
    assert unreadable.list_asking(run) == ["w0", "w1"]
    rows = {row.worker: row for row in unreadable.count_replies(run)}
    assert rows["w0"].unreadable == rows["w0"].replies > 2
    assert rows["w1"].empty == rows["w1"].replies > 2
    assert "max_tokens" in rows["w1"].advice
    assert rows["w2"].lost == 0
    assert rows["w2"].right + rows["w2"].wrong == rows["w2"].replies
    with pytest.raises(Conflict, match="Decide first"):
        lifecycle.resume_run(run)
    assert [alert.kind for alert in reports.list_alerts(run)] == ["unreadable"]


def test_stored_replies_are_read_again_without_a_call() -> None:
    run = paused_run()
    calls = run.model_calls.count()
    with pytest.raises(Refused, match="pattern"):
        unreadable_models.settle(run, "reread", "regex")
    unreadable_models.settle(run, "reread", "auto", who="mara")
    assert run.model_calls.count() == calls
    rows = {row.worker: row for row in unreadable.count_replies(run)}
    assert rows["w0"].lost == 0
    assert (
        rows["w0"].right
        == Answer.objects.filter(assignment__candidate__worker__key="w0", right=True).count()
        > 0
    )
    assert unreadable.list_asking(run) == ["w1"]
    assert run.status == Run.Status.PAUSED
    assert "read again" in run.events.filter(kind="regrade").get().what
    unreadable_models.settle(run, "set aside")
    assert run.status == Run.Status.RUNNING
    assert run.candidates.get(worker__key="w1").gone == Candidate.Gone.WITHDRAWN


def test_selection_with_lost_replies_reads_as_weakened() -> None:
    run = paused_run()
    unreadable_models.settle(run, "wrong")
    assert run.status == Run.Status.RUNNING
    lifecycle.stop_run(run)
    run.refresh_from_db()
    status = reports.guarantee_of_run(run)
    assert status.verdict in ("weakened", "none")
    assert "“w1”: the model may spend its tokens on thoughts" in " ".join(
        reason.sentence for reason in status.weakenings
    )
    with pytest.raises(Conflict, match="No model"):
        unreadable_models.settle(run, "wrong")


def test_models_are_not_set_aside_if_too_few_would_remain() -> None:
    run = paused_run(models=3, k=2)
    with pytest.raises(Refused, match="nothing to choose from"):
        unreadable_models.settle(run, "set aside")


def test_reused_replies_without_an_answer_pause_a_run_too(monkeypatch: Any) -> None:
    monkeypatch.setattr(unreadable, "MOST_LOST", 0)
    run = make_model_run("http://127.0.0.1:9/v1", models=2, k=1, endpoint={"parsing": "json"})
    engine.advance(run.pk)
    [claim] = read_claims(1)
    now = db_clock.database_now()
    ModelCall.objects.create(
        worker=claim.assignment.candidate.worker,
        question=claim.assignment.question,
        digest=claim.prompt.digest,
        state=ModelCall.State.REPLIED,
        sent=now,
        expires=now,
        reply="yes",
        answer="yes",
    )
    assert ledger.reuse_replies([claim]) == {claim.assignment.pk}
    run.refresh_from_db()
    assert run.status == Run.Status.PAUSED


def test_reading_again_leaves_out_a_reply_that_no_rule_has_foreseen(monkeypatch: Any) -> None:
    run = paused_run()

    def fail(*_: Any) -> None:
        raise RecursionError

    monkeypatch.setattr(parsing, "parse_reply", fail)
    assert ": 0 give an answer." in unreadable_models.settle(run, "reread", "auto")


@pytest.mark.parametrize(
    ("answer", "reply", "finish", "result"),
    [
        ("yes", "yes", "length", ModelCall.Result.READ),
        (None, "", "stop", ModelCall.Result.EMPTY),
        (None, "Well, let", "length", ModelCall.Result.CUT),
        (None, "I'm sorry, but I can't help with that.", "stop", ModelCall.Result.REFUSED),
        (None, "Maybe.", "content_filter", ModelCall.Result.REFUSED),
        (None, "Maybe.", "stop", ModelCall.Result.UNREADABLE),
    ],
)
def test_reply_is_classified(answer: str | None, reply: str, finish: str, result: str) -> None:
    assert unreadable.classify(answer, reply, finish) == result


def test_page_and_api_hand_the_reading_of_replies_to_a_job(requester: Client) -> None:
    run = paused_run()
    run.refresh_from_db()
    program, address = Program(ApiToken.issue("manager")), f"runs/{run.pk}/replies"
    wrong = {"action": "reread", "parsing": "regex", "pattern": "("}
    assert program.post(address, wrong).status_code == 422
    accepted = program.post(address, {"action": "reread"})
    assert accepted.status_code == 202
    page = object_url(run)
    assert "stored replies are being read again" in requester.get(page).text
    jobs.work_on_job(accepted.json()["id"])
    state = program.client.get(accepted["Location"]).json()
    assert (state["state"], "by the rule “auto”" in state["result"]["message"]) == ("done", True)
    assert state["result"]["message"] in html.unescape(requester.get(page).text)
    requester.post(reverse("admin:selection_run_calls", args=[run.pk]), wrong | {"way": "reread"})
    assert Job.objects.count() == 1
    rule = {"way": "reread", "parsing": "last line"}
    requester.post(reverse("admin:selection_run_calls", args=[run.pk]), rule)
    assert Job.objects.filter(kind="reread", wanted__parsing="last line").exists()
