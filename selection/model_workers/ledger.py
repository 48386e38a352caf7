"""The ledger: a call is stored before it is sent, and completed along with its answer.

So no call is forgotten, none is made twice for an assignment at the same time, and what is spent
and in flight together never exceeds a run's limit.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now

from selection import db_clock, wakeups
from selection.answers import recording
from selection.db import bulk
from selection.db.related import attach_related
from selection.limits import LONGEST_RESPONSE
from selection.models import (
    Assignment,
    Candidate,
    Endpoint,
    ModelCall,
    ModelSpending,
    Question,
    Run,
)

from .claims import (
    MARGIN,
    Claim,
    is_running_low,
    lock_assignments,
    lock_claims,
    start_time,
    stop_time,
)
from .parsing import parse_reply
from .prices import actual_cost, most_cost
from .server_calls import Fault, Outcome
from .unreadable import NOT_READABLE, classify

State = ModelCall.State
MOST_TRIES = 3  # of replies that cannot be read, if the endpoint asks again
# The columns that the end of a call writes.
CLOSING = (
    "state",
    "closed",
    "cost",
    "tokens_in",
    "tokens_out",
    "milliseconds",
    "request_id",
    "reply",
    "result",
    "answer",
    "problem",
)


@transaction.atomic
def open_calls(claims: Sequence[Claim]) -> tuple[list[tuple[ModelCall, Claim]], set[int]]:
    """Store a call for each claim that can still be called for and that its run can afford.

    Return the calls with their claims, and the candidates of which no call can be afforded, also
    when nothing is in flight any more.
    """
    spending = _lock_spending({claim.run.pk for claim in claims})
    claims = lock_claims(claims)
    attempts = _count_attempts([claim.assignment.pk for claim in claims])
    now, too_dear, opened = db_clock.database_now(), set(), []
    for claim in claims:
        reserved = most_cost(claim.endpoint, claim.prompt.tokens)
        budget = spending[claim.run.pk]
        left = math.inf if budget.limit is None else budget.limit - budget.spent
        if reserved > left:
            too_dear.add(claim.assignment.candidate_id)
        if reserved > left - budget.in_flight:
            continue
        budget.in_flight += reserved
        attempt = attempts.get(claim.assignment.pk, 0) + 1
        opened.append((_build_call(claim, now, reserved, attempt), claim))
    _store_calls([call for call, _ in opened])
    sent = ModelCall.objects.in_flight().filter(
        assignment__id__among=[claim.assignment.pk for _, claim in opened]
    )
    keys = dict(sent.values_list("assignment", "pk"))
    for call, claim in opened:
        call.pk = keys[claim.assignment.pk]
    ModelSpending.objects.bulk_update(spending.values(), ["in_flight"])
    start_time(opened)
    return opened, too_dear


def reuse_replies(claims: Sequence[Claim]) -> set[int]:
    """Answer claims from equal earlier requests; return the ids of their assignments."""
    claims = [claim for claim in claims if claim.endpoint.reuses_replies]
    wanted = {claim.prompt.digest for claim in claims}
    stored = ModelCall.objects.reusable().filter(digest__in=wanted).order_by("id")
    replies = dict(stored.values_list("digest", "reply"))
    claims = [claim for claim in claims if claim.prompt.digest in replies]
    return _answer_from(replies, claims) if claims else set()


@transaction.atomic
def _answer_from(replies: Mapping[str, str], claims: Sequence[Claim]) -> set[int]:
    """Answer the claims that were never called for from these replies, by digest."""
    claims = lock_claims(claims)
    again = _count_attempts([claim.assignment.pk for claim in claims])
    now, calls, answers = db_clock.database_now(), [], []
    for claim in claims:
        if again.get(claim.assignment.pk):
            continue
        reply = replies[claim.prompt.digest]
        answer = _read_answer(claim.endpoint, claim.assignment.question, reply)
        calls.append(_build_call(claim, now, 0, 1))
        calls[-1].state, calls[-1].closed = State.REUSED, now
        calls[-1].reply, calls[-1].answer = reply, answer or ""
        calls[-1].result = classify(answer, reply, "")
        answers.append((claim.assignment, _response_of(answer, reply)))
    _store_calls(calls)
    _record_answers(answers)
    return {assignment.pk for assignment, _ in answers}


@transaction.atomic
def close_calls(outcomes: Mapping[int, Outcome]) -> set[int]:
    """Complete these calls, and record the answers that their replies give.

    Return the ids of the calls after which nothing is to be asked again. Calls of a worker without
    an endpoint by now, for example an erased one, wait for ``close_interrupted``.
    """
    open_states = (State.SENT, State.INTERRUPTED)
    rows = ModelCall.objects.filter(pk__among=[*outcomes], state__in=open_states).order_by("id")
    spending = _lock_spending(set(rows.order_by().values_list("run", flat=True)) - {None})
    now, answers, failed = db_clock.database_now(), [], list[int]()
    calls = list(rows)
    # A query for each table: joined, the few questions and runs would be read once for each call.
    candidates = attach_related(attach_related(calls, "assignment"), "candidate")
    attach_related(candidates, "run")
    attach_related(calls, "question")
    endpoints = Endpoint.objects.in_bulk({call.worker_id for call in calls})
    calls = [call for call in calls if call.worker_id in endpoints]
    present = lock_assignments(call.assignment_id for call in calls)
    for call in calls:
        outcome, endpoint = outcomes[call.pk], endpoints[call.worker_id]
        _settle(call, spending, actual_cost(endpoint, outcome, call.reserved))
        answer = _close_call(call, endpoint, outcome, now)
        if call.assignment is None or call.assignment_id not in present:
            continue
        if answer is None:
            failed.append(call.assignment.pk)
        else:
            call.assignment.question = call.question  # the same row, read once
            answers.append((call.assignment, answer))
    _store_ends(calls, CLOSING)
    ModelSpending.objects.bulk_update(spending.values(), ["spent", "in_flight"])
    _record_answers(answers)
    stop_time(failed)
    return {call.pk for call in calls if call.assignment_id not in failed}


@transaction.atomic
def close_interrupted() -> int:
    """Close calls whose process ended before their outcome; return their number.

    They may have been charged, so each costs what was reserved for it.
    """
    now = db_clock.database_now()
    rows = ModelCall.objects.in_flight().filter(expires__lt=now).order_by("id")
    spending = _lock_spending(set(rows.values_list("run", flat=True)) - {None})
    calls = list(rows.select_for_update(of=("self",)))
    for call in calls:
        _settle(call, spending, call.reserved)
        call.state, call.closed = State.INTERRUPTED, now
        call.problem = "The program ended before the reply came. The call may have been charged."
    _store_ends(calls, ("state", "closed", "cost", "problem"))
    ModelSpending.objects.bulk_update(spending.values(), ["spent", "in_flight"])
    stop_time([call.assignment_id for call in calls if call.assignment_id is not None])
    return len(calls)


def _lock_spending(runs: set[int]) -> dict[int, ModelSpending]:
    """Return the runs' spending by run, locked in one order, so that no two ever deadlock."""
    ModelSpending.objects.bulk_create(
        [ModelSpending(run_id=run) for run in sorted(runs)], ignore_conflicts=True
    )
    rows = ModelSpending.objects.select_for_update().filter(run__in=runs).order_by("run")
    return {row.run_id: row for row in rows}


