"""The plays of a replay: which algorithm with which seed, in which order, and their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from selection.errors import Refused

from .arrays import PlayedRun, RecordedAnswers, play_record
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


def list_plays() -> list[PlannedPlay]:
    """Return all plays in their order: after the first ones there is a complete result."""
    first = [PlannedPlay(name, AIM, 0) for name in METHODS]
    reach = [PlannedPlay(name, REACH, 0) for name in OURS]
    further = [PlannedPlay(name, AIM, seed) for seed in range(1, SEEDS) for name in METHODS]
    return [*first, *reach, *further]


FIRST_ROUND = len(METHODS) + len(OURS)


def build_settings(wanted: dict[str, Any], name: str, scores: bool) -> ReplaySettings:
    """Return the settings of a replay's plays, with an algorithm that takes any answers.

    scores  True if the answers are scores between 0 and 1
    """
    return ReplaySettings(
        name=name,
        k=wanted["k"],
        algorithm=CERTIFIED,
        epsilon=wanted["epsilon"],
        delta=wanted["delta"],
        budget=wanted.get("budget"),
        seed=0,
        slots=None,
        redraw=False,
        scores=scores,
    )


def play(
    record: RecordedAnswers,
    settings: ReplaySettings,
    planned: PlannedPlay,
    rates: Mapping[str, Mapping[str, float]],
) -> dict[str, Any]:
    """Return the result of a play, ready to be stored; ``refused`` has a reason without one.

    rates  "cost" and "tokens" of an answer by worker, if models have them
    """
    epsilon = FINEST if planned.goal == REACH else settings.epsilon
    own = replace(settings, algorithm=planned.algorithm, seed=planned.seed, epsilon=epsilon)
    head = {"algorithm": planned.algorithm, "goal": planned.goal}
    try:
        check_replay(record.crowd, own)
    except Refused as refusal:
        return head | {"refused": str(refusal)}
    played = play_record(record, own)
    result = head | _serialize_play(played)
    counts = list(zip(record.crowd.workers, played.counts, strict=True))
    for name, by_worker in rates.items():
        result[name] = round(sum(by_worker[worker] * count for worker, count in counts), 9)
    return result


def pick_rates(facts: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the cost and the tokens of an answer by worker, if a replay's facts have them."""
    names = {"cost": "prices", "tokens": "tokens"}
    return {name: facts[fact] for name, fact in names.items() if fact in facts}


def _serialize_play(played: PlayedRun) -> dict[str, Any]:
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
    """Return the plays of this algorithm with this goal that were not refused."""
    return [
        one
        for one in plays
        if (one["algorithm"], one["goal"]) == (algorithm, goal) and "refused" not in one
    ]
