"""Before a run begins: what each algorithm would promise, and what stands in its way."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import algorithms, priors, quotas
from .algorithms import ALGORITHMS
from .bandit import LIKE_THESE, Option, ProblemError, Promise, Selector
from .errors import Refused
from .models import Pool, Run, Skill

# The settings of a run that have a range, each with a value that every algorithm can work with.
HARMLESS: dict[str, Any] = {"k": 1, "epsilon": 0.1, "delta": 0.05, "budget": 10**12}


@dataclass(frozen=True)
class Offer:
    """An algorithm to choose, and what it would promise."""

    name: str
    title: str
    group: str
    sentence: str
    citation: str


@dataclass(frozen=True)
class Setting:
    """One thing that a person may set on some algorithms."""

    option: Option
    label: str
    algorithms: tuple[str, ...]

    @property
    def titles(self) -> list[str]:
        return [ALGORITHMS[name].title for name in self.algorithms]


def offer(run: Run, workers: int) -> Offer | None:
    """What this run's own algorithm would promise, with its options; None if it is refused."""
    if refusals(run, workers):
        return None
    promise = selector(_as_if_started(run), workers).promise
    return _offer(run.algorithm, sentence(run, promise, workers))


def _as_if_started(run: Run) -> Run:
    """The run with its quotas filled in, where they can be: they are part of the promise."""
    if not run.quotas or quota_refusals(run, run.pool):
        return run
    started = _copy(run)
    filled = quotas.option(run.quotas, quotas.values(run.pool, run.quotas["attribute"]))
    started.options = run.options | {"quotas": filled}
    return started


def offers(run: Run, workers: int) -> list[Offer]:
    """What each algorithm would promise for this run over so many workers.

    Empty when no algorithm could be run on it: ``refusals`` says why.
    """
    if _out_of_range(run, workers):
        return []
    return [
        _offer(name, sentence(run, rule.promise, workers))
        for name, rule in ALGORITHMS.items()
        if algorithms.for_skills(name) == algorithms.for_skills(run.algorithm)
    ]


def sentence(run: Run, promise: Promise, workers: int, reached: float | None = None) -> str:
    """What is promised for this run, or with the ε that was ``reached`` by now."""
    if algorithms.for_skills(run.algorithm):
        return "The workers that look best in each skill when the budget is spent; no promise."
    return promise.sentence(run.problem(workers), reached)


def _offer(name: str, sentence: str) -> Offer:
    rule = ALGORITHMS[name]
    return Offer(name, rule.title, algorithms.group_of(name), sentence, rule.promise.citation)


def settings() -> list[Setting]:
    """Every setting that any algorithm has, once."""
    users: dict[str, list[str]] = {}
    found: dict[str, Option] = {}
    for name in ALGORITHMS:
        for option in algorithms.settings(name):
            users.setdefault(option.name, []).append(name)
            found.setdefault(option.name, option)
    return [
        Setting(option, algorithms.label(name), tuple(users[name]))
        for name, option in found.items()
    ]


def needs() -> dict[str, list[str]]:
    """By algorithm, the fields of a run's form that it reads besides those that all do."""
    return {
        name: [
            *rule.needs,
            *(f"option_{option.name}" for option in algorithms.settings(name)),
            *(["quota_attribute", "quota_lines"] if algorithms.keeps_quotas(name) else []),
            *(["learn_from"] if algorithms.learns(name) else []),
            *(["skills"] if algorithms.for_skills(name) else []),
        ]
        for name, rule in ALGORITHMS.items()
    }


def words(run: Run) -> list[tuple[str, str]]:
    """What was set besides the usual numbers, for people: (label, value)."""
    chosen = run.hand_set
    if algorithms.says_accuracy(run.algorithm):
        chosen = {"accuracy": LIKE_THESE} | chosen
    said = [(algorithms.label(name), _said(value)) for name, value in chosen.items()]
    if learned := priors.learned(run):
        said.append(("Learns from", learned.source))
    if run.quotas:
        limits = sorted(run.quotas["limits"].items())
        each = ", ".join(f"{value} {quotas.words(limit)}" for value, limit in limits)
        said.append((f"Quotas by {run.quotas['attribute']}", each))
    return said


def accuracy(run: Run) -> str:
    """What accuracy means in this run's promise, where that could be chosen."""
    if not algorithms.says_accuracy(run.algorithm):
        return ""
    chosen = run.options.get("accuracy", LIKE_THESE)
    return f"Accuracy {chosen} is {algorithms.MEANINGS[chosen]}."


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def read_options(algorithm: str, written: dict[str, str]) -> dict[str, Any]:
    """Options given as text on a command line. Raises Refused for what cannot be."""
    known = {option.name: option for option in algorithms.settings(algorithm)}
    for name in written:
        if name not in known:
            there = f"it has {', '.join(known)}" if known else "it has none"
            raise Refused(f"{ALGORITHMS[algorithm].title} has no option {name}; {there}.")
    return {name: _read(known[name], text) for name, text in written.items()}


