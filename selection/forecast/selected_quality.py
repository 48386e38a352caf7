"""How good the selected of a simulated run are, after the answers that its pass mark takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selection.models import Run, pass_marks
from selection.viewer_locale import format_percent
from topk.rewards import draw_rewards

from .fitted import Counts, Floats

STRIDE = 0.25  # of a worker's answers that are simulated at once; an engine takes a smaller part


@dataclass
class Tallies:
    """Right answers and answers of a run, columns (n,) in order of the arms.

    truth  accuracies, and ``room`` answers that each worker can still give
    left   answers that all workers can still give
    """

    run: Run
    rewards: Floats
    pulls: Counts
    skill: Counts
    truth: Floats
    room: Counts
    left: int

    @property
    def columns(self) -> tuple[Floats, Counts, Counts]:
        return self.rewards, self.pulls, self.skill

    def settle_marks(self, arms: Counts, rng: np.random.Generator) -> None:
        """Ask these arms until the marks are settled, or questions or budget are used up."""
        while True:
            doubtful = arms[~pass_marks.needs_no_more(self.run, *self.columns)[arms]]
            counts = np.ceil(STRIDE * self.pulls[doubtful] + 1).astype(np.int64)
            counts = limit_total(np.minimum(counts, self.room[doubtful]), self.left)
            if not counts.any():
                return
            self.rewards[doubtful] += draw_rewards(self.truth[doubtful], counts, False, rng)
            self.pulls[doubtful] += counts
            self.room[doubtful] -= counts
            self.left -= int(counts.sum())

    def judge(self, arms: Counts) -> tuple[float | None, float | None, int | None]:
        """Compute the mean accuracy of the selected, the stated bound, and how many pass."""
        run = self.run
        if pass_marks.has_mark(run):
            arms = arms[pass_marks.is_reaching(run, *self.columns)[arms]]
        passes = None if run.pass_mark is None else int(arms.size)
        if not arms.size:
            return None, None, passes
        least = pass_marks.bound_selected(run, self.rewards, self.pulls, arms, self.skill)
        return float(self.truth[arms].mean()), least, passes


def limit_total(counts: Counts, most: float) -> Counts:
    if counts.sum() <= most:
        return counts
    parts: NDArray[np.int64] = np.diff(np.minimum(counts.cumsum(), int(most)), prepend=0)
    return parts


def median_of(values: Sequence[float | None], places: int = 4) -> Any:
    """Compute the median of the known values; None without any."""
    numbers = [value for value in values if value is not None]
    if not numbers:
        return None
    middle = round(float(np.median(numbers)), places)
    return middle if places else int(middle)


def describe_selected(
    accuracy: float | None, mean_at_least: float | None, passing: int | None, k: int
) -> str:
    """Say how good the selected would be; nothing if neither they nor a pass mark exist."""
    if passing == 0:
        return "No worker would reach the pass mark."
    if accuracy is None:
        return ""
    words = f"The selected would be {format_percent(accuracy)} right on average"
    if percent := floor(100 * (mean_at_least or 0)):
        words += f", with at least {format_percent(percent / 100)} guaranteed"
    if passing is None:
        return f"{words}."
    return f"{words}. {passing:,} of {k:,} would reach the pass mark."
