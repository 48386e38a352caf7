"""`each-good`: its bounds, its levels, and how often it is wrong in families chosen against it."""

import numpy as np
import pytest

from topk import SELECTORS, THIS_SET, Problem, ProblemError, State, select
from topk.certified.confidence_sequences import bound_means
from topk.each import EachGood
from topk.each.selector import PRIOR
from topk.registry import build_selector, score_options
from topk.roster import CLOSED, OPENED, opening_option
from topk.simulate import simulate_run

from ..harness import DELTAS, too_many

FAMILIES = {
    "alike": lambda rng: np.full(8, 0.7),
    "a step just above epsilon": lambda rng: np.r_[np.full(3, 0.8), np.full(5, 0.59)],
    "a star": lambda rng: np.r_[0.99, np.full(7, 0.7)],
    "spammers": lambda rng: np.r_[rng.beta(6, 2, 5), np.zeros(3)],
    "even": lambda rng: rng.random(8),
}


def told(right, pulls, k=2, delta=0.1, **options):
    state = State(np.array(pulls), np.array(right, float), np.zeros(len(pulls), np.int8))
    return EachGood(Problem(len(pulls), k, 0.1, delta), state, **options)


def loss(truth, arms, k):
    return np.sort(truth)[-k] - truth[arms].min()


def test_bounds_exclude_means_far_less_likely_than_the_mixture():
    lower, upper = bound_means(
        np.array([0.0, 8, 10, 0]), np.array([0.0, 2, 0, 10]), 4.0, 3.0, PRIOR
    )
    mixture = 3 * 2 / (11 * 12 * 13)
    for p, level in ((lower[1], 4.0), (upper[1], 3.0)):
        assert np.log(mixture / (p**8 * (1 - p) ** 2)) == pytest.approx(level, abs=1e-6)
    assert (lower[0], upper[0]) == (0, 1)
    assert (lower[3], upper[2]) == (0, 1)


def test_a_true_accuracy_is_rarely_excluded_ever(sample):
    """At level ln 5 it is in a fifth of the sequences at most; a bound of half the level in .45."""
    rng, excluded, runs = np.random.default_rng(5), 0, sample(200, 2000)
    for p in rng.choice([0.1, 0.5, 0.9], runs):
        right = (rng.random(400) < p).cumsum()
        lower, upper = bound_means(right, np.arange(1, 401) - right, np.log(5), np.log(5), PRIOR)
        excluded += bool((lower > p).any() or (upper < p).any())
    assert not too_many(excluded, runs, 0.2 * 2)


def test_levels_share_delta_among_the_needed_bounds():
    low, high = told([0] * 8, [0] * 8)._levels
    assert np.exp([-low, -high]) == pytest.approx([0.05 / 6, 0.05 * 0.9 / 2])
    left = told([0] * 7, [0] * 7, planned_for=8)._levels
    assert np.exp([-left[0], -left[1]]) == pytest.approx([0.05 / 6, 0.05 * 0.1 / 6])


def test_levels_of_an_open_roster_leave_room_for_joining_workers():
    shares = [np.exp(-told([0] * n, [0] * n, 1, asked_open=True)._levels[0]) for n in range(2, 400)]
    assert (np.diff(shares) < 0).all()
    assert sum(shares) < 0.05


def test_the_gap_covers_any_selection():
    selector = told([90, 80, 50, 10], [100] * 4)
    lower, upper = selector.standing().lower, selector.standing().upper
    assert selector.shortfall(np.array([0, 2])) == pytest.approx(upper[1] - lower[2])
    assert selector.standing().gap == pytest.approx(max(0, upper[2] - lower[1]))


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_selected_worker_is_bad_as_rarely_as_guaranteed(sample, family, delta):
    """Proved bounds hardly ever err: this would see a bound that is not there."""
    rng, wrong, runs = np.random.default_rng(7), 0, sample(6, 60)
    for seed in range(runs):
        truth = rng.permutation(FAMILIES[family](rng))
        asked = {"k": 3, "epsilon": 0.2, "delta": delta, "seed": seed, "slots": 20}
        outcome = simulate_run("each-good", truth, max_pulls=50_000, **asked)
        assert outcome.reasons == ("guarantee",)
        wrong += loss(truth, outcome.selection, 3) > 0.2
    assert not too_many(wrong, runs, delta)


