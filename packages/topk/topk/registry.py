"""The algorithms by their stored names, and the function that builds them."""

from typing import Any

from .certified import SCORES, Certified, Universal
from .credible import Credible
from .each import EachGood
from .good import GoodByEValues, MarkAll, MarkShare
from .problem import Problem, ProblemError
from .published.adaptive_top_k import AdaptiveTopK, AdaptiveTopKBudget, ImprovedTopK
from .published.clucb import CLUCBPAC, LilCLUCB
from .published.gap_e import GapE
from .published.halving import Halving, OptMAIBudget
from .published.kl import KLLUCB, KLRacing
from .published.lil import LilLUCB, LilRandLUCB, LilUCB, LUCBpp
from .published.lucb import LUCB
from .published.multi import MultiSAR, MultiUGapE
from .published.pair_lucb import PairLUCB
from .published.successive_rejects import CSAR, SAR, SR, Uniform
from .published.ugape import UGapEb, UGapEc, UGapEV
from .same_questions import SameQuestions
from .selector import Selector
from .state import State

_CONFIDENCE: tuple[type[Selector], ...] = (
    Certified,
    Universal,
    EachGood,
    AdaptiveTopK,
    ImprovedTopK,
    LUCB,
    KLLUCB,
    KLRacing,
    UGapEc,
    UGapEV,
    Halving,
    CLUCBPAC,
    LilUCB,
    LilLUCB,
    LUCBpp,
    PairLUCB,
    LilRandLUCB,
    LilCLUCB,
)
_MARK: tuple[type[Selector], ...] = (MarkShare, MarkAll, GoodByEValues)
_AVERAGE: tuple[type[Selector], ...] = (Credible,)
_BUDGET: tuple[type[Selector], ...] = (
    Uniform,
    SR,
    SAR,
    CSAR,
    GapE,
    UGapEb,
    AdaptiveTopKBudget,
    OptMAIBudget,
)

SELECTORS: dict[str, type[Selector]] = {
    selector.name: selector for selector in (*_CONFIDENCE, *_MARK, *_AVERAGE, *_BUDGET)
}


MULTI_SELECTORS: dict[str, type[Selector]] = {
    selector.name: selector for selector in (MultiSAR, MultiUGapE)
}

# For models alone: people could tell each other the questions to come.
COMMON_ORDER_SELECTORS: dict[str, type[Selector]] = {SameQuestions.name: SameQuestions}

ALL_SELECTORS: dict[str, type[Selector]] = SELECTORS | MULTI_SELECTORS | COMMON_ORDER_SELECTORS

# The algorithms that take scores with the fewest answers, one for each goal.
FOR_SCORES: tuple[type[Selector], ...] = (Certified, KLLUCB, PairLUCB)


def build_selector(
    name: str, problem: Problem, state: State | None = None, **options: Any
) -> Selector:
    """Build the algorithm of this name, set on this problem as it stands in this state.

    problem  a MultiProblem for the algorithms of MULTI_SELECTORS
    state    None: before the first pull
    options  the algorithm's own

    Raises KeyError for an unknown name, with the names there are, and ProblemError for an invalid
    problem or option.
    """
    if name not in ALL_SELECTORS:
        raise KeyError(f"There is no algorithm {name!r}; there are {', '.join(ALL_SELECTORS)}.")
    return ALL_SELECTORS[name](problem, state, **options)


def score_options(name: str) -> dict[str, Any]:
    """Find the options with which the algorithm of this name takes scores.

    Raises ProblemError if its guarantee does not cover them.
    """
    kind = ALL_SELECTORS[name]
    if not kind.takes_scores:
        one, two, three = (each.title for each in FOR_SCORES)
        raise ProblemError(
            f"{kind.title} counts answers as right or wrong, and its guarantee does not cover "
            f"scores between 0 and 1: choose {one}, {two}, {three} or another that takes scores."
        )
    return {SCORES.name: True} if SCORES in kind.known_options else {}
