"""The algorithms that a plan could take: for one skill, and able to run on it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from selection.algorithms import describe_variant
from selection.errors import Refused
from topk import SELECTORS, THIS_SET, Goal, Problem, ProblemError, Promise, Selector, build_selector

from .plan import GOALS, Plan


@dataclass(frozen=True)
class Contender:
    """options  of the algorithm, where they are not its defaults"""

    name: str
    plan: Plan
    options: dict[str, Any] = field(default_factory=dict)

    def selector(self, problem: Problem | None = None) -> Selector:
        return build_selector(self.name, problem or self.plan.problem(), **self.options)

    @property
    def title(self) -> str:
        title, said = SELECTORS[self.name].title, describe_variant(self.options)
        return f"{title}, {said}" if said else title

    @cached_property
    def promise(self) -> Promise:
        return self.selector().promise

    @property
    def fixed_budget(self) -> bool:
        return self.promise.fixed == "budget"

    @property
    def spends_budget(self) -> bool:
        """The same, also where it cannot be built on this plan."""
        return SELECTORS[self.name].promise.fixed == "budget"

    @property
    def fits(self) -> bool:
        """Whether it promises what matters."""
        return not self.fixed_budget and self.promise.goal in GOALS[self.plan.goal]


def suitable_contenders(plan: Plan) -> list[Contender]:
    """Those that can be run on this plan and promise something, and with a budget also those that
    spend it; what is most likely to be taken comes first. Raises Refused if there is none."""
    found = _drop_equivalent([one for one in _list_contenders(plan) if _can_run(one)])
    if not found:
        raise Refused("No algorithm can be run like this: choose an epsilon above 0.")
    return sorted(found, key=_order_key)


def unsuitable(plan: Plan) -> list[tuple[Contender, str]]:
    """Return those that cannot be built on this plan, as they are by default, each with the reason
    in one sentence. What is of several skills is no answer to the question, and has no row."""
    failed = []
    for one in _list_contenders(plan):
        if not one.options and not SELECTORS[one.name].several_skills:
            try:
                one.selector()
            except ProblemError as error:
                failed.append((one, str(error).splitlines()[0]))
    return failed


def _drop_equivalent(found: list[Contender]) -> list[Contender]:
    """Without those whose options change nothing here: large pools are judged cautiously anyway."""
    plain = {one.name: one.promise for one in found if not one.options}
    return [one for one in found if not one.options or one.promise != plain.get(one.name)]


def _order_key(one: Contender) -> tuple[bool, bool]:
    return not one.promise.average or bool(one.options), one.name != "certified"


def _list_contenders(plan: Plan) -> list[Contender]:
    made = []
    for name, kind in SELECTORS.items():
        if kind.promise.fixed == "confidence" or plan.budget is not None:
            made.append(Contender(name, plan))
        whole = plan.left is None and not plan.met  # a part of the set is not the set
        if kind.says_accuracy and whole:
            this_set = {"accuracy": THIS_SET, "questions": plan.questions}
            made.append(Contender(name, plan, this_set))
        if any(option.name == "cautious" for option in kind.known_options):
            made.append(Contender(name, plan, {"cautious": True}))
    return made


def _can_run(one: Contender) -> bool:
    try:
        return one.fixed_budget or one.promise.goal is not Goal.NONE
    except ProblemError:
        return False
