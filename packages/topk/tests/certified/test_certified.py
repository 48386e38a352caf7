"""certified: docs/certified.md, number by number."""

import math
from itertools import combinations

import numpy as np
import pytest

from topk import SELECTORS, Problem, ProblemError, Verdict
from topk.best_sets import Quotas
from topk.certified.confidence_sequences import TABLED, confidence_intervals
from topk.certified.intervals import FOR_INTERVALS, side_levels, worst_within
from topk.certified.selector import LIKE_THESE, THIS_SET, Certified
from topk.instances import two_group, uniform
from topk.simulate import simulate_run

from ..harness import again, answer_from, too_many


def everyone(n, k):
    return {"groups": [0] * n, "at_least": [k], "at_most": [k]}


# -- the certificate against all selections


def test_lemma_1_is_an_equality_for_the_best_threshold():
    rng = np.random.default_rng(0)
    for _ in range(50):
        theta, k = rng.random(6), int(rng.integers(1, 6))
        chosen = np.zeros(6, bool)
        chosen[rng.permutation(6)[:k]] = True
        regret = np.sort(theta)[-k:].sum() - theta[chosen].sum()
        sums = [
            np.maximum(c - theta[chosen], 0).sum() + np.maximum(theta[~chosen] - c, 0).sum()
            for c in theta
        ]
        assert regret == pytest.approx(min(sums))


def test_the_worst_swap_is_the_worst_of_all_selections():
    rng = np.random.default_rng(2)
    for _ in range(30):
        n, k = 6, int(rng.integers(1, 6))
        lower, upper = np.sort(rng.random((2, n)), axis=0)
        quotas = Quotas(n, k, everyone(n, k))
        chosen = quotas.best(rng.random(n))
        ours = set(np.flatnonzero(chosen))
        worst = max(
            sum(upper[i] for i in set(other) - ours) - sum(lower[i] for i in ours - set(other))
            for other in combinations(range(n), k)
        )
        assert worst_within(quotas, chosen, lower, upper) == pytest.approx(worst)


def test_selector_without_answers_certifies_no_gap_below_one():
    selector = Certified(Problem(5, 2, 0.1, 0.1))
    assert selector.standing().gap == 1
    assert selector.selection().size == 2


# -- the event


@pytest.mark.parametrize("theta", [0.1, 0.5, 0.9])
def test_intervals_hold_at_all_times(theta):
    """1000 workers of 150 answers each, looked at after every one; at most 10 % may ever fail."""
    rng = np.random.default_rng(4)
    answers = rng.random((1000, 150)) < theta
    failed = np.zeros(1000, bool)
    for m in range(1, 151):
        lower, upper = confidence_intervals(
            np.full(1000, m), answers[:, :m].sum(1).astype(np.int64), math.log(10), 0
        )
        failed |= (lower > theta) | (upper < theta)
    assert failed.sum() > 0
    assert not too_many(int(failed.sum()), 1000, 0.1)


def test_intervals_on_a_set_hold_at_all_times_and_close_at_its_end():
    rng, questions = np.random.default_rng(5), 40
    decks = rng.permuted(np.tile(np.arange(questions) < 26, (1000, 1)), axis=1)
    failed = np.zeros(1000, bool)
    for m in range(1, questions + 1):
        right = decks[:, :m].sum(1).astype(np.int64)
        lower, upper = confidence_intervals(np.full(1000, m), right, math.log(10), questions)
        assert (lower <= right / m + 0.5 / questions).all()
        failed |= (lower > 26 / questions + 1e-12) | (upper < 26 / questions - 1e-12)
    assert not too_many(int(failed.sum()), 1000, 0.1)
    np.testing.assert_array_equal(lower, upper)


def test_intervals_on_a_set_equal_a_search_over_all_totals():
    questions, x = 12, 2.0
    pairs = [(m, s) for m in range(1, questions + 1) for s in range(m + 1)]
    pulls, right = np.array(pairs).T
    lower, upper = confidence_intervals(pulls, right, x, questions)
    for i, (m, s) in enumerate(pairs):
        mixture = math.factorial(s) * math.factorial(m - s) / math.factorial(m + 1)
        kept = [
            r
            for r in range(s, questions - m + s + 1)
            if mixture * math.perm(questions, m)
            < math.exp(x) * math.perm(r, s) * math.perm(questions - r, m - s)
        ]
        assert (lower[i], upper[i]) == (kept[0] / questions, kept[-1] / questions)


