"""Alarms on recorded crowds: a worker who falls is reported, and steady ones by windows alone."""

import numpy as np

from research.drift_histories import measure, read_histories


def write(folder, histories):
    tasks = range(max(map(len, histories)))
    (folder / "crowd_gold.csv").write_text("task,label\n" + "".join(f"t{i},1\n" for i in tasks))
    rows = [
        f"w{worker},t{task},{int(right)}\n"
        for worker, history in enumerate(histories)
        for task, right in enumerate(history)
    ]
    (folder / "crowd.csv").write_text("worker,task,label\n" + "".join(rows))


def test_falling_worker_is_reported_as_recorded_only(tmp_path):
    fallen = np.r_[np.tile([1] * 19 + [0], 30), np.tile([1, 0], 60)]
    steady = np.tile([1] * 9 + [0], 40)
    write(tmp_path, [fallen, steady, steady[:50]])
    histories = read_histories(tmp_path, "crowd")
    assert [history.right.size for history in histories] == [720, 400]
    assert [history.level for history in histories] == [0.82, 0.85]
    figures = measure(histories)
    assert figures["our detector, once in 2,000"][:2] == ["0.50", "0.000"]
    assert float(figures["last 20 below the level"][1]) > 0.9
