"""Numberings: docs/certified.md, section 3."""

import math
from itertools import permutations

import numpy as np
import pytest

from topk import Problem, State, select_early
from topk.certified.every_pool import EveryPool, covers_numberings
from topk.certified.selector import THIS_SET, Certified
from topk.roster import is_guarantee_lost, plan_options
from topk.simulate import simulate_run
from topk.universal.certificate import Tally, certified
from topk.universal.reference import NODES

from ..harness import DELTAS, too_many
from ..parameters import mostly_slow

FAMILIES = {
    "bell": lambda rng: (rng.beta(6, 2, 14), 6),
    "even": lambda rng: (np.linspace(0.05, 0.95, 12), 6),
    "two groups": lambda rng: (np.repeat([0.9, 0.6], [6, 14]), 6),
    "border": lambda rng: (np.repeat([0.83, 0.66], [7, 7]), 7),
    "alike": lambda rng: (np.full(13, 0.8), 6),
}


def regret(truth, arms):
    return float(np.sort(truth)[-len(arms) :].mean() - truth[arms].mean())


# -- the certificate against all numberings


def sum_over_numberings(theta, right, wrong, chosen, epsilon, here):
    """Return the mean over numberings of P(answers and regret above epsilon among those here)."""
    total = 0.0
    for order in permutations(range(theta.size)):
        mine = theta[list(order)]
        best = np.sort(mine[here])[-int(chosen.sum()) :].mean()
        if best - mine[here][chosen].mean() > epsilon:
            total += math.exp(float(right @ np.log(mine) + wrong @ np.log1p(-mine)))
    return total / math.factorial(theta.size)


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_no_pool_breaks_the_certificate_of_the_remaining_workers(gone):
    """Power: with a tenth of the certified epsilon some pools break it."""
    rng, broken, delta = np.random.default_rng(1), 0, 0.5
    for _ in range(25):
        n, k = 5, 2
        answers = rng.integers(5, 60, n)
        right = rng.binomial(answers, rng.random(n)).astype(float)
        wrong, here = answers - right, np.arange(n) >= gone
        tally = Tally(right[here], wrong[here], right[~here], wrong[~here])
        share = (right + 1) / (answers + 2)
        chosen = np.zeros(n - gone, bool)
        chosen[np.argsort(-share[here])[:k]] = True
        slices = tally.reference.slices
        epsilon = certified(tally, chosen, k, delta, pool=True).epsilon(slices)
        for _ in range(6):
            theta = np.clip(rng.permutation(share) + 0.1 * rng.normal(size=n), 0.01, 0.99)
            log_q = math.log(np.interp(theta.mean(), NODES, np.exp(slices - slices.max())))
            allowed = delta * math.exp(log_q + slices.max())
            seen = [
                sum_over_numberings(theta, right, wrong, chosen, part * epsilon, here)
                for part in (1, 0.1)
            ]
            assert seen[0] <= allowed * (1 + 1e-9)
            broken += seen[1] > allowed
    assert broken > 0


# -- errors


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("family", mostly_slow(FAMILIES, ordinary=("bell", "border")))
def test_errors_are_as_rare_as_guaranteed_in_every_pool(sample, family, delta):
    """Fails at a count of probability below 1e-4 at the guaranteed rate, exactly."""
    failures, runs = 0, sample(15, 100)
    for seed in range(runs):
        truth, k = FAMILIES[family](np.random.default_rng([7, seed]))
        truth = np.random.default_rng([8, seed]).permutation(truth)
        outcome = simulate_run(
            "certified", truth, k=k, epsilon=0.12, delta=delta, seed=seed, max_pulls=50_000
        )
        assert outcome.reasons == ("guarantee",)
        failures += regret(truth, outcome.selection) > 0.12
    assert not too_many(failures, runs, delta)


def unlucky(state, rng):
    """Return four mostly wrong workers, so that good ones stay underrated; and
    now and then those with the fewest answers."""
    if rng.random() < 0.5:
        return np.argsort(state.pulls, kind="stable")[:4]
    return np.argsort(
        -state.rewards / np.maximum(state.pulls, 1) + 1e-3 * rng.random(state.pulls.size)
    )[-4:]


