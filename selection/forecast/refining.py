"""Forecasts that get better while she looks: a table at once, and again as more runs are in.

Run ``number`` of an algorithm depends on plan, belief and number alone, so that they may be played
anywhere and in any order, and a forecast that was interrupted loses nothing but time.
"""

import logging
from collections.abc import Iterator, Sequence
from math import inf
from time import monotonic, thread_time

from topk import ProblemError

from .bands import MANY
from .beliefs import Belief
from .candidates import suitable_contenders
from .plan import Plan
from .rows import Forecast, SimulationLedger, forecast_table
from .simulations import SimulatedEnding, TooLong, draw_pool, simulate_need, simulate_run

logger = logging.getLogger(__name__)

SECONDS, RUNS = 10.0, 200
LONGER = 3  # times the seconds, where what is recommended has too few runs for a band by then
FIRST = 2.0  # seconds after which there is a table, of those that were played by then
ALIKE = MANY  # runs that all end for want of questions or money: more would say the same

__all__ = ["RUNS", "SECONDS", "Forecast", "refine_forecasts"]


def refine_forecasts(
    plan: Plan, belief: Belief, seconds: float = SECONDS, runs: int = RUNS
) -> Iterator[list[Forecast]]:
    """Tables, each made of more simulated runs than the one before; at least one.

    The first may lack algorithms whose turn has not come.

    seconds  of processor time to take, about
    runs     of each algorithm at most

    Where the recommended algorithm has too few runs for a band by then, it takes up to LONGER times
    the seconds to reach them.

    Raises Refused, at the first table, if no algorithm can be run on this plan.
    """
    ledgers = [SimulationLedger(one) for one in suitable_contenders(plan)]
    began = thread_time()
    first_round(ledgers, belief, monotonic() + min(seconds, FIRST))
    yield forecast_table(plan, ledgers)
    told = max(thread_time() - began, 1.0)
    while (spent := thread_time() - began) < seconds:
        if spent > 2 * told:
            told = spent
            yield forecast_table(plan, ledgers)
        unfinished = [ledger for ledger in ledgers if not has_enough_runs(ledger, runs)]
        if not unfinished:
            break
        simulate_one_more(min(unfinished, key=_turn_key), belief)
    while (spent := thread_time() - began) < LONGER * seconds and (
        first := _too_few(plan, ledgers, runs)
    ):
        simulate_one_more(first, belief)
    yield forecast_table(plan, ledgers)


def _too_few(plan: Plan, ledgers: Sequence[SimulationLedger], runs: int) -> SimulationLedger | None:
    """Return what is recommended by now, if it has too few runs for a band."""
    best = forecast_table(plan, ledgers)[0]
    wanted = [
        one
        for one in ledgers
        if (one.contender.name, one.contender.options) == (best.algorithm, best.options)
    ]
    return next((one for one in wanted if not has_enough_runs(one, min(runs, MANY))), None)


def first_round(ledgers: Sequence[SimulationLedger], belief: Belief, until: float) -> None:
    """One run of each, so far as time allows; the first of them has its run in any case.

    until  on the clock ``monotonic``: a run that is not over by then is dropped, and so is one that
           would leave little time for the others
    """
    for ledger in ledgers:
        now = monotonic()
        try:
            simulate_one_more(
                ledger, belief, inf if ledger is ledgers[0] else now + (until - now) / 3
            )
        except TooLong:
            continue


def _turn_key(ledger: SimulationLedger) -> tuple[bool, float]:
    """Whose turn it is: those that may be taken first, and among them who took least time."""
    return len(ledger.plays) > 2 and not ledger.feasible, ledger.seconds


def has_enough_runs(ledger: SimulationLedger, runs: int) -> bool:
    done = len(ledger.plays)
    return (
        bool(ledger.cannot)
        or done >= runs
        or (done >= ALIKE and ledger.share(SimulatedEnding.PROMISE) == 0)
    )


def simulate_one_more(
    ledger: SimulationLedger, belief: Belief, until: float = inf, look_farther: bool = True
) -> None:
    """Add its next run, or the reason why it cannot be simulated: the others go on without it.
    Raises TooLong, and changes nothing, if the run is not over by then.

    look_farther  also see, once, how many questions would be needed where they run out
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
    one, number = ledger.contender, len(ledger.plays)
    truth = draw_pool(one, belief, number)
    ledger.plays.append(simulate_run(one, truth, number, until))
    short = ledger.plays[-1].ending is SimulatedEnding.QUESTIONS and not one.fixed_budget
    if look_farther and short and ledger.need is None and number and not one.options:
        ledger.need = simulate_need(one, truth)
