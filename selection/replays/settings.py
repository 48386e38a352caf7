"""Settings of a replay, their checks, and the loss of a selection."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from selection.errors import Refused
from selection.models import QuestionSet, Run, Skill
from selection.runs import algorithm_choices, validation
from topk import LIKE_THESE, THIS_SET, ProblemError, score_options

from .crowd import RecordedCrowd

MOST_DRAWS = 1_000_000
SLOTS = 500


@dataclass(frozen=True)
class ReplaySettings:
    """Settings of a replay.

    name     of the pool, the run, and the question set if there is one kind of task
    k        of the first kind of task
    slots    answers asked for at once; None: few enough that little is asked in vain
    redraw   draw each worker's recorded answers with replacement instead of using each once
    options  of the algorithm, as people write them
    kinds    names of the kinds of task; empty if there is one
    further  K of each further kind
    one_kind_each  no worker is selected for two kinds
    scores   answers are scores between 0 and 1
    """

    name: str
    k: int
    algorithm: str
    epsilon: float
    delta: float
    budget: int | None
    seed: int
    slots: int | None
    redraw: bool
    options: dict[str, Any] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    further: tuple[int, ...] = ()
    one_kind_each: bool = False
    scores: bool = False


@dataclass(frozen=True)
class Regrets:
    """Loss of the selection compared with the best one, by the recorded accuracies.

    aggregate  mean accuracy of the best k, less that of the chosen k
    explore_k  accuracy of the k-th best, less that of the worst chosen; at least 0
    """

    aggregate: float
    explore_k: float


def check_replay(crowd: RecordedCrowd, settings: ReplaySettings) -> None:
    """Raise Refused for settings that cannot be run on this crowd."""
    run = Run(**run_settings(settings), deck_size=0 if settings.redraw else len(crowd.golds[0]))
    unsaved = [QuestionSet(name=name, team_id=None) for name in settings.kinds[1:]]
    further = further_skills(settings, unsaved)
    run.skills = [*run.skills, *further]
    if settings.redraw and run.options.get("accuracy") == THIS_SET:
        raise Refused(
            f"Accuracy {THIS_SET} is about answering each question once: leave out the "
            f"replacement, or choose accuracy {LIKE_THESE}."
        )
    if settings.redraw:
        _refuse_nothing_to_draw(crowd, settings)
    for reason in (
        validation.validate_skills(run, len(further))
        | validation.validate_run(run, len(crowd.workers))
    ).values():
        raise Refused(reason)


def _refuse_nothing_to_draw(crowd: RecordedCrowd, settings: ReplaySettings) -> None:
    for name, kind in zip(settings.kinds, crowd.kinds, strict=False):
        if idle := [worker for worker in crowd.workers if worker not in kind.right]:
            raise Refused(
                f"“{idle[0]}” has no recorded answer to a task of “{name}” to draw again: leave "
                f"out the replacement, or the workers without recorded answers ({len(idle)})."
            )


def compute_regrets(accuracy: dict[str, float], chosen: list[str]) -> Regrets:
    best = sorted(accuracy.values(), reverse=True)[: len(chosen)]
    selected = [accuracy[worker] for worker in chosen]
    aggregate = (sum(best) - sum(selected)) / len(chosen)
    return Regrets(max(0.0, aggregate), max(0.0, best[-1] - min(selected)))


def further_skills(settings: ReplaySettings, sets: Sequence[QuestionSet]) -> list[Skill]:
    return [Skill(question_set=s, k=k) for s, k in zip(sets, settings.further, strict=True)]


def run_settings(settings: ReplaySettings) -> dict[str, Any]:
    """Return the fields of the run for these settings. Raises Refused if scores are not taken."""
    fields = ("k", "algorithm", "epsilon", "delta", "budget", "seed", "one_kind_each")
    options = algorithm_choices.read_options(settings.algorithm, settings.options)
    try:
        options |= score_options(settings.algorithm) if settings.scores else {}
    except ProblemError as error:
        raise Refused(str(error)) from error
    return {field: getattr(settings, field) for field in fields} | {"options": options}


def slots_of(crowd: RecordedCrowd, settings: ReplaySettings) -> int:
    """Return few enough slots to ask little in vain before the end, and enough to be quick."""
    usual = SLOTS if settings.redraw else max(20, min(SLOTS, len(crowd.answers) // 50))
    return settings.slots or usual


def most_draws(settings: ReplaySettings, workers: int) -> int:
    """Return the most answers that any of the algorithms asks one worker for.

    The hungriest is AdaptiveTopK with 4/3 (4/epsilon)^2 ln(2 n r^2 / delta) over its rounds r.
    """
    most = settings.budget or MOST_DRAWS
    if settings.epsilon:
        most = min(
            most, math.ceil(22 * math.log(100 * workers / settings.delta) / settings.epsilon**2)
        )
    return min(most, MOST_DRAWS)