@pytest.mark.parametrize("questions", [0, 300])
def test_interval_does_not_depend_on_the_others_computed_with_it(questions):
    """Intervals of few answers are kept in a table, those of many are computed each time."""
    rng = np.random.default_rng(13)
    pulls = rng.integers(0, 300, 40)
    right = rng.integers(0, pulls + 1)
    together = np.array(confidence_intervals(pulls, right, 9.0, questions))
    alone = [confidence_intervals(pulls[[i]], right[[i]], 9.0, questions) for i in range(40)]
    assert (together == np.array(alone)[:, :, 0].T).all()
    if not questions:
        more = confidence_intervals(np.append(pulls, TABLED), np.append(right, 0), 9.0, 0)
        assert (together == np.array(more)[:, :-1]).all()


@pytest.mark.parametrize(("n", "k"), [(2, 1), (50, 1), (12, 3), (100, 99)])
def test_upper_bounds_of_the_best_and_lower_ones_of_the_others_fail_within_their_part(n, k):
    """Section (5.2): no other bounds are needed, whichever workers are chosen."""
    problem = Problem(n, k, 0.1, 0.05)
    below, above = side_levels(problem)
    fail = k * math.exp(-above) + (n - k) * math.exp(-below)
    assert fail == pytest.approx(problem.delta * FOR_INTERVALS)


def test_sides_of_an_interval_have_separate_levels():
    pulls, right = np.array([40, 600]), np.array([30, 300])
    for questions in (0, 700):
        low, high = (confidence_intervals(pulls, right, x, questions) for x in (3.0, 9.0))
        found = confidence_intervals(pulls, right, 9.0, questions, 3.0)
        assert np.array_equal(found[0], high[0])
        assert np.array_equal(found[1], low[1])
        assert (found[1] < high[1]).all()


def test_settled_workers_are_settled_rightly_within_the_truth():
    truth = np.array([0.95, 0.9, 0.2, 0.15, 0.1])
    rng, selector = np.random.default_rng(6), Certified(Problem(5, 2, 0.0, 0.1))
    for _ in range(40):
        selector.tell(np.repeat(np.arange(5), 3), rng.random(15) < np.repeat(truth, 3))
        settled = selector.standing().settled
        assert (settled[2:] != Verdict.ACCEPTED).all()
        assert (settled[:2] != Verdict.REJECTED).all()
    assert settled.tolist() == [1, 1, -1, -1, -1]
    assert selector.stop() == ("guarantee",)


# -- finite gold


def test_exhausted_set_leaves_no_gap():
    """Two workers a hair apart, epsilon 0: only all answers can tell them apart."""
    questions, rng = 12, np.random.default_rng(7)
    right = np.array([7, 6, 6, 2])
    decks = rng.permuted(np.arange(questions) < right[:, None], axis=1)
    problem = Problem(4, 1, 0.0, 0.05)
    selector = Certified(problem, accuracy=THIS_SET, questions=questions)
    answer_from(decks, selector, slots=3)
    assert selector.selection().tolist() == [0]
    assert selector.state.pulls.max() <= questions
    assert selector.standing().gap == 0
    assert "accuracy on this set of 12 questions" in selector.guarantee.sentence(problem)


def test_question_set_of_known_size_needs_fewer_answers():
    truth = [0.9, 0.85, 0.8, 0.5, 0.45, 0.4, 0.35, 0.3]
    free = simulate_run("certified", truth, k=3, epsilon=0.15, seed=1).pulls
    bound = simulate_run(
        "certified", truth, k=3, epsilon=0.15, seed=1, accuracy=THIS_SET, questions=40
    )
    assert bound.pulls < free
    assert bound.pulls <= 8 * 40


def test_no_worker_answers_more_than_the_set_holds():
    selector = Certified(Problem(3, 1, 0.1, 0.1), accuracy=THIS_SET, questions=2)
    assert selector.ask(100, pending=[1, 0, 2]).tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="2 questions once"):
        selector.tell([0], [1], pulls=3)


def test_a_set_needs_its_size():
    with pytest.raises(ProblemError, match="number of questions"):
        Certified(Problem(3, 1, 0.1, 0.1), accuracy=THIS_SET)


def test_questions_like_these_is_the_default_and_said_so():
    problem = Problem(3, 1, 0.1, 0.1)
    for options in ({}, {"accuracy": LIKE_THESE, "questions": 30}):
        assert LIKE_THESE in Certified(problem, **options).guarantee.sentence(problem)


def test_sentence_states_the_assumption_between_workers():
    for options in ({}, {"accuracy": THIS_SET, "questions": 30}):
        assumes = Certified(Problem(3, 1, 0.1, 0.1), **options).guarantee.assumes
        assert ("of other workers" in assumes) is not bool(options)
        assert "how late" not in assumes


# -- quotas


