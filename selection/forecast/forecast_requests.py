"""Forecasts as work: ordered, refined by Celery, cancelled, swept. The database is the only memory.

A small table's first numbers are made at once, by whoever orders; a large one has no rows until a
Celery worker has made some. The rest is handed out part by part (``parts``); what was lost on the
way the sweep hands out again. Models may not know of forecasts, so what a ``Planning`` says in
numbers is read here: ``rows``, ``curves``, ``progress``.
"""

import logging
from dataclasses import asdict
from datetime import timedelta
from statistics import mean
from time import monotonic
from typing import Any

from celery import current_app
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from selection.errors import NotFound, Refused
from selection.models import Planning, PlanningPart, default_team

from . import curves as curves_
from . import inputs, parts
from .beliefs import Belief
from .candidates import suitable_contenders
from .plan import Plan
from .refining import first_round
from .rows import Forecast, SimulationLedger, forecast_table

logger = logging.getLogger(__name__)

TASK = "selection.tasks.forecast"
FIRST = 0.5  # seconds for the first numbers
LOST = timedelta(seconds=120)  # after which a piece of work is handed out again
KEPT = timedelta(days=7)  # since somebody last looked
NOTED = timedelta(hours=1)  # looks closer to each other are not written down

State = Planning.State


# -- ordering


def request_forecast(plan: Plan, belief: Belief, by: str = "", team: int | None = None) -> Planning:
    """Return the forecast of this plan; what there is to simulate is handed out.

    It has first numbers already if that is quick (``Plan.is_quick``); else it has no rows yet.

    team  the id of the one that may see it; else the first

    Who orders the same again gets the same row, and takes up one that was cancelled or failed.
    Raises Refused if no algorithm can be run on this plan.
    """
    own, now = team or default_team(), timezone.now()
    key = inputs.forecast_key(plan, belief, own)
    asked = {
        "team_id": own,
        "wanted": asdict(plan),
        "belief": inputs.belief_to_numbers(belief),
        "by": by,
    }
    asked["used"] = now
    planning = Planning.objects.filter(key=key).first()
    if planning is None:
        ledgers = [SimulationLedger(one) for one in suitable_contenders(plan)]
        if plan.is_quick:
            first_round(ledgers, belief, monotonic() + FIRST)
        planning = _store_forecast(key, asked, ledgers)
    elif planning.state in (State.CANCELLED, State.FAILED):
        _change_state(planning, State.WAITING)
    touch_forecast(planning)
    if planning.going:
        transaction.on_commit(lambda: _hand_out(planning.parts.filter(finished=False)), robust=True)
    return planning


@transaction.atomic
def _store_forecast(key: str, asked: dict[str, Any], ledgers: list[SimulationLedger]) -> Planning:
    planning, made = Planning.objects.get_or_create(key=key, defaults=asked)
    if made:
        _add_parts(planning, [("", 0, ledger) for ledger in ledgers])
    return planning


def _add_parts(planning: Planning, made: list[tuple[str, float, SimulationLedger]]) -> None:
    behind = planning.parts.count()
    PlanningPart.objects.bulk_create(
        PlanningPart(
            planning=planning,
            number=number,
            curve=curve,
            at=at,
            algorithm=ledger.contender.name,
            options=ledger.contender.options,
            **parts.ledger_columns(ledger),
        )
        for number, (curve, at, ledger) in enumerate(made, behind)
    )


def cancel_forecast(planning: Planning) -> Planning:
    """Stop refining it; what is simulated stays. One that is at its end stays as it is."""
    if planning.going:
        _change_state(planning, State.CANCELLED)
    return planning


def touch_forecast(planning: Planning) -> None:
    """Somebody looks at it: it is kept."""
    if planning.used < timezone.now() - NOTED:
        Planning.objects.filter(pk=planning.pk).update(used=timezone.now())


def _change_state(planning: Planning, state: State, error: str = "") -> None:
    planning.state, planning.error = state, error[:300]
    planning.save(update_fields=["state", "error"])


# -- reading


def find_forecast(pk: int, among: QuerySet[Planning]) -> Planning:
    """Raises NotFound where it is none of these."""
    planning = among.filter(pk=pk).first()
    if planning is None:
        raise NotFound("There is no such forecast any more; order it again.")
    return planning


def stored_plan(planning: Planning) -> Plan:
    return Plan(**planning.wanted)


def stored_belief(planning: Planning) -> Belief:
    return inputs.belief_from_numbers(planning.belief)


