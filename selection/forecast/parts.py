"""A part of a forecast: one algorithm on one plan, a piece of work at a time.

A piece reads the number of runs so far, plays the next ones, and adds them unless another process
did: it may be done twice, late or never, and on any machine.
"""

from dataclasses import astuple, replace
from time import monotonic
from typing import Any

from selection import db_clock
from selection.models import ForecastPart

from . import no_shows
from .bands import MANY
from .beliefs import Belief
from .candidates import Contender
from .plan import Plan
from .refining import RUNS, has_enough_runs, simulate_one_more
from .rows import SimulationLedger
from .simulations import AnswerNeed, SimulatedEnding, SimulatedRun

PIECE = 1.5  # seconds of one piece of work
FIRST_PIECES = 4  # times as long for an algorithm that may be recommended, until it has a band
ROW_SECONDS, POINT_SECONDS, POINT_RUNS = 20.0, 2.0, 40  # of processor time about, and runs
LONGER = 5  # times the seconds while there are too few runs for a band
FAILED = "It cannot be simulated: the log of the process that tried says why."


def plan_of(part: ForecastPart, plan: Plan) -> Plan:
    if part.curve == "epsilon":
        return plan.replace_epsilon(part.at)
    if part.curve == no_shows.CURVE:
        return no_shows.plan_of_starting(plan)
    return replace(plan, k=int(part.at)) if part.curve == "k" else plan


def read_ledger(part: ForecastPart, plan: Plan) -> SimulationLedger:
    contender = Contender(part.algorithm, plan_of(part, plan), part.options)
    plays = [
        SimulatedRun(answers, most, SimulatedEnding(end), *rest)
        for answers, most, end, *rest in part.plays
    ]
    need = None if part.need is None else AnswerNeed(*part.need)
    cannot = FAILED if part.finished and not plays else ""
    return SimulationLedger(contender, plays, need, part.seconds, cannot)


def ledger_columns(ledger: SimulationLedger) -> dict[str, Any]:
    return {
        "plays": [astuple(play) for play in ledger.plays],
        "runs": len(ledger.plays),
        "need": None if ledger.need is None else astuple(ledger.need),
        "seconds": ledger.seconds,
    }


def simulate_part(part: ForecastPart, plan: Plan, belief: Belief) -> bool | None:
    """Simulate for a moment, at least one run; return True if nothing is left to do.

    Return None if another process has done this piece.
    """
    ledger, began = read_ledger(part, plan), monotonic()
    while not (full := _has_enough_runs(part, ledger)):
        simulate_one_more(ledger, belief, look_farther=not part.curve)
        if monotonic() - began > PIECE * (FIRST_PIECES if _is_awaited(part, ledger) else 1):
            full = _has_enough_runs(part, ledger)
            break
    unchanged = ForecastPart.objects.filter(pk=part.pk, runs=part.runs)
    added = unchanged.update(**ledger_columns(ledger), finished=full, sent=db_clock.database_now())
    return full if added else None


def _is_awaited(part: ForecastPart, ledger: SimulationLedger) -> bool:
    """Select a row that may be recommended and has too few runs for a band yet."""
    return (
        not part.curve
        and ledger.contender.fits
        and ledger.finished > 0
        and len(ledger.plays) < MANY
    )


def _limits(part: ForecastPart) -> tuple[int, float]:
    """Limit the runs, and about the seconds of processor time, that this part gets."""
    return (POINT_RUNS, POINT_SECONDS) if part.curve else (RUNS, ROW_SECONDS)


def _has_enough_runs(part: ForecastPart, ledger: SimulationLedger) -> bool:
    runs, seconds = _limits(part)
    seconds *= 1 if len(ledger.plays) >= MANY else LONGER
    return has_enough_runs(ledger, runs) or (bool(ledger.plays) and ledger.seconds > seconds)


def share_done(part: ForecastPart) -> float:
    if part.finished:
        return 1.0
    runs, seconds = _limits(part)
    return min(0.99, max(part.runs / runs, part.seconds / seconds))
