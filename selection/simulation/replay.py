"""Replay of a recorded crowd: the whole way from a pool to the selection, on recorded answers."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from django.db import transaction

from selection import engine, wakeups
from selection.answers import recording
from selection.db import bulk
from selection.errors import Refused
from selection.imports import catalog, validate_answers
from selection.imports.row_parsers import QuestionRow, WorkerRow
from selection.models import Assignment, Pool, Question, QuestionSet, Run, Skill
from selection.runs import algorithm_choices, drafts, lifecycle, validation
from topk import LIKE_THESE, THIS_SET, question_order

from .crowd import RecordedCrowd, number_of

MOST_DRAWS = 1_000_000
SLOTS = 500
RIGHT, WRONG = "right", "wrong"


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
    further = _further_skills(settings, unsaved)
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
                f"“{idle[0]}” has no recorded answer to a task of “{name}” that could be drawn "
                f"again: leave out the replacement, or the workers who have none ({len(idle)})."
            )


@wakeups.silenced()
def play_replay(
    crowd: RecordedCrowd, settings: ReplaySettings, on_step: Callable[[int], object]
) -> Run:
    """Run these settings on this crowd to its end.

    on_step  called with the number of newly counted answers
    """
    run = _start_run(crowd, settings)
    answer = _AnswerRedraw(crowd, run) if settings.redraw else _nothing_more
    while (step := engine.advance(run.pk)) or answer():
        if step:
            on_step(step.applied)
            answer()
    run.refresh_from_db()
    return run


def compute_regrets(accuracy: dict[str, float], chosen: list[str]) -> Regrets:
    best = sorted(accuracy.values(), reverse=True)[: len(chosen)]
    selected = [accuracy[worker] for worker in chosen]
    aggregate = (sum(best) - sum(selected)) / len(chosen)
    return Regrets(max(0.0, aggregate), max(0.0, best[-1] - min(selected)))


# -- parts of the run


@transaction.atomic
def _start_run(crowd: RecordedCrowd, settings: ReplaySettings) -> Run:
    slots = slots_of(crowd, settings)
    pool = Pool.objects.create(name=settings.name)
    catalog.take_workers(pool, [WorkerRow(0, worker, "", {}) for worker in crowd.workers])
    sets = [QuestionSet.objects.create(name=name) for name in settings.kinds or [settings.name]]
    draft = run_settings(settings) | {
        "name": settings.name,
        "pool": pool,
        "question_set": sets[0],
        "slots": slots,
        "slots_per_worker": slots,
        "hours_to_come": None,
        "recorded_only": not settings.redraw,
        "met": Run.Met.AGAIN,
    }
    run = drafts.create_draft(draft, _further_skills(settings, sets[1:]))
    for question_set, kind in zip(sets, crowd.kinds, strict=True):
        if settings.redraw:
            _make_draws(question_set, most_draws(settings, len(crowd.workers) * len(sets)))
        else:
            catalog.take_questions(question_set, _question_rows(kind))
    lifecycle.start_run(run)
    run.refresh_from_db()
    if not settings.redraw:
        # The gold file decides the kind of a task, regardless of a column “skill”.
        rows = [replace(row, skill="") for row in crowd.answers]
        validate_answers.record_valid_answers(run, validate_answers.validate_answers(run, rows))
    return run


def _further_skills(settings: ReplaySettings, sets: Sequence[QuestionSet]) -> list[Skill]:
    return [Skill(question_set=s, k=k) for s, k in zip(sets, settings.further, strict=True)]


def run_settings(settings: ReplaySettings) -> dict[str, Any]:
    """Return the fields of the run for these settings."""
    fields = ("k", "algorithm", "epsilon", "delta", "budget", "seed", "one_kind_each")
    options = algorithm_choices.read_options(settings.algorithm, settings.options)
    return {field: getattr(settings, field) for field in fields} | {"options": options}


def slots_of(crowd: RecordedCrowd, settings: ReplaySettings) -> int:
    """Return few enough slots to ask little in vain before the end, and enough to be quick."""
    usual = SLOTS if settings.redraw else max(20, min(SLOTS, len(crowd.answers) // 50))
    return settings.slots or usual


def _question_rows(crowd: RecordedCrowd) -> list[QuestionRow]:
    return [QuestionRow(0, task, task, [label], []) for task, label in crowd.gold.items()]


def _make_draws(question_set: QuestionSet, size: int) -> None:
    """Create questions to answer by drawing from a worker's recorded answers, right or wrong."""
    numbers = range(1, size + 1)
    bulk.insert_rows(
        Question,
        {
            "number": range(size),
            "key": [f"draw {number}" for number in numbers],
            "prompt": [f"Draw {number}" for number in numbers],
        },
        same={
            "question_set_id": question_set.pk,
            "accepted": [RIGHT],
            "choices": [RIGHT, WRONG],
            "grading": {},
            "retired": None,
            "retired_why": "",
        },
    )


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


# -- answering


def _nothing_more() -> int:
    """Return 0: the engine itself uses recorded answers as it asks for them."""
    return 0


class _AnswerRedraw:
    """Answer open assignments by draws that depend on seed, worker and position alone."""

    needed = ("candidate_id", "position", "question__accepted")

    def __init__(self, crowd: RecordedCrowd, run: Run) -> None:
        self.run = run
        self.right, self.number = {}, {}
        for candidate, key, kind in run.candidates.values_list("id", "worker__key", "skill"):
            self.right[candidate] = crowd.kinds[kind].right[key]
            # A stream of its own for each kind: draws of two kinds are to be independent.
            self.number[candidate] = number_of(f"{key}\0{kind}" if kind else key)

    def __call__(self) -> int:
        open_assignments = Assignment.objects.filter(candidate__run=self.run).open()
        assignments = list(open_assignments.select_related("question").only(*self.needed))
        answers = list(zip(assignments, self._draw_responses(assignments), strict=True))
        return recording.record_many(self.run, answers)

    def _draw_responses(self, assignments: list[Assignment]) -> list[str]:
        workers = np.array(
            [self.number[assignment.candidate_id] for assignment in assignments], np.uint64
        )
        keys = question_order.shuffle_ranks(
            self.run.seed, workers, [assignment.position for assignment in assignments]
        )
        recorded = [self.right[assignment.candidate_id] for assignment in assignments]
        return [
            RIGHT if right[key % len(right)] else WRONG
            for right, key in zip(recorded, keys.tolist(), strict=True)
        ]
