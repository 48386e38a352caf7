"""Train the payoffs of ``certified`` on the ends of runs: ``python -m research.payoffs``.

docs/certified.md, (4.5). Payoffs b decide what is paid, never whether the promise holds. Wanted are
those that maximise sum q ln b - ln max_theta V_theta(0, 0): q says where workers end in runs, V is
the least supermartingale above the payoff (4.2). That is a log-optimal e-variable under the Snell
envelope, and a convex problem in ln b. A correction of (4.5) is fitted for designs of several
horizons and thresholds at once, so that it serves all others too; both maxima are a little
smoothed, for their gradient.

It takes about a minute and writes topk/certified/learned.npz. The ends are in research/ends.npz;
with ``--play`` they are played anew, and kept there, first. Pools and seeds are their own.
"""

import argparse
import math
import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import ndtr

from research import ends as ends_of_runs
from research.ends import SEED, RunEnd
from topk.certified import payoffs
from topk.certified.designs import arcsine_angle, nearest_threshold, threshold_accuracy
from topk.certified.states import design_states

Floats = NDArray[np.float64]
Random = np.random.Generator

SCALES = (1.2,)
DESIGNS = ((70, 0.88), (87, 0.76), (107, 0.92), (136, 0.66), (36, 0.75), (170, 0.86))
ANYWHERE = 0.1  # part of q that is spread over all states, against what no run has shown
COPIES = 8  # of each end state, moved a little
SIDES_MIX = 0.35  # deviations from c within which a worker may end on either side
LIKE = 0.9  # ends of runs are used for thresholds so near in angle
STEPS = 400
SOFT, SOFT_PEAK = 40.0, 200.0  # powers of the means that stand for the two maxima
SMOOTH = 1e-4
CORRECTIONS = (2, payoffs.TIMES.size + 1, payoffs.PLACES.size)


@dataclass
class Design:
    """One horizon and threshold to learn for.

    ends         (2, states) q, inside and outside
    basis        (2, states) ln b without the correction
    points       (states, corrections of a side), how the correction is interpolated
    thetas       (g,), and ``gains`` (2, g) their e^(t loss)
    work         room for the search: values, what comes after, what is reached, two gradients
    """

    horizon: int
    ends: Floats
    basis: Floats
    points: csr_matrix
    thetas: Floats
    gains: Floats
    work: tuple[Floats, ...]
    starts: Floats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--to", default=str(payoffs.LEARNED))
    parser.add_argument("--play", action="store_true", help="play the runs to learn from anew")
    asked = parser.parse_args()
    if asked.play:
        ends_of_runs.save_ends(ends_of_runs.KEPT, list(ends_of_runs.play_pools()))
    learned: dict[str, NDArray[Any]] = {}
    for tau in SCALES:
        designs = designs_for(tau, ends_of_runs.load_ends())
        before = _objective_and_gradient(designs, payoffs.learned_corrections(tau)[0].ravel())[0]
        corrections, cap, nats = learn_corrections(designs)
        learned |= {f"{tau:g}": corrections, f"{tau:g} cap": np.array(cap)}
        sys.stdout.write(f"Scale {tau:g}: {nats:.4f} nats are paid, {before:.4f} before.\n")
    np.savez_compressed(asked.to, allow_pickle=False, **learned)


def designs_for(tau: float, ends: list[RunEnd]) -> list[Design]:
    return [_build_design(h, c, tau, ends) for h, c in DESIGNS]


def learn_corrections(designs: list[Design]) -> tuple[NDArray[np.float32], float, float]:
    """Return the corrections, ln of the largest start (a cap of payoffs), and the nats paid."""
    begin = np.zeros(CORRECTIONS).ravel()
    options = {"maxiter": STEPS, "maxcor": 30}
    found = minimize(
        partial(_objective_and_gradient, designs),
        begin,
        jac=True,
        method="L-BFGS-B",
        options=options,
    )
    cap = math.log(max(design.starts.max() for design in designs))
    return np.asarray(found.x, np.float32).reshape(CORRECTIONS), cap, float(found.fun)


