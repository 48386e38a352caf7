"""Open assignments of models: claims to call for them, their locks, their time to answer."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Now

from selection.models import Answer, Assignment, Endpoint, ModelCall, Run

from .prompts import Prompt

# After its timeout, a call has this long to be written down.
MARGIN = timedelta(seconds=30)
# A process renews its calls in flight; without it they are lost after this time.
LEASE = timedelta(seconds=60)
RESERVE = 1 / 8  # of the calls in flight: assignments that wait for one to end


@dataclass(frozen=True)
class Claim:
    """An assignment to call a model for. assignment: with candidate, run, question, endpoint."""

    assignment: Assignment
    prompt: Prompt

    @property
    def endpoint(self) -> Endpoint:
        return self.assignment.candidate.worker.endpoint

    @property
    def run(self) -> Run:
        return self.assignment.candidate.run


def list_uncalled() -> QuerySet[Assignment]:
    """List the assignments of running runs that a call may be made for: none is in flight.

    A model that has not answered yet in the run is called for its first question alone: so a broken
    one costs little, and all show at once whether they reply, readably and at which price.
    """
    answered = Exists(Answer.objects.filter(assignment__candidate=OuterRef("candidate")))
    first = Q(position=0) | Q(candidate__pulls__gt=0) | answered
    return _list_idle().filter(
        first,
        candidate__run__status=Run.Status.RUNNING,
        candidate__run__recorded_only=False,
        candidate__gone="",
        candidate__unaffordable=False,
    )


def trial_condition() -> Q:
    """Select models that wait for their first reply under a limit."""
    calls = ModelCall.objects.in_flight().filter(
        worker=OuterRef("candidate__worker"), run=OuterRef("candidate__run")
    )
    endpoint = "candidate__worker__endpoint__"
    unproven = Q(**{f"{endpoint}dearest": None, "candidate__run__spending__limit__isnull": False})
    priced = Q(**{f"{endpoint}price_in__gt": 0}) | Q(**{f"{endpoint}price_out__gt": 0})
    return unproven & priced & Q(Exists(calls))


def is_running_low(run_id: int) -> bool:
    """Tell if few assignments wait to be called for, compared with the calls in flight.

    Then a step deals more, so that a few slow replies do not leave the servers idle.
    """
    replying = {"candidate__run": run_id, "candidate__worker__endpoint__problem": ""}
    in_flight = ModelCall.objects.in_flight().filter(run=run_id).count()
    return list_uncalled().filter(**replying).count() <= RESERVE * in_flight


def lock_claims(claims: Sequence[Claim]) -> list[Claim]:
    """Lock the assignments of claims, and keep the claims that can still be called for.

    Since they were read, another process may have called for them, or withdrawn them, or a run may
    have been paused or ended. One that another process holds now is left to it.
    """
    rows = list_uncalled().exclude(trial_condition())
    rows = rows.filter(pk__among=[claim.assignment.pk for claim in claims]).order_by()
    locked = rows.select_for_update(of=("self",), skip_locked=True)
    callable_now = set(locked.values_list("pk", flat=True))
    return [claim for claim in claims if claim.assignment.pk in callable_now]


def lock_assignments(assignments: Iterable[int | None]) -> set[int]:
    """Lock the assignments that still exist against a withdrawal.

    Those of a call that counted as interrupted may be withdrawn at this moment.
    """
    rows = Assignment.objects.filter(pk__among=[pk for pk in assignments if pk is not None])
    return set(rows.order_by("pk").select_for_update().values_list("pk", flat=True))


def start_time(opened: Sequence[tuple[ModelCall, Claim]]) -> None:
    """Mark the assignments as shown, so that they are not withdrawn while a call is in flight.

    They become due after their call must have ended, so that none lapses meanwhile.
    """
    by_due: dict[datetime, list[int]] = defaultdict(list)
    for call, claim in opened:
        end = call.sent + timedelta(seconds=claim.endpoint.timeout) + MARGIN
        due = max(end + LEASE, call.sent + timedelta(minutes=claim.run.minutes))
        by_due[due].append(claim.assignment.pk)
    for due, assignments in by_due.items():
        start = Case(When(shown=None, then=Now()), default=F("shown"))
        Assignment.objects.filter(pk__among=assignments).update(shown=start, due=Value(due))


def stop_time(assignments: Sequence[int]) -> None:
    """Mark the assignments as unseen: an unreachable model is absent, not wrong."""
    _list_idle().filter(pk__in=assignments).update(shown=None, due=None)


def _list_idle() -> QuerySet[Assignment]:
    calls = ModelCall.objects.in_flight().filter(assignment=OuterRef("pk"))
    return Assignment.objects.open().exclude(Exists(calls))
