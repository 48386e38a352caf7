"""Forecasts that improve in the background: a table at once, and again with more simulated runs.

Run ``number`` of an algorithm depends on plan, belief and number alone, so that runs may be played
anywhere and in any order, and an interrupted forecast loses nothing but time.
"""

import logging
from collections.abc import Iterator, Sequence
from math import inf
from time import thread_time

from topk import ProblemError

from .bands import MANY
from .beliefs import Belief
from .candidates import suitable_contenders
from .plan import Plan
from .rows import Forecast, SimulationLedger, forecast_table
from .simulations import SimulatedEnding, TooLong, draw_pool, simulate_need, simulate_run

logger = logging.getLogger(__name__)

SECONDS, RUNS = 10.0, 200
LONGER = 3  # times the seconds, if the recommended algorithm then has too few runs for a band
FIRST = 2.0  # seconds to the first table
ALIKE = MANY  # runs are enough if all end for want of questions or money


def refine_forecasts(
    plan: Plan, belief: Belief, seconds: float = SECONDS, runs: int = RUNS
) -> Iterator[list[Forecast]]:
    """Yield tables, each made of more simulated runs than the one before; at least one.

    The first may lack algorithms that had no turn yet.

    seconds  of processor time to take, about
    runs     of each algorithm at most

    If the recommended algorithm then has too few runs for a band, it takes up to LONGER times the
    seconds to reach them.

    Raises Refused, at the first table, if no algorithm can be run on this plan.
    """
    ledgers = [SimulationLedger(contender) for contender in suitable_contenders(plan)]
    began = thread_time()
    first_round(ledgers, belief, thread_time() + min(seconds, FIRST))
    yield forecast_table(plan, ledgers)
    last_table = max(thread_time() - began, 1.0)
    while (spent := thread_time() - began) < seconds:
        if spent > 2 * last_table:
            last_table = spent
            yield forecast_table(plan, ledgers)
        unfinished = [ledger for ledger in ledgers if not has_enough_runs(ledger, runs)]
        if not unfinished:
            break
        simulate_one_more(min(unfinished, key=_turn_key), belief)
    while (spent := thread_time() - began) < LONGER * seconds and (
        first := _recommended_with_few_runs(plan, ledgers, runs)
    ):
        simulate_one_more(first, belief)
    yield forecast_table(plan, ledgers)


def _recommended_with_few_runs(
    plan: Plan, ledgers: Sequence[SimulationLedger], runs: int
) -> SimulationLedger | None:
    """Find the recommended algorithm's ledger if it has too few runs for a band, else None."""
    best = forecast_table(plan, ledgers)[0]
    matches = [
        ledger
        for ledger in ledgers
        if (ledger.contender.name, ledger.contender.options) == (best.algorithm, best.options)
    ]
    return next(
        (ledger for ledger in matches if not has_enough_runs(ledger, min(runs, MANY))), None
    )


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


def _turn_key(ledger: SimulationLedger) -> tuple[bool, float]:
    """Sort first the algorithms that may be recommended, among them by the least time."""
    return len(ledger.plays) > 2 and not ledger.feasible, ledger.seconds


def has_enough_runs(ledger: SimulationLedger, runs: int) -> bool:
    plays = len(ledger.plays)
    return (
        bool(ledger.cannot)
        or plays >= runs
        or (plays >= ALIKE and ledger.share(SimulatedEnding.GUARANTEE) == 0)
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
