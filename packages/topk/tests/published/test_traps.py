"""Known traps, and defects of public code: a test fails if one comes back."""

import math

import numpy as np
import pytest

from topk import SELECTORS, Problem, Verdict
from topk.instances import synthetic
from topk.published import kernels
from topk.published.rounds import peel
from topk.published.successive_rejects import CSAR, SAR, SR
from topk.simulate import simulate_run

from .. import readable
from ..harness import Table, build, finish


def told(name, pulls, sums, k=2, epsilon=0.1, delta=0.1, budget=None, **options):
    """A selector that has seen these sums."""
    pulls = np.array(pulls)
    selector = SELECTORS[name](Problem(pulls.size, k, epsilon, delta, budget), **options)
    selector.tell(np.arange(pulls.size), sums, pulls)
    return selector


# -- T1


@pytest.mark.parametrize("name", ["uniform", "lucb", "sar", "lil-rand-lucb"])
def test_the_order_of_the_means_tells_nothing(name):
    budget = 10 if name in ("uniform", "sar") else None
    chosen = [
        simulate_run(name, [1.0] * 9, k=4, budget=budget, max_pulls=9, seed=seed).selection.tolist()
        for seed in range(40)
    ]
    assert sum(selection == [0, 1, 2, 3] for selection in chosen) < 5


def test_five_pulls_do_not_solve_a_hard_instance():
    means = synthetic(1000, 250, 6)
    chosen = simulate_run("uniform", means, k=250, budget=5000, seed=1).selection
    assert (means[:250].mean() - means[chosen].mean()) > 0.01


# -- T2


def test_a_run_that_may_never_end_is_capped_and_says_so():
    outcome = simulate_run("lil-lucb", [0.5] * 6, k=2, max_pulls=5000, parameters="heuristic")
    assert outcome.reasons == ("max-pulls",)
    assert 5000 <= outcome.pulls <= 5002


# -- T3