def _count_attempts(assignments: Sequence[int]) -> dict[int, int]:
    rows = ModelCall.objects.filter(assignment__in=assignments).order_by()
    counts = rows.values_list("assignment").annotate(last=Max("attempt"))
    return {pk: last for pk, last in counts if pk is not None}


def _build_call(claim: Claim, now: datetime, reserved: int, attempt: int) -> ModelCall:
    assignment = claim.assignment
    return ModelCall(
        run_id=claim.run.pk,
        assignment_id=assignment.pk,
        worker_id=assignment.candidate.worker_id,
        question_id=assignment.question_id,
        digest=claim.prompt.digest,
        attempt=attempt,
        sent=now,
        expires=now + timedelta(seconds=claim.endpoint.timeout) + MARGIN,
        reserved=reserved,
    )


def _settle(call: ModelCall, spending: Mapping[int, ModelSpending], cost: int) -> None:
    """Move the call's cost from what is in flight to what is spent."""
    if call.run_id is not None:
        budget = spending[call.run_id]
        budget.in_flight -= call.reserved if call.state == State.SENT else 0
        budget.spent += cost - call.cost
    call.cost = cost


def _store_calls(calls: Sequence[ModelCall]) -> None:
    names = [field.attname for field in ModelCall._meta.concrete_fields if not field.primary_key]
    bulk.insert_rows(ModelCall, _columns_of(calls, names), {})


