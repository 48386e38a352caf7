"""Bets on answers less their predictions: fair at the true total, and equal to likelihoods."""

from itertools import permutations

import numpy as np
import pytest

from research.predicted_bets import Bets, PredictedAnswers, replay
from topk import THIS_SET, Problem
from topk.certified.selector import Certified

QUESTIONS = 6


@pytest.mark.parametrize("row", [[1, 1, 0, 1, 0, 1], [0, 0, 0, 1, 0, 0], [1] * 6, [0] * 6])
@pytest.mark.parametrize("answers", [2, 4])
def test_wealth_at_the_true_total_has_mean_one_over_all_orders(
    row: list[int], answers: int
) -> None:
    predicted = np.random.default_rng(3).random((1, QUESTIONS))
    lower = np.maximum(np.arange(QUESTIONS + 1.0)[:, None] - [0, 1, 3], 0)
    total, orders = sum(row), list(permutations(range(QUESTIONS), answers))
    wealth = np.zeros((2, lower.shape[1]))
    for order in orders:
        bets = Bets(1, QUESTIONS, [lower])
        bets._difficulties.predicted = predicted
        for question in order:
            bets.meet(0, question, row[question])
        wealth += bets._wealth[0][:, 0, total] / len(orders)
    assert wealth == pytest.approx(np.ones_like(wealth), abs=1e-6)


def test_flat_predictions_bound_the_swap_as_likelihoods_do() -> None:
    problem, rng = Problem(5, 2, 0.1, 0.05), np.random.default_rng(4)
    plain = Certified(problem, accuracy=THIS_SET, questions=40)
    bets = PredictedAnswers(problem, 40)
    bets.bets._fit_at = 10**6
    for model in range(5):
        for question in rng.permutation(40)[: 10 + 5 * model]:
            right = int(rng.random() < 0.9 - 0.1 * model)
            bets.tell_answer(model, int(question), right)
            plain.tell([model], [right])
    assert bets.standing().gap == pytest.approx(plain.standing().gap)
    assert bets.standing().gap < 1


@pytest.mark.parametrize("kind", ["copies", "useless", "opposed"])
def test_selections_lose_at_most_epsilon_on_adversarial_tables(kind: str) -> None:
    rng = np.random.default_rng(5)
    ease = np.linspace(0.2, 1, 60)
    table = (rng.random((6, 60)) < np.linspace(0.5, 0.9, 6)[:, None]).astype(float)
    if kind == "copies":
        table = np.repeat((rng.random((2, 60)) < ease).astype(float), 3, axis=0)
    if kind == "opposed":
        table = np.vstack([table[:3], 1 - table[:3]])
    losses = [replay("predicted", table, 1, 0.1, 0.5, seed)[1] for seed in range(15)]
    assert sum(loss > 0.1 + 1e-9 for loss in losses) <= 1
