"""Top-K arm identification on numpy arrays; only ``topk.study`` writes a file.

>>> from topk import SELECTORS, Problem
>>> selector = SELECTORS["lucb"](Problem(n=3, k=1, epsilon=0.1))
>>> selector.ask(slots=3).tolist()
[1, 1, 1]
>>> selector.tell([0, 1, 2], [1, 0, 1])
>>> selector.stop()
()
"""

from . import simulate
from .accuracy import LIKE_THESE, THIS_SET
from .credible import DOUBT
from .early_selection import EarlySelection, select_early, select_remaining
from .guarantee import ASSUMPTIONS, Goal, Guarantee, rounded_up
from .options import Option
from .population_summary import PopulationSummary
from .problem import Problem, ProblemError
from .published.multi import MultiProblem
from .registry import (
    ALL_SELECTORS,
    COMMON_ORDER_SELECTORS,
    MULTI_SELECTORS,
    SELECTORS,
    build_selector,
    score_options,
)
from .selector import BUDGET_SPENT, GUARANTEE_KEPT, Event, Selector, Standing
from .state import Memory, State, Verdict, compact_memory, expand_memory, pack_memory
from .study import Selected, Study, StudyError, aselect, select
from .version import __version__

__all__ = [
    "ALL_SELECTORS",
    "ASSUMPTIONS",
    "BUDGET_SPENT",
    "COMMON_ORDER_SELECTORS",
    "DOUBT",
    "GUARANTEE_KEPT",
    "LIKE_THESE",
    "MULTI_SELECTORS",
    "SELECTORS",
    "THIS_SET",
    "EarlySelection",
    "Event",
    "Goal",
    "Guarantee",
    "Memory",
    "MultiProblem",
    "Option",
    "PopulationSummary",
    "Problem",
    "ProblemError",
    "Selected",
    "Selector",
    "Standing",
    "State",
    "Study",
    "StudyError",
    "Verdict",
    "__version__",
    "aselect",
    "build_selector",
    "compact_memory",
    "expand_memory",
    "pack_memory",
    "rounded_up",
    "score_options",
    "select",
    "select_early",
    "select_remaining",
    "simulate",
]
