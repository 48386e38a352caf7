"""Learning payoffs: the gradient is right, and fewer nats are paid after some steps."""

import numpy as np
import pytest

from research import ends as played
from research import payoffs as learning
from topk import Problem
from topk.certified import payoffs


def ends(rng):
    pulls = rng.integers(4, 20, 60)
    right = rng.binomial(pulls, rng.beta(6, 2, 60))
    return [played.RunEnd(pulls, right, right / pulls > 0.8, 19, 0.8)]


def test_the_gradient_is_that_of_the_value():
    rng = np.random.default_rng(0)
    designs = [
        learning._build_design(12, 0.7, 1.2, ends(rng)),
        learning._build_design(9, 0.5, 1.2, ends(rng)),
    ]
    x = 0.1 * rng.standard_normal(np.prod(learning.CORRECTIONS))
    _, gradient = learning._objective_and_gradient(designs, x)
    for _ in range(5):
        way = rng.standard_normal(x.size)
        ahead, behind = (
            learning._objective_and_gradient(designs, x + h * way)[0] for h in (1e-5, -1e-5)
        )
        slope = (ahead - behind) / 2e-5
        np.testing.assert_allclose(slope, gradient @ way, rtol=1e-3, atol=1e-4)


def test_learning_lowers_what_is_paid(monkeypatch):
    monkeypatch.setattr(learning, "STEPS", 15)
    monkeypatch.setattr(learning, "DESIGNS", ((19, 0.8), (14, 0.6)))
    crowd = ends(np.random.default_rng(1))
    designs = learning.designs_for(1.2, crowd)
    before, _ = learning._objective_and_gradient(designs, np.zeros(np.prod(learning.CORRECTIONS)))
    corrections, cap, nats = learning.learn_corrections(designs)
    after, _ = learning._objective_and_gradient(designs, corrections.astype(float).ravel())
    assert nats == pytest.approx(after, abs=1e-3)
    assert after < before - 0.1
    assert np.isfinite(cap)


SEARCHED = 2.3283  # nats, where the command's search ends


def test_what_is_shipped_pays_no_more_than_what_the_command_finds():
    """No file pays less, the problem being convex: so it is the same one where workers end."""
    designs = learning.designs_for(1.2, played.load_ends())
    shipped = payoffs.learned_corrections(1.2)[0]
    paid, _ = learning._objective_and_gradient(designs, shipped.ravel())
    assert paid == pytest.approx(SEARCHED, abs=0.01)
    shifted, _ = learning._objective_and_gradient(designs, shipped.ravel() + 1.0)
    assert shifted == pytest.approx(paid, abs=1e-6)
    without, _ = learning._objective_and_gradient(designs, 0.9 * shipped.ravel())
    assert without > SEARCHED + 0.05


def test_ends_are_kept_as_they_were_played(tmp_path):
    crowd = [*ends(np.random.default_rng(2)), *played.load_ends()[:3]]
    played.save_ends(tmp_path / "ends.npz", crowd)
    for before, after in zip(crowd, played.load_ends(tmp_path / "ends.npz"), strict=True):
        assert (before.horizon, before.c) == (after.horizon, after.c)
        for name in ("pulls", "right", "chosen"):
            assert (getattr(before, name) == getattr(after, name)).all()


def test_small_pools_are_played_by_the_prices_that_are_not_learned():
    selector = played.certified_by_prices(Problem(12, 3, 0.05, 0.05))
    assert selector.swaps is None
    assert not selector.stop()
    assert list(selector.certificate.kinds) == played.NOT_LEARNED


def test_what_is_shipped_fits_the_grid():
    corrections, cap = payoffs.learned_corrections(1.2)
    assert corrections.shape == learning.CORRECTIONS
    assert np.isfinite(corrections).all()
    assert -2 < cap < 2
    assert payoffs.LEARNED.stat().st_size < 200_000