def _read(option: Option, text: str) -> Any:
    readers: dict[str, Callable[[str], Any]] = {
        "flag": {"yes": True, "no": False}.__getitem__,
        "integer": int,
        "number": float,
    }
    try:
        value = readers.get(option.kind, str)(text)
        option.check(value)
    except (KeyError, ValueError) as error:
        raise Refused(f"{option.name} must be {option.wanted}, but it is “{text}”.") from error
    return value


# -- what stands in the way


def refusals(run: Run, workers: int) -> dict[str, str]:
    """One sentence for each setting that cannot be, by field; a pool too small by "pool"."""
    return (
        _out_of_range(run, workers)
        or _bad_skills(run, workers)
        or _bad_options(run)
        or _refused(run, workers)
    )


def _out_of_range(run: Run, workers: int) -> dict[str, str]:
    found = {"pool": _problem_refusal(Run(k=1), workers)}
    for field in HARMLESS:
        probe = Run(k=1)  # all else harmless, so that the sentence is about this field
        setattr(probe, field, getattr(run, field))
        found[field] = "" if found["pool"] else _problem_refusal(probe, workers)
    return {field: why for field, why in found.items() if why}


def _bad_skills(run: Run, workers: int) -> dict[str, str]:
    """About the first further skill whose K cannot be: the core knows skills by number only."""
    for skill in run.skills[1:]:
        if why := _problem_refusal(Run(k=skill.k), workers):
            return {"skills": f"In the skill “{skill}”: {why}"}
    return {}


def _problem_refusal(run: Run, workers: int) -> str:
    try:
        run.problem(workers)
    except ProblemError as error:
        return str(error)
    return ""


def _bad_options(run: Run) -> dict[str, str]:
    found = {}
    for option in algorithms.settings(run.algorithm):
        try:
            option.check(run.options.get(option.name, option.default))
        except ProblemError:
            words = f"{algorithms.label(option.name)} must be {option.wanted}."
            found[f"option_{option.name}"] = words
    return found


def _refused(run: Run, workers: int) -> dict[str, str]:
    """What the algorithm itself says, at the field that would have to change."""
    why = _refusal(run, workers)
    if not why:
        return {}
    for field, value in HARMLESS.items():
        probe = _copy(run)
        setattr(probe, field, value)
        if not _refusal(probe, workers):
            return {field: why}
    return {"algorithm": why}


def _refusal(run: Run, workers: int) -> str:
    try:
        selector(run, workers)
    except ProblemError as error:
        return str(error)
    return ""


def selector(run: Run, workers: int) -> Selector:
    return ALGORITHMS[run.algorithm](run.problem(workers), **run.all_options())


def all_refusals(run: Run, workers: int) -> dict[str, str]:
    """All that stands in the way of a stored run."""
    found = refusals(run, workers) | quota_refusals(run, run.pool)
    found |= skill_refusals(run, run.further.count())
    for skill in run.skills:
        if not skill.question_set.questions.exists():
            why = f"The question set “{skill}” is empty: import gold questions first."
            found["question_set"] = why
    return found


def skill_refusals(run: Run, further: int) -> dict[str, str]:
    """Whether the algorithm fits the number of further skills, by field."""
    title, several = run.rule.title, algorithms.for_skills(run.algorithm)
    if several and not further:
        return {"algorithm": f"{title} is for several skills: add at least one more question set."}
    if further and not several:
        fitting = [ALGORITHMS[name].title for name in ALGORITHMS if algorithms.for_skills(name)]
        return {"algorithm": f"{title} tests one skill; {' and '.join(fitting)} test several."}
    return {}


def quota_refusals(run: Run, pool: Pool) -> dict[str, str]:
    """What is wrong with this run's quotas on this pool, by field."""
    asked = run.quotas
    if not asked:
        return {}
    if not algorithms.keeps_quotas(run.algorithm):
        title = run.rule.title
        return {"algorithm": f"{title} cannot keep quotas; {_keepers()} can."}
    if not asked["attribute"]:
        return {"quota_attribute": "Say which attribute the quotas are about."}
    if not asked["limits"]:
        return {"quota_lines": "Say how many there may be of each value."}
    try:
        quotas.check(asked, quotas.values(pool, asked["attribute"]), run.k)
    except Refused as refusal:
        return {"quota_lines": str(refusal)}
    return {}


def _keepers() -> str:
    keepers = [rule.title for name, rule in ALGORITHMS.items() if algorithms.keeps_quotas(name)]
    return f"{', '.join(keepers[:-1])} and {keepers[-1]}"


def _copy(run: Run) -> Run:
    fields = (*HARMLESS, "algorithm", "options")
    copy = Run(**{field: getattr(run, field) for field in fields})
    if run.several:
        own = Skill(k=copy.k, question_set_id=run.question_set_id)
        copy.skills = [own, *run.skills[1:]]
    return copy
