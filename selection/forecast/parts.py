"""A part of a forecast: one algorithm on one plan, simulated a piece at a time."""

from dataclasses import astuple, dataclass, replace
from time import monotonic
from typing import Any

from . import no_shows
from .bands import MANY
from .beliefs import Belief
from .candidates import Contender
from .plan import Plan
from .refining import has_enough_runs, simulate_one_more
from .rows import SimulationLedger
from .simulations import AnswerNeed, SimulatedEnding, SimulatedRun

PIECE = 1.5  # seconds of one piece of work
FIRST_PIECES = 4  # times as long for an algorithm that may be recommended, until it has a band
# Limits of runs, and about of processor time.
ROW_RUNS, ROW_SECONDS, POINT_RUNS, POINT_SECONDS = 200, 20.0, 40, 2.0
LONGER = 5  # times the seconds while there are too few runs for a band


@dataclass
class Part:
    """An algorithm on a plan, with its simulations.

    curve  "" for a row of the table; else the varied quantity: "epsilon", "k" or "absent"
    at     the value of the varied quantity; 0 for a row
    """

    ledger: SimulationLedger
    curve: str = ""
    at: float = 0

    @classmethod
    def load(cls, numbers: dict[str, Any], plan: Plan) -> "Part":
        curve, at = numbers["curve"], numbers["at"]
        contender = Contender(numbers["algorithm"], _vary(plan, curve, at), numbers["options"])
        plays = [
            SimulatedRun(answers, most, SimulatedEnding(end), *rest)
            for answers, most, end, *rest in numbers["plays"]
        ]
        need = numbers["need"] and AnswerNeed(*numbers["need"])
        ledger = SimulationLedger(contender, plays, need, numbers["seconds"], numbers["cannot"])
        return cls(ledger, curve, at)

    def serialize(self) -> dict[str, Any]:
        ledger = self.ledger
        return {
            "curve": self.curve,
            "at": self.at,
            "algorithm": ledger.contender.name,
            "options": ledger.contender.options,
            "plays": [astuple(play) for play in ledger.plays],
            "need": ledger.need and astuple(ledger.need),
            "seconds": ledger.seconds,
            "cannot": ledger.cannot,
        }

    @property
    def is_finished(self) -> bool:
        runs, seconds = self._limits()
        seconds *= 1 if len(self.ledger.plays) >= MANY else LONGER
        enough = bool(self.ledger.plays) and self.ledger.seconds > seconds
        return has_enough_runs(self.ledger, runs) or enough

    @property
    def is_awaited(self) -> bool:
        """True for a row that may be recommended and has too few runs for a band yet."""
        ledger = self.ledger
        few = ledger.finished > 0 and len(ledger.plays) < MANY
        return not self.curve and ledger.contender.fits and few

    @property
    def share(self) -> float:
        if self.is_finished:
            return 1.0
        runs, seconds = self._limits()
        return min(0.99, max(len(self.ledger.plays) / runs, self.ledger.seconds / seconds))

    @property
    def turn_key(self) -> tuple[bool, float]:
        """Sort rows before curves, and among them the one with the least time before others."""
        return bool(self.curve), self.ledger.seconds / (FIRST_PIECES if self.is_awaited else 1)

    def _limits(self) -> tuple[int, float]:
        """Limit the runs, and about the seconds of processor time, that this part gets."""
        return (POINT_RUNS, POINT_SECONDS) if self.curve else (ROW_RUNS, ROW_SECONDS)

    def simulate(self, belief: Belief) -> None:
        """Simulate for a moment, at least one run."""
        began = monotonic()
        while not self.is_finished:
            simulate_one_more(self.ledger, belief, look_farther=not self.curve)
            if monotonic() - began > PIECE * (FIRST_PIECES if self.is_awaited else 1):
                break


def _vary(plan: Plan, curve: str, at: float) -> Plan:
    if curve == "epsilon":
        return plan.replace_epsilon(at)
    if curve == no_shows.CURVE:
        return no_shows.plan_of_starting(plan)
    return replace(plan, k=int(at)) if curve == "k" else plan
