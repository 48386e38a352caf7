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
from .refining import RUNS, enough, one_more
from .rows import Ledger
from .simulations import Ending, Need, Play

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


def ledger(part: PlanningPart, plan: Plan) -> Ledger:
    """What was simulated of it so far."""
    one = Contender(part.algorithm, plan_of(part, plan), part.options)
    plays = [Play(answers, most, Ending(end), *rest) for answers, most, end, *rest in part.plays]
    need = None if part.need is None else Need(*part.need)
    cannot = FAILED if part.finished and not plays else ""
    return Ledger(one, plays, need, part.seconds, cannot)


def numbers(made: Ledger) -> dict[str, Any]:
    """The columns that keep what was simulated."""
    return {
        "plays": [astuple(play) for play in made.plays],
        "runs": len(made.plays),
        "need": None if made.need is None else astuple(made.need),
        "seconds": made.seconds,
    }


def work(part: PlanningPart, plan: Plan, belief: Belief) -> bool | None:
    """Play on for a moment, at least one run; whether nothing is left to do, or None if somebody
    else has done this piece."""
    made, began = ledger(part, plan), monotonic()
    while not (done := _enough(part, made)):
        one_more(made, belief, look_farther=not part.curve)
        if monotonic() - began > PIECE * (FIRST_PIECES if _is_awaited(part, made) else 1):
            done = _enough(part, made)
            break
    unchanged = PlanningPart.objects.filter(pk=part.pk, runs=part.runs)
    added = unchanged.update(**numbers(made), finished=done, sent=timezone.now())
    return done if added else None


def _is_awaited(part: PlanningPart, made: Ledger) -> bool:
    """Return whether it is a row that may be recommended and has too few runs for a band yet."""
    return not part.curve and made.contender.fits and made.finished > 0 and len(made.plays) < MANY


def _enough(part: PlanningPart, made: Ledger) -> bool:
    runs, seconds = (POINT_RUNS, POINT_SECONDS) if part.curve else (RUNS, ROW_SECONDS)
    seconds *= 1 if len(made.plays) >= MANY else LONGER
    return enough(made, runs) or (bool(made.plays) and made.seconds > seconds)


def share(part: PlanningPart) -> float:
    """How much of it is done, 0 to 1."""
    if part.finished:
        return 1.0
    runs, seconds = (POINT_RUNS, POINT_SECONDS) if part.curve else (RUNS, ROW_SECONDS)
    return min(0.99, max(part.runs / runs, part.seconds / seconds))
