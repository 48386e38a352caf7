"""The ledger: a call is stored before it is sent, and completed along with its answer.

So no call is forgotten, none is made twice for an assignment at the same time, and what is spent
and in flight together never exceeds a run's limit.
"""

import logging
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import DataError, transaction
from django.db.models import Max
from django.db.models.functions import Now

from selection import db_clock, wakeups
from selection.answers import recording, uncounted
from selection.db import bulk
from selection.db.related import attach_related
from selection.models import (
    Assignment,
    Candidate,
    Endpoint,
    ModelCall,
    ModelSpending,
    Question,
    Run,
)
from selection.models.model_workers import PROBLEM_LENGTH, REQUEST_ID_LENGTH

from .claims import (
    LEASE,
    Claim,
    is_running_low,
    lock_assignments,
    lock_claims,
    start_time,
    stop_time,
)
from .completions import Fault, Outcome
from .parsing import read_reply
from .prices import actual_cost, most_claim, most_cost
from .unreadable import NO_ANSWER, NOT_READABLE, classify, describe_response, pause_runs

logger = logging.getLogger(__name__)
State = ModelCall.State
# Errors about one value, after which each call is closed on its own.
VALUE_ERRORS = (DataError, ValueError, TypeError, OverflowError, RecursionError)
LOST = Outcome(0, Fault.SERVER, "The reply cannot be stored.", charged=True)
NO_ANSWERS: dict[str, str] = {
    ModelCall.Result.CUT: "The reply was cut off: raise the limit of output tokens.",
    ModelCall.Result.EMPTY: "The reply is empty.",
    ModelCall.Result.REFUSED: "The model, or a content filter of its server, refused to answer.",
}
MOST_TRIES = 3  # of replies that cannot be read, if the endpoint asks again
# The columns that the end of a call writes.
CLOSING = (
    *("state", "closed", "cost", "tokens_in", "tokens_out", "milliseconds", "request_id"),
    *("reply", "result", "answer", "problem"),
)


@dataclass(frozen=True)
class Closed:
    """Closed calls. settled: those after which nothing is to be asked again.

    outcomes  of the calls; a failure in place of a reply that cannot be used
    """

    settled: set[int]
    outcomes: Mapping[int, Outcome]


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
    trials: dict[int, dict[int, int]] = defaultdict(dict)
    for claim in claims:
        reserved = most_cost(claim.endpoint, claim.prompt.tokens)
        budget = spending[claim.run.pk]
        rest = math.inf if budget.limit is None else budget.limit - budget.spent
        if reserved > rest:
            too_dear.add(claim.assignment.candidate_id)
        if reserved > rest - budget.in_flight:
            continue
        if not _may_call(claim, reserved, budget, trials[budget.run_id]):
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


def _may_call(claim: Claim, reserved: int, budget: ModelSpending, trials: dict[int, int]) -> bool:
    """Permit the call, except of a model that must wait until its price, or another's, is known.

    Under a limit there is one call of each such model, and one model after another if all could
    together cost more than is left.

    trials  the most that each such call may cost, by model; the call is added
    """
    if budget.limit is None or not claim.endpoint.unproven:
        return True
    most, rest = most_claim(claim.endpoint, reserved), budget.limit - budget.spent
    together = sum(trials.values()) + most
    if claim.endpoint.pk in trials or (budget.in_flight and together > rest - budget.in_flight):
        return False
    trials[claim.endpoint.pk] = most
    return True


def reuse_replies(claims: Sequence[Claim]) -> set[int]:
    """Answer claims from equal earlier requests; return the ids of their assignments."""
    claims = [claim for claim in claims if claim.endpoint.reuses_replies]
    digests = {claim.prompt.digest for claim in claims}
    stored = ModelCall.objects.reusable().filter(digest__in=digests).order_by("id")
    replies = dict(stored.values_list("digest", "reply"))
    claims = [claim for claim in claims if claim.prompt.digest in replies]
    answers = {
        claim.assignment.pk: read_answer(
            claim.endpoint, claim.assignment.question, replies[claim.prompt.digest]
        )
        for claim in claims
    }
    if not claims:
        return set()
    reused = _answer_from(replies, answers, claims)
    pause_runs(ModelCall.objects.filter(assignment__id__among=[*reused]))
    return reused


@transaction.atomic
def _answer_from(
    replies: Mapping[str, str], read: Mapping[int, str | None], claims: Sequence[Claim]
) -> set[int]:
    """Answer the claims that were never called for from these replies, by digest.

    read  the answers that the replies give, by assignment
    """
    claims = lock_claims(claims)
    again = _count_attempts([claim.assignment.pk for claim in claims])
    now, calls, answers = db_clock.database_now(), [], []
    for claim in claims:
        if again.get(claim.assignment.pk):
            continue
        reply, answer = replies[claim.prompt.digest], read[claim.assignment.pk]
        calls.append(_build_call(claim, now, 0, 1))
        calls[-1].state, calls[-1].closed = State.REUSED, now
        calls[-1].reply, calls[-1].answer = reply, answer or ""
        calls[-1].result = classify(answer, reply, "")
        answers.append((claim.assignment, describe_response(answer, reply)))
    _store_calls(calls)
    _record_answers(answers)
    return {assignment.pk for assignment, _ in answers}