def states(count, n=7, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        pulls = rng.integers(1, 40, n)
        yield pulls, rng.binomial(pulls, rng.random(n)).astype(float), int(rng.integers(1, n))


def test_ugape_takes_the_kth_largest_among_the_others_and_the_least_bounds():
    by_mean_differs = 0
    for pulls, sums, k in states(300):
        selector = told("ugape-c", pulls, sums, k)
        log_term = math.log(4 * 7 * int(pulls.sum()) ** 3 / 0.1)
        radius = np.sqrt(log_term / (2 * pulls))
        arms, gap, chosen = readable.ugape(sums / pulls, radius, pulls, k)
        assert set(selector.selection()) == chosen
        assert selector._judgement()[2] == pytest.approx(gap)
        if not selector.stop():
            assert set(np.flatnonzero(selector.ask())) == arms
        by_mean_differs += chosen != set(readable.ranked(sums / pulls)[:k])
    assert by_mean_differs > 20


def test_ugape_b_names_the_best_set_it_has_seen_not_the_last():
    selector = build("ugape-b", Problem(3, 1, 0.0, 0.1, 100), exploration=2.0)
    selector.tell([0, 1, 2], [30.0, 5.0, 5.0], [30, 30, 30])
    assert selector.selection().tolist() == [0]
    assert not selector.stop()
    selector.tell([0], [0.0], [9])  # now the bound is worse
    selector.tell([1], [1.0])
    assert selector.stop() == ("budget",)
    assert selector.selection().tolist() == [0]
    worse = told("ugape-b", [39, 31, 30], [30.0, 6.0, 5.0], 1, 0.0, 0.1, 100, exploration=2.0)
    assert worse.state.memory["best_gap"] > selector.state.memory["best_gap"]


# -- T4


def test_clucb_stops_at_k_epsilon_in_sum():
    pulls, sums = [8000] * 6, [4000.0, 3980, 3960, 3600, 3580, 3560]
    selector = told("clucb-pac", pulls, sums, 3, 0.05)
    total = selector._judgement()[2]
    assert 0.05 < total <= 3 * 0.05
    assert selector.stop() == ("guarantee",)
    assert selector.standing().gap == pytest.approx(total / 3)


def test_clucb_compares_values_not_sets():
    """Two arms tie at the border for good, all pulls being equal: other sets of the same value."""
    strategy = SELECTORS["clucb-pac"](Problem(4, 2, 0.0)).strategy
    assert kernels.is_kept(strategy, 0.0)
    assert kernels.is_kept(strategy, 1e-15)
    assert not kernels.is_kept(strategy, 1e-6)


def test_clucb_follows_the_paper():
    for pulls, sums, k in states(200, seed=1):
        selector = told("clucb-pac", pulls, sums, k)
        radius = np.sqrt(math.log(4 * 7 * int(pulls.sum()) ** 3 / 0.1) / (2 * pulls))
        arms, gap = readable.sets(sums / pulls, radius, k)
        assert selector._judgement()[2] == pytest.approx(gap)
        if not selector.stop():
            assert set(np.flatnonzero(selector.ask())) == arms


# -- T5


@pytest.mark.parametrize("name", ["adaptive-top-k", "halving", "opt-mai-budget"])
def test_a_round_is_judged_by_its_fresh_answers(name):
    selector = build(name, Problem(4, 2, 0.5, 0.1, 4000 if name == "opt-mai-budget" else None))
    first = selector.ask()
    selector.tell(np.arange(4), first * np.array([0.6, 0.6, 0.5, 0.5]), first)
    second, active = selector.ask(), selector.undecided
    selector.tell(np.flatnonzero(active), second[active] * 0.25, second[active])
    assert (selector.state.memory["means"][active] == pytest.approx(0.25, abs=1e-9)) is True


@pytest.mark.parametrize("name", ["sar", "sr", "csar"])
def test_a_phase_is_judged_by_all_answers(name):
    selector = build(name, Problem(4, 2, 0.0, 0.1, 400))
    first = selector.ask()
    selector.tell(np.arange(4), first * np.array([1.0, 0.6, 0.5, 0.0]), first)
    second, active = selector.ask(), selector.undecided
    told_means = selector.means[active]
    selector.tell(np.flatnonzero(active), second[active] * 0.25, second[active])
    blend = (told_means * first[active] + 0.25 * second[active]) / (first + second)[active]
    assert selector.state.memory["means"][active] == pytest.approx(blend)


# -- T6


def test_the_ranks_at_the_edges_of_sar():
    values = np.array([0.9, 0.8, 0.2, 0.1])
    assert peel(values, 0, 4) == (0, 4)
    assert peel(values, 4, 4) == (4, 0)
    assert peel(values, 2, 1) == (0, 1)  # equal gaps: the worst goes
    assert peel(np.array([0.9, 0.5, 0.4]), 1, 1) == (0, 1)
    assert peel(np.array([0.9, 0.3, 0.25]), 2, 1) == (1, 0)


def test_the_schedules():
    """Q = 1000 on 5 arms: Lbar(5) = 1.78333, CSAR's sum is 2.28333."""
    given = Problem(5, 2, 0.0, 0.1, 1000)
    assert SAR(given).schedule.tolist() == [math.ceil(995 / (107 / 60 * m)) for m in (5, 4, 3, 2)]
    assert CSAR(given).schedule.tolist() == [
        math.ceil(995 / (137 / 60 * m)) for m in (5, 4, 3, 2, 1)
    ]
    assert SR(given).schedule.tolist() == SAR(given).schedule[:3].tolist()
    renormalised = 1 + 1 / 4 + 1 / 5
    assert SR(given, schedule="renormalised").schedule.tolist() == [
        math.ceil(995 / (renormalised * m)) for m in (5, 4, 3)
    ]


def test_renormalised_sr_spends_the_budget_left_by_plain_sr():
    means = np.linspace(0.2, 0.8, 20)
    plain = simulate_run("sr", means, k=10, budget=2000)
    full = simulate_run("sr", means, k=10, budget=2000, schedule="renormalised")
    assert plain.pulls < full.pulls <= 2000


# -- T9


def test_radii_of_arms_not_pulled_grow_with_time():
    selector = told("lucb", [1000] * 5, [900.0, 800, 300, 200, 100])
    before = selector.standing().upper[4]
    selector.tell([0], [40000.0], [40000])
    assert selector.standing().upper[4] > before


def test_lucb_follows_the_paper():
    for pulls, sums, k in states(200, seed=2):
        selector = told("lucb", pulls, sums, k)
        t = max(1 + (int(pulls.sum()) - 7 + 1) // 2, pulls.max())
        radius = np.sqrt(math.log(1.25 * 7 * float(t) ** 4 / 0.1) / (2 * pulls))
        arms, gap = readable.pair(sums / pulls, radius, radius, k)
        assert selector._judgement()[2] == pytest.approx(gap)
        if not selector.stop():
            assert set(np.flatnonzero(selector.ask())) == arms


def test_kl_lucb_follows_the_paper():
    for pulls, sums, k in states(60, seed=3):
        selector = told("kl-lucb", pulls, sums, k)
        t = max(1 + (int(pulls.sum()) - 7 + 1) // 2, pulls.max())
        z = math.log(405.5 * 7 * float(t) ** 1.1 / 0.1)
        arms, gap = readable.kl_pair(sums / pulls, pulls, z + math.log(z), k)
        assert selector._judgement()[2] == pytest.approx(gap, abs=1e-8)
        if not selector.stop():
            asked = np.flatnonzero(selector.ask())
            assert set(asked) == arms


# -- T10


def test_rules_stop_at_or_below_equality_as_published():
    stops_below = ["lucb", "kl-lucb", "ugape-c", "ugape-v"]
    stops_at = ["lil-lucb", "lucb-plus-plus", "lil-rand-lucb", "lil-clucb", "pair-lucb"]
    for name in stops_below:
        strategy = SELECTORS[name](Problem(4, 2, 0.25)).strategy
        assert not kernels.is_kept(strategy, 0.25)
        assert kernels.is_kept(strategy, 0.2499)
    for name in stops_at:
        assert kernels.is_kept(SELECTORS[name](Problem(4, 2, 0.25)).strategy, 0.0)


# -- T11 and defects of public code


def test_the_logarithm_of_lucb_knows_how_many_arms_there_are():
    few, many = (SELECTORS["lucb"](Problem(n, 2)).strategy.log_constant for n in (4, 400))
    assert many - few == pytest.approx(math.log(100))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 9])
def test_optmai_returns_k_arms_however_few_are_left(n):
    for k in range(1, n):
        outcome = simulate_run("opt-mai-budget", np.linspace(0.1, 0.9, n), k=k, budget=300)
        assert outcome.selection.size == k


def test_sar_survives_running_out_of_places():
    for seed in range(5):
        means = np.random.default_rng(seed).random(100)
        outcome = simulate_run("sar", means, k=20, budget=3000, seed=seed)
        assert outcome.selection.size == 20
        assert outcome.pulls <= 3000


# -- T12


def test_the_rounds_of_adaptive_top_k_have_the_papers_length():
    selector = SELECTORS["adaptive-top-k"](Problem(1000, 100, 0.01, 0.01))
    assert [selector.round_pulls(r) for r in (1, 2, 3, 4)] == [49, 218, 922, 3835]


def test_the_first_round_of_adaptive_top_k_cannot_decide():
    selector = build("adaptive-top-k", Problem(10, 3, 0.05, 0.1))
    pulls = selector.ask()
    selector.tell(np.arange(10), pulls * (np.arange(10) < 3), pulls)
    assert (selector.state.verdict == Verdict.UNDECIDED).all()
    assert selector.round == 2


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 0.3, 0.9])
def test_adaptive_top_k_ends_in_the_round_the_proof_says(epsilon):
    selector = build("adaptive-top-k", Problem(6, 3, epsilon, 0.1))
    finish(selector, Table([0.5] * 6, np.random.default_rng(0)))
    assert selector.round - 1 <= max(0, math.ceil(math.log2(2 / epsilon)))