def _build_design(h: int, near: float, tau: float, ends: list[RunEnd]) -> Design:
    number = nearest_threshold(h, near)
    c, kept = threshold_accuracy(h, number), design_states(h, number, 0)
    t = tau * math.sqrt(h / (c * (1 - c)))
    m, right = kept.pairs()
    corners, weights = payoffs.interpolation_weights(m / h, payoffs.state_places(m, right, c))
    rows = np.tile(np.arange(m.size), 4)
    shape = (m.size, CORRECTIONS[1] * CORRECTIONS[2])
    basis = np.stack(payoffs.posterior_basis(kept, h, c, t))
    thetas = _accuracy_grid(h, c)
    gains = np.exp(t * np.maximum([c - thetas, thetas - c], 0))
    square = (thetas.size, m.size)
    work = (np.zeros(square), np.zeros(square), *(np.zeros(m.size) for _ in range(3)))
    return Design(
        horizon=h,
        ends=np.where(basis > payoffs.NEVER, _states_reached(h, c, ends), 0.0),
        basis=basis,
        points=csr_matrix((weights.ravel(), (rows, corners.ravel())), shape=shape),
        thetas=thetas,
        gains=gains,
        work=work,
        starts=np.zeros(thetas.size),
    )


def _accuracy_grid(h: int, c: float) -> Floats:
    """Return accuracies, dense near c."""
    center = float(arcsine_angle(np.array(c)))
    near = center + np.arange(-14, 15) * 0.25 / math.sqrt(h)
    angles = np.unique(np.clip(np.r_[center, near, np.linspace(0, math.pi, 26)], 0, math.pi))
    return np.asarray(np.clip(np.sin(angles / 2) ** 2, 1e-5, 1 - 1e-5))


def _states_reached(h: int, c: float, ends: list[RunEnd]) -> Floats:
    """Return (2, states) q: ends of runs in this design's scale, mixed with all states."""
    rng, center = np.random.default_rng([SEED, h]), 2 * math.asin(math.sqrt(c))
    m, right = np.tril_indices(h + 1)
    anywhere = np.where(m >= payoffs.FIRST_STOP, 1.0 / (m + 1), 0.0)
    inside = ndtr(payoffs.state_places(m, right, c) / SIDES_MIX)
    q = np.zeros((2, m.size))
    for end in ends:
        at = 2 * math.asin(math.sqrt(end.c))
        if abs(at - center) > LIKE:
            continue
        for _ in range(COPIES):
            place = _perturb_states(end, h, center, at, rng)
            np.add.at(q[0], place[end.chosen], 1 / place.size)
            np.add.at(q[1], place[~end.chosen], 1 / place.size)
    spread = anywhere / anywhere.sum() * np.stack([inside, 1 - inside])
    if not q.any():
        return np.asarray(spread)
    return np.asarray((1 - ANYWHERE) * q / q.sum() + ANYWHERE * spread)


