"""Optuna: a pruner for trials that are scored item by item."""

import math

import numpy as np
from optuna.pruners import BasePruner
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial

from topk.certified.confidence_sequences import find_intervals
from topk.problem import Problem


class TopKPruner(BasePruner):  # type: ignore[misc]  # Optuna is not installed with topk
    """Prune a trial once k others are known to be as good, within epsilon.

    Each trial reports the score of one item at each step, from 0 to 1, and meets the items in a
    random order. With probability at least 1 − delta no trial that is pruned, of any number, has a
    mean score that is better than the k-th best of all trials by more than epsilon, whenever one
    looks: trial t has 1 / ((t + 1)(t + 2)) of delta, and its bounds hold at all steps.

    items  how many items there are, if each trial meets each once and the mean over these is
           meant; 0: the mean over all items of which these are a sample
    """

    def __init__(
        self, k: int = 1, epsilon: float = 0.02, delta: float = 0.05, items: int = 0
    ) -> None:
        Problem(k + 1, k, epsilon, delta)  # refuses what is out of range
        self.k, self.epsilon, self.delta, self.items = k, epsilon, delta, items
        # By study and trial: how many scores it has, and its bounds.
        self._bounds: dict[tuple[str, int], tuple[int, tuple[float, float]]] = {}

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        others = [each for each in study.get_trials(deepcopy=False) if each.number != trial.number]
        lower = sorted((self._find_bounds(study, each)[0] for each in others), reverse=True)
        if len(lower) < self.k:
            return False
        return self._find_bounds(study, trial)[1] <= lower[self.k - 1] + self.epsilon

    def _find_bounds(self, study: Study, trial: FrozenTrial) -> tuple[float, float]:
        """Find bounds of the trial's mean score, turned so that more is better, or recall them."""
        key, scores = (study.study_name, trial.number), len(trial.intermediate_values)
        count, bounds = self._bounds.get(key, (-1, (0.0, 1.0)))
        if count != scores:
            bounds = self._compute_bounds(trial, study.direction == StudyDirection.MINIMIZE)
            self._bounds[key] = scores, bounds
        return bounds

    def _compute_bounds(self, trial: FrozenTrial, minimised: bool) -> tuple[float, float]:
        scores = np.array(list(trial.intermediate_values.values()), np.float64)
        if not ((scores >= 0) & (scores <= 1)).all():
            raise ValueError(f"Trial {trial.number} reports a score that is not from 0 to 1.")
        if self.items and scores.size > self.items:
            raise ValueError(f"Trial {trial.number} reports more scores than {self.items} items.")
        if not scores.size:
            return 0.0, 1.0
        total = (scores.size - scores.sum()) if minimised else scores.sum()
        level = math.log(2 * (trial.number + 1) * (trial.number + 2) / self.delta)
        # Each trial has a level of its own, so that tables of all intervals would be used once.
        pulls, totals = np.full(2, scores.size), np.floor([total, -total]).astype(np.int64)
        lower, upper = find_intervals(pulls, abs(totals), (level, level), self.items)
        return float(lower[0]), float(upper[1])
