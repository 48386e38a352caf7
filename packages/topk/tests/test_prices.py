"""Prices of workers: `universal` asks where a unit of money tells most."""

import json

import numpy as np
import pytest

from topk import Problem, ProblemError, build_selector
from topk.prices import UNRELATED
from topk.simulate import simulate_run

from .harness import restored, stored

POOL = np.random.default_rng(3).beta(6, 2, 30)
ASKED = {"k": 6, "epsilon": 0.08, "delta": 0.05}


def spread_prices(seed, n=30):
    """Return prices from 1 to 20 that have nothing to do with accuracy."""
    return np.exp(np.random.default_rng([seed, 9]).uniform(0, np.log(20), n))


@pytest.mark.parametrize("slots", [None, 40])
def test_equal_prices_change_nothing(slots):
    plain = simulate_run("universal", POOL, seed=1, slots=slots, **ASKED)
    priced = simulate_run("universal", POOL, seed=1, slots=slots, prices=[0.3] * 30, **ASKED)
    assert (plain.pulls_per_arm == priced.pulls_per_arm).all()
    assert (plain.selection == priced.selection).all()
    assert priced.cost == pytest.approx(0.3 * plain.cost)


def test_equal_prices_leave_the_sequence_and_the_guarantee_as_they_were():
    plain, priced = (
        build_selector("universal", Problem(30, 6, 0.08), **options)
        for options in ({}, {"prices": [2] * 30})
    )
    assert plain.guarantee == priced.guarantee
    rng = np.random.default_rng(5)
    for _ in range(12):
        counts = plain.ask(25)
        assert (priced.ask(25) == counts).all()
        right = rng.binomial(counts, POOL).astype(float)
        for selector in (plain, priced):
            selector.tell(np.arange(30), right, counts)
    assert plain.standing().gap == priced.standing().gap


def test_runs_that_know_prices_cost_less_money():
    """Fixed seeds; on average it is .78 of the money."""
    blind = aware = 0.0
    for seed in range(5):
        truth, prices = np.random.default_rng([seed, 8]).beta(2, 2, 100), spread_prices(seed, 100)
        asked = {"k": 20, "epsilon": 0.05, "seed": seed}
        blind += simulate_run("universal", truth, **asked).pulls_per_arm @ prices
        aware += simulate_run("universal", truth, prices=prices, **asked).cost
    assert aware < 0.95 * blind


def test_dear_workers_are_asked_less():
    prices = np.where(np.arange(40) % 2, 1.0, 10.0)
    asked = simulate_run(
        "universal", np.linspace(0.6, 0.9, 40), prices=prices, **ASKED
    ).pulls_per_arm
    assert asked[prices > 1].sum() < 0.75 * asked[prices == 1].sum()
    assert (asked > 0).all()


def test_the_unit_of_prices_does_not_matter_and_a_stored_run_goes_on_alike():
    prices = spread_prices(1)
    first, other = (
        build_selector("universal", Problem(30, 6, 0.08), prices=(prices * unit).tolist())
        for unit in (1.0, 1024.0)
    )
    right = np.random.default_rng(2).binomial(10, POOL).astype(float)
    for selector in (first, other):
        selector.tell(np.arange(30), right, 10)
    assert (first.ask(60) == other.ask(60)).all()
    options = json.loads(json.dumps({"prices": prices.tolist()}))
    again = build_selector("universal", first.problem, restored(stored(first.state)), **options)
    assert (again.ask(60) == first.ask(60)).all()


def test_prices_judge_nothing_and_their_assumption_is_named():
    right = np.random.default_rng(2).binomial(40, POOL).astype(float)
    plain, priced = (
        build_selector("universal", Problem(30, 6, 0.08), **options)
        for options in ({}, {"prices": spread_prices(1).tolist()})
    )
    for selector in (plain, priced):
        selector.tell(np.arange(30), right, 40)
    assert plain.standing().gap == priced.standing().gap
    assert plain.stop() == priced.stop()
    assert priced.guarantee.assumes == UNRELATED + plain.guarantee.assumes


@pytest.mark.parametrize(
    "prices",
    [[1, 0, 2], [1, -1, 2], [1, np.inf, 2], [1, np.nan, 2], [1, "a", 2], [[1, 2, 3]], [], 3.0],
)
def test_prices_must_be_finite_and_positive(prices):
    with pytest.raises(ProblemError, match="prices must be a list of finite numbers above 0"):
        build_selector("universal", Problem(3, 1, 0.1), prices=prices)


def test_prices_must_match_the_number_of_workers():
    with pytest.raises(ProblemError, match="one for each of the 3 workers, not 2"):
        build_selector("universal", Problem(3, 1, 0.1), prices=[1, 2])


@pytest.mark.parametrize("many", [29, 31])
def test_a_simulation_needs_a_price_for_each_arm(many):
    with pytest.raises(ProblemError, match=f"one for each of the 30 workers, not {many}"):
        simulate_run("universal", POOL, prices=[1] * many, **ASKED)


@pytest.mark.parametrize("algorithm", ["certified", "credible", "lucb"])
def test_rules_that_cannot_use_prices_refuse_them(algorithm):
    with pytest.raises(ProblemError, match="no option named prices"):
        build_selector(algorithm, Problem(3, 1, 0.1), prices=[1, 2, 3])
