"""Questions that certified asks in a pool whose workers lie apart: docs/certified.md, (8.6)."""

from functools import cache

import numpy as np
import pytest
from scipy.special import ndtr

from tests.topk.harness import again
from topk import Problem
from topk.certified import allocation, plan
from topk.certified.certificate import Tally
from topk.certified.crowd import ACCURACIES, accuracy_border, spread_of_accuracies
from topk.certified.designs import nearest_threshold, threshold_accuracy
from topk.certified.fates import LEVELS, foresee_fates, least_fee
from topk.certified.payoffs import state_places
from topk.certified.plan import lowered_level
from topk.certified.selector import THIS_SET, Certified
from topk.certified.supermartingales import price_tables
from topk.instances import two_group, uniform

H, EACH = 12, 0.02
HALVES = {"groups": [0, 1] * 100, "at_least": [0, 0], "at_most": [40, 40]}


def told(truth, each, seed, k=20, epsilon=0.1, **options):
    """A selector of which every worker has given so many answers."""
    made = Certified(Problem(truth.size, k, epsilon, 0.01), **options)
    answers = np.random.default_rng(seed).binomial(each, truth)
    made.tell(np.arange(truth.size), answers, np.full(truth.size, each))
    return made


@pytest.fixture(scope="module")
def planned():
    """Return a selector that follows a plan, which every test may copy."""
    made = told(uniform(200), 10, 1, k=40, epsilon=0.05)
    assert plan_of(made) is not None
    return made


def plan_of(made):
    return made._plan(made.state.pulls, made._reach(0 * made.state.pulls, 10**6 + made.state.pulls))


# -- what is foreseen


@pytest.mark.parametrize("questions", [0, 20])
@pytest.mark.parametrize("level", [2, 5])
@pytest.mark.parametrize("cell", [30, 70, 119])
def test_what_becomes_of_a_worker_is_the_mean_over_all_its_answers(questions, level, cell):
    """Written out once more, state by state."""
    number, theta = nearest_threshold(H, 0.6), float(ACCURACIES[cell])
    table = price_tables(H, number, number, 0, questions)
    one = foresee_fates(H, number, 0, questions, EACH, 4, level)
    (least_in, least_out), c = least_fee(table), threshold_accuracy(H, number)

    @cache
    def to_the_end(m, s):
        place = float(state_places(np.array([m]), np.array([s]), c)[0])
        at = m * (m + 1) // 2 + s
        inner, outer = float(table.inside[at]), float(table.outside[at])
        above = inner - least_in if place >= 0 else outer - least_out
        if m == H or (m >= 4 and above <= LEVELS[level] * EACH):
            sure = float(ndtr(place / 0.3))
            return m, sure * inner + (1 - sure) * outer
        right = theta
        if questions:
            right = min(max((theta * questions - s) / (questions - m), 0), 1)
        wrong_then, right_then = to_the_end(m + 1, s), to_the_end(m + 1, s + 1)
        return tuple(
            (1 - right) * a + right * b for a, b in zip(wrong_then, right_then, strict=True)
        )

    answers, price = to_the_end(0, 0)
    assert one.answers[cell] == pytest.approx(answers, abs=1e-3)
    assert one.price[cell] == pytest.approx(price, abs=1e-4)


def test_the_spread_of_accuracies_is_found_again():
    truth, rng = np.sort(np.random.default_rng(2).beta(6, 2, 2000)), np.random.default_rng(3)
    pulls = rng.integers(4, 60, truth.size)
    share = spread_of_accuracies(Tally(pulls, rng.binomial(pulls, truth)))
    assert share.sum() == pytest.approx(1)
    for part in (0.1, 0.5, 0.8):
        assert accuracy_border(share, part) == pytest.approx(np.quantile(truth, 1 - part), abs=0.03)


def test_the_level_falls_where_those_above_it_are_too_few():
    above = np.array([0.0, 0.1, 0.2, 0.4])
    assert lowered_level(0.3, above, 0.05) == 0.3
    assert lowered_level(0.3, above, 0.3) == pytest.approx(0.3 * 0.7**2)
    assert 0.2 < lowered_level(0.5, above, 0.0) < 0.4


# -- what is asked


