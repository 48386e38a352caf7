"""Rules that find all workers at a mark: false as rarely as stated, up to K, and with an end."""

import numpy as np
import pytest

from topk import SELECTORS, THIS_SET, Problem, ProblemError, State
from topk.good.by_population import closes, list_sizes
from topk.guarantee import Goal
from topk.simulate import simulate_run

from ..harness import DELTAS, too_many

RULES = [name for name, kind in SELECTORS.items() if kind.takes_mark]
OURS, RULES_OF_SHARES = ("mark-share", "mark-all"), ("good-e-bh", "mark-share")
EPSILON, MARK = 0.1, 0.7


def told(rule, right, pulls, k=2, delta=0.1, **options):
    state = State(np.array(pulls), np.array(right, float), np.zeros(len(pulls), np.int8))
    return SELECTORS[rule](Problem(len(pulls), k, EPSILON, delta), state, mark=MARK, **options)


def play(rule, truth, seed, delta, k=3):
    limits = {"k": k, "epsilon": EPSILON, "delta": delta, "max_pulls": 20_000}
    return simulate_run(rule, truth, mark=MARK, slots=8, seed=seed, **limits)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("rule", RULES)
def test_selected_workers_below_the_mark_are_as_rare_as_stated(sample, rule, delta):
    """All but one just fail the mark less epsilon: chosen against the rules."""
    truth, runs = np.r_[0.9, np.full(7, MARK - EPSILON - 0.01)], sample(12, 200)
    outcomes = [play(rule, truth, seed, delta) for seed in range(runs)]
    assert all(outcome.reasons == ("guarantee",) for outcome in outcomes)
    wrong = sum((truth[outcome.selection] < MARK - EPSILON).any() for outcome in outcomes)
    # One false of two or three is a share of a half or less: the mean share may be delta.
    rate = min(3 * delta, 0.9) if rule in RULES_OF_SHARES else delta
    assert not too_many(int(wrong), runs, rate)


@pytest.mark.parametrize("rule", RULES)
def test_all_good_workers_are_found_up_to_k(rule):
    truth = np.r_[np.full(2, 0.98), np.full(4, 0.2)]
    assert play(rule, truth, 1, 0.1).selection.tolist() == [0, 1]
    assert play(rule, np.full(6, 0.98), 1, 0.1).selection.size == 3
    assert play(rule, np.full(6, 0.2), 1, 0.1).selection.size == 0


def test_e_bh_needs_less_evidence_of_each_of_many():
    alone = told("good-e-bh", [18.0, *[5] * 5], [20] * 6, k=4)
    three = told("good-e-bh", [*[18.0] * 3, *[5] * 3], [20] * 6, k=4)
    assert alone.selection().tolist() == []
    assert three.selection().tolist() == [0, 1, 2]


def test_answers_to_all_questions_of_a_set_decide_exactly():
    rule = told("good-e-bh", [18.0, 17, 2], [30] * 3, accuracy=THIS_SET, questions=30)
    assert rule.selection().tolist() == [0]
    assert rule.stop() == ("guarantee",)


def test_open_roster_needs_more_evidence():
    closed, opened = (told("mark-all", [9.0] * 3, [10] * 3, asked_open=o) for o in (False, True))
    assert opened._level > closed._level
    assert "joined" in opened.guarantee.assumes


@pytest.mark.parametrize("mark", [0.05, 0.1, 1.0])
def test_mark_must_be_above_epsilon_and_below_one(mark):
    with pytest.raises(ProblemError, match=r"The pass mark must be above ε and below 1"):
        SELECTORS["mark-all"](Problem(5, 2, EPSILON), mark=mark)


def test_guarantee_names_the_mark():
    rule = told("mark-all", [0.0] * 3, [0] * 3)
    assert rule.guarantee.goal is Goal.MARK
    assert "at least 60%, the pass mark of 70% less ε" in rule.guarantee.sentence(rule.problem)


@pytest.mark.parametrize(("gone", "seed"), [(0, 1), (0, 2), (0, 3), (2, 4), (2, 5)])
def test_closed_test_looks_at_every_set(gone, seed):
    """Each set of arms has as much evidence, on average, as its share of the accepted needs."""
    values = np.sort(np.random.default_rng(seed).lognormal(0, 1.5, 7))[::-1]
    everyone = np.r_[values, np.zeros(gone)]
    sets = [[i for i in range(7 + gone) if number >> i & 1] for number in range(1, 2 ** (7 + gone))]
    for k in range(1, 8):
        enough = [everyone[s].mean() >= sum(i < k for i in s) / k - 1e-9 for s in sets]
        assert closes(values, k, 7 + gone) == all(enough)
        assert not all(enough) or k in list_sizes(values, 7, 7 + gone)


def test_closed_test_accepts_what_e_bh_accepts_and_more():
    right, pulls = [20.0, 20, 18, 17, 5, 5], [20] * 6
    published, ours = (told(rule, right, pulls, k=4).selection() for rule in RULES_OF_SHARES)
    assert set(published.tolist()) <= set(ours.tolist())
    assert ours.size > published.size


@pytest.mark.parametrize("rule", OURS)
def test_workers_who_left_keep_their_place_in_the_closed_test(rule):
    right, pulls = [19.0, 3, 3], [20] * 3
    assert told(rule, right, pulls).selection().size == 1
    assert told(rule, right, pulls, planned_for=10**6).selection().size == 0


def test_nobody_is_below_also_with_an_open_roster():
    """Each needs all of the evidence by itself, however many have it."""
    right, pulls = [*[29.0] * 8, 0], [33] * 9
    shares, each = (told(rule, right, pulls, k=8, asked_open=True) for rule in OURS)
    assert (shares.selection().size, each.selection().size) == (8, 0)


@pytest.mark.parametrize("rule", OURS)
def test_new_workers_are_asked_once_the_present_ones_are_worse(rule):
    good = told(rule, [6.0, 0, 0, 0], [6, 0, 0, 0], k=1)
    assert good.ask(1).tolist() == [1, 0, 0, 0]
    poor = told(rule, [2.0, 2, 0, 0], [6, 6, 0, 0], k=1)
    assert poor.ask(1).tolist() == [0, 0, 1, 0]
