"""The money that a run spends on calls: read, limited, forecast."""

from collections.abc import Collection
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet

from selection import audit, db_clock, wakeups
from selection.errors import Conflict, Refused
from selection.facts import Facts
from selection.models import Candidate, Endpoint, ModelSpending, Run

from .adjustments import describe_server
from .claims import is_running_low
from .prices import to_amount, to_nano

PASSING = timedelta(seconds=10)  # a shorter rest is no matter for a person
MOST_LIMIT = Decimal(99_999_999)


def describe_spending(run: Run, counted: int, needed: int | None) -> Facts:
    """Describe the run's spending, with its mean cost per counted answer for those still needed.

    counted  number of counted answers; ``needed`` the forecast number of further ones
    """
    row = _find_spending(run)
    forecast = None
    if row.spent and counted and needed is not None:
        forecast = to_amount(row.spent * needed // counted)
    return Facts(
        spent=to_amount(row.spent),
        in_flight=to_amount(row.in_flight),
        limit=_amount_or_none(row.limit),
        forecast=forecast,
    )


def read_limit(run: Run) -> Decimal | None:
    return _amount_or_none(_find_spending(run).limit)


def _find_spending(run: Run) -> ModelSpending:
    return ModelSpending.objects.filter(run=run).first() or ModelSpending(run=run)


def _amount_or_none(nano: int | None) -> Decimal | None:
    return None if nano is None else to_amount(nano)


@transaction.atomic
def set_limit(run: Run, limit: Decimal | None) -> None:
    """Limit the run's spending on calls; None removes the limit.

    Calls in flight go on; below what is spent, no further call is made. Models that were too dear
    are asked again if they are not now. Raises Conflict for a run
    that has ended.
    """
    if run.status == Run.Status.ENDED:
        raise Conflict(f"The run “{run}” has ended: no more calls are made.")
    if limit is not None and not 0 <= limit <= MOST_LIMIT:
        raise Refused(f"The limit is between 0 and {MOST_LIMIT:,}, or empty for no limit.")
    ModelSpending.objects.get_or_create(run=run)
    row = ModelSpending.objects.select_for_update().get(run=run)
    before = None if row.limit is None else float(to_amount(row.limit))
    row.limit = None if limit is None else to_nano(limit)
    ModelSpending.objects.filter(pk=row.pk).update(limit=row.limit)
    after = None if limit is None else float(limit)
    if before != after:
        if forget_unaffordable(run.candidates.all()):
            wakeups.request_step(run.pk)
        audit.record_entry(
            "changed", run, before={"cost_limit": before}, after={"cost_limit": after}
        )


def mark_unaffordable(candidates: Collection[int]) -> None:
    """Ask these models nothing more: the next step deals to others, or ends the run."""
    rows = Candidate.objects.filter(pk__in=candidates)
    rows.update(unaffordable=True)
    for run in set(rows.values_list("run", flat=True)):
        if is_running_low(run):
            wakeups.request_step(run)


def forget_unaffordable(candidates: QuerySet[Candidate]) -> int:
    """Let these models be asked again, until a call proves too dear; return how many could not."""
    return candidates.filter(unaffordable=True).update(unaffordable=False)


def with_models() -> "ExpressionWrapper[Any]":
    """Annotate runs ``with_models``: True if models take part.

    In a draft they do if its pool has any.
    """
    chosen = Exists(Endpoint.objects.filter(worker__candidates__run=OuterRef("pk")))
    offered = Exists(Endpoint.objects.filter(worker__pool=OuterRef("pool")))
    condition = Q(chosen) | Q(Q(status=Run.Status.DRAFT) & Q(offered))
    return ExpressionWrapper(condition, BooleanField())


def has_models(run: Run) -> bool:
    """Tell if models take part in the run; without a query if the run was annotated."""
    noted = run.__dict__.get("with_models")
    return Run.objects.filter(with_models(), pk=run.pk).exists() if noted is None else bool(noted)


def failing_endpoints(run: Run) -> list[Endpoint]:
    """List the run's models that do not reply, by worker; one or two failures may pass."""
    if run.__dict__.get("with_models") is False:
        return []
    passing = {"failures__in": (1, 2), "rests_until__lt": db_clock.database_now() + PASSING}
    rows = Endpoint.objects.filter(worker__candidates__run=run.pk, worker__candidates__gone="")
    rows = rows.exclude(problem="").exclude(**passing).select_related("worker", "server")
    return list(rows.order_by("worker__key").distinct())


def list_notices(run: Run) -> dict[str, list[str]]:
    """List the deviations of the models' servers from requests, each with the workers."""
    if run.__dict__.get("with_models") is False:
        return {}
    rows = Endpoint.objects.filter(~Q(adjustments={}) | Q(dearest__gt=0))
    rows = rows.filter(worker__candidates__run=run.pk).select_related("worker")
    notices: dict[str, list[str]] = {}
    for endpoint in rows.order_by("worker__key").distinct():
        notices.setdefault(describe_server(endpoint), []).append(str(endpoint.worker))
    return notices
