"""Optuna: a pruner for trials that are scored item by item."""

import math
from typing import Any

import numpy as np
from optuna.pruners import BasePruner
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial

from topk.certified.confidence_sequences import confidence_intervals
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

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        minimised = study.direction == StudyDirection.MINIMIZE
        others = [each for each in study.get_trials(deepcopy=False) if each.number != trial.number]
        lower = sorted((self._bounds(each, minimised)[0] for each in others), reverse=True)
        if len(lower) < self.k:
            return False
        return self._bounds(trial, minimised)[1] <= lower[self.k - 1] + self.epsilon

    def _bounds(self, trial: FrozenTrial, minimised: bool) -> tuple[float, float]:
        """Bounds of the trial's mean score, turned so that more is better."""
        scores = np.array(list(trial.intermediate_values.values()), np.float64)
        if not ((scores >= 0) & (scores <= 1)).all():
            raise ValueError(f"Trial {trial.number} reports a score that is not from 0 to 1.")
        if self.items and scores.size > self.items:
            raise ValueError(f"Trial {trial.number} reports more scores than {self.items} items.")
        if not scores.size:
            return 0.0, 1.0
        total = (scores.size - scores.sum()) if minimised else scores.sum()
        level = math.log(2 * (trial.number + 1) * (trial.number + 2) / self.delta)
        pulls: Any = np.array([scores.size])
        lower, upper = confidence_intervals(pulls, np.array([total]), level, self.items)
        return float(lower[0]), float(upper[0])