def _perturb_states(
    end: RunEnd, h: int, center: float, at: float, rng: Random
) -> NDArray[np.int64]:
    """(n,) states: answers to scale, or as they are where few; means as many deviations from c."""
    angles = 2 * np.arcsin(np.sqrt((end.right + 0.25) / (end.pulls + 0.5)))
    off = (angles - at) * np.sqrt(end.pulls)
    few = (end.pulls <= end.horizon / 4) & (rng.random(end.pulls.size) < 0.5)
    factor = np.where(few, 1.0, h / end.horizon) * np.exp(rng.normal(0, 0.08, end.pulls.size))
    m = np.clip(np.rint(end.pulls * factor), payoffs.FIRST_STOP, h).astype(np.int64)
    m = np.where(end.pulls == end.horizon, h, m)
    off = off + rng.normal(0, 0.25, off.size)
    mean = np.sin(np.clip(center + off / np.sqrt(m), 0, math.pi) / 2) ** 2
    s = np.clip(np.rint(mean * (m + 0.5) - 0.25), 0, m).astype(np.int64)
    return np.asarray(m * (m + 1) // 2 + s)


def _objective_and_gradient(designs: list[Design], x: Floats) -> tuple[float, Floats]:
    """Return the mean fee and price in nats, a little smoothed, and the gradient."""
    corrections = x.reshape(CORRECTIONS)
    value, gradient = 0.0, np.zeros((2, CORRECTIONS[1] * CORRECTIONS[2]))
    for design in designs:
        logs = design.basis + np.stack([design.points @ side.ravel() for side in corrections])
        pay = np.where(design.basis > payoffs.NEVER, np.exp(logs), 0.0)
        values, after, reached, inside, outside = design.work
        value += _soft_start(
            design.horizon, payoffs.FIRST_STOP, design.thetas, *design.gains, *pay,
            *(values, after, reached, inside, outside, design.starts),
        )  # fmt: skip
        value -= float((design.ends * np.where(design.ends > 0, logs, 0.0)).sum())
        slope = np.stack([inside, outside]) - design.ends
        gradient += np.stack([design.points.T @ side for side in slope])
    gradient = gradient.reshape(CORRECTIONS)
    bend = np.diff(corrections, 2, axis=2)
    for shift, factor in ((0, 1), (1, -2), (2, 1)):
        gradient[:, :, shift : shift + bend.shape[2]] += 2 * SMOOTH * factor * bend
    return value + SMOOTH * float((bend**2).sum()), gradient.ravel()


compiled: Any = njit(cache=True, fastmath=True)


@compiled
def _soft_start(  # type: ignore[no-untyped-def]
    horizon, first, thetas, gain_in, gain_out, pay_in, pay_out,
    value, after, reached, inside, outside, starts,
):  # fmt: skip
    """Return ln of the largest start, smoothed; write its slopes in ln b to inside, outside."""
    peak = 0.0
    for g in range(thetas.size):
        for m in range(horizon, -1, -1):
            for s in range(m + 1):
                i = m * (m + 1) // 2 + s
                pay = max(gain_in[g] * pay_in[i], gain_out[g] * pay_out[i])
                if m == horizon:
                    value[g, i] = pay
                    continue
                j = i + m + 1
                mean = (1 - thetas[g]) * value[g, j] + thetas[g] * value[g, j + 1]
                after[g, i] = mean
                if m < first or pay < 0.8 * mean:
                    value[g, i] = mean
                elif mean < 0.8 * pay:
                    value[g, i] = pay
                else:
                    high, low = max(pay, mean), min(pay, mean)
                    value[g, i] = high * (1 + (low / high) ** SOFT) ** (1 / SOFT)
        starts[g] = value[g, 0]
        peak = max(peak, starts[g])
    total = 0.0
    for g in range(thetas.size):
        total += (starts[g] / peak) ** SOFT_PEAK
    inside[:] = 0.0
    outside[:] = 0.0
    for g in range(thetas.size):
        weight = (starts[g] / peak) ** SOFT_PEAK / total
        if weight < 1e-10:
            continue
        reached[:] = 0.0
        reached[0] = weight / starts[g]
        for m in range(horizon + 1):
            for s in range(m + 1):
                i = m * (m + 1) // 2 + s
                if reached[i] <= 0.0:
                    continue
                ins, outs = gain_in[g] * pay_in[i], gain_out[g] * pay_out[i]
                pay = max(ins, outs)
                stopped, went_on = 0.0, 0.0
                if m == horizon:
                    stopped = 1.0
                elif m < first or pay < 0.8 * after[g, i]:
                    went_on = 1.0
                elif after[g, i] < 0.8 * pay:
                    stopped = 1.0
                else:
                    stopped = (pay / value[g, i]) ** (SOFT - 1)
                    went_on = (after[g, i] / value[g, i]) ** (SOFT - 1)
                if ins > outs:
                    inside[i] += reached[i] * stopped * pay
                else:
                    outside[i] += reached[i] * stopped * pay
                if went_on > 0.0:
                    j = i + m + 1
                    reached[j] += reached[i] * went_on * (1 - thetas[g])
                    reached[j + 1] += reached[i] * went_on * thetas[g]
    return math.log(peak) + math.log(total) / SOFT_PEAK


if __name__ == "__main__":
    main()