def told_in_turn(truth, rng, most, withdraw):
    """Ask the unlucky, four at a time; yield the selector and the truth of the rest.

    withdraw  True if the leader is withdrawn from time to time
    """
    here, n = np.arange(truth.size), truth.size
    pulls, rewards = np.zeros(n, np.int64), np.zeros(n)
    for step in range(most):
        gone = np.setdiff1d(np.arange(n), here)
        state = State(pulls[here], rewards[here], np.zeros(here.size, np.int8))
        state.gone = np.array([rewards[gone], pulls[gone], 0 * pulls[gone]])
        problem = Problem(here.size, 6, 0.13, 0.2)
        selector = Certified(problem, state, **plan_options(Certified, n, here.size))
        assert selector.pool is not None
        yield selector, truth[here]
        asked = here[unlucky(state, rng)]
        np.add.at(pulls, asked, 1)
        np.add.at(rewards, asked, rng.random(asked.size) < truth[asked])
        if withdraw and step in (40, 80, 120):
            here = np.delete(here, np.argmax(rewards[here] / np.maximum(pulls[here], 1)))


@pytest.mark.parametrize("withdraw", mostly_slow((False, True), ordinary=(True,)))
def test_certificate_survives_adversarial_questions_withdrawals_and_stops(sample, withdraw):
    """An adversary asks bad-looking workers, withdraws the leader, and stops at once.

    A single wrong place is an error: it costs .8, and K times epsilon is .78.
    """
    failures, stops, runs = 0, 0, sample(6, 100)
    for seed in range(runs):
        rng = np.random.default_rng([9, seed])
        truth = rng.permutation(np.repeat([0.95, 0.15], [6, 10]))
        for selector, left in told_in_turn(truth, rng, 600, withdraw):
            if selector.stop():
                stops += 1
                failures += regret(left, selector.selection()) > 0.13
                break
    assert stops == runs
    assert not too_many(failures, runs, 0.2)


def test_early_end_reports_the_certified_gap(sample):
    failures, runs = 0, sample(15, 60)
    for seed in range(runs):
        rng = np.random.default_rng([10, seed])
        truth = rng.beta(6, 2, 13)
        selector = Certified(Problem(13, 6, 0.01, 0.5), tuned_for=0.05)
        for _ in range(int(rng.integers(5, 30))):
            counts = selector.ask(20, rng=rng)
            selector.tell(np.arange(13), rng.binomial(counts, truth), counts)
        named = select_early(selector)
        assert named.guarantee.at_the_stop
        if named.epsilon is not None:
            failures += regret(truth, named.arms) > named.epsilon
    assert not too_many(failures, runs, 0.5)


# -- changes on the way


def a_run(n=14, k=6, epsilon=0.05, each=60, delta=0.1, **options):
    selector = Certified(Problem(n, k, epsilon, delta), **options)
    truth = np.linspace(0.3, 0.95, n)
    right = np.random.default_rng(3).binomial(each, truth)
    selector.tell(np.arange(n), right, each)
    return selector


def test_gap_depends_on_answers_and_k_not_on_earlier_epsilon():
    """The certificate is a function of the answers: an epsilon that moved does not matter."""
    began, moved = a_run(), a_run(epsilon=0.3, tuned_for=0.05)
    assert began.standing().gap == moved.standing().gap < 0.3
    assert moved.stop()
    assert not began.stop()
    fewer = Certified(Problem(14, 7, 0.05, 0.1), began.state)
    assert fewer.standing().gap != began.standing().gap


def test_withdrawn_worker_stays_in_the_likelihood_and_the_guarantee():
    before = a_run()
    gone, pulls = np.arange(14) >= 13, before.state.pulls
    left = State(pulls[:13], before.state.rewards[:13], np.zeros(13, np.int8))
    problem, options = Problem(13, 6, 0.05, 0.1), plan_options(Certified, 14, 13)
    without = Certified(problem, left, **options).standing().gap
    left.gone = np.array([before.state.rewards[13:], pulls[13:], [0]])
    kept = Certified(problem, left, **options)
    assert kept.standing().gap != without
    covered = Certified.covers_withdrawal(before.problem, {})
    assert not is_guarantee_lost(Certified, gone, pulls, (), covered)
    assert is_guarantee_lost(Certified, gone, pulls, [3], covered)
    # The roster of the start decides, not the remaining workers.
    assert Certified(Problem(9, 6, 0.05, 0.1), planned_for=14).pool is not None
    assert Certified(Problem(9, 6, 0.05, 0.1)).pool is None