def close_calls(outcomes: Mapping[int, Outcome]) -> Closed:
    """Complete these calls, and record the answers that their replies give.

    Replies are read before the transaction, each on its own: one harms no other call. Calls of a
    worker without an endpoint by now, for example an erased one, wait for ``close_interrupted``.
    """
    outcomes, answers = _read_outcomes(outcomes)
    try:
        closed = Closed(_close_read(outcomes, answers), outcomes)
    except VALUE_ERRORS as error:
        logger.exception("The outcomes of %s calls cannot be stored.", len(outcomes))
        if len(outcomes) > 1:
            each = [close_calls({call: outcome}) for call, outcome in outcomes.items()]
            ends = {call: outcome for one in each for call, outcome in one.outcomes.items()}
            return Closed(set().union(*(one.settled for one in each)), ends)
        if LOST.problem in {outcome.problem for outcome in outcomes.values()}:
            raise error
        return close_calls(dict.fromkeys(outcomes, LOST))
    pause_runs(ModelCall.objects.filter(pk__among=[*outcomes]))
    return closed


def _read_outcomes(
    outcomes: Mapping[int, Outcome],
) -> tuple[dict[int, Outcome], dict[int, str | None]]:
    """Read the outcomes and the answers of their replies by call; a false claim is a failure."""
    rows = ModelCall.objects.filter(pk__among=[*outcomes]).order_by("id")
    calls = list(rows.only("worker", "question", "reserved"))
    attach_related(calls, "question")
    endpoints = Endpoint.objects.in_bulk({call.worker_id for call in calls})
    checked, answers = dict(outcomes), dict[int, str | None]()
    for call in calls:
        endpoint = endpoints.get(call.worker_id)
        if endpoint is not None:
            checked[call.pk] = outcome = check_claim(endpoint, outcomes[call.pk], call.reserved)
            if outcome.fault is None:
                answers[call.pk] = read_answer(endpoint, call.question, outcome.reply)
    return checked, answers


def check_claim(endpoint: Endpoint, outcome: Outcome, reserved: int) -> Outcome:
    """Make a reply a failure if its server claims more than can be believed."""
    claimed = actual_cost(endpoint, outcome, reserved)
    if outcome.fault is not None or claimed <= most_claim(endpoint, reserved):
        return outcome
    problem = (
        f"The server claims {outcome.tokens_in:,} input and {outcome.tokens_out:,} output tokens "
        "for one reply, far more than was reserved. Only the reservation was counted, and calls "
        "stop: check the bill, the server and the limit of output tokens."
    )
    return replace(outcome, fault=Fault.SETTINGS, problem=problem, charged=True)


@transaction.atomic
def _close_read(outcomes: Mapping[int, Outcome], read: Mapping[int, str | None]) -> set[int]:
    """Store the outcomes with their answers; return the settled calls."""
    open_states = (State.SENT, State.INTERRUPTED)
    rows = ModelCall.objects.filter(pk__among=[*outcomes], state__in=open_states).order_by("id")
    spending = _lock_spending(set(rows.order_by().values_list("run", flat=True)) - {None})
    now, answers, failed = db_clock.database_now(), [], list[int]()
    withdrawn: list[tuple[ModelCall, str]] = []
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
        claimed = actual_cost(endpoint, outcome, call.reserved)
        settle(call, spending.get(call.run_id or 0), claimed)
        response = _close_call(call, endpoint, outcome, read.get(call.pk), now)
        _learn(endpoint, outcome, claimed, call)
        if call.assignment is None or call.assignment_id not in present:
            if response is not None:
                withdrawn.append((call, response))
            continue
        if response is None:
            failed.append(call.assignment.pk)
        else:
            call.assignment.question = call.question  # the same row, read once
            answers.append((call.assignment, response))
    _store_ends(calls, CLOSING)
    ModelSpending.objects.bulk_update(spending.values(), ["spent", "in_flight"])
    _record_answers(answers)
    _note_withdrawn(withdrawn)
    stop_time(failed)
    return {call.pk for call in calls if call.assignment_id not in failed}


def _note_withdrawn(replies: Sequence[tuple[ModelCall, str]]) -> None:
    """Note replies to assignments that were withdrawn after their call counted as interrupted."""
    for call, response in replies:
        row = Candidate.objects.filter(run=call.run_id, worker=call.worker_id).first()
        if row is not None:
            place = (row.pk, call.question_id, response)
            uncounted.note_rows(row.run, uncounted.MODEL, [place])


