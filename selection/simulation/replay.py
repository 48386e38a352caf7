"""Replay of a recorded crowd: the whole way from a pool to the selection, on recorded answers."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from django.db import transaction

from selection import engine, wakeups
from selection.answers import recording
from selection.db import bulk
from selection.imports import catalog, validate_answers
from selection.imports.row_parsers import WorkerRow
from selection.models import Assignment, Pool, Question, QuestionSet, Run
from selection.replays.crowd import RecordedCrowd, number_of
from selection.replays.settings import (
    ReplaySettings,
    further_skills,
    most_draws,
    run_settings,
    slots_of,
)
from selection.runs import drafts, lifecycle
from topk import question_order

RIGHT, WRONG = "right", "wrong"


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
    run = drafts.create_draft(draft, further_skills(settings, sets[1:]))
    for question_set, kind in zip(sets, crowd.kinds, strict=True):
        if settings.redraw:
            _make_draws(question_set, most_draws(settings, len(crowd.workers) * len(sets)))
        else:
            catalog.take_questions(question_set, list(kind.gold.values()))
    lifecycle.start_run(run)
    run.refresh_from_db()
    if not settings.redraw:
        # The gold file decides the kind of a task, regardless of a column “skill”.
        rows = [replace(row, skill="") for row in crowd.answers]
        validate_answers.record_valid_answers(run, validate_answers.validate_answers(run, rows))
    return run


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
