"""Top-K arm identification on numpy arrays: no Django, no I/O, no clock.

>>> from selection.bandit import SELECTORS, Problem
>>> selector = SELECTORS["lucb"](Problem(n=3, k=1, epsilon=0.1))
>>> selector.ask(slots=3).tolist()
[1, 1, 1]
>>> selector.tell([0, 1, 2], [1, 0, 1])
>>> selector.stop()
()
"""

from .certified import LIKE_THESE, THIS_SET
from .fitted import Fitted
from .misfit import DOUBT
from .multi import MULTI_SELECTORS, MultiProblem
from .options import Option
from .population import summary
from .problem import Problem, ProblemError
from .promise import ASSUMPTIONS, Goal, Promise
from .registry import SELECTORS
from .selector import BUDGET_SPENT, PROMISE_KEPT, Event, Selector, Standing
from .state import State, Verdict

__all__ = [
    "ASSUMPTIONS",
    "BUDGET_SPENT",
    "DOUBT",
    "LIKE_THESE",
    "MULTI_SELECTORS",
    "PROMISE_KEPT",
    "SELECTORS",
    "THIS_SET",
    "Event",
    "Fitted",
    "Goal",
    "MultiProblem",
    "Option",
    "Problem",
    "ProblemError",
    "Promise",
    "Selector",
    "Standing",
    "State",
    "Verdict",
    "summary",
]