def forecast_rows(planning: Planning) -> list[Forecast]:
    """Return the table by now, the recommended algorithm first; empty until there are numbers."""
    wanted = stored_plan(planning)
    found = planning.parts.filter(curve="")
    return forecast_table(wanted, [parts.read_ledger(part, wanted) for part in found])


def forecast_progress(planning: Planning) -> float:
    """0 to 1: how much of all that will be simulated is. Curves come last and count a third."""
    if planning.state == State.DONE:
        return 1.0
    found = list(planning.parts.defer("plays"))
    of_rows = [parts.share_done(part) for part in found if not part.curve]
    of_points = [parts.share_done(part) for part in found if part.curve] or [0.0]
    return round((2 * mean(of_rows) + mean(of_points)) / 3, 3)


def forecast_curves(planning: Planning) -> dict[str, list[dict[str, Any]]]:
    """What the table's first algorithms cost for other ε and other K, so far as it is simulated.

    "epsilon" and "k": lists of points, in rising order of ``at``, the value of ε or K: ``answers``
    as (low, median, high), ``cost`` likewise or None, ``feasible``, ``algorithm``, ``title``.
    """
    wanted = stored_plan(planning)
    made = [(part, parts.read_ledger(part, wanted)) for part in planning.parts.filter(runs__gt=0)]
    return curves_.curve_points(wanted, made)


# -- working


def work_on_part(part_id: int, runs: int) -> None:
    """A piece of work on this part, and the next one handed out. May come twice, late or never.

    runs  that the part had when this was handed out: if it has others by now, somebody was quicker
    """
    part = PlanningPart.objects.select_related("planning").filter(pk=part_id, runs=runs).first()
    if part is None or not part.planning.going:
        return
    planning = part.planning
    if planning.state == State.WAITING:
        Planning.objects.filter(pk=planning.pk, state=State.WAITING).update(state=State.WORKING)
    try:
        done = part.finished or parts.simulate_part(
            part, stored_plan(planning), stored_belief(planning)
        )
    except Exception as error:
        logger.exception("Part %s of forecast %s failed.", part.pk, planning.pk)
        _fail_forecast(planning, part, error)
        return
    if done:
        _start_next_parts(planning)
    elif done is not None:
        _hand_out(PlanningPart.objects.filter(pk=part_id))


def _fail_forecast(planning: Planning, part: PlanningPart, error: Exception) -> None:
    what = str(error).splitlines()[0] if isinstance(error, Refused) else type(error).__name__
    _change_state(planning, State.FAILED, f"Simulating {part.algorithm} failed: {what}.")


@transaction.atomic
def _start_next_parts(planning: Planning) -> None:
    """A part is finished: after the last row come the curves, after the last point the end."""
    locked = Planning.objects.select_for_update().get(pk=planning.pk)
    if not locked.going or locked.parts.filter(finished=False).exists():
        return
    if locked.parts.exclude(curve="").exists():
        _change_state(locked, State.DONE)
        return
    wanted = stored_plan(locked)
    _add_parts(
        locked,
        [
            (c, at, SimulationLedger(one))
            for c, at, one in curves_.points_to_simulate(wanted, forecast_rows(locked))
        ],
    )
    transaction.on_commit(lambda: _hand_out(locked.parts.filter(finished=False)), robust=True)


def _hand_out(open_parts: Any) -> None:
    """Send a message for each of these; where Redis is away the sweep does it later."""
    found = list(open_parts.values_list("pk", "runs"))
    handed = PlanningPart.objects.filter(pk__in=[pk for pk, _ in found])
    handed.update(sent=timezone.now())
    try:
        for part in found:
            # Where workers are few it waits for long, and is handed out again: then the first
            # message says nothing any more, or there would be ever more of them.
            seconds = LOST.total_seconds()
            current_app.send_task(TASK, part, retry=False, ignore_result=True, expires=seconds)
    except Exception:
        handed.update(sent=None)
        logger.warning("Could not hand out work on a forecast; the sweep will.")


def sweep_forecasts() -> None:
    """Hand out again what was lost, and forget what nobody has looked at for long."""
    now = timezone.now()
    Planning.objects.filter(used__lt=now - KEPT).delete()
    lost = Q(sent=None) | Q(sent__lt=now - LOST)
    going = PlanningPart.objects.filter(planning__state__in=(State.WAITING, State.WORKING))
    _hand_out(going.filter(lost, finished=False))
    for planning in Planning.objects.filter(state__in=(State.WAITING, State.WORKING)):
        _start_next_parts(planning)
