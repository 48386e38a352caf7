"""Replay a recorded crowd: the whole way from a pool to the selection, on answers of the past."""

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
from selection.runs import algorithm_choices, lifecycle, validation
from topk import LIKE_THESE, THIS_SET, question_order

from .crowd import RecordedCrowd, number_of

MOST_DRAWS = 1_000_000
SLOTS = 500
RIGHT, WRONG = "right", "wrong"


@dataclass(frozen=True)
class ReplaySettings:
    """name     of the pool, the run, and the question set where there is one kind of task
    k        of the first kind of task
    slots    answers asked for at once; None: so few that little is asked in vain
    redraw   draw each worker's recorded answers with replacement instead of using each once
    options  of the algorithm, as people write them
    kinds    what each kind of task is called; empty where there is one
    further  K of each further kind
    one_kind_each  nobody is selected for two kinds
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
    """How far the selection is from the best one, by the recorded accuracies.

    aggregate  mean accuracy of the best k, less that of the chosen k
    explore_k  accuracy of the k-th best, less that of the worst chosen; at least 0
    """

    aggregate: float
    explore_k: float


def check_replay(crowd: RecordedCrowd, wanted: ReplaySettings) -> None:
    """Raise Refused for settings that cannot be run on this crowd."""
    run = Run(**run_settings(wanted), deck_size=0 if wanted.redraw else len(crowd.golds[0]))
    unsaved = [QuestionSet(name=name, team_id=None) for name in wanted.kinds[1:]]
    further = _further_skills(wanted, unsaved)
    run.skills = [*run.skills, *further]
    if wanted.redraw and run.options.get("accuracy") == THIS_SET:
        raise Refused(
            f"Accuracy {THIS_SET} is about answering each question once: leave out the "
            f"replacement, or choose accuracy {LIKE_THESE}."
        )
    if wanted.redraw:
        _refuse_nothing_to_draw(crowd, wanted)
    for why in (
        validation.validate_skills(run, len(further))
        | validation.validate_run(run, len(crowd.workers))
    ).values():
        raise Refused(why)


def _refuse_nothing_to_draw(crowd: RecordedCrowd, wanted: ReplaySettings) -> None:
    for name, kind in zip(wanted.kinds, crowd.kinds, strict=False):
        if idle := [worker for worker in crowd.workers if worker not in kind.right]:
            raise Refused(
                f"“{idle[0]}” has no recorded answer to a task of “{name}” that could be drawn "
                f"again: leave out the replacement, or the workers who have none ({len(idle)})."
            )


@wakeups.silenced()
def play_replay(crowd: RecordedCrowd, wanted: ReplaySettings, told: Callable[[int], object]) -> Run:
    """Run these settings on this crowd to its end; ``told`` hears how many more answers count."""
    run = _start_run(crowd, wanted)
    answer = _AnswerRedraw(crowd, run) if wanted.redraw else _nothing_more
    while (step := engine.advance(run.pk)) or answer():
        if step:
            told(step.applied)
            answer()
    run.refresh_from_db()
    return run


def compute_regrets(accuracy: dict[str, float], chosen: list[str]) -> Regrets:
    best = sorted(accuracy.values(), reverse=True)[: len(chosen)]
    taken = [accuracy[worker] for worker in chosen]
    aggregate = (sum(best) - sum(taken)) / len(chosen)
    return Regrets(max(0.0, aggregate), max(0.0, best[-1] - min(taken)))


# -- what the run is made of


@transaction.atomic
def _start_run(crowd: RecordedCrowd, wanted: ReplaySettings) -> Run:
    slots = slots_of(crowd, wanted)
    pool = Pool.objects.create(name=wanted.name)
    catalog.take_workers(pool, [WorkerRow(0, worker, "", {}) for worker in crowd.workers])
    sets = [QuestionSet.objects.create(name=name) for name in wanted.kinds or [wanted.name]]
    draft = Run(
        name=wanted.name,
        pool=pool,
        question_set=sets[0],
        **run_settings(wanted),
        slots=slots,
        slots_per_worker=slots,
        recorded_only=not wanted.redraw,
    )
    run = lifecycle.create_run(draft, _further_skills(wanted, sets[1:]))
    for question_set, kind in zip(sets, crowd.kinds, strict=True):
        if wanted.redraw:
            _make_draws(question_set, most_draws(wanted, len(crowd.workers) * len(sets)))
        else:
            catalog.take_questions(question_set, _question_rows(kind))
    lifecycle.start_run(run)
    run.refresh_from_db()
    if not wanted.redraw:
        # Its gold file says which kind a task is of, whatever a column “skill” may say.
        rows = [replace(row, skill="") for row in crowd.answers]
        validate_answers.record_valid_answers(run, validate_answers.validate_answers(run, rows))
    return run


def _further_skills(wanted: ReplaySettings, sets: Sequence[QuestionSet]) -> list[Skill]:
    return [Skill(question_set=s, k=k) for s, k in zip(sets, wanted.further, strict=True)]


def run_settings(wanted: ReplaySettings) -> dict[str, Any]:
    """The fields of the run that were wanted."""
    fields = ("k", "algorithm", "epsilon", "delta", "budget", "seed", "one_kind_each")
    options = algorithm_choices.read_options(wanted.algorithm, wanted.options)
    return {field: getattr(wanted, field) for field in fields} | {"options": options}


def slots_of(crowd: RecordedCrowd, wanted: ReplaySettings) -> int:
    """Few enough that little is asked in vain before the end is seen, many enough to be quick."""
    usual = SLOTS if wanted.redraw else max(20, min(SLOTS, len(crowd.answers) // 50))
    return wanted.slots or usual


def _question_rows(crowd: RecordedCrowd) -> list[QuestionRow]:
    return [QuestionRow(0, task, task, [label], []) for task, label in crowd.gold.items()]


def _make_draws(question_set: QuestionSet, size: int) -> None:
    """Questions that are answered right or wrong by drawing from a worker's recorded answers."""
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


