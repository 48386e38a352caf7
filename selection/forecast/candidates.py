"""Algorithms that can run on a plan for one skill."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from selection.algorithms import algorithms_for_one_skill, describe_variant
from selection.errors import Refused
from topk import (
    SELECTORS,
    THIS_SET,
    Goal,
    Guarantee,
    Problem,
    ProblemError,
    Selector,
    build_selector,
)

from .plan import GOALS, Plan


@dataclass(frozen=True)
class Contender:
    """An algorithm on a plan, with ``options`` that differ from its defaults."""

    name: str
    plan: Plan
    options: dict[str, Any] = field(default_factory=dict)

    def selector(self, problem: Problem | None = None) -> Selector:
        return build_selector(self.name, problem or self.plan.problem(), **self.options)

    @property
    def title(self) -> str:
        title, variant = SELECTORS[self.name].title, describe_variant(self.options)
        return f"{title}, {variant}" if variant else title

    @cached_property
    def guarantee(self) -> Guarantee:
        return self.selector().guarantee

    @property
    def fixed_budget(self) -> bool:
        """True if it always spends the budget. It may not fit this plan."""
        return SELECTORS[self.name].guarantee.fixed == "budget"

    @property
    def fits(self) -> bool:
        """True if it guarantees the plan's goal."""
        return not self.fixed_budget and self.guarantee.goal in GOALS[self.plan.goal]


def suitable_contenders(plan: Plan) -> list[Contender]:
    """List the algorithms that can be run on this plan, the most likely choice first.

    They guarantee something, or spend the budget if there is one. Raises Refused if there is none.
    """
    contenders = [contender for contender in _list_contenders(plan) if _can_run(contender)]
    if not contenders:
        raise Refused("No algorithm can be run like this: choose an epsilon above 0.")
    return sorted(contenders, key=_order_key)


def unsuitable_contenders(plan: Plan) -> list[tuple[Contender, str]]:
    """List the algorithms that cannot be built on this plan with their defaults, and the reasons.

    Algorithms for several skills are not meant, and have no row.
    """
    failed = []
    for contender in _list_contenders(plan):
        if not contender.options and not SELECTORS[contender.name].several_skills:
            try:
                contender.selector()
            except ProblemError as error:
                failed.append((contender, str(error).splitlines()[0]))
    return failed


def _order_key(contender: Contender) -> tuple[bool, bool]:
    return not contender.guarantee.average or bool(contender.options), contender.name != "certified"


def _list_contenders(plan: Plan) -> list[Contender]:
    contenders = []
    if plan.goal == "mark":
        return _list_by_mark(plan)
    for name in algorithms_for_one_skill():
        kind = SELECTORS[name]
        if kind.guarantee.fixed == "confidence" or plan.budget is not None:
            contenders.append(Contender(name, plan))
        whole = plan.left is None and not plan.met  # a part of the set is not the set
        if kind.says_accuracy and whole:
            this_set = {"accuracy": THIS_SET, "questions": plan.questions}
            contenders.append(Contender(name, plan, this_set))
    return contenders


def _list_by_mark(plan: Plan) -> list[Contender]:
    """Return the algorithms that select all who reach the mark."""
    contenders = []
    for name, kind in SELECTORS.items():
        if kind.takes_mark:
            contenders.append(Contender(name, plan, {"mark": plan.mark}))
        if kind.takes_mark and kind.says_accuracy and plan.left is None and not plan.met:
            this_set = {"accuracy": THIS_SET, "questions": plan.questions, "mark": plan.mark}
            contenders.append(Contender(name, plan, this_set))
    return contenders


def _can_run(contender: Contender) -> bool:
    try:
        return contender.guarantee.goal is not Goal.NONE or contender.fixed_budget
    except ProblemError:
        return False