def test_withdrawn_worker_without_answers_keeps_an_empty_row():
    before = a_run()
    selector = Certified(before.problem, before.state, planned_for=20)
    assert selector.pool._tally.gone_right.tolist() == [0] * 6
    assert selector.pool._tally.gone_wrong.tolist() == [0] * 6
    assert before.pool._tally.gone_right.size == 0
    assert selector.standing().gap == pytest.approx(before.standing().gap, rel=0.1)


def test_answers_that_are_out_count_at_their_worst():
    selector = a_run(each=200)
    before = selector.standing().gap
    selector.wait_for(np.arange(14) == 8)
    out = selector.standing().gap
    assert out > before
    for reward in (0, 1):
        later = a_run(each=200)
        later.tell([8], [reward])
        assert later.standing().gap <= out + 1e-3


def test_renumbered_workers_have_the_same_guarantee():
    """So the mean over numberings is of one event."""
    rng = np.random.default_rng(4)
    selector, order = a_run(), rng.permutation(14)
    other = Certified(selector.problem)
    other.tell(np.arange(14), selector.state.rewards[order], selector.state.pulls[order])
    assert set(order[other.selection()]) == set(selector.selection())
    assert other.standing().gap == pytest.approx(selector.standing().gap, abs=1e-4)
    shares = [np.zeros(14), np.zeros(14)]
    for seed in range(400):
        for asked, one in zip(shares, (selector, other), strict=True):
            asked += one.ask(30, rng=np.random.default_rng(seed))
    assert shares[1] == pytest.approx(shares[0][order], rel=0.15, abs=40)


def test_delta_is_shared_with_the_intervals():
    selector = a_run(delta=0.2)
    assert isinstance(selector.pool, EveryPool)
    assert selector.pool.problem.delta == pytest.approx(0.18)
    below, above = selector._levels
    spent = 6 * math.exp(-above) + 8 * math.exp(-below)
    assert spent == pytest.approx(0.02)


def test_guarantee_names_the_stop_and_its_assumptions():
    for options in ({}, {"accuracy": THIS_SET, "questions": 80}):
        guarantee = a_run(**options).guarantee
        assert guarantee.at_the_stop
        assert "nothing but answers distinguishes good workers" in guarantee.assumes
        assert "whatever population" not in guarantee.sentence(Problem(14, 6, 0.05, 0.1))
    swaps = Certified(Problem(14, 3, 0.05, 0.1)).guarantee
    assert not swaps.at_the_stop
    assert "distinguishes" not in swaps.assumes


@pytest.mark.parametrize(("n", "k"), [(12, 6), (100, 6), (100, 94), (1000, 100)])
def test_six_on_either_side_and_places_to_lose_are_enough(n, k):
    assert covers_numberings(Problem(n, k, 0.05))
    assert not covers_numberings(Problem(n, min(k, n - k, 5), 0.05))
    assert not covers_numberings(Problem(n, k, 0.001))


# -- on a question set


def on_a_set(seed, questions, delta):
    rng = np.random.default_rng([11, seed])
    truth = np.repeat([0.9, 0.5], [6, 7])
    decks = np.stack([rng.permutation(np.arange(questions) < t * questions - 0.5) for t in truth])
    selector = Certified(Problem(13, 6, 0.05, delta), accuracy=THIS_SET, questions=questions)
    while not selector.stop():
        counts = selector.ask(13, rng=rng)
        assert counts.sum() > 0
        pulls = selector.state.pulls.copy()
        rewards = [decks[i, pulls[i] : pulls[i] + counts[i]].sum() for i in range(13)]
        selector.tell(np.arange(13), rewards, counts)
    return selector, truth


def test_errors_on_a_question_set_are_as_rare_as_guaranteed(sample):
    """A single wrong place is an error: it costs .4, and K times epsilon is .3."""
    failures, runs = 0, sample(10, 100)
    for seed in range(runs):
        selector, truth = on_a_set(seed, 40, 0.2)
        assert selector.state.pulls.max() <= 40
        failures += regret(truth, selector.selection()) > 0.05 + 1e-9
    assert not too_many(failures, runs, 0.2)