def test_the_set_is_known_when_all_its_questions_are_answered():
    truth = np.array([18, 16, 15, 10, 8, 5]) / 20
    selector = told(truth * 20, [20] * 6, accuracy="on this question set", questions=20)
    assert selector.shortfall(selector.selection()) == pytest.approx(0, abs=1e-9)
    assert selector.stop()


def test_leader_on_a_question_set_is_asked_more_by_the_root_of_the_rivals():
    """It serves every comparison, each rival only its own: docs/each-good.md, section 4."""
    on_set = {"accuracy": THIS_SET, "questions": 400}
    for pulls, arm in ((29, 0), (31, 1)):
        selector = told([pulls, *[9] * 9], [pulls, *[10] * 9], k=1, **on_set)
        assert np.flatnonzero(selector.ask()).tolist() == [arm]
    alone = told([20, 9, *[1] * 8], [20, 10, *[100] * 8], k=1, **on_set)
    assert np.flatnonzero(alone.ask()).tolist() == [1]


@pytest.mark.parametrize("delta", DELTAS)
def test_best_of_a_table_is_missed_as_rarely_as_guaranteed(sample, delta):
    """Rows are close to each other, and answers to questions depend on each other."""
    rng, wrong, runs = np.random.default_rng(11), 0, sample(10, 100)
    for seed in range(runs):
        table = rng.random((10, 60)) < 0.75 + 0.2 * np.sign(rng.random(60) - 0.4)
        outcome = select(table, k=1, epsilon=0.05, delta=delta, algorithm="each-good", seed=seed)
        assert outcome.complete
        wrong += loss(table.mean(axis=1), outcome.workers, 1) > 0.05
    assert not too_many(wrong, runs, delta)


def test_best_of_many_rows_takes_fewer_answers_than_certified():
    rng = np.random.default_rng(3)
    table = rng.random((30, 400)) < np.linspace(0.6, 0.9, 30)[:, None]
    asked = {"k": 1, "epsilon": 0.05, "seed": 1}
    ours, theirs = (select(table, algorithm=one, **asked) for one in ("each-good", "certified"))
    assert ours.cost < 0.8 * theirs.cost


def test_rule_each_good_takes_fewer_answers_than_kl_lucb():
    asked = {"k": 3, "epsilon": 0.1, "delta": 0.05, "seed": 1}
    truth = np.linspace(0.5, 0.95, 12)
    ours, theirs = (simulate_run(name, truth, **asked).pulls for name in ("each-good", "kl-lucb"))
    assert ours < 0.55 * theirs


def test_goal_equals_that_of_kl_lucb():
    assert EachGood.guarantee.goal is SELECTORS["kl-lucb"].guarantee.goal


def test_scores_are_taken_but_not_on_one_question_set():
    problem, options = Problem(8, 3, 0.1, 0.1), score_options("each-good")
    assert build_selector("each-good", problem, **options).guarantee == EachGood.guarantee
    with pytest.raises(ProblemError, match="for scores choose accuracy on questions like these"):
        build_selector("each-good", problem, accuracy=THIS_SET, questions=50, **options)


def test_the_guarantee_names_the_question_set_and_the_open_roster():
    selector = told([0] * 6, [0] * 6, accuracy=THIS_SET, questions=20, asked_open=True)
    sentence = selector.guarantee.sentence(selector.problem)
    assert (
        "at most 10 points less accurate than the 2nd best, in accuracy on this set of 20 questions"
        in sentence
    )
    assert "does not depend on when it comes" in selector.guarantee.assumes
    assert "when the roster closed, may not depend on the answers" in selector.guarantee.assumes
    assert "different workers are independent" in selector.guarantee.assumes
    assert "joined" not in told([0] * 6, [0] * 6).guarantee.assumes


def test_roster_open_at_the_first_question_keeps_its_levels_without_joiners():
    changes = [(OPENED, 0), (CLOSED, 5)]
    assert opening_option(EachGood, changes, False, 0) == {"asked_open": True}
    for never in ([], [(OPENED, 0), (CLOSED, 0)], [(OPENED, 4), (CLOSED, 6)]):
        assert opening_option(EachGood, never, False, 0) == {}
