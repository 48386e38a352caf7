"""Radii against the numbers of the reference, and how often confidence sequences break."""

import math

import numpy as np
import pytest

from topk import SELECTORS, Problem
from topk.published import bounds, kernels

from .. import formulas
from ..harness import too_many
from ..readable import kl_bisected

N, DELTA = 20, 0.01
ALPHA = DELTA / N
PULLS = np.array([100, 1000, 10000])


def one_by_one(radius):
    """Return LUCB-type radii; their logarithm depends on T."""
    return np.array([radius(np.array([t]), int(t))[0] for t in PULLS])


TABLE = {
    "lil heuristic": (formulas.lil(PULLS, ALPHA, 0.0), (0.214, 0.0690, 0.0222)),
    "lil faithful": (
        formulas.lil(PULLS, (DELTA * N**0.01 / bounds.lil_failure(0.01)) ** (1 / 1.01) / N, 0.01),
        (0.340, 0.1087, 0.0346),
    ),
    "KL-LUCB": (
        one_by_one(lambda t, u: formulas.hoeffding(t, formulas.kl_lucb_log(N, 10 * u, DELTA))),
        (0.348, 0.1160, 0.0384),
    ),
    "UGapE, CLUCB": (
        one_by_one(lambda t, u: formulas.hoeffding(t, formulas.ugape_log(N, 20 * u, DELTA))),
        (0.399, 0.1391, 0.0478),
    ),
    "LUCB1": (
        one_by_one(lambda t, u: formulas.hoeffding(t, formulas.lucb_log(N, 10 * u, DELTA))),
        (0.421, 0.1494, 0.0519),
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_radii_have_the_size_the_reference_measured(name):
    found, wanted = TABLE[name]
    assert found == pytest.approx(wanted, rel=0.006)


def test_the_beta_binomial_sequence_has_the_size_the_reference_measured():
    for pulls, wanted in zip(PULLS, (0.220, 0.0736, 0.0245), strict=True):
        grid = 0.5 + np.linspace(0, 0.3, 3001)
        out = [formulas.beta_binomial_excludes(pulls / 2, pulls, p, ALPHA) for p in grid]
        level = pulls * formulas.divergence(np.array(0.5), grid[np.argmax(out)])
        assert math.sqrt(level / (2 * pulls)) == pytest.approx(wanted, rel=0.01)


def test_half_is_inside_the_root():
    """Trap T7: sigma = 1/2. With sigma = 1 radii are twice as wide and runs four times as long."""
    assert formulas.hoeffding(np.array([50]), 4.0)[0] == pytest.approx(0.2)
    assert formulas.lil(np.array([1000]), 0.01, 0.0)[0] == pytest.approx(
        math.sqrt(math.log(math.log(1002) / 0.01) / 2000)
    )


def test_lil_radii_are_finite_from_the_first_pull():
    """Trap T8: ln ln((1+e) 1) is not a number, ln ln(3 + e) is."""
    assert np.isfinite(formulas.lil(np.array([1]), 0.5, 0.0)).all()


def test_kl_bounds_are_exact_to_nine_digits():
    """Trap T11: one step of bisection, as in a public implementation, is far off."""
    rng = np.random.default_rng(0)
    means = np.concatenate([rng.random(300), [0, 1, 1e-9, 1 - 1e-9, 0.5]])
    for level in (1e-6, 1e-3, 0.05, 0.5, 3.0, 20.0):
        levels = np.full(means.size, level)
        for side in (-1, 1):
            exact = [kl_bisected(mean, level, side) for mean in means]
            assert kernels.kl_bounds(means, levels, side) == pytest.approx(exact, abs=1e-9)


def test_kl_bounds_are_never_wider_than_pinsker():
    means, pulls = np.linspace(0, 1, 101), np.full(101, 40)
    lower, upper = bounds.kl_interval(means, pulls, 5.0)
    assert (upper <= means + formulas.hoeffding(pulls, 5.0) + 1e-12).all()
    assert (lower >= means - formulas.hoeffding(pulls, 5.0) - 1e-12).all()


@pytest.mark.parametrize(
    ("name", "inner", "outer"),
    [
        ("lucb", None, None),
        ("ugape-c", None, None),
        ("clucb-pac", None, None),
        ("lil-lucb", 20, 20),
        ("lucb-plus-plus", 2 * 15, 2 * 5),
        ("lil-rand-lucb", 2 * 15, 2 * 5),
    ],
)
def test_compiled_radii_equal_the_formulas(name, inner, outer):
    rng = np.random.default_rng(1)
    pulls = rng.integers(1, 300, 20)
    selector = SELECTORS[name](Problem(20, 5, 0.1, 0.05))
    selector.tell(np.arange(20), np.floor(pulls * rng.random(20)), pulls)
    arms, memo, _ = selector._judgement()
    kernels.spread(selector.strategy, arms, memo)
    t = int(pulls.sum())
    if inner is not None:
        level = 0.05 / bounds.lil_failure(0.01)
        down = formulas.lil(pulls, level / inner, 0.01)
        up = formulas.lil(pulls, level / outer, 0.01)
    elif name == "lucb":
        rounds = max(1 + (t - 20 + 1) // 2, pulls.max())
        down = up = formulas.hoeffding(pulls, formulas.lucb_log(20, int(rounds), 0.05))
    else:
        down = up = formulas.hoeffding(pulls, formulas.ugape_log(20, t, 0.05))
    assert arms[kernels.LOWER] == pytest.approx(selector.means - down, rel=1e-12)
    assert arms[kernels.UPPER] == pytest.approx(selector.means + up, rel=1e-12)


def test_bernstein_follows_the_formula():
    pulls, sums = np.array([10, 200, 3000]), np.array([3.0, 150.0, 2999.0])
    selector = SELECTORS["ugape-v"](Problem(3, 1, 0.1, 0.05))
    selector.tell([0, 1, 2], sums, pulls)
    arms, memo, _ = selector._judgement()
    kernels.spread(selector.strategy, arms, memo)
    means = sums / pulls
    variance = means * (1 - means) * pulls / (pulls - 1)
    x = math.log(8 * 3 * int(pulls.sum()) ** 3 / 0.05)
    radius = formulas.bernstein(pulls, variance, x)
    assert arms[kernels.UPPER] - means == pytest.approx(radius, rel=1e-12)


# -- how often a sequence breaks, at any time

RUNS, LENGTH, LEVEL = 200, 3000, 0.1
T = np.arange(1, LENGTH + 1)

SEQUENCES = {
    "lil, one side": lambda s, p: (
        s / T - p > formulas.lil(T, (LEVEL / bounds.lil_failure(0.01)) ** (1 / 1.01), 0.01)
    ),
    "beta-binomial": lambda s, p: formulas.beta_binomial_excludes(s, T, p, LEVEL),
    "LUCB1's": lambda s, p: (
        abs(s / T - p) > np.sqrt(np.log(1.25 * 2 * T.astype(float) ** 4 / LEVEL) / (2 * T))
    ),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_confidence_sequence_breaks_no_more_often_than_it_may(name):
    rng, broken = np.random.default_rng(5), 0
    for run in range(RUNS):
        p = (0.5, 0.1)[run % 2]
        broken += bool(SEQUENCES[name](np.cumsum(rng.random(LENGTH) < p), p).any())
    assert not too_many(broken, RUNS, LEVEL)


def test_a_fixed_time_radius_used_at_all_times_breaks_too_often():
    """The test above has power: a broken radius is noticed."""
    rng, broken = np.random.default_rng(5), 0
    for _ in range(RUNS):
        sums = np.cumsum(rng.random(LENGTH) < 0.5)
        broken += bool((abs(sums / T - 0.5) > formulas.hoeffding(T, math.log(2 / LEVEL))).any())
    assert too_many(broken, RUNS, LEVEL)