@pytest.mark.parametrize(
    ("least", "most"), [([1, 2], [1, 2]), ([0, 2], [3, 3]), ([0, 0], [3, 1]), ([0, 3], [0, 3])]
)
def test_quotas_are_kept_and_the_best_within_them_found(least, most):
    truth = np.array([0.9, 0.85, 0.8, 0.5, 0.2, 0.1])
    option = {"groups": [0, 0, 0, 1, 1, 1], "at_least": least, "at_most": most}
    problem = Problem(6, 3, 0.25, 0.1)
    best = truth[Quotas(6, 3, option).best(truth)].mean()
    for seed in range(2):
        selector = Certified(problem, quotas=option)
        rng = np.random.default_rng(seed)
        while not selector.stop():
            arms = np.repeat(np.arange(6), selector.ask(6))
            selector.tell(arms, rng.random(arms.size) < truth[arms])
        chosen = selector.selection()
        counts = np.bincount(np.array(option["groups"])[chosen], minlength=2)
        assert (least <= counts).all()
        assert (counts <= most).all()
        assert best - truth[chosen].mean() <= 0.25
    assert "quotas" in selector.guarantee.sentence(problem)


def test_quotas_settle_no_worker_they_protect():
    """The best of a group that must send one is in, though all others are better."""
    option = {"groups": [0, 0, 0, 1, 1], "at_least": [0, 1], "at_most": [3, 2]}
    selector = Certified(Problem(5, 2, 0.0, 0.1), quotas=option)
    truth = np.array([1.0, 0.9, 0.8, 0.2, 0.0])
    selector.tell(np.arange(5), truth * 2000, pulls=2000)
    assert selector.selection().tolist() == [0, 3]
    settled = selector.standing().settled
    assert settled[3] != Verdict.REJECTED
    assert settled[1] != Verdict.ACCEPTED


# -- state, batches, figures


def test_a_rebuilt_selector_certifies_the_same():
    quotas = {"groups": [0, 1] * 4, "at_least": [1, 1], "at_most": [2, 2]}
    options = {"quotas": quotas, "accuracy": THIS_SET, "questions": 50}
    selector = Certified(Problem(8, 3, 0.1, 0.1), **options)
    rng = np.random.default_rng(8)
    selector.tell(np.arange(8), rng.integers(0, 12, 8), pulls=12)
    other = again(selector)
    assert other.standing().gap == selector.standing().gap
    assert other.ask(11).tolist() == selector.ask(11).tolist()
    assert other.guarantee == selector.guarantee


def test_outstanding_answers_count_as_made_when_choosing():
    selector = Certified(Problem(10, 3, 0.1, 0.1))
    assert selector.ask(10, pending=[4] * 5 + [0] * 5).tolist() == [0] * 5 + [2] * 5
    assert selector.ask(10**6, room=[1] * 10).tolist() == [1] * 10


def test_selector_near_the_stop_leaves_some_slots_empty_but_never_all():
    """Answers out at the stop are paid for nothing."""
    truth, rng = two_group(100, 20), np.random.default_rng(10)
    selector, asked = Certified(Problem(100, 20, 0.1, 0.01)), []
    while not selector.stop():
        counts = selector.ask(400)
        asked.append(int(counts.sum()))
        assert asked[-1] > 0
        arms = np.repeat(np.arange(100), counts)
        selector.tell(arms, rng.random(arms.size) < truth[arms])
    assert asked[0] == 400
    assert asked[-1] < 300
    assert selector.ask(400).sum() == 0


def test_pending_answers_count_towards_the_lacking_ones():
    truth, rng = two_group(100, 20), np.random.default_rng(11)
    selector = Certified(Problem(100, 20, 0.1, 0.01))
    selector.tell(np.arange(100), rng.binomial(20, truth), pulls=20)
    asked = selector.ask(10_000)
    assert 0 < asked.sum() < 10_000
    assert selector.ask(10_000, pending=asked).sum() == 0


@pytest.mark.parametrize(
    ("means", "k", "epsilon", "most"),
    [(two_group(100, 20), 20, 0.1, 3_200), (uniform(100), 20, 0.1, 2_800)],
)
def test_certified_needs_as_few_answers_as_documented(means, k, epsilon, most):
    """Fixed seeds; the page has means of 2,400 and 2,100."""
    for seed in range(2):
        outcome = simulate_run("certified", means, k=k, epsilon=epsilon, delta=0.01, seed=seed)
        assert outcome.reasons == ("guarantee",)
        assert outcome.pulls < most
        assert np.sort(means)[-k:].mean() - means[outcome.selection].mean() <= epsilon


def test_certified_is_registered():
    assert SELECTORS["certified"] is Certified
