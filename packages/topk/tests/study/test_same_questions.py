"""Studies in which all candidates meet the same questions in one order."""

import asyncio

import numpy as np
import pytest

import topk
from topk import LIKE_THESE, StudyError

NAMES = ["ann", "bo", "cy", "di"]
RULE = {"k": 1, "epsilon": 0.1, "algorithm": "same-questions"}
HARD = np.random.default_rng(6).random(400)
TABLE = np.clip(np.array([[0.5], [0.62], [0.9], [0.45]]) > HARD, 0, 1).astype(float)


def result_of(pair):
    return TABLE[NAMES.index(pair[0]), pair[1]]


def build(path=None, **settings):
    return topk.Study(NAMES, range(400), path=path, **RULE | settings)


def test_candidates_meet_the_questions_in_one_random_order():
    study = build(accuracy=LIKE_THESE)
    for batch in study:
        study.tell({pair: result_of(pair) for pair in batch})
    order = study.order_items("ann")
    assert order != sorted(order)
    for name in NAMES:
        met = [item for candidate, item, _ in study.results if candidate == name]
        assert order[: len(met)] == met
    assert study.best.names == ["cy"]
    assert study.best.complete
    assert study.best.frame[0]["selected"]
    assert study.best.frame[0]["lower"] < 0.9 < study.best.frame[0]["upper"]


@pytest.mark.parametrize("scores", [False, True])
def test_a_study_opened_again_goes_on_as_if_it_had_never_been_closed(tmp_path, scores):
    """Ann has no result on a tenth of the questions; a process may end after any batch."""
    path, whole = tmp_path / "study.db", build(scores=scores)
    while True:
        with build(path, scores=scores) as study:
            assert study.best.guarantee == whole.best.guarantee
            assert repr(study.best.frame) == repr(whole.best.frame)
            batch = whole.ask(40)
            assert study.ask(40) == batch
            told = {pair: result_of(pair) * (0.75 if scores else 1) for pair in batch}
            told |= {pair: None for pair in batch if pair[0] == "ann" and pair[1] % 10 == 0}
            study.tell(dict(reversed(told.items())))
            whole.tell(told)
            if not batch:
                break
    assert whole.ended
    assert "Missing results: " in whole.best.guarantee
    with pytest.raises(StudyError, match="belongs to another study: algorithm"):
        build(path, scores=scores, algorithm="certified" if scores else "each-good")


@pytest.mark.parametrize("is_async", [False, True])
def test_selection_of_tables_and_functions_takes_the_rule(is_async):
    async def ask(name, item):
        await asyncio.sleep(0)
        return result_of((name, item))

    if is_async:
        found = asyncio.run(topk.aselect(NAMES, range(400), ask, concurrency=16, **RULE))
    else:
        table = {name: TABLE[row] for row, name in enumerate(NAMES)}
        found = topk.select(table, **RULE)
    assert found.names == ["cy"]
    assert found.complete
    assert found.calls < TABLE.size / 2
    assert "than the best, in accuracy on this set of 400 questions" in found.guarantee


def test_an_early_end_states_the_epsilon_of_its_own_selection():
    found = topk.select(TABLE, budget=60, accuracy=LIKE_THESE, **RULE)
    assert not found.complete
    assert found.workers.tolist() == [2]
    assert "With probability at least 95%" in found.guarantee
    assert "within 0.1 " not in found.guarantee


def test_questions_that_were_not_asked_are_passed_over():
    table = TABLE.copy()
    table[:, ::4] = np.nan
    found = topk.select(table, accuracy=LIKE_THESE, **RULE)
    assert found.workers.tolist() == [2]
    assert found.complete