def test_a_plan_asks_those_again_whose_price_can_still_fall_and_in_turn(planned):
    counts = planned.ask()
    assert counts.max() == 1
    asked, far = counts > 0, np.abs(planned.means - 0.8) > 0.5
    assert 0 < asked.sum() < 100
    assert far.sum() > 20
    assert not asked[far].any()


def test_the_choice_is_the_same_whatever_the_order_and_the_batches(planned):
    other, n = Certified(planned.problem), planned.problem.n
    right = planned.state.rewards.astype(int)
    answers = [(arm, s < right[arm]) for arm in range(n) for s in range(10)]
    mixed = np.random.default_rng(7).permutation(len(answers))
    for batch in np.array_split(mixed, 13):
        other.tell([answers[j][0] for j in batch], [float(answers[j][1]) for j in batch])
        other.ask(20)
    for slots in (None, 30, 300):
        asked = planned.ask(slots).tolist()
        assert any(asked)
        assert other.ask(slots).tolist() == asked == again(planned).ask(slots).tolist()


def test_a_rebuilt_selector_goes_on_the_same_to_the_end():
    truth = uniform(200)
    going, rng = told(truth, 8, 4, k=40, epsilon=0.07), np.random.default_rng(5)
    plans = step = 0
    while not going.stop():
        counts, step = going.ask(), step + 1
        if step % 8 == 0:
            other = again(going)
            assert counts.tolist() == other.ask().tolist()
            plans += plan_of(other) is not None
        arms = np.flatnonzero(counts)
        going.tell(arms, rng.random(arms.size) < truth[arms])
    assert plans > 2


def test_nobody_without_a_hand_or_a_question_left_is_asked(planned):
    wanted = planned.ask(60)
    closed = wanted > 0
    room = np.where(closed, 0, 3)
    others = planned.ask(60, room=room)
    assert others.any()
    assert not others[closed].any()
    assert (others <= room).all()
    full = planned.ask(60, pending=np.where(closed, 3, 0), room=room)
    assert not full[closed].any()


def test_what_is_out_counts_as_made(planned):
    """Workers are asked in turn: those with an open question come after the others."""
    first = planned.ask(20)
    second = planned.ask(20, pending=first)
    assert (first.sum(), second.sum()) == (20, 20)
    assert not second[first > 0].any()


def test_who_left_with_few_answers_does_not_keep_the_others_from_a_plan(planned):
    other = again(planned)
    other.state.pulls[:3], other.state.rewards[:3] = 2, 1
    room = np.where(np.arange(200) < 3, 0, 1000)
    assert other._plan(other.state.pulls, other._reach(0 * room, room)) is not None
    assert not other.ask(20, room=room)[:3].any()


def test_no_horizon_is_planned_that_the_questions_do_not_reach(planned):
    pulls = planned.state.pulls
    free = plan_of(planned)
    few = planned._plan(pulls, np.full_like(pulls, 8))
    horizons = planned.certificate.horizons
    assert horizons[free.design.horizon] > 18
    assert few is None or horizons[few.design.horizon] <= 18


def test_on_a_set_it_plans_too():
    made = told(uniform(200), 10, 1, k=40, epsilon=0.05, accuracy=THIS_SET, questions=400)
    assert plan_of(made) is not None
    assert made.ask(20).sum() == 20


# -- where it does not plan


@pytest.mark.parametrize(
    ("n", "options"),
    [(199, {}), (200, {"quotas": HALVES})],
)
def test_small_pools_and_quotas_have_no_plan(n, options):
    assert plan_of(told(uniform(n), 10, 1, k=n // 5, **options)) is None


def test_where_nobody_can_be_left_early_the_answers_decide_as_before(monkeypatch):
    """Two groups: the same to the answer as if there were no plans."""
    truth = two_group(200, 40)
    made = told(truth, 12, 6, k=40)
    assert plan_of(made) is None
    asked = made.ask(60).tolist()
    monkeypatch.setattr(allocation, "plan_for", lambda *_: None)
    assert again(made).ask(60).tolist() == asked
    monkeypatch.setattr(allocation, "plan_for", plan.plan_for)
    monkeypatch.setattr(plan, "GATE", 1.0)
    assert plan_of(made) is not None
    assert again(made).ask(60).tolist() != asked
