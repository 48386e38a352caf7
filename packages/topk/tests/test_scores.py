"""Scores between 0 and 1: algorithms that take them, and the worth of their guarantees."""

import numpy as np
import pytest

import topk
from topk import SELECTORS, THIS_SET, Problem, ProblemError
from topk.certified import confidence_intervals
from topk.certified.swap_prices import swap_prices
from topk.registry import build_selector, score_options

from .harness import (
    FIXED_CONFIDENCE,
    NAMES,
    Table,
    again,
    finish,
    places,
    problem,
    steps,
    stored,
    too_many,
)

TAKING = [name for name in NAMES if SELECTORS[name].takes_scores]
REFUSING = [name for name in NAMES if name not in TAKING]
PROVED = [name for name in FIXED_CONFIDENCE if name in TAKING]
MEANS = np.array([0.9, 0.88, 0.86, 0.3, 0.25, 0.2, 0.12, 0.1])

# A table of scores with these (n, 1) means, by name: as the ratings of a judge may be spread.
SPREADS = {
    "uniform": lambda m, size, rng: m + (2 * rng.random(size) - 1) * np.minimum(m, 1 - m),
    "beta": lambda m, size, rng: rng.beta(2 * m, 2 * (1 - m), size),
    "two points": lambda m, size, rng: (
        m + np.where(rng.random(size) < 0.5, 1, -1) * np.minimum(m, 1 - m) / 2
    ),
    "mostly 0 or 1": lambda m, size, rng: rng.beta(0.2 * m, 0.2 * (1 - m), size),
}


class Scores(Table):
    """Scores drawn beforehand, as multiples of 1/64 so that their sums are exact."""

    def __init__(self, spread, seed, means=MEANS, questions=8000):
        super().__init__(means, np.random.default_rng(seed))
        drawn = SPREADS[spread](means[:, None], (means.size, questions), self.rng)
        self.rewards = np.rint(64 * drawn) / 64


def build(name):
    wanted = problem(name)
    return build_selector(name, wanted, **score_options(name))


def test_credible_and_universal_alone_refuse_scores():
    assert REFUSING == ["credible", "universal"]


@pytest.mark.parametrize("name", PROVED)
def test_errors_are_as_rare_as_guaranteed(sample, name):
    """8 runs: fails at 6, exact chance 2 in 100,000 at the guaranteed 10 %; 100 in full, at 24."""
    seeds, failures, k = sample(2, 25), 0, places(name)
    means = np.where(np.arange(8) < k, MEANS, np.minimum(MEANS, 0.3))
    for spread in SPREADS:
        for seed in range(seeds):
            selector = finish(build(name), Scores(spread, seed, means), slots=200)
            failures += means[:k].mean() - means[selector.selection()].mean() > 0.25
    assert not too_many(failures, seeds * len(SPREADS), 0.1)


@pytest.mark.parametrize("name", TAKING)
def test_the_state_does_not_depend_on_batching(name):
    whole, split, answers = build(name), build(name), Scores("beta", 1)
    for _ in range(40):
        if whole.stop():
            break
        counts = whole.ask(5, rng=np.random.default_rng(0))
        arms, rewards = answers.next(whole.state.pulls, counts)
        whole.tell(arms, rewards)
        for arm, reward in zip(arms[::-1], rewards[::-1], strict=True):
            split.tell([arm], [reward])
    one, other = stored(whole.state), stored(split.state)
    if SELECTORS[name].path_dependent:
        del one["memory"], other["memory"]
    assert one == other


@pytest.mark.parametrize("name", TAKING)
def test_a_selector_rebuilt_from_its_state_has_the_same_future(name):
    straight, rebuilt = build(name), build(name)
    for number, (arms, rewards) in enumerate(steps(straight, Scores("uniform", 2), slots=6)):
        rebuilt = again(rebuilt)
        rng = np.random.default_rng([0, number])
        assert np.bincount(arms, minlength=8).tolist() == rebuilt.ask(6, rng=rng).tolist()
        rebuilt.tell(arms, rewards)
        if number > 40:
            break
    assert again(rebuilt).selection().tolist() == rebuilt.selection().tolist()


# -- certified


@pytest.mark.parametrize("spread", SPREADS)
def test_intervals_of_scores_miss_as_rarely_as_of_right_and_wrong(spread):
    """800 workers of 300 scores, both sides at e^-3, the exact bound for 2 e^-3 of them."""
    rng, level = np.random.default_rng(5), 3.0
    means = np.repeat([0.5, 0.8, 0.95, 0.05], 200)
    sums = np.cumsum(SPREADS[spread](means[:, None], (800, 300), rng), axis=1)
    missed = np.zeros(800, bool)
    for pulls in (*range(1, 60), *range(60, 301, 20)):
        counts = np.full(800, pulls)
        lower, upper = confidence_intervals(counts, np.clip(sums[:, pulls - 1], 0, pulls), level, 0)
        missed |= (means < lower) | (means > upper)
    assert not too_many(int(missed.sum()), 800, 2 * np.exp(-level))


def test_prices_of_sums_between_whole_numbers_are_between_theirs():
    """So a sum that is rounded up, for a worker outside the selection, costs too much at most."""
    prices, rng = swap_prices(0.15, 0), np.random.default_rng(3)
    for pulls in (1, 4, 30, 250):
        for right in rng.uniform(0, pulls, 6):
            less, real, more = prices._compute(
                [(pulls, np.floor(right)), (pulls, right), (pulls, np.ceil(right))]
            )
            assert (less <= real + 1e-12).all()
            assert (real <= more + 1e-12).all()


