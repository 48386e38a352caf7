"""Generator of the page of all algorithms: python -m research.describe > docs/algorithms.md."""

import sys

from selection.algorithms import OUR_RULES
from topk.guarantee import Goal
from topk.options import Option
from topk.registry import COMMON_ORDER_SELECTORS, MULTI_SELECTORS, SELECTORS
from topk.selector import Selector

GOALS = {
    Goal.EXACT: "the best K",
    Goal.MARK: "all workers at a pass mark less ε, up to K",
    Goal.EXPLORE_K: "each within ε of the K-th best",
    Goal.AGGREGATE: "mean within ε of that of the best K",
    Goal.NONE: "none",
}

INTRODUCTION = """\
# Algorithms

This page is made from the registry by `python -m research.describe`; do not edit it.

An algorithm of **fixed confidence** asks until its guarantee holds, with error probability at most
δ. One of **fixed budget** spends its budget and names the K that look best: it aims at the goal in
the table without a guarantee. The goals differ, and at the same ε only the best K implies the
others: compare algorithms only under the same goal.

All algorithms assume that a worker's answers are independent of each other, that questions come in
random order, and that the pool stays the same during a run. {without_scores} count answers as
right or wrong; the guarantees of all others also cover scores between 0 and 1.
"""

OURS = """\
## Our rules

By need, the fewest answers first:

{needs}

`credible` fits a population to the pool and stops when at most a share δ of the pools like it
would end with more than ε of regret. That is not a guarantee for every pool: do not compare its δ
with the others. Model, calibration and known failures:
[credible.md](../packages/topk/docs/credible.md). `universal` holds for every population that the
workers are drawn from ([proof](../packages/topk/docs/universal.md)), `certified`
([proof](../packages/topk/docs/certified.md)) and `pair-lucb`
([proof](../packages/topk/docs/pair-lucb.md)) for every pool.
[Choosing an algorithm](which-algorithm.md) compares their costs.
"""

MARKED = """\
## All workers at a pass mark

These accept each worker as soon as the answers show enough, and select at most K
([good arms](../packages/topk/docs/good-arms.md)). The run's pass mark is their option `mark`.
"""

COMMON = """\
## Models that meet the same questions

All workers of the run must be models, and meet the questions in one random order
([proof](../packages/topk/docs/same-questions.md)).
"""

NOTES = """\
## Deviations from the papers

- `improved-top-k` is ours, with a proof of its own (see its source). The paper's ImprovedTopK is in
  a longer version that we do not have.
- `opt-mai-budget` with K above n/2 looks for the worst n − K with inverted rewards (derived by us).
- `adaptive-top-k-budget`: the paper does not define the round that the budget cuts short; ours
  spreads the pulls evenly and ranks by all answers. The options of `adaptive-top-k` are ours.
- `sr` for K above 1: the paper's schedule is ambiguous; both readings can be chosen.
- `gap-e`: the formula is lost in our copy of the paper and is recalled from its predecessor; the
  estimate of its exploration parameter, and that of `ugape-b` and `multi-ugape`, has no guarantee.
- `ugape-v`: the logarithm is widened so that the union bound adds up to δ.
- `lil-…` with faithful parameters: e = 0.01, which the paper leaves open. Heuristic parameters are
  not covered by a proof and guarantee nothing. Their bounds do not widen with time, and a run may,
  rarely, fail to end: give it a budget.
- `multi-sar` for K above 1 in a problem is ours.
- `pair-lucb` is ours, with [a proof and its costs](../packages/topk/docs/pair-lucb.md).
- Constants of CSAR, Gap-E and multi-bandit UGapE are recalled from the literature and were not
  checked against the papers.
"""


def algorithms_page() -> str:
    """Return docs/algorithms.md."""
    others = [kind for name, kind in SELECTORS.items() if name not in OUR_RULES]
    marked = [kind for kind in others if kind.takes_mark]
    confidence = [
        kind for kind in others if kind.guarantee.fixed == "confidence" and not kind.takes_mark
    ]
    budget = [kind for kind in others if kind.guarantee.fixed == "budget"]
    without_scores = [f"`{name}`" for name, kind in SELECTORS.items() if not kind.takes_scores]
    needs = "\n".join(f"- `{name}`: {need}" for name, need in OUR_RULES.items())
    parts = [
        INTRODUCTION.format(without_scores=" and ".join(without_scores)),
        OURS.format(needs=needs),
        algorithm_table([SELECTORS[name] for name in OUR_RULES]),
        "## Other methods of fixed confidence\n",
        algorithm_table(confidence),
        MARKED,
        algorithm_table(marked),
        "## Other methods of fixed budget\n",
        algorithm_table(budget),
        "## Several problems on one budget\n",
        algorithm_table(list(MULTI_SELECTORS.values())),
        COMMON,
        algorithm_table(list(COMMON_ORDER_SELECTORS.values())),
        NOTES,
    ]
    return "\n".join(parts)


def algorithm_table(kinds: list[type[Selector]]) -> str:
    """Return a table with a row per algorithm: name, title, goal, source, needs, options."""
    rows = ["| name | algorithm | goal | source | needs | options |", "|---|---|---|---|---|---|"]
    return "\n".join([*rows, *map(_algorithm_row, kinds)]) + "\n"


def _algorithm_row(kind: type[Selector]) -> str:
    goal, cited = kind.guarantee.goal, kind.guarantee.citation
    meaning = f"none: {kind.guarantee.note}" if kind.guarantee.note else GOALS[goal]
    options = "<br>".join(map(_describe_option, kind.known_options)) or "–"
    needs = ", ".join(("K", *kind.needs))
    return f"| `{kind.name}` | {kind.title} | {meaning} | {cited} | {needs} | {options} |"


def _describe_option(option: Option) -> str:
    default = option.default
    value = f"{default:.4g}" if isinstance(default, float) else default
    values = option.valid_values if default is None else f"{option.valid_values}; default {value}"
    return f"`{option.name}` ({values}): {option.about}"


if __name__ == "__main__":
    sys.stdout.write(algorithms_page())