def _store_ends(calls: Sequence[ModelCall], names: Sequence[str]) -> None:
    bulk.update_rows(ModelCall, [call.pk for call in calls], _columns_of(calls, names))


def _columns_of(calls: Sequence[ModelCall], names: Sequence[str]) -> dict[str, Sequence[Any]]:
    columns: dict[str, Sequence[Any]] = {
        name: [getattr(call, name) for call in calls] for name in names
    }
    columns["state"] = [str(call.state) for call in calls]  # no enumeration: drivers want text
    return columns


def _close_call(call: ModelCall, endpoint: Endpoint, outcome: Outcome, now: datetime) -> str | None:
    """Complete the call; return the response to record, or None if there is to be another call."""
    call.closed, call.milliseconds = now, outcome.milliseconds
    call.request_id, call.problem = outcome.request_id, outcome.problem
    call.tokens_in, call.tokens_out = outcome.tokens_in, outcome.tokens_out
    if outcome.fault is not None:
        call.state = State.INTERRUPTED if outcome.charged else State.FAILED
        refused = outcome.fault == Fault.REQUEST and _has_replied(call)
        return NOT_READABLE.format(outcome.problem) if refused else None
    call.state, call.reply = State.REPLIED, outcome.reply
    answer = _read_answer(endpoint, call.question, outcome.reply)
    call.answer = answer or ""
    call.result = classify(answer, outcome.reply, outcome.finish)
    if answer is None:
        call.problem = _explain_no_answer(outcome)
        retry = endpoint.unreadable == Endpoint.Unreadable.RETRY
        if retry and _count_earlier_replies(call) < MOST_TRIES - 1:
            return None
    return _response_of(answer, outcome.reply or call.problem)


def _count_earlier_replies(call: ModelCall) -> int:
    return ModelCall.objects.filter(assignment=call.assignment_id, state=State.REPLIED).count()


def _has_replied(call: ModelCall) -> bool:
    """Return True if the model has replied before: so only this request is refused.

    Otherwise its settings are likely to be wrong, which must not count against it.
    """
    return ModelCall.objects.filter(worker=call.worker_id, state=State.REPLIED).exists()


def _explain_no_answer(outcome: Outcome) -> str:
    if outcome.finish == "content_filter":
        return "The server's content filter stopped the reply."
    if outcome.finish == "length":
        return "The reply was cut off: raise the limit of output tokens."
    if not outcome.reply.strip():
        return "The reply is empty."
    return "No answer could be read from the reply."


def _read_answer(endpoint: Endpoint, question: Question, reply: str) -> str | None:
    parsing, pattern = endpoint.parsing, endpoint.pattern
    return parse_reply(reply, parsing, pattern, question.choices, question.grading)


def _response_of(answer: str | None, reply: str) -> str:
    """Return the response to record; one that is not readable can match no accepted answer."""
    return NOT_READABLE.format(reply)[:LONGEST_RESPONSE] if answer is None else answer


def _record_answers(answers: Sequence[tuple[Assignment, str]]) -> None:
    """Record responses to assignments that are still open.

    The next step waits until all models that reply have answered: so a run does not depend on how
    fast each of them was, and repeating it asks the same.
    """
    by_run: dict[int, list[tuple[Assignment, str]]] = defaultdict(list)
    taking = (Run.Status.RUNNING, Run.Status.PAUSED)
    for assignment, response in answers:
        if assignment.candidate.run.status in taking:
            by_run[assignment.candidate.run_id].append((assignment, response))
    for _, responses in sorted(by_run.items()):
        run = responses[0][0].candidate.run
        with wakeups.silenced():
            recording.record_many(run, sorted(responses, key=lambda pair: pair[0].pk))
        present = {assignment.candidate_id for assignment, _ in responses}
        Candidate.objects.filter(pk__in=present).update(seen=Now())
        if is_running_low(run.pk):
            wakeups.request_step(run.pk)
