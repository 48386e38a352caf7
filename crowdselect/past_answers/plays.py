"""The plays of a replay: which algorithm with which seed, in which order, and their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selection import algorithms
from selection.errors import Refused
from selection.facts import Facts

from .arrays import RecordedAnswers, play_record
from .settings import ReplaySettings, check_replay

CERTIFIED = "certified"
OURS = ("credible", "universal", CERTIFIED)
PUBLISHED = ("adaptive-top-k", "kl-lucb", "lucb")
METHODS = (*OURS, *PUBLISHED)
SEEDS = 11  # an odd number, so that the median is one of the plays
FINEST = 0.001  # an epsilon that no play reaches: it goes on to the end of budget or questions

AIM, REACH = "aim", "reach"


@dataclass(frozen=True)
class PlannedPlay:
    """A play. goal: AIM for the wanted precision, REACH for the best that the answers buy."""

    algorithm: str
    goal: str
    seed: int


ANY = PlannedPlay(CERTIFIED, AIM, 0)


def list_plays(wanted: Mapping[str, Any]) -> list[PlannedPlay]:
    """List all plays in their order: after the first ones there is a complete result."""
    methods = wanted.get("algorithms") or METHODS
    seeds = range(1, wanted.get("seeds") or SEEDS)
    first = [PlannedPlay(name, AIM, 0) for name in methods]
    # Answers drawn with replacement never run out: there is no best precision that they buy.
    best = [] if wanted.get("redraw") else [name for name in OURS if name in methods]
    reach = [PlannedPlay(name, REACH, 0) for name in best]
    return [*first, *reach, *(PlannedPlay(name, AIM, seed) for seed in seeds for name in methods)]


FIRST_ROUND = len(METHODS) + len(OURS)


def build_settings(
    wanted: Mapping[str, Any], scores: bool, planned: PlannedPlay = ANY
) -> ReplaySettings:
    """Build the settings of a play; by default of an algorithm that takes any answers.

    scores  True if the answers are scores between 0 and 1
    """
    names = {option.name for option in algorithms.algorithm_options(planned.algorithm)}
    options = {o: value for o, value in wanted.get("options", {}).items() if o in names}
    return ReplaySettings(
        k=wanted["k"],
        algorithm=planned.algorithm,
        epsilon=FINEST if planned.goal == REACH else wanted["epsilon"],
        delta=wanted["delta"],
        budget=wanted.get("budget"),
        seed=planned.seed,
        redraw=wanted.get("redraw", False),
        options=options,
        scores=scores,
    )


def refuse_unknown_options(wanted: Mapping[str, Any]) -> None:
    """Raise Refused for an option that none of the methods has."""
    methods = wanted.get("algorithms") or METHODS
    names = {option.name for name in methods for option in algorithms.algorithm_options(name)}
    if unknown := [option for option in wanted.get("options", {}) if option not in names]:
        raise Refused(f"No algorithm of {', '.join(methods)} has an option {unknown[0]}.")


def play(
    record: RecordedAnswers,
    wanted: Mapping[str, Any],
    facts: Mapping[str, Any],
    planned: PlannedPlay,
) -> dict[str, Any]:
    """Play, and build the result to store; ``refused`` has a reason without one."""
    settings = build_settings(wanted, "scores" in facts, planned)
    head = {"algorithm": planned.algorithm, "goal": planned.goal}
    try:
        check_replay(record.crowd, settings)
    except Refused as refusal:
        return head | {"refused": str(refusal)}
    played = play_record(record, settings)
    result = head | _serialize_play(played)
    counts = list(zip(record.crowd.workers, played.counts, strict=True))
    for name, by_worker in _pick_rates(facts).items():
        result[name] = round(sum(by_worker[worker] * count for worker, count in counts), 9)
    return result


def _pick_rates(facts: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Pick the cost and the tokens of an answer by worker, if a replay's facts have them."""
    names = {"cost": "prices", "tokens": "tokens"}
    return {name: facts[fact] for name, fact in names.items() if fact in facts}


def _serialize_play(played: Facts) -> dict[str, Any]:
    return {
        "seed": played.seed,
        "answers": played.answers,
        "ending": played.ending,
        "epsilon": played.epsilon,
        "loss": max(0.0, round(played.regrets.aggregate, 6)),
        "true": played.true,
        "doubts": list(played.doubts),
        "selected": list(played.selected),
    }


def plays_of(plays: Sequence[dict[str, Any]], algorithm: str, goal: str) -> list[dict[str, Any]]:
    return [
        one
        for one in plays
        if (one["algorithm"], one["goal"]) == (algorithm, goal) and "refused" not in one
    ]
