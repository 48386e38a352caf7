"""Forecasts that get better while she looks: a table at once, and again as more runs are in.

Run ``number`` of an algorithm depends on plan, belief and number alone, so that they may be played
anywhere and in any order, and a forecast that was interrupted loses nothing but time.
"""

from collections.abc import Iterator, Sequence
from math import inf
from time import monotonic, thread_time

from .beliefs import Belief
from .contenders import suitable
from .plan import Plan
from .plays import Ending, TooLong, need, play, pool
from .rows import Forecast, Ledger, table

SECONDS, RUNS = 10.0, 200
FIRST = 2.0  # seconds after which there is a table, of those that were played by then
ALIKE = 10  # runs that all end for want of questions or money: more would say the same

__all__ = ["RUNS", "SECONDS", "Forecast", "forecasts"]


def forecasts(
    plan: Plan, belief: Belief, seconds: float = SECONDS, runs: int = RUNS
) -> Iterator[list[Forecast]]:
    """Tables, each made of more simulated runs than the one before; at least one.

    The first may lack algorithms whose turn has not come.

    seconds  of processor time to take, about
    runs     of each algorithm at most

    Raises Refused, at the first table, if no algorithm can be run on this plan.
    """
    ledgers = [Ledger(one) for one in suitable(plan)]
    began = thread_time()
    first_round(ledgers, belief, monotonic() + min(seconds, FIRST))
    yield table(plan, ledgers)
    told = max(thread_time() - began, 1.0)
    while (spent := thread_time() - began) < seconds:
        if spent > 2 * told:
            told = spent
            yield table(plan, ledgers)
        unfinished = [ledger for ledger in ledgers if not enough(ledger, runs)]
        if not unfinished:
            break
        one_more(min(unfinished, key=_turn), belief)
    yield table(plan, ledgers)


def first_round(ledgers: Sequence[Ledger], belief: Belief, until: float) -> None:
    """One run of each, so far as time allows; the first of them has its run in any case.

    until  on the clock ``monotonic``: a run that is not over by then is dropped, and so is one that
           would leave little time for the others
    """
    for ledger in ledgers:
        now = monotonic()
        try:
            one_more(ledger, belief, inf if ledger is ledgers[0] else now + (until - now) / 3)
        except TooLong:
            continue


def _turn(ledger: Ledger) -> tuple[bool, float]:
    """Whose turn it is: those that may be taken first, and among them who took least time."""
    return len(ledger.plays) > 2 and not ledger.feasible, ledger.seconds


def enough(ledger: Ledger, runs: int) -> bool:
    done = len(ledger.plays)
    return done >= runs or (done >= ALIKE and ledger.share(Ending.PROMISE) == 0)


def one_more(ledger: Ledger, belief: Belief, until: float = inf, look_farther: bool = True) -> None:
    """Its next run. Raises TooLong, and changes nothing, if it is not over by then.

    look_farther  also see, once, how many questions would be needed where they run out
    """
    began, one, number = thread_time(), ledger.contender, len(ledger.plays)
    truth = pool(one, belief, number)
    ledger.plays.append(play(one, truth, number, until))
    short = ledger.plays[-1].ending is Ending.QUESTIONS
    if look_farther and short and ledger.need is None and number and not one.options:
        ledger.need = need(one, truth)
    ledger.seconds += thread_time() - began
