"""Simulation of more runs: first one of each algorithm, then one more of any.

Run ``number`` of an algorithm depends on plan, belief and number alone, so that runs may be played
anywhere and in any order, and an interrupted forecast loses nothing but time.
"""

import logging
from collections.abc import Sequence
from math import inf
from time import thread_time

from topk import ProblemError

from .bands import MANY
from .beliefs import Belief
from .rows import SimulationLedger
from .simulations import SimulatedEnding, TooLong, draw_pool, simulate_need, simulate_run

logger = logging.getLogger(__name__)


def first_round(ledgers: Sequence[SimulationLedger], belief: Belief, until: float) -> None:
    """Simulate one run of each, as far as time allows; the first of them has its run in any case.

    until  by the clock ``thread_time``: a run not finished by then is dropped, and so is one
           that would leave little time for the others
    """
    for ledger in ledgers:
        now = thread_time()
        try:
            simulate_one_more(
                ledger, belief, inf if ledger is ledgers[0] else now + (until - now) / 3
            )
        except TooLong:
            continue


def has_enough_runs(ledger: SimulationLedger, runs: int) -> bool:
    """Tell if it has; MANY are enough if all end for want of questions or money."""
    plays = len(ledger.plays)
    return (
        bool(ledger.cannot)
        or plays >= runs
        or (plays >= MANY and ledger.share(SimulatedEnding.GUARANTEE) == 0)
    )


def simulate_one_more(
    ledger: SimulationLedger, belief: Belief, until: float = inf, look_farther: bool = True
) -> None:
    """Add the ledger's next run, or the reason why it cannot be simulated.

    look_farther  also simulate, once, how many questions it would need if they run out

    Raises TooLong, and changes nothing, if the run is not finished by ``until``.
    """
    began = thread_time()
    try:
        _add_run(ledger, belief, until, look_farther)
    except TooLong:
        raise
    except Exception as error:
        expected = isinstance(error, ProblemError)
        if not expected:
            logger.exception("Simulating %s failed.", ledger.contender.name)
        reason = str(error).splitlines()[0] if expected else f"It failed: {type(error).__name__}."
        ledger.plays, ledger.cannot = [], f"It cannot be simulated. {reason}"
    ledger.seconds += thread_time() - began


def _add_run(ledger: SimulationLedger, belief: Belief, until: float, look_farther: bool) -> None:
    contender, number = ledger.contender, len(ledger.plays)
    truth = draw_pool(contender, belief, number)
    ledger.plays.append(simulate_run(contender, truth, number, until))
    short = ledger.plays[-1].ending is SimulatedEnding.QUESTIONS and not contender.fixed_budget
    if look_farther and short and ledger.need is None and number and not contender.options:
        ledger.need = simulate_need(contender, truth)
