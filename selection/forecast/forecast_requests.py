"""Forecasts as jobs: requested, refined by Celery, cancelled, swept. Stored in the database only.

The first numbers of a small table are made at once, in the request; a large one has no rows until a
Celery worker has made some. The rest is handed out part by part (``parts``); the sweep hands out
lost parts again. Models may not import forecasts, so the numbers of a ``ForecastRequest`` are read
here: ``forecast_rows``, ``forecast_curves``, ``forecast_no_shows``, ``forecast_progress``.
"""

import logging
from dataclasses import asdict
from datetime import datetime, timedelta
from statistics import mean
from time import thread_time
from typing import Any

from django.db import transaction
from django.db.models import Case, Q, QuerySet, When

from selection import db_clock
from selection.errors import NotFound, Refused
from selection.models import ForecastPart, ForecastRequest, default_team
from selection.outbox.celery_messages import AWAITED, COMPLETING
from selection.outbox.queues import WorkQueue

from . import curves, inputs, no_shows, parts
from .beliefs import Belief
from .candidates import suitable_contenders
from .plan import Plan
from .refining import first_round
from .rows import Forecast, SimulationLedger, build_row, forecast_table

logger = logging.getLogger(__name__)

FIRST = 0.5  # seconds for the first numbers
KEPT = timedelta(days=7)  # since the last use
NOTED = timedelta(seconds=15)  # uses closer to each other are not recorded
# A page asks again every few seconds. Without a look for so long its forecast is abandoned: work
# on it stops until the next look.
ABANDONED = timedelta(seconds=60)
PROGRAM = "token "  # begins ``by`` of a program
MOST_TRIES = 50  # to take a part, while other processes take them

State = ForecastRequest.State
QUEUE = WorkQueue(
    *(ForecastPart, "selection.tasks.forecast", Q(finished=False)),
    lost=timedelta(seconds=120),
    message=("pk", "runs"),
    columns={"taken": None},
)


# -- requesting


def request_forecast(
    plan: Plan, belief: Belief, by: str = "", team: int | None = None
) -> ForecastRequest:
    """Request the forecast of this plan and hand out its simulations.

    It has first numbers already if that is quick (``Plan.is_quick``); else it has no rows yet.

    team  the id of the team that may see it; None: the first

    A second request for the same plan returns the same row, and resumes one that was cancelled or
    failed. Raises Refused if no algorithm can be run on this plan.
    """
    team_id, now = team or default_team(), db_clock.database_now()
    key = inputs.forecast_key(plan, belief, team_id)
    columns = {
        "team_id": team_id,
        "wanted": asdict(plan),
        "belief": inputs.belief_to_numbers(belief),
        "by": by,
    }
    columns["used"] = now
    planning = ForecastRequest.objects.filter(key=key).first()
    if planning is None:
        ledgers = [SimulationLedger(contender) for contender in suitable_contenders(plan)]
        if plan.is_quick:
            first_round(ledgers, belief, thread_time() + FIRST)
        planning = _store_forecast(key, columns, ledgers)
    elif planning.state in (State.CANCELLED, State.FAILED):
        _change_state(planning, State.WAITING)
    touch_forecast(planning, now)
    if planning.going:
        transaction.on_commit(lambda: _hand_out(planning.parts.filter(finished=False)), robust=True)
    return planning


@transaction.atomic
def _store_forecast(
    key: str, columns: dict[str, Any], ledgers: list[SimulationLedger]
) -> ForecastRequest:
    planning, created = ForecastRequest.objects.get_or_create(key=key, defaults=columns)
    if created:
        _add_parts(planning, [("", 0, ledger) for ledger in ledgers])
    return planning


def _add_parts(
    planning: ForecastRequest, points: list[tuple[str, float, SimulationLedger]]
) -> None:
    first = planning.parts.count()
    ForecastPart.objects.bulk_create(
        ForecastPart(
            planning=planning,
            number=number,
            curve=curve,
            at=at,
            algorithm=ledger.contender.name,
            options=ledger.contender.options,
            **parts.ledger_columns(ledger),
        )
        for number, (curve, at, ledger) in enumerate(points, first)
    )


def cancel_forecast(planning: ForecastRequest) -> ForecastRequest:
    """Stop refining the forecast and keep its results. No effect once finished."""
    if planning.going:
        _change_state(planning, State.CANCELLED)
    return planning


def touch_forecast(planning: ForecastRequest, now: datetime | None = None) -> None:
    now = now or db_clock.database_now()
    if planning.used < now - NOTED:
        ForecastRequest.objects.filter(pk=planning.pk).update(used=now)
    if planning.going and _is_abandoned(planning, now):
        _hand_out(planning.parts.filter(finished=False))


def _is_abandoned(planning: ForecastRequest, now: datetime) -> bool:
    """Tell if a person asked for the forecast and its page is closed."""
    return not planning.by.startswith(PROGRAM) and planning.used < now - ABANDONED


def _change_state(planning: ForecastRequest, state: State, error: str = "") -> None:
    planning.state, planning.error = state, error[:300]
    planning.save(update_fields=["state", "error"])


# -- reading


def find_forecast(pk: int, among: QuerySet[ForecastRequest]) -> ForecastRequest:
    planning = among.filter(pk=pk).first()
    if planning is None:
        raise NotFound("There is no such forecast any more; order it again.")
    return planning


def stored_plan(planning: ForecastRequest) -> Plan:
    return Plan(**planning.wanted)


def stored_belief(planning: ForecastRequest) -> Belief:
    return inputs.belief_from_numbers(planning.belief)


