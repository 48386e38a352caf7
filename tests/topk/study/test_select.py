"""One call from rewards to the K best."""

import numpy as np
import pytest

import topk
from topk import ProblemError

ACCURACY = np.array([0.4, 0.95, 0.5, 0.9, 0.45, 0.55])


def draw_table(questions, seed=1):
    rng = np.random.default_rng(seed)
    return (rng.random((6, questions)) < ACCURACY[:, None]).astype(int)


def test_a_table_of_rewards_is_asked_no_oftener_than_the_guarantee_needs():
    found = topk.select(draw_table(2000), k=2, epsilon=0.1)
    assert found.workers.tolist() == [1, 3]
    assert found.complete
    assert found.answers.sum() == found.cost < 2000
    assert "within 0.1 of that of the 2 best" in found.guarantee


def test_a_short_table_is_used_up_and_the_guarantee_is_the_one_that_holds():
    table = draw_table(20)
    found = topk.select(table, k=2, epsilon=0.01)
    assert not found.complete
    assert found.answers.max() == 20
    assert found.workers.tolist() == [1, 3]
    assert "within 0.01 " not in found.guarantee
    assert "With probability at least 0.95" in found.guarantee


def test_each_reward_of_a_row_is_taken_once():
    """Rows of known sums: what was told of a worker who answered everything is their sum."""
    found = topk.select(np.eye(6)[:, ::-1] * 0 + 1.0, k=2, epsilon=0.0001, algorithm="lucb")
    assert (found.answers == 6).all()


def test_a_function_is_asked_as_often_as_it_says():
    asked, rng = np.zeros(6, int), np.random.default_rng(4)

    def answer(worker):
        asked[worker] += 1
        return float(rng.random() < ACCURACY[worker])

    prices = np.array([1, 2, 4, 8, 16, 20])
    found = topk.select(
        answer, k=2, epsilon=0.2, n=6, algorithm="universal", prices=prices, budget=900
    )
    assert (found.answers == asked).all()
    assert found.workers.tolist() == [1, 3]
    assert found.cost == asked @ prices


def test_the_same_seed_selects_alike_and_the_order_of_workers_tells_nothing():
    table = draw_table(300)
    one, other = (topk.select(table, k=2, epsilon=0.1, seed=7) for _ in range(2))
    assert (one.answers == other.answers).all()
    equal = [topk.select(np.ones((6, 30)), k=2, seed=seed).workers.tolist() for seed in range(6)]
    assert len({tuple(workers) for workers in equal}) > 1


@pytest.mark.parametrize(
    ("answers", "asked", "message"),
    [
        ([0.5, 0.4], {}, "a table of rewards from 0 to 1"),
        ([[0.5, 2], [1, 0]], {}, "a table of rewards from 0 to 1"),
        ([[0.5, np.nan], [1, 0]], {}, "a table of rewards from 0 to 1"),
        (lambda worker: 1.0, {}, "n must say how many workers"),
        ([[1, 0], [1, 0]], {"algorithm": "universal", "prices": [1]}, "one for each of the 2"),
        ([[1, 0], [1, 0]], {"k": 2}, "K must be at least 1 and less"),
    ],
)
def test_other_input_is_refused_in_a_sentence(answers, asked, message):
    with pytest.raises(ProblemError, match=message):
        topk.select(answers, **{"k": 1} | asked)
