"""Changes of ε during a run: allowed, and why not for the other algorithms."""

from dataclasses import replace

import numpy as np
import pytest

from topk import SELECTORS, Problem, Verdict

from .harness import NAMES, Table, build, problem, stored

MEANS = [0.9, 0.8, 0.7, 0.5, 0.45, 0.4, 0.3, 0.2]
LOOSE, TIGHT = 0.3, 0.02
# Their plans look at ε, and their proofs do not depend on the plan.
PLANNERS = ("certified", "credible", "universal")
MOVING = [name for name in NAMES if SELECTORS[name].epsilon_moves]
FOLLOWERS = [name for name in MOVING if name not in PLANNERS]
FIXED = [name for name in NAMES if not SELECTORS[name].epsilon_moves]


def at(name, epsilon, state=None, **options):
    given = replace(problem(name), epsilon=epsilon)
    return build(name, given=given, state=state, **options)


def proved(selector):
    """Return the bounds, verdicts, gap and selection that the answers prove."""
    standing = selector.standing()
    arrays = (standing.lower, standing.upper, standing.verdict)
    rows = [np.round(array, 12).tolist() for array in arrays]
    return [*rows, round(standing.gap, 12), selector.selection().tolist()]


def together(name, slots, most=120):
    """Both ε, told the same answers, until one stops: (asked by each, proved by each)."""
    loose, tight = at(name, LOOSE), at(name, TIGHT)
    answers = Table(MEANS, np.random.default_rng(4))
    for number in range(most):
        if loose.stop() or tight.stop():
            return
        rng = [np.random.default_rng([4, number]) for _ in range(2)]
        asked = loose.ask(slots, rng=rng[0]), tight.ask(slots, rng=rng[1])
        yield [one.tolist() for one in asked], [proved(loose), proved(tight)]
        arms, rewards = answers.next(tight.state.pulls, asked[1])
        tight.tell(arms, rewards)
        if asked[0].tolist() != asked[1].tolist():
            return
        loose.tell(arms, rewards)


@pytest.mark.parametrize("slots", [None, 7])
@pytest.mark.parametrize("name", FOLLOWERS)
def test_questions_and_proofs_do_not_depend_on_epsilon_until_the_stop(name, slots):
    seen = list(together(name, slots))
    assert len(seen) > (0 if slots is None else 5)
    for asked, known in seen:
        assert asked[0] == asked[1]
        assert known[0] == known[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", FIXED)
def test_selectors_with_a_fixed_epsilon_would_diverge(name):
    seen = list(together(name, 7, most=5000))
    assert any(asked[0] != asked[1] or known[0] != known[1] for asked, known in seen)


@pytest.mark.parametrize("name", PLANNERS)
def test_our_proofs_on_the_same_answers_do_not_depend_on_epsilon(name):
    options = {"tuned_for": 0.1} if name in ("certified", "universal") else {}
    loose, tight = at(name, LOOSE, **options), at(name, TIGHT, **options)
    answers = Table(MEANS, np.random.default_rng(4))
    for _ in range(6):
        arms, rewards = answers.next(tight.state.pulls, np.full(8, 8))
        loose.tell(arms, rewards)
        tight.tell(arms, rewards)
        one, other = loose.standing(), tight.standing()
        assert one.lower == pytest.approx(other.lower, abs=0.02)
        assert one.upper == pytest.approx(other.upper, abs=0.02)
        assert one.gap == pytest.approx(other.gap, abs=0.02)
        assert loose.selection().tolist() == tight.selection().tolist()


def test_certified_weighs_its_swaps_for_the_epsilon_that_it_began_with():
    """Weights that follow ε, and so the answers, would not be covered by the proof."""
    means = np.repeat(MEANS, 5)
    began, moved, other = (
        build("certified", given=Problem(40, 3, epsilon, 0.1), **options)
        for epsilon, options in [(0.2, {}), (0.01, {"tuned_for": 0.2}), (0.01, {})]
    )
    arms, rewards = Table(means, np.random.default_rng(4)).next(began.state.pulls, np.full(40, 60))
    for selector in (began, moved, other):
        selector.tell(arms, rewards)
    assert began.standing().gap == moved.standing().gap != other.standing().gap


def test_rounds_stop_at_once_if_epsilon_is_relaxed_to_the_proved_gap():
    tight = at("adaptive-top-k", TIGHT)
    answers = Table(MEANS, np.random.default_rng(4))
    while tight.standing().gap >= LOOSE:
        tight.tell(*answers.next(tight.state.pulls, tight.ask(None)))
    relaxed = at("adaptive-top-k", LOOSE, state=tight.state)
    assert relaxed.stop() == ("guarantee",)
    assert (relaxed.standing().verdict == Verdict.ACCEPTED).sum() == 3
    assert relaxed.selection().tolist() == [0, 1, 2]
    assert stored(relaxed.state)["memory"]["gap"] <= LOOSE
