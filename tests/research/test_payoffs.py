"""Learning payoffs: the gradient is right, and fewer nats are paid after some steps."""

import numpy as np

from research import payoffs as learning
from topk.certified import payoffs


def ends(rng):
    pulls = rng.integers(4, 20, 60)
    right = rng.binomial(pulls, rng.beta(6, 2, 60))
    return [learning.End(pulls, right, right / pulls > 0.8, 19, 0.8)]


def test_the_gradient_is_that_of_the_value():
    rng = np.random.default_rng(0)
    designs = [learning._design(12, 0.7, 1.2, ends(rng)), learning._design(9, 0.5, 1.2, ends(rng))]
    x = 0.1 * rng.standard_normal(np.prod(learning.CORRECTIONS))
    _, gradient = learning._objective(designs, x)
    for _ in range(5):
        way = rng.standard_normal(x.size)
        ahead, behind = (learning._objective(designs, x + h * way)[0] for h in (1e-5, -1e-5))
        slope = (ahead - behind) / 2e-5
        np.testing.assert_allclose(slope, gradient @ way, rtol=1e-3, atol=1e-4)


def test_learning_lowers_what_is_paid(monkeypatch):
    monkeypatch.setattr(learning, "STEPS", 15)
    monkeypatch.setattr(learning, "DESIGNS", ((19, 0.8), (14, 0.6)))
    crowd = ends(np.random.default_rng(1))
    designs = [learning._design(h, c, 1.2, crowd) for h, c in learning.DESIGNS]
    before, _ = learning._objective(designs, np.zeros(np.prod(learning.CORRECTIONS)))
    corrections, cap = learning.learn(1.2, crowd)
    after, _ = learning._objective(designs, corrections.astype(float).ravel())
    assert after < before - 0.1
    assert np.isfinite(cap)


def test_what_is_shipped_fits_the_grid():
    corrections, cap = payoffs._corrections(1.2)
    assert corrections.shape == learning.CORRECTIONS
    assert np.isfinite(corrections).all()
    assert -2 < cap < 2
    assert payoffs.LEARNED.stat().st_size < 200_000
