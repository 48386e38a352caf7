"""Models that never reply: after a few failures a run sets them aside, as workers who never came.

Nothing was seen of them, so the guarantee covers the others (absence.md of topk). A member takes
them back as any worker who is gone.
"""

from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from selection import db_clock
from selection.errors import Refused
from selection.history import events
from selection.models import Candidate, Endpoint, ModelCall, Run
from selection.texts import counted

from .membership import drop_workers

MOST_FAILURES = 3
LASTING = timedelta(minutes=1)  # a longer rest follows a failure that somebody has to mend


def sweep_failing() -> list[int]:
    """Set failing models of all running runs aside; return the ids of the changed runs."""
    running = Run.objects.running().filter(recorded_only=False)
    failing = Endpoint.objects.filter(worker__candidates__run=OuterRef("pk")).exclude(problem="")
    return [run.pk for run in running.filter(Exists(failing)) if set_aside_failing(run)]


@transaction.atomic
def set_aside_failing(run: Run) -> dict[str, str]:
    """Set aside the models that never replied in the run; return their problems by worker.

    Nobody is set aside before another model has replied, nor if there were no choice without them.
    """
    locked = Run.objects.locked(run.pk, wait=False)
    if (
        locked is None
        or locked.status != Run.Status.RUNNING
        or not locked.model_calls.replied().exists()
    ):
        return {}
    rows = list(list_failing(locked).select_related("worker__endpoint"))
    rest = locked.candidates.filter(gone="", skill=0).count() - len({row.worker_id for row in rows})
    if not rows or rest <= max(skill.k for skill in locked.skills):
        return {}
    problems = {row.worker.key: row.worker.endpoint.problem for row in rows}
    drop_workers(locked, sorted({row.worker_id for row in rows}), Candidate.Gone.ABSENT)
    text = "; ".join(f"“{key}” ({problem})" for key, problem in problems.items())
    events.write_event(locked, "absent", f"Set aside, because they never replied: {text}.")
    return problems


def refuse_without_choice(run: Run) -> None:
    """Raise Refused if no model replies, or too few to choose from, and waiting is no use."""
    rows = list(list_failing(run).select_related("worker__endpoint"))
    rest = run.candidates.filter(gone="", skill=0).count() - len(rows)
    if rows and not rest:
        raise Refused(f"No model replies. “{rows[0].worker}”: {rows[0].worker.endpoint.problem}")
    if rows and rest <= max(skill.k for skill in run.skills) and run.model_calls.replied().exists():
        text = "; ".join(f"“{row.worker}”: {row.worker.endpoint.problem}" for row in rows[:3])
        raise Refused(
            f"{len(rows)} of {counted(rest + len(rows), 'model')} never replied, so there is "
            f"nothing to choose from. {text}"
        )


def list_failing(run: Run) -> QuerySet[Candidate]:
    """List the candidates of models that failed a few times, or for long, and never replied."""
    lasting = Q(worker__endpoint__rests_until__gt=db_clock.database_now() + LASTING)
    replied = ModelCall.objects.replied().filter(run=run, worker=OuterRef("worker"))
    rows = run.candidates.filter(
        lasting | Q(worker__endpoint__failures__gte=MOST_FAILURES), gone="", pulls=0, asked__gt=0
    )
    return rows.exclude(Exists(replied)).exclude(worker__endpoint__problem="").order_by("arm")
