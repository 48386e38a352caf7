"""The algorithms as requesters choose them: our rules, other methods, labels of options."""

from collections.abc import Mapping
from typing import Any

from topk import (
    ALL_SELECTORS,
    LIKE_THESE,
    MULTI_SELECTORS,
    SELECTORS,
    THIS_SET,
    Goal,
    Option,
    Selector,
)

ALGORITHMS: dict[str, type[Selector]] = {**ALL_SELECTORS}

# Our rules, the cheapest guarantee first, with the need that each one is for.
OUR_RULES = {
    "credible": "An average over crowds like yours suffices, and cost matters most.",
    "universal": "The guarantee must hold for this kind of crowd.",
    "certified": "The guarantee must hold for each single pool.",
    "pair-lucb": "You need exactly the best K (ε = 0).",
}
# What a form shows first: our rules, and one for each further need.
USUAL = (*OUR_RULES, "each-good", "mark-share")
COMMON_ORDER = "same-questions"  # for models alone
OURS = "Our rules"
OTHERS = {
    Goal.AGGREGATE: "Other methods: mean accuracy within ε of the best K",
    Goal.EXPLORE_K: "Other methods: every worker within ε of the K-th best",
    Goal.EXACT: "Other methods: exactly the best K",
    Goal.MARK: "All workers at a pass mark less ε, up to K",
    Goal.NONE: "Other methods: no guarantee",
}
BUDGET = "Other methods: spend a fixed budget, no guarantee"
SKILLS = "Other methods: several skills on one fixed budget"
VARIED = "accuracy"  # the option that changes a guarantee: forecasts have a row for each value
USUAL_ONES = "Usual"
GROUPS = (OURS, *OTHERS.values(), BUDGET, SKILLS)

LABELS = {
    "accuracy": "What accuracy means",
    "beta": "Share left to later rounds",
    "c": "Exploration multiplier",
    "c_round": "Length of the rounds",
    "cumulative": "Use all answers in every round",
    "eta": "Exploration multiplier (UGapE)",
    "exploration": "Exploration parameter",
    "half": "Shorter rounds by a tighter bound",
    "parameters": "Parameters",
    "schedule": "Schedule of the phases",
    "share": "Share of δ at which it stops",
}

# Explanations of choices with names that do not suffice.
MEANINGS = {
    LIKE_THESE: "the share of right answers that a worker would give to endlessly many questions "
    "like those in the set. The set is a random sample of these questions",
    THIS_SET: "the share of the questions in the set that a worker gets right. The guarantee needs "
    "fewer answers and says nothing about other questions. The accuracy is exact when a worker has "
    "answered every question. Recommended if gold questions are few and only these questions "
    "matter, and for models. Workers need not err independently of each other: questions come in a "
    "random order",
}


def describe_unknown(name: str) -> str:
    return f"There is no algorithm “{name}”; docs/algorithms.md has them all."


def describe_missing_forecast(name: str) -> str:
    """Say why nothing forecasts runs of this algorithm; empty if there are forecasts."""
    if not ALGORITHMS[name].common_order:
        return ""
    return (
        f"There is no forecast for {ALGORITHMS[name].title}: the number of answers depends on how "
        "alike the models err."
    )


def group_of(name: str) -> str:
    if name in OUR_RULES:
        return OURS
    if name in MULTI_SELECTORS:
        return SKILLS
    guarantee = ALGORITHMS[name].guarantee
    return BUDGET if guarantee.fixed == "budget" else OTHERS[guarantee.goal]


def list_in_order() -> list[str]:
    return [*OUR_RULES, *(name for name in ALGORITHMS if name not in OUR_RULES)]


def algorithm_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """List the usual six algorithms, then the others by group."""
    entries = [(group_of(name), name, ALGORITHMS[name].title) for name in list_in_order()]
    groups = {
        group: [(name, title) for own, name, title in entries if own == group and name not in USUAL]
        for group in GROUPS
    }
    usual = [(name, ALGORITHMS[name].title) for name in USUAL]
    return [(USUAL_ONES, usual), *((group, names) for group, names in groups.items() if names)]


def algorithms_for_one_skill() -> list[str]:
    """Return the algorithms that select the best K in one kind of task."""
    return [name for name, kind in SELECTORS.items() if not kind.takes_mark]


def algorithm_options(name: str) -> list[Option]:
    """List the options of this algorithm that a requester may set.

    The number of questions comes from the run; quotas have fields of their own.
    """
    return [option for option in ALGORITHMS[name].known_options if option.by_hand]


def takes_prices(name: str) -> bool:
    return any(option.name == "prices" for option in ALGORITHMS[name].known_options)


def describe_variant(options: Mapping[str, Any]) -> str:
    """Word the guarantee that these options choose; empty for the usual one."""
    chosen = options.get(VARIED)
    return "" if chosen in (None, LIKE_THESE) else str(chosen)


def options_of_variant(description: str) -> dict[str, Any]:
    return {VARIED: description} if description else {}


def option_label(option: str) -> str:
    return LABELS.get(option) or option.replace("_", " ").capitalize()
