"""A part of a forecast: one algorithm on one plan, a piece of work at a time.

A piece reads how many runs are there, plays the next ones, and adds them if nobody else did: it may
be done twice, late or never, and on any machine.
"""

from dataclasses import astuple, replace
from time import monotonic
from typing import Any

from django.utils import timezone

from selection.models import PlanningPart

from .bands import MANY
from .beliefs import Belief
from .candidates import Contender
from .plan import Plan
from .refining import RUNS, has_enough_runs, simulate_one_more
from .rows import SimulationLedger
from .simulations import AnswerNeed, SimulatedEnding, SimulatedRun

PIECE = 1.5  # seconds after which others have their turn
FIRST_PIECES = 4  # as long is one of an algorithm that may be recommended, until it has a band
ROW_SECONDS, POINT_SECONDS, POINT_RUNS = 20.0, 2.0, 40  # of processor time about, and runs
LONGER = 5  # times the seconds, as long as there are too few runs for a band
FAILED = "It cannot be simulated: the log of the process that tried says why."


def plan_of(part: PlanningPart, plan: Plan) -> Plan:
    """The plan as this part varies it."""
    if part.curve == "epsilon":
        return plan.at(part.at)
    return replace(plan, k=int(part.at)) if part.curve == "k" else plan


def read_ledger(part: PlanningPart, plan: Plan) -> SimulationLedger:
    """What was simulated of it so far."""
    one = Contender(part.algorithm, plan_of(part, plan), part.options)
    plays = [
        SimulatedRun(answers, most, SimulatedEnding(end), *rest)
        for answers, most, end, *rest in part.plays
    ]
    need = None if part.need is None else AnswerNeed(*part.need)
    cannot = FAILED if part.finished and not plays else ""
    return SimulationLedger(one, plays, need, part.seconds, cannot)


def ledger_columns(made: SimulationLedger) -> dict[str, Any]:
    """The columns that keep what was simulated."""
    return {
        "plays": [astuple(play) for play in made.plays],
        "runs": len(made.plays),
        "need": None if made.need is None else astuple(made.need),
        "seconds": made.seconds,
    }


def simulate_part(part: PlanningPart, plan: Plan, belief: Belief) -> bool | None:
    """Play on for a moment, at least one run; whether nothing is left to do, or None if somebody
    else has done this piece."""
    made, began = read_ledger(part, plan), monotonic()
    while not (done := _has_enough_runs(part, made)):
        simulate_one_more(made, belief, look_farther=not part.curve)
        if monotonic() - began > PIECE * (FIRST_PIECES if _is_awaited(part, made) else 1):
            done = _has_enough_runs(part, made)
            break
    unchanged = PlanningPart.objects.filter(pk=part.pk, runs=part.runs)
    added = unchanged.update(**ledger_columns(made), finished=done, sent=timezone.now())
    return done if added else None


def _is_awaited(part: PlanningPart, made: SimulationLedger) -> bool:
    """Return whether it is a row that may be recommended and has too few runs for a band yet."""
    return not part.curve and made.contender.fits and made.finished > 0 and len(made.plays) < MANY


def _has_enough_runs(part: PlanningPart, made: SimulationLedger) -> bool:
    runs, seconds = (POINT_RUNS, POINT_SECONDS) if part.curve else (RUNS, ROW_SECONDS)
    seconds *= 1 if len(made.plays) >= MANY else LONGER
    return has_enough_runs(made, runs) or (bool(made.plays) and made.seconds > seconds)


def share_done(part: PlanningPart) -> float:
    """How much of it is done, 0 to 1."""
    if part.finished:
        return 1.0
    runs, seconds = (POINT_RUNS, POINT_SECONDS) if part.curve else (RUNS, ROW_SECONDS)
    return min(0.99, max(part.runs / runs, part.seconds / seconds))