def _learn(endpoint: Endpoint, outcome: Outcome, claimed: int, call: ModelCall) -> None:
    """Keep the price and the refused parameters that a reply shows of its server."""
    if outcome.fault is not None:
        return
    above = claimed if claimed > call.reserved else 0
    dearest = max(endpoint.dearest or 0, above)
    adjustments = endpoint.adjustments | dict(outcome.adjustments)
    if (dearest, adjustments) != (endpoint.dearest, endpoint.adjustments):
        endpoint.dearest, endpoint.adjustments = dearest, adjustments
        Endpoint.objects.filter(pk=endpoint.pk).update(dearest=dearest, adjustments=adjustments)


def renew_calls(calls: Iterable[int]) -> None:
    """Keep these calls in flight from being closed as lost."""
    expires = db_clock.database_now() + LEASE
    ModelCall.objects.in_flight().filter(pk__among=[*calls]).update(expires=expires)


@transaction.atomic
def close_interrupted() -> int:
    """Close calls whose process ended before their outcome; return their number.

    They may have been charged, so each costs what was reserved for it. They are called for again
    before any later question: nothing behind them counts.
    """
    now = db_clock.database_now()
    rows = ModelCall.objects.in_flight().filter(expires__lt=now).order_by("id")
    spending = _lock_spending(set(rows.values_list("run", flat=True)) - {None})
    calls = list(rows.select_for_update(of=("self",)))
    for call in calls:
        settle(call, spending.get(call.run_id or 0), call.reserved)
        call.state, call.closed = State.INTERRUPTED, now
        call.problem = "The program ended before the reply came. The call may have been charged."
    _store_ends(calls, ("state", "closed", "cost", "problem"))
    ModelSpending.objects.bulk_update(spending.values(), ["spent", "in_flight"])
    stop_time([call.assignment_id for call in calls if call.assignment_id is not None])
    return len(calls)


def _lock_spending(runs: set[int]) -> dict[int, ModelSpending]:
    """Lock the runs' spending by run, in one order, so that no two ever deadlock."""
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
        expires=now + LEASE,
        reserved=reserved,
    )


def settle(call: ModelCall, budget: ModelSpending | None, cost: int) -> None:
    """Move the call's cost from the money in flight to the money spent.

    Above the reservation, only as much as the run's limit leaves: no claim can exceed the limit.
    """
    if budget is not None:
        budget.in_flight -= call.reserved if call.state == State.SENT else 0
        if budget.limit is not None:
            rest = budget.limit - budget.spent - budget.in_flight + call.cost
            cost = min(cost, max(call.reserved, rest))
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


def _close_call(
    call: ModelCall, endpoint: Endpoint, outcome: Outcome, answer: str | None, now: datetime
) -> str | None:
    """Complete the call; return the response to record, or None if there is to be another call."""
    call.closed = now
    fill_call(call, outcome, answer)
    if outcome.fault is not None:
        # Of a model that has replied only this request is refused. Otherwise its settings are
        # likely to be wrong, which must not count against it.
        replied = ModelCall.objects.filter(worker=call.worker_id, state=State.REPLIED)
        refused = outcome.fault == Fault.REQUEST and replied.exists()
        return NOT_READABLE.format(outcome.problem) if refused else None
    if answer is None and endpoint.unreadable == Endpoint.Unreadable.RETRY:
        replies = ModelCall.objects.filter(assignment=call.assignment_id, state=State.REPLIED)
        if replies.count() < MOST_TRIES - 1:
            return None
    return describe_response(answer, outcome.reply or call.problem)


def fill_call(call: ModelCall, outcome: Outcome, answer: str | None) -> None:
    """Give the call the state, numbers and texts of its end."""
    call.milliseconds, call.request_id = (
        outcome.milliseconds,
        outcome.request_id[:REQUEST_ID_LENGTH],
    )
    call.problem = outcome.problem[:PROBLEM_LENGTH]
    call.tokens_in, call.tokens_out = outcome.tokens_in, outcome.tokens_out
    if outcome.fault is not None:
        call.state = State.INTERRUPTED if outcome.charged else State.FAILED
        return
    call.state, call.reply, call.answer = State.REPLIED, outcome.reply, answer or ""
    call.result = classify(answer, outcome.reply, outcome.finish)
    if answer is None:
        call.problem = call.problem or NO_ANSWERS.get(call.result, NO_ANSWER)


def read_answer(endpoint: Endpoint, question: Question, reply: str) -> str | None:
    return read_reply(endpoint.parsing, endpoint.pattern, question, reply)


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
    over = [row.pk for row, _ in answers if row.candidate.run.status not in taking]
    uncounted.note_answers(uncounted.Reason.ENDED, uncounted.MODEL, over)
    for _, responses in sorted(by_run.items()):
        run = responses[0][0].candidate.run
        with wakeups.silenced():
            recording.record_many(run, sorted(responses, key=lambda pair: pair[0].pk))
        present = {assignment.candidate_id for assignment, _ in responses}
        Candidate.objects.filter(pk__in=present).update(seen=Now())
        if is_running_low(run.pk):
            wakeups.request_step(run.pk)
