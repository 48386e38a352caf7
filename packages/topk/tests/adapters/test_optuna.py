"""Run by ``make interop`` with the real Optuna."""

import numpy as np
import pytest

optuna = pytest.importorskip("optuna")
TopKPruner = pytest.importorskip("topk.adapters.optuna").TopKPruner
optuna.logging.set_verbosity(optuna.logging.ERROR)

STRENGTHS = (0.7, 0.9, 0.5, 0.88, 0.3, 0.6)
ITEMS = 400


def run_trials(direction, strengths=STRENGTHS, **settings):
    """Score each strength item by item; return the scores that each trial took, and its state."""
    study = optuna.create_study(direction=direction, pruner=TopKPruner(items=ITEMS, **settings))

    def objective(trial):
        rng = np.random.default_rng([7, trial.number])
        good = rng.permutation(ITEMS) < strengths[trial.number] * ITEMS
        scores = good if direction == "maximize" else ~good
        for step, score in enumerate(scores):
            trial.report(float(score), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(scores.mean())

    study.optimize(objective, n_trials=len(strengths))
    return [(len(trial.intermediate_values), trial.state.name) for trial in study.trials]


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_clearly_worse_trials_are_pruned(direction):
    taken = run_trials(direction)
    assert [state for _, state in taken] == ["COMPLETE", "COMPLETE", *["PRUNED"] * 4]
    assert taken[4][0] < 60
    assert sum(count for count, _ in taken) < len(STRENGTHS) * ITEMS * 0.7


def test_second_best_is_kept_for_two():
    states = [state for _, state in run_trials("maximize", k=2, epsilon=0.001)]
    assert states[1] == states[3] == "COMPLETE"


def test_score_out_of_range_is_refused():
    study = optuna.create_study(direction="maximize", pruner=TopKPruner())
    study.add_trial(optuna.create_trial(value=0.5, intermediate_values={0: 0.5}))
    trial = study.ask()
    trial.report(7.0, 0)
    with pytest.raises(ValueError, match="not from 0 to 1"):
        trial.should_prune()


def test_bounds_of_a_trial_are_computed_once_for_each_score(monkeypatch):
    """A level for each trial, so that with 40 trials no table of bounds would be used twice."""
    computed = []
    compute = TopKPruner._compute_bounds
    monkeypatch.setattr(
        TopKPruner,
        "_compute_bounds",
        lambda self, *trial: computed.append(trial) or compute(self, *trial),
    )
    taken = run_trials("maximize", STRENGTHS * 7)
    reports = sum(count for count, _ in taken)
    assert len(computed) <= reports