def most_draws(wanted: ReplaySettings, workers: int) -> int:
    """As many as any of the algorithms asks one worker for.

    The hungriest is AdaptiveTopK with 4/3 (4/epsilon)^2 ln(2 n r^2 / delta) over its rounds r.
    """
    most = wanted.budget or MOST_DRAWS
    if wanted.epsilon:
        most = min(most, math.ceil(22 * math.log(100 * workers / wanted.delta) / wanted.epsilon**2))
    return min(most, MOST_DRAWS)


# -- who answers


def _nothing_more() -> int:
    """Recorded answers that are used once are given by the engine as it asks for them."""
    return 0


class _AnswerRedraw:
    """Answers what is open by draws that depend on seed, worker and position alone."""

    needed = ("candidate_id", "position", "question__accepted")

    def __init__(self, crowd: RecordedCrowd, run: Run) -> None:
        self.run = run
        self.right, self.number = {}, {}
        for candidate, key, kind in run.candidates.values_list("id", "worker__key", "skill"):
            self.right[candidate] = crowd.kinds[kind].right[key]
            # A stream of its own for each kind: draws of two kinds are to be independent.
            self.number[candidate] = number_of(f"{key}\0{kind}" if kind else key)

    def __call__(self) -> int:
        asked = Assignment.objects.filter(candidate__run=self.run).open()
        assignments = list(asked.select_related("question").only(*self.needed))
        given = list(zip(assignments, self._draw_responses(assignments), strict=True))
        return recording.record_many(self.run, given)

    def _draw_responses(self, assignments: list[Assignment]) -> list[str]:
        workers = np.array([self.number[asked.candidate_id] for asked in assignments], np.uint64)
        keys = question_order.shuffle_ranks(
            self.run.seed, workers, [asked.position for asked in assignments]
        )
        recorded = [self.right[asked.candidate_id] for asked in assignments]
        return [
            RIGHT if right[key % len(right)] else WRONG
            for right, key in zip(recorded, keys.tolist(), strict=True)
        ]
