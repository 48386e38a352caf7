"""The result of a selection: the candidates, the guarantee in words, and a table of all."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from topk.early_selection import select_early
from topk.guarantee import GUARANTEE_LOST, rounded_up
from topk.selector import GUARANTEE_KEPT, Counts, Selector

from .counting import Counting
from .rule import Rule

NOTHING = "The candidates that look best; no guarantee."


@dataclass(frozen=True)
class Selected:
    """The result of a study.

    names       the candidates selected, in the order given
    guarantee   a sentence with the guarantee, for the epsilon that was reached
    complete    True if the guarantee is the one that was asked for
    epsilon     that it is for; None without a guarantee
    calls       how many pairs were asked and told
    frame       a row for each candidate that was not set aside, the selected and then the best
                first: a DataFrame if the table was one, otherwise a list of dicts
    unreadable  how many results are missing, by candidate and reason
    set_aside   the candidates that were given up or failed too often, with the reason
    workers     (k,) numbers of the candidates selected, in rising order
    answers     (n,) how many results of each candidate count
    cost        of these; their number without prices
    """

    names: list[Any]
    guarantee: str
    complete: bool
    epsilon: float | None
    calls: int
    frame: Any = field(repr=False)
    unreadable: dict[Any, dict[str, int]]
    set_aside: dict[Any, str]
    workers: Counts
    answers: Counts
    cost: float


def describe_result(
    rule: Rule,
    selector: Selector,
    roster: Counts,
    counting: Counting,
    names: list[Any],
    calls: int,
    missing: int,
    unreadable: dict[Any, dict[str, int]],
    set_aside: dict[Any, str],
) -> Selected:
    """Describe the result as the selector stands, on the candidates (r,) of the roster.

    missing  how many results are missing: unreadable ones, and cells of a table without a value
    """
    answers, prices = counting.pulls.copy(), rule.options.get("prices")
    arms, guarantee, complete, epsilon = _choose_arms(rule, selector, roster, counting)
    workers = np.sort(roster[arms])
    if missing:
        guarantee += f" Missing results: {missing}, assumed to be so whatever they would have been."
    if set_aside:
        guarantee += f" Set aside: {', '.join(map(str, set_aside))}."
    return Selected(
        names=[names[worker] for worker in workers],
        guarantee=guarantee,
        complete=complete,
        epsilon=epsilon,
        calls=calls,
        frame=_describe_candidates(selector, roster, workers, names, unreadable),
        unreadable=unreadable,
        set_aside=set_aside,
        workers=workers,
        answers=answers,
        cost=float(answers.sum() if prices is None else answers @ np.array(prices)),
    )


def _choose_arms(
    rule: Rule, selector: Selector, roster: Counts, counting: Counting
) -> tuple[Counts, str, bool, float | None]:
    """Choose the arms, state their guarantee, and tell if it is the one asked for, and its ε."""
    failed = counting.failed[roster]
    if failed.any():  # too few are left for a selection
        return np.flatnonzero(~failed), "All that are left; no guarantee.", False, None
    complete, loss = GUARANTEE_KEPT in selector.stop(), rule.loses_guarantee(roster, counting.pulls)
    if complete and not loss:
        return (
            selector.selection(),
            rule.describe(selector.guarantee, None),
            True,
            rule.problem.epsilon,
        )
    early = select_early(selector)
    if loss:
        return early.arms, GUARANTEE_LOST, False, None
    if early.epsilon is None:
        return early.arms, NOTHING, False, None
    epsilon = rounded_up(early.epsilon)
    return early.arms, rule.describe(early.guarantee, epsilon), False, epsilon


def _describe_candidates(
    selector: Selector,
    roster: Counts,
    workers: Counts,
    names: list[Any],
    unreadable: dict[Any, dict[str, int]],
) -> list[dict[str, Any]]:
    standing, pulls = selector.standing(), selector.state.pulls
    rows = [
        {
            "candidate": names[candidate],
            "selected": candidate in workers,
            "mean": float(standing.mean[arm]),
            "lower": float(standing.lower[arm]),
            "upper": float(standing.upper[arm]),
            "answers": int(pulls[arm]),
            "missing": sum(unreadable.get(names[candidate], {}).values()),
        }
        for arm, candidate in enumerate(roster.tolist())
    ]
    return sorted(rows, key=lambda row: (not row["selected"], -np.nan_to_num(row["mean"], nan=-1)))