def forecast_rows(planning: ForecastRequest) -> list[Forecast]:
    """Read the present table, the recommended algorithm first; empty until there are numbers."""
    plan = stored_plan(planning)
    row_parts = planning.parts.filter(curve="")
    return forecast_table(plan, [parts.read_ledger(part, plan) for part in row_parts])


def forecast_progress(planning: ForecastRequest) -> float:
    if planning.state == State.DONE:
        return 1.0
    all_parts = list(planning.parts.defer("plays"))
    of_rows = [parts.share_done(part) for part in all_parts if not part.curve]
    of_points = [parts.share_done(part) for part in all_parts if part.curve] or [0.0]
    return round((2 * mean(of_rows) + mean(of_points)) / 3, 3)


def forecast_curves(planning: ForecastRequest) -> dict[str, list[dict[str, Any]]]:
    """Read the costs of the table's first algorithms for other ε and other K, simulated so far.

    "epsilon" and "k": lists of points, in rising order of ``at``, the value of ε or K: ``answers``
    as (low, median, high), ``cost`` likewise or None, ``feasible``, ``algorithm``, ``title``.
    """
    plan = stored_plan(planning)
    simulated = planning.parts.filter(runs__gt=0).exclude(curve=no_shows.CURVE)
    return curves.curve_points(plan, [(part, parts.read_ledger(part, plan)) for part in simulated])


def forecast_no_shows(planning: ForecastRequest) -> dict[tuple[str, str], Forecast]:
    plan = stored_plan(planning)
    simulated = planning.parts.filter(runs__gt=0, curve=no_shows.CURVE)
    ledgers = [parts.read_ledger(part, plan) for part in simulated]
    rows = [build_row(ledger.contender.plan, ledger) for ledger in ledgers]
    return {(row.algorithm, row.title): row for row in rows}


# -- working


def work_on_part(part_id: int, runs: int) -> None:
    """Simulate a piece of the newest forecast's rows, and hand out its next one.

    A message means that a piece waits: of this part, unless a newer forecast waits as well, whose
    message comes later. It may come twice, late or never.

    runs  that the part had when this was handed out
    """
    part = _take_newest(part_id, runs)
    if part is None:
        return
    planning = part.planning
    if planning.state == State.WAITING:
        ForecastRequest.objects.filter(pk=planning.pk, state=State.WAITING).update(
            state=State.WORKING
        )
    try:
        is_finished = part.finished or parts.simulate_part(
            part, stored_plan(planning), stored_belief(planning)
        )
    except Exception as error:
        logger.exception("Part %s of forecast %s failed.", part.pk, planning.pk)
        _fail_forecast(planning, part, error)
        return
    if is_finished:
        _start_next_parts(planning)
    elif is_finished is not None:
        _hand_out(ForecastPart.objects.filter(pk=part.pk))


def _take_newest(part_id: int, runs: int) -> ForecastPart | None:
    """Take the newest waiting part to work on; None if there is none that anybody awaits.

    Rows come before curves, and newer forecasts before older ones.
    """
    now = db_clock.database_now()
    looked_at = Q(planning__by__startswith=PROGRAM) | Q(planning__used__gte=now - ABANDONED)
    going = Q(planning__state__in=(State.WAITING, State.WORKING), finished=False, taken=None)
    own = Case(When(pk=part_id, runs=runs, then=0), default=1)
    of_curve = Case(When(curve="", then=0), default=1)
    rows = ForecastPart.objects.filter(looked_at, going).select_related("planning")
    for part in rows.order_by(of_curve, "-planning__created", own, "number")[:MOST_TRIES]:
        if ForecastPart.objects.filter(pk=part.pk, taken=None).update(taken=now, sent=now):
            return part
    return None


def _fail_forecast(planning: ForecastRequest, part: ForecastPart, error: Exception) -> None:
    reason = str(error).splitlines()[0] if isinstance(error, Refused) else type(error).__name__
    _change_state(planning, State.FAILED, f"Simulating {part.algorithm} failed: {reason}.")


@transaction.atomic
def _start_next_parts(planning: ForecastRequest) -> None:
    """Start no-shows and curves after the last row, or end the forecast after the last point."""
    locked = ForecastRequest.objects.select_for_update().get(pk=planning.pk)
    if not locked.going or locked.parts.filter(finished=False).exists():
        return
    if locked.parts.exclude(curve="").exists():
        _change_state(locked, State.DONE)
        return
    plan, rows = stored_plan(locked), forecast_rows(locked)
    points = no_shows.points_to_simulate(plan, rows) + curves.points_to_simulate(plan, rows)
    _add_parts(
        locked,
        [(curve, at, SimulationLedger(contender)) for curve, at, contender in points],
    )
    transaction.on_commit(lambda: _hand_out(locked.parts.filter(finished=False)), robust=True)


def _hand_out(open_parts: QuerySet[ForecastPart]) -> None:
    QUEUE.hand_out(open_parts.filter(curve=""), AWAITED)
    QUEUE.hand_out(open_parts.exclude(curve=""), COMPLETING)


def sweep_forecasts() -> None:
    now = db_clock.database_now()
    ForecastRequest.objects.filter(used__lt=now - KEPT).delete()
    going = ForecastRequest.objects.filter(state__in=(State.WAITING, State.WORKING))
    awaited = [planning for planning in going if not _is_abandoned(planning, now)]
    _hand_out(QUEUE.find_lost_rows().filter(planning__in=awaited))
    for planning in awaited:
        _start_next_parts(planning)
