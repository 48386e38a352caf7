"""Models that never reply, or reply no more: after some failures a run sets them aside.

If nothing was seen of them, or the algorithm allows for it, the guarantee covers the others
(absence.md of topk). Until then the run waits for them (``engine.model_pace``). A member takes
them back as any worker who is gone.
"""

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from selection import db_clock
from selection.engine.model_pace import LONG_REST, MANY_FAILURES
from selection.history import events
from selection.models import Candidate, Endpoint, ModelCall, Run

from .membership import drop_workers

MOST_FAILURES = 3


def sweep_failing(*runs: int) -> list[int]:
    """Set failing models of these running runs aside, or of all; return ids of the changed runs."""
    running = Run.objects.running().filter(recorded_only=False)
    running = running.filter(pk__in=runs) if runs else running
    failing = Endpoint.objects.filter(worker__candidates__run=OuterRef("pk")).exclude(problem="")
    return [run.pk for run in running.filter(Exists(failing)) if set_aside_failing(run)]


@transaction.atomic
def set_aside_failing(run: Run) -> dict[str, str]:
    """Set aside models that never replied in the run, or no more; return their problems by worker.

    Nobody is set aside before another model has replied, nor if there were no choice without them.
    """
    locked = Run.objects.locked(run.pk, wait=False)
    if (
        locked is None
        or locked.status != Run.Status.RUNNING
        or not locked.model_calls.replied().exists()
    ):
        return {}
    silent = _set_aside(locked, list_failing(locked), Candidate.Gone.ABSENT, "never replied")
    if not locked.covers_withdrawal:
        return silent
    return silent | _set_aside(locked, _list_stopped(locked), Candidate.Gone.LEFT, "reply no more")


def _set_aside(
    run: Run, failing: QuerySet[Candidate], reason: Candidate.Gone, what: str
) -> dict[str, str]:
    rows = list(failing.select_related("worker__endpoint"))
    rest = run.candidates.filter(gone="", skill=0).count() - len({row.worker_id for row in rows})
    if not rows or rest <= max(skill.k for skill in run.skills):
        return {}
    problems = {row.worker.key: row.worker.endpoint.problem for row in rows}
    drop_workers(run, sorted({row.worker_id for row in rows}), reason)
    text = "; ".join(f"“{key}” ({problem})" for key, problem in problems.items())
    events.write_event(run, "absent", f"Set aside, because they {what}: {text}.")
    return problems


def list_failing(run: Run) -> QuerySet[Candidate]:
    """List the candidates of models that failed a few times, or for long, and never replied."""
    replied = ModelCall.objects.replied().filter(run=run, worker=OuterRef("worker"))
    lasting = Q(worker__endpoint__rests_until__gt=db_clock.database_now() + LONG_REST)
    failing = lasting | Q(worker__endpoint__failures__gte=MOST_FAILURES)
    return _list_with_problem(run, failing).filter(pulls=0).exclude(Exists(replied))


def _list_stopped(run: Run) -> QuerySet[Candidate]:
    """List the candidates of models that replied, and failed many times in a row since."""
    return _list_with_problem(run, Q(worker__endpoint__failures__gte=MANY_FAILURES))


def _list_with_problem(run: Run, failing: Q) -> QuerySet[Candidate]:
    rows = run.candidates.filter(failing, gone="", asked__gt=0)
    return rows.exclude(worker__endpoint__problem="").order_by("arm")
