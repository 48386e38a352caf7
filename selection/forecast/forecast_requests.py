"""Forecasts as jobs: requested, and refined in turns.

The first numbers of a small table are made at once, in the request; a large one has no rows until a
Celery worker has made some. Models may not import forecasts, so the numbers of a
``ForecastRequest`` are read here: ``forecast_rows``, ``forecast_curves``, ``forecast_no_shows``.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from statistics import mean
from time import thread_time
from typing import Any

from django.db import IntegrityError, transaction

from selection import db_clock
from selection.models import ForecastRequest, default_team
from selection.outbox import jobs

from . import curves, inputs, no_shows
from .beliefs import Belief
from .candidates import suitable_contenders
from .parts import Part
from .plan import Plan
from .refining import first_round
from .rows import Forecast, SimulationLedger, build_row, forecast_table

FIRST = 0.5  # seconds for the first numbers
KEPT = timedelta(days=7)  # since the last use
NOTED = timedelta(seconds=15)  # uses closer to each other are not recorded
# A page asks again every few seconds. Without a look for so long its forecast is abandoned: work
# on it stops until the next look.
ABANDONED = timedelta(seconds=60)
PROGRAM = "token "  # begins ``by`` of a program

State = ForecastRequest.State


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
    team_id = team or default_team()
    pk = inputs.forecast_id(plan, belief, team_id)
    job: ForecastRequest | None = ForecastRequest.objects.filter(pk=pk).first()
    if job is None:
        wanted = {"plan": asdict(plan), "belief": inputs.belief_to_numbers(belief)}
        job = ForecastRequest(id=pk, team_id=team_id, wanted=wanted, by=by)
        (job.kind,), job.resumes = ForecastRequest.KINDS, True
        ledgers = [SimulationLedger(contender) for contender in suitable_contenders(plan)]
        if plan.is_quick:
            first_round(ledgers, belief, thread_time() + FIRST)
        _keep_parts(job, [Part(ledger) for ledger in ledgers])
        with suppress(IntegrityError), transaction.atomic():  # another process was quicker
            jobs.add_job(job, KEPT)
    elif job.state in (State.CANCELLED, State.FAILED):
        jobs.resume_job(job)
    touch_forecast(job)
    return job


def touch_forecast(job: ForecastRequest) -> None:
    """Note that somebody uses the forecast, and let an abandoned one go on."""
    expires = db_clock.database_now() + KEPT
    if job.expires < expires - NOTED:
        ForecastRequest.objects.filter(pk=job.pk).update(expires=expires)
    if job.state == State.ASKING:
        jobs.resume_job(job)


# -- reading


def stored_plan(job: ForecastRequest) -> Plan:
    return Plan(**job.wanted["plan"])


def stored_belief(job: ForecastRequest) -> Belief:
    return inputs.belief_from_numbers(job.wanted["belief"])


def _read_parts(job: ForecastRequest) -> list[Part]:
    plan = stored_plan(job)
    return [Part.load(numbers, plan) for numbers in job.result or []]


def _keep_parts(job: ForecastRequest, parts: Sequence[Part]) -> None:
    job.result = [part.serialize() for part in parts]
    of_rows = [part.share for part in parts if not part.curve]
    of_points = [part.share for part in parts if part.curve] or [0.0]
    job.progress = round((2 * mean(of_rows) + mean(of_points)) / 3, 3)


def forecast_rows(job: ForecastRequest) -> list[Forecast]:
    """Read the present table, the recommended algorithm first; empty until there are numbers."""
    ledgers = [part.ledger for part in _read_parts(job) if not part.curve]
    return forecast_table(stored_plan(job), ledgers)


def forecast_curves(job: ForecastRequest) -> dict[str, list[dict[str, Any]]]:
    """Read the costs of the table's first algorithms for other ε and other K, simulated so far.

    "epsilon" and "k": lists of points, in rising order of ``at``, the value of ε or K: ``answers``
    as (low, median, high), ``cost`` likewise or None, ``feasible``, ``algorithm``, ``title``.
    """
    simulated = [part for part in _read_parts(job) if part.ledger.plays]
    drawn = [part for part in simulated if part.curve != no_shows.CURVE]
    return curves.curve_points(stored_plan(job), drawn)


def forecast_no_shows(job: ForecastRequest) -> dict[tuple[str, str], Forecast]:
    ledgers = [part.ledger for part in _read_parts(job) if part.curve == no_shows.CURVE]
    rows = [build_row(ledger.contender.plan, ledger) for ledger in ledgers if ledger.plays]
    return {(row.algorithm, row.title): row for row in rows}


# -- working


@jobs.perform(*ForecastRequest.KINDS, model=ForecastRequest)
def refine_forecast(job: ForecastRequest) -> Any:
    """Simulate a piece of one part: of a row first, then of no-shows and curves."""
    looked = job.expires - KEPT
    if not job.by.startswith(PROGRAM) and looked < db_clock.database_now() - ABANDONED:
        job.state = State.ASKING
        return job.result
    parts = _read_parts(job)
    if unfinished := [part for part in parts if not part.is_finished]:
        min(unfinished, key=lambda part: part.turn_key).simulate(stored_belief(job))
    _keep_parts(job, parts)
    if all(part.is_finished for part in parts) and not any(part.curve for part in parts):
        parts += _list_curve_parts(job)
        _keep_parts(job, parts)
    if not all(part.is_finished for part in parts):
        job.state = State.WAITING
    return job.result


def _list_curve_parts(job: ForecastRequest) -> list[Part]:
    plan, rows = stored_plan(job), forecast_rows(job)
    points = no_shows.points_to_simulate(plan, rows) + curves.points_to_simulate(plan, rows)
    return [Part(SimulationLedger(contender), curve, at) for curve, at, contender in points]
