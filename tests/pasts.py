"""Files that tell of small crowds of the past."""

from pathlib import Path

import numpy as np


def write_past(
    folder: Path, accuracies: list[float], tasks: int, seed: int = 5
) -> tuple[Path, Path]:
    """answers.csv and gold.csv of workers w1, w2, ... with an answer to every task."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 2, tasks)
    answers, known = folder / "answers.csv", folder / "gold.csv"
    lines = [
        f"w{worker},t{task},{gold[task] if rng.random() < accuracy else 1 - gold[task]}"
        for worker, accuracy in enumerate(accuracies, 1)
        for task in range(tasks)
    ]
    answers.write_text("\n".join(["worker,task,label", *lines]))
    known.write_text("\n".join(["task,label", *(f"t{i},{g}" for i, g in enumerate(gold))]))
    return answers, known
