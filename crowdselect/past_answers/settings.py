"""Settings of a replay, their checks, and the loss of a selection."""

import math
from dataclasses import dataclass, field
from typing import Any

from selection.errors import Refused
from selection.facts import Facts
from selection.models import Run
from selection.runs.settings import algorithm_choices, validation
from topk import LIKE_THESE, THIS_SET, ProblemError, score_options

from .crowd import RecordedCrowd

MOST_DRAWS = 1_000_000
SLOTS = 500


@dataclass(frozen=True)
class ReplaySettings:
    """Settings of a replay.

    redraw   draw each worker's recorded answers with replacement instead of using each once
    options  of the algorithm, as people write them
    scores   answers are scores between 0 and 1
    """

    k: int
    algorithm: str
    epsilon: float
    delta: float
    budget: int | None
    seed: int
    redraw: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    scores: bool = False


def check_replay(crowd: RecordedCrowd, settings: ReplaySettings) -> None:
    """Raise Refused for settings that cannot be run on this crowd."""
    run = Run(**run_settings(settings), deck_size=0 if settings.redraw else len(crowd.gold))
    if settings.redraw and run.options.get("accuracy") == THIS_SET:
        raise Refused(
            f"Accuracy {THIS_SET} is about answering each question once: leave out the "
            f"replacement, or choose accuracy {LIKE_THESE}."
        )
    for reason in validation.validate_run(run, len(crowd.workers)).values():
        raise Refused(reason)


def compute_regrets(accuracy: dict[str, float], chosen: list[str]) -> Facts:
    """Compute the loss of the selection compared with the best one, by the recorded accuracies.

    ``aggregate`` is the mean accuracy of the best k, less that of the chosen k; ``explore_k`` the
    accuracy of the k-th best, less that of the worst chosen, at least 0.
    """
    best = sorted(accuracy.values(), reverse=True)[: len(chosen)]
    selected = [accuracy[worker] for worker in chosen]
    aggregate = (sum(best) - sum(selected)) / len(chosen)
    explore_k = max(0.0, best[-1] - min(selected))
    return Facts(aggregate=max(0.0, aggregate), explore_k=explore_k)


def run_settings(settings: ReplaySettings) -> dict[str, Any]:
    """List the fields of the run for these settings. Raises Refused if scores are not taken."""
    fields = ("k", "algorithm", "epsilon", "delta", "budget", "seed")
    options = algorithm_choices.read_options(settings.algorithm, settings.options)
    try:
        options |= score_options(settings.algorithm) if settings.scores else {}
    except ProblemError as error:
        raise Refused(str(error)) from error
    return {field: getattr(settings, field) for field in fields} | {"options": options}


def slots_of(crowd: RecordedCrowd, settings: ReplaySettings) -> int:
    """Choose few enough slots to ask little in vain before the end, and enough to be quick."""
    return SLOTS if settings.redraw else max(20, min(SLOTS, len(crowd.answers) // 50))


def most_draws(settings: ReplaySettings, workers: int) -> int:
    """Bound the answers that any of the algorithms asks one worker for.

    The hungriest is AdaptiveTopK with 4/3 (4/epsilon)^2 ln(2 n r^2 / delta) over its rounds r.
    """
    most = settings.budget or MOST_DRAWS
    if settings.epsilon:
        most = min(
            most, math.ceil(22 * math.log(100 * workers / settings.delta) / settings.epsilon**2)
        )
    return min(most, MOST_DRAWS)
