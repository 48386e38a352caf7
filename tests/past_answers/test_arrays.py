"""Replay in arrays: the same as the whole way through the database."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crowdselect.past_answers import arrays, crowd
from crowdselect.past_answers.crowd import RecordedCrowd
from crowdselect.past_answers.settings import (
    ReplaySettings,
    compute_regrets,
    run_settings,
    slots_of,
)
from selection import engine, reports, wakeups
from selection.facts import Facts
from selection.imports import catalog, validate_answers
from selection.imports.row_parsers import WorkerRow
from selection.models import Pool, QuestionSet, Run
from selection.runs import lifecycle
from selection.runs.settings import drafts
from tests.pasts import write_past

ACCURACIES = [0.95, 0.9, 0.9, 0.6, 0.5, 0.55, 0.4, 0.3]
THIS_SET = {"accuracy": "on this question set"}


@pytest.fixture
def past(tmp_path) -> RecordedCrowd:
    """Return a crowd that answered all of 60 tasks, except that the last worker answered some."""
    answers, gold = write_past(tmp_path, ACCURACIES, 60)
    answers.write_text("\n".join(answers.read_text().splitlines()[:-25]))
    return crowd.read_crowd(answers, gold)


def wanted(algorithm: str, **changes: Any) -> ReplaySettings:
    usual = {"k": 3, "epsilon": 0.2, "delta": 0.1, "budget": None, "seed": 4}
    return ReplaySettings(algorithm=algorithm, **usual | changes)


def play_in_engine(past: RecordedCrowd, settings: ReplaySettings) -> Run:
    """Return a run that is set up by hand and given the recorded answers, at its end."""
    pool = Pool.objects.create(name="past")
    catalog.take_workers(pool, [WorkerRow(0, key, "", {}) for key in past.workers])
    question_set = QuestionSet.objects.create(name="past")
    catalog.take_questions(question_set, list(past.gold.values()))
    slots = slots_of(past, settings)
    places = {"name": "past", "pool": pool, "question_set": question_set, "recorded_only": True}
    usual = {"slots": slots, "slots_per_worker": slots, "hours_to_come": None}
    run = drafts.create_draft(run_settings(settings) | places | usual | {"met": Run.Met.AGAIN})
    with wakeups.silenced():
        lifecycle.start_run(run)
        run.refresh_from_db()
        rows = validate_answers.validate_answers(run, past.answers)
        validate_answers.record_valid_answers(run, rows)
        while engine.advance(run.pk):
            pass
    run.refresh_from_db()
    return run


def assert_same(played: Facts, run: Run, past: RecordedCrowd) -> None:
    document = reports.export_run(run)
    chosen = [row["worker"] for row in document["workers"]]
    assert (played.answers, played.ending) == (document["answers_used"], run.ending)
    assert played.regrets == pytest.approx(compute_regrets(past.accuracy, chosen))
    assert played.epsilon == document["epsilon_reached"]


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize(
    "settings",
    [
        wanted("certified"),
        wanted("certified", options=THIS_SET),
        wanted("certified", seed=9),
        wanted("credible"),
        wanted("adaptive-top-k"),
        wanted("lucb", epsilon=0.7),
        wanted("lucb-plus-plus"),
        wanted("lil-rand-lucb"),
        wanted("halving"),
        wanted("sar", budget=200),
        wanted("ugape-c", budget=150),
    ],
    ids=lambda asked: f"{asked.algorithm}-{asked.budget}",
)
def test_arrays_match_the_engine(past, settings):
    played = arrays.play_record(arrays.RecordedAnswers(past), settings)
    assert played.answers > 0
    assert_same(played, play_in_engine(past, settings), past)


def test_draws_of_a_worker_are_recorded_answers_for_any_arm(past):
    record, positions = arrays.RecordedAnswers(past), np.arange(2000)
    n = len(past.workers)
    for seed in (1, 2):
        for worker in range(n):
            draws = [
                record.draw_with_replacement(seed, place, 2000).grade(
                    np.full(2000, place[worker]), positions
                )
                for place in (np.arange(n), np.arange(n)[::-1])
            ]
            assert (draws[0] == draws[1]).all()
            accuracy = past.accuracy[past.workers[worker]]
            assert draws[0].mean() == pytest.approx(accuracy, abs=0.05)


def test_guarantee_that_is_not_true_by_the_record_is_found(tmp_path):
    record = arrays.RecordedAnswers(crowd.read_crowd(*write_past(tmp_path, [0.6] * 10, 60)))
    settings = wanted("credible", epsilon=0.02, delta=0.5, redraw=True)
    plays = [arrays.play_record(record, replace(settings, seed=seed)) for seed in range(12)]
    assert {play.true for play in plays} == {True, False}
    for play in plays:
        assert play.true is (play.regrets.aggregate <= 0.02 + 1e-9)


def test_regrets_compare_with_the_best_by_recorded_accuracy():
    accuracy = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.2}
    best, other = compute_regrets(accuracy, ["a", "b"]), compute_regrets(accuracy, ["d", "a"])
    assert (best.aggregate, best.explore_k) == (0, 0)
    assert (other.aggregate, other.explore_k) == (pytest.approx(0.3), pytest.approx(0.6))
