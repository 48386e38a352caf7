"""Mean pulls, within noise, of a first implementation written apart from this one."""

import numpy as np
import pytest

from topk import SELECTORS
from topk.instances import (
    SAR_EXPERIMENTS,
    synthetic,
    two_group,
    uniform,
)
from topk.simulate import simulate_run

SIXES = [0.6] * 5 + [0.4] * 15
SEVENS = [0.7] * 5 + [0.3] * 15


def mean_pulls(name, means, runs, epsilon, **options):
    outcomes = [
        simulate_run(name, means, k=5, epsilon=epsilon, delta=0.1, seed=seed, **options)
        for seed in range(runs)
    ]
    assert all(outcome.selection.tolist() == [0, 1, 2, 3, 4] for outcome in outcomes)
    return np.mean([outcome.pulls for outcome in outcomes])


@pytest.mark.parametrize(
    ("name", "wanted"), [("lucb", 42_120), ("ugape-c", 37_055), ("clucb-pac", 38_530)]
)
def test_bounds_that_widen_with_time(name, wanted):
    assert mean_pulls(name, SIXES, 30, 0.0) == pytest.approx(wanted, rel=0.04)


@pytest.mark.parametrize(
    ("name", "faithful", "heuristic"),
    [
        ("lil-rand-lucb", 18_742, 5_961),
        ("lucb-plus-plus", 19_023, 5_937),
        ("lil-lucb", 19_361, 6_190),
        ("lil-clucb", 21_061, 6_950),
    ],
)
def test_bounds_of_the_iterated_logarithm(name, faithful, heuristic):
    assert mean_pulls(name, SIXES, 30, 0.0) == pytest.approx(faithful, rel=0.05)
    found = mean_pulls(name, SIXES, 60, 0.0, parameters="heuristic")
    assert found == pytest.approx(heuristic, rel=0.06)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, 13_344),
        ({"cumulative": True}, 10_490),
        ({"cumulative": True, "half": True}, 5_549),
    ],
)
def test_adaptive_top_k_and_its_cheaper_variants(options, wanted):
    found = mean_pulls("adaptive-top-k", SEVENS, 60, 0.1, **options)
    assert found == pytest.approx(wanted, rel=0.02)


def test_lil_ucb_is_far_behind_with_faithful_parameters():
    """Jiang et al. 2017, section 5.2."""
    means = [0.8] + [0.3] * 9
    best = {
        name: simulate_run(name, means, k=1, delta=0.05, seed=1)
        for name in ("lil-ucb", "lil-rand-lucb")
    }
    assert all(outcome.selection.tolist() == [0] for outcome in best.values())
    assert best["lil-ucb"].pulls > 3 * best["lil-rand-lucb"].pulls


def test_sar_beats_uniform_where_gaps_differ(sample):
    experiment = SAR_EXPERIMENTS[5]
    wrong = {
        name: sum(
            set(
                simulate_run(
                    name, experiment.means, k=4, budget=experiment.budget, seed=seed
                ).selection
            )
            != set(range(4))
            for seed in range(sample(60, 300))
        )
        for name in ("uniform", "sar", "sr")
    }
    assert wrong["sar"] < wrong["uniform"]


# -- the instances


def test_the_instances_are_the_papers():
    assert [len(SAR_EXPERIMENTS[i].means) for i in range(1, 7)] == [20, 20, 4, 6, 15, 30]
    assert SAR_EXPERIMENTS[3].means == pytest.approx((0.5, 0.48126, 0.449347, 0.3631), abs=1e-5)
    assert two_group(5, 2).tolist() == [0.7, 0.7, 0.3, 0.3, 0.3]
    assert synthetic(1000, 250, 1) == pytest.approx(uniform(1000))
    for p in (0.3, 0.5, 6):
        means = synthetic(1000, 100, p)
        assert (np.diff(means) <= 1e-12).all()
        assert means.min() >= 0
        assert means.max() <= 1


def test_gaussian_rewards_can_be_played():
    outcome = simulate_run("lil-rand-lucb", [0.9, 0.2, 0.1], k=1, delta=0.1, gaussian=True)
    assert outcome.selection.tolist() == [0]
    assert outcome.reasons == ("guarantee",)


def test_registered_names_are_those_of_the_selectors():
    assert all(SELECTORS[name].name == name for name in SELECTORS)
