"""The certificate of `universal`: swaps or populations, fixed by the start of the run."""

import numpy as np
import pytest

from topk import Problem
from topk.certified import Certified, Universal
from topk.certified.any_population import CHANGED, prefers_swaps
from topk.selector import drive_selector
from topk.simulate import simulate_run
from topk.state import State
from topk.universal.selector import AnyPopulation

TRUTH = np.linspace(0.9, 0.55, 8)
PULLS = np.full(8, 60)


def told(problem=None, state=None, kind=Universal, pulls=PULLS, **options):
    """Return the rule after so many answers of each worker."""
    problem = problem or Problem(8, 1, 0.1, 0.1)
    selector = kind(problem, state, **options)
    n = problem.n
    selector.tell(np.arange(n), np.rint(TRUTH[:n] * pulls[:n]), pulls[:n])
    return selector


@pytest.mark.parametrize("k", [1, 2, 3, 6, 20])
@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.2])
def test_smaller_pools_never_lose_swaps(k, epsilon):
    """Otherwise workers who join could hide what certified at the start."""
    flags = [prefers_swaps(Problem(n, k, epsilon)) for n in range(k + 1, 200)]
    assert flags == sorted(flags, reverse=True)


@pytest.mark.parametrize(
    ("n", "k", "epsilon", "swaps"),
    [
        (2, 1, 0.05, True),
        (600, 1, 0.1, True),
        (5, 4, 0.05, True),
        (6, 3, 0.1, True),
        (12, 3, 0.05, False),
        (40, 4, 0.01, True),
        (100, 20, 0.05, False),
    ],
)
def test_swaps_certify_where_they_need_fewer_answers(n, k, epsilon, swaps):
    assert prefers_swaps(Problem(n, k, epsilon)) == swaps


def test_one_best_takes_as_many_answers_as_with_the_stronger_guarantee():
    """With nine tenths of delta: two to three times fewer than by the worst population."""
    certified = Certified(Problem(8, 1, 0.1, 0.05 * (1 - CHANGED)))
    rng = np.random.default_rng(3)
    place = rng.permutation(8)
    drive_selector(certified, TRUTH[place], None, 10**5, False, rng)
    outcome = simulate_run("universal", TRUTH, k=1, epsilon=0.1, seed=3)
    assert outcome.pulls == certified.state.pulls.sum()
    assert outcome.reasons == ("guarantee",)


@pytest.mark.parametrize("change", [{"planned_for": 9}, {"joined_late": 1}, {}])
def test_changed_rosters_have_a_tenth_of_delta_and_every_population(change):
    state = State.fresh(8)
    if not change:
        state.gone = np.array([[40.0], [60.0], [0.0]])
    selector = told(state=state, **change)
    plain = AnyPopulation(Problem(8, 1, 0.1, 0.1 * CHANGED), selector.state)
    assert selector.standing().gap == pytest.approx(plain.standing().gap)
    assert selector.shortfall(selector.selection()) == pytest.approx(plain.standing().gap)


def test_rosters_open_at_the_first_question_keep_all_of_delta():
    plain = told(kind=AnyPopulation)
    assert told(asked_open=True).standing().gap == pytest.approx(plain.standing().gap)


def test_late_joiners_do_not_change_what_certified_at_the_start():
    """Eight workers began: swaps could stop the run then, and a tenth of delta is left."""
    rest = told(Problem(8, 2, 0.1, 0.1), planned_for=30, joined_late=22)
    assert rest._delta == pytest.approx(0.1 * CHANGED)
    large = told(Problem(8, 3, 0.1, 0.1), planned_for=30, joined_late=2)
    assert large._delta == pytest.approx(0.1)


def test_epsilon_of_the_start_decides_what_certifies():
    began, moved = Problem(40, 4, 0.05, 0.1), Problem(40, 4, 0.01, 0.1)
    assert not prefers_swaps(began)
    assert prefers_swaps(moved)
    assert Universal(moved, tuned_for=0.05)._swaps is None
    assert Universal(began, tuned_for=0.01)._swaps is not None


def test_bounds_shown_by_swaps_are_the_credible_intervals_of_the_rule():
    selector = told()
    standing, plain = selector.standing(), told(kind=AnyPopulation).standing()
    for name in ("mean", "lower", "upper"):
        assert getattr(standing, name) == pytest.approx(getattr(plain, name))
    assert standing.gap < plain.gap


def test_answers_that_are_out_hold_up_the_end_by_swaps():
    selector = told(Problem(8, 1, 0.1, 0.1), pulls=np.full(8, 200))
    assert selector.stop()
    out = np.full(8, 150)
    selector.wait_for(out)
    assert selector.is_held_up()
    assert not selector.ask(8, pending=out).any()


def test_errors_of_one_best_stay_rare_at_every_delta(sample):
    """Nobody but the best is within epsilon."""
    truth, runs = np.array([0.9, 0.7, 0.7, 0.7]), sample(20, 200)
    wrong = 0
    for seed in range(runs):
        outcome = simulate_run("universal", truth, k=1, epsilon=0.15, delta=0.5, seed=seed)
        wrong += outcome.selection[0] != 0
    assert wrong <= 0.5 * runs