@pytest.mark.parametrize("spread", SPREADS)
def test_the_mixture_of_swaps_does_not_grow_on_scores(spread):
    """Its mean over scores of each mean is at most 1: convexity, on 20,000 draws of 20 scores."""
    rng, pulls = np.random.default_rng(8), 20
    for mean in (0.3, 0.6, 0.9):
        sums = SPREADS[spread](mean, (20_000, pulls), rng).sum(axis=1)
        for lower in (mean - 0.1, mean - 0.25):
            logs = sums * np.log(lower / mean)
            logs += (pulls - sums) * np.log((1 - lower) / (1 - mean))
            ratio = np.exp(logs)
            assert ratio.mean() < 1 + 5 * ratio.std() / np.sqrt(ratio.size)


def test_whole_scores_are_judged_as_right_and_wrong_answers_by_swaps():
    rng, gaps = np.random.default_rng(4), []
    arms, rewards = rng.integers(0, 12, 300), rng.integers(0, 2, 300)
    for option in ("scores", "asked_open"):
        selector = build_selector("certified", Problem(12, 6, 0.1, 0.1), **{option: True})
        selector.tell(arms, rewards)
        gaps.append(selector.standing().gap)
    assert gaps[0] == gaps[1] < 1


def test_certified_refuses_scores_on_one_question_set():
    options = {"scores": True, "accuracy": THIS_SET, "questions": 50}
    with pytest.raises(ProblemError, match="for scores choose accuracy on questions like these"):
        build_selector("certified", Problem(8, 3, 0.1, 0.1), **options)


# -- in one call


def draw_scores(questions=1500, seed=1):
    means = np.array([0.4, 0.95, 0.5, 0.9, 0.45, 0.55])
    return np.random.default_rng(seed).beta(3 * means, 3 * (1 - means), (questions, 6)).T


def test_a_table_of_scores_is_told_from_one_of_right_and_wrong_answers():
    found = topk.select(draw_scores(), k=2, epsilon=0.1)
    assert found.workers.tolist() == [1, 3]
    assert found.complete
    assert found.answers.sum() < 2000
    assert "in true score on questions like these" in found.guarantee


def test_a_short_table_of_scores_ends_with_the_guarantee_that_holds():
    for name in ("certified", "uniform"):
        found = topk.select(draw_scores(60), k=2, epsilon=0.01, algorithm=name, budget=300, seed=2)
        assert found.workers.tolist() == [1, 3]
        assert not found.complete or name == "uniform"


def test_a_function_of_scores_says_so():
    rng = np.random.default_rng(2)
    means = [0.2, 0.9, 0.3]

    def ask(worker):
        return rng.beta(4 * means[worker], 4 * (1 - means[worker]))

    found = topk.select(ask, k=1, epsilon=0.1, n=3, scores=True)
    assert found.workers.tolist() == [1]
    with pytest.raises(ProblemError, match="say scores=True"):
        topk.select(ask, k=1, epsilon=0.1, n=3)


@pytest.mark.parametrize("name", REFUSING)
def test_algorithms_for_right_or_wrong_refuse_scores_and_name_alternatives(name):
    refusal = "right or wrong, and its.*choose Certified, KL-LUCB, Pair-LUCB or another"
    with pytest.raises(ProblemError, match=refusal):
        topk.select(draw_scores(20), k=2, algorithm=name)
    with pytest.raises(ProblemError, match=refusal):
        topk.simulate.simulate_run(name, MEANS, k=2, epsilon=0.1, concentration=2.0)


@pytest.mark.parametrize("concentration", [0.2, 2.0, 20.0])
def test_simulated_scores_have_the_means_asked_for(concentration):
    outcome = topk.simulate.simulate_run(
        "certified", MEANS, k=3, epsilon=0.2, seed=3, concentration=concentration
    )
    assert outcome.selection.tolist() == [0, 1, 2]
    assert outcome.reasons == ("guarantee",)


def test_bounds_of_a_sum_between_whole_numbers_are_the_wider_ones():
    """The lower one is of the sum rounded down, the upper one of the sum rounded up."""
    pulls, sums = np.array([20, 20, 20]), np.array([7.4, 12.0, 15.8])
    lower, upper = confidence_intervals(pulls, sums, 3.0, 0)
    less, more = (confidence_intervals(pulls, bound(sums), 3.0, 0) for bound in (np.floor, np.ceil))
    assert np.array_equal(lower, less[0])
    assert np.array_equal(upper, more[1])
    assert (upper > less[1]).tolist() == [True, False, True]


def test_scores_are_rounded_against_the_selection():
    """Sums of the selected are rounded down and those of the others up, not the other way."""
    pulls, chosen = np.full(4, 40), np.array([True, True, False, False])
    sums = np.array([33.6, 31.2, 12.7, 8.5])
    bounds = []
    for told in (sums, np.where(chosen, np.floor(sums), np.ceil(sums))):
        selector = SELECTORS["certified"](Problem(4, 2, 0.1, 0.1), scores=True)
        selector.tell(np.arange(4), told, pulls)
        bounds.append(selector._by_swaps(chosen, selector._tally))
    assert bounds[0] == bounds[1]
