"""Run by ``make interop`` with the real Inspect."""

import random

import pytest

from topk import ProblemError

pytest.importorskip("inspect_ai")

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import solver

from topk.adapters.inspect_ai import select_models

STRENGTHS = dict(zip("abcdef", (0.95, 0.9, 0.5, 0.4, 0.6, 0.3), strict=True))
MODELS = [f"mockllm/{name}" for name in STRENGTHS]
ITEMS = 200


@solver
def idle():
    async def solve(state, generate):
        return state

    return solve


@scorer(metrics=[accuracy()])
def draw(calls, broken):
    async def score(state, target):
        name = str(state.model)[-1]
        calls.append((name, state.sample_id))
        if name in broken:
            raise RuntimeError("The server does not answer.")
        right = random.Random(f"{name} {state.sample_id}").random() < STRENGTHS[name]
        return Score(value="C" if right else "I")

    return score


def run_suite(folder, calls, broken="", **settings):
    task = Task(
        dataset=[Sample(input=f"{number}?", target="x") for number in range(ITEMS)],
        solver=idle(),
        scorer=draw(calls, broken),
    )
    options = {"log_dir": str(folder), "display": "none"}
    return select_models(task, MODELS, k=2, epsilon=0.1, eval_options=options, **settings)


def test_suite_stops_when_the_best_two_are_known(tmp_path):
    calls = []
    best, logs = run_suite(tmp_path, calls)
    assert sorted(best.names) == MODELS[:2]
    assert best.complete
    assert len(calls) == len(set(calls)) < 400  # of 1,200
    assert {log.status for log in logs} == {"success"}
    stopped = sum(len(log.results.early_stopping.early_stops) for log in logs)
    assert stopped + len(calls) == len(MODELS) * ITEMS


def test_second_evaluation_runs_no_sample_again(tmp_path):
    calls = []
    first, _ = run_suite(tmp_path, calls, path=tmp_path / "study.db")
    count = len(calls)
    second, _ = run_suite(tmp_path, calls, path=tmp_path / "study.db")
    assert (second.names, len(calls)) == (first.names, count)


def test_model_that_fails_does_not_stop_the_others(tmp_path):
    best, _ = run_suite(tmp_path, [], broken="f")
    assert sorted(best.names) == MODELS[:2]
    assert MODELS[5] in best.set_aside


def test_epochs_are_refused(tmp_path):
    with pytest.raises(ProblemError, match="more than one epoch"):
        select_models(Task(dataset=[Sample(input="?")], epochs=3), MODELS, k=2)
