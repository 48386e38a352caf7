"""`credible` where one or a few workers stand out by a lead close to epsilon: it says so."""

import numpy as np
import pytest

from topk import Problem
from topk.credible.selector import Credible
from topk.credible.standouts import EARLY, LAGGARDS, STANDOUTS, TWO_GROUPS

from ..harness import too_many
from .pools import Cautious, pool, regret, run, told

STAR = np.r_[0.97, np.full(39, 0.9)]
ONE, WARNED = Problem(40, 1, 0.05, 0.05), "stand out by a lead close to ε = 0.05"


def says(selector):
    return any(WARNED in sentence for sentence in selector.warnings())


@pytest.mark.parametrize("kind", [Credible, Cautious])
def test_the_guarantee_names_standouts_and_laggards(kind):
    ends = {k: kind(Problem(40, k, 0.05, 0.05)) for k in (8, 9, 31, 32)}
    sentences = {k: end.guarantee.sentence(end.problem) for k, end in ends.items()}
    assert sentences[8].endswith(STANDOUTS)
    assert sentences[32].endswith(LAGGARDS)
    assert not any(limit in sentences[k] for k in (9, 31) for limit in (STANDOUTS, LAGGARDS))


@pytest.mark.parametrize(("n", "k", "epsilon"), [(10, 3, 0.06), (10, 5, 0.036), (30, 9, 0.03)])
def test_the_guarantee_names_two_groups_if_one_wrong_choice_may_cost_epsilon(n, k, epsilon):
    near, wide = (Problem(n, k, each, 0.2) for each in (epsilon, 0.11))
    assert Credible(near).guarantee.sentence(near).endswith(TWO_GROUPS)
    assert TWO_GROUPS not in Credible(wide).guarantee.sentence(wide)
    assert Credible(near).warnings() == ()


@pytest.mark.parametrize("n", [10, 60])
def test_an_early_end_names_groups_far_apart(n):
    problem = Problem(n, n // 3, 0.12, 0.5)
    assert Credible(problem).guarantee.sentence(problem, 0.2).endswith(EARLY)
    assert EARLY not in Credible(problem).guarantee.sentence(problem)


def test_laggards_cause_a_warning_if_nearly_all_are_selected():
    nearly_all = run(np.r_[np.full(9, 0.8), 0.62], Problem(10, 9, 0.019, 0.5), 3)
    assert any("fall behind by just more than K ε = 0.171" in one for one in nearly_all.warnings())


def test_cautious_names_the_least_gap_that_it_covers():
    sentence = Cautious(ONE).guarantee.sentence(ONE)
    assert "stand apart from the others by a gap of 0.14 or more" in sentence


@pytest.mark.parametrize("kind", [Credible, Cautious])
def test_standouts_break_delta_as_the_guarantee_says(kind, sample):
    """A change that makes this fail may drop the limit from the guarantee.

    Of 200 runs about a third are wrong; 24 of these suffice to reject a rate of 5 %.
    """
    runs = sample(24, 200)
    rng = np.random.default_rng(40)
    wrong = 0
    for seed in range(runs):
        truth = rng.permutation(STAR)
        wrong += regret(truth, run(truth, ONE, 800 + seed, kind=kind)) > 0.05
    assert too_many(wrong, runs, 0.05)


def test_nearly_equal_workers_cause_a_warning_at_the_end():
    nearly_equal = run(np.full(40, 0.9), ONE, 3)
    assert says(nearly_equal)
    assert says(run(np.full(40, 0.9), ONE, 3, kind=Cautious))


def test_standouts_cause_no_warning_before_the_end_on_bells_or_with_large_k():
    assert not says(told(np.full(40, 0.9), 3, ONE))
    assert not says(run(pool(11), Problem(40, 8, 0.05, 0.05), 3))
    assert not says(run(np.full(40, 0.9), Problem(40, 9, 0.05, 0.05), 3))


def test_nearly_perfect_workers_cannot_lead_by_epsilon():
    assert not says(run(np.full(40, 0.995), ONE, 3))
