"""The pass mark of an ended run: only workers shown to reach it are selected."""

import numpy as np
from numpy.typing import NDArray

from topk.accuracy import THIS_SET
from topk.pass_mark import REACHES, judge_marks
from topk.selected_arms import SelectedArms, only_marked, select_arms
from topk.selector import Counts
from topk.state import Verdict

from .dump_reader import DumpRecord
from .replaying import ReplayedRun, count_answers


def apply_mark(record: DumpRecord, selected: SelectedArms) -> SelectedArms:
    """Limit the selection to workers shown to reach the mark."""
    reaching = _find_reaching(record)
    return selected if reaching is None else only_marked(selected, reaching)


def selected_numbers(record: DumpRecord, replayed: ReplayedRun) -> set[int]:
    """List the run's numbers of the arms selected; none if too few are left to choose from."""
    if replayed.selector is None:
        return set()
    early = record.ended and not record.finished
    selected = select_arms(replayed.selector, replayed.arms, early, record.best_guarantee)
    return set(apply_mark(record, selected).arms.tolist())


def reject_short(record: DumpRecord, arms: Counts, verdict: Counts) -> Counts:
    """Reject the accepted of these (r,) arms at the end that do not reach the mark."""
    reaching = _find_reaching(record)
    if reaching is None:
        return verdict
    short = (verdict == Verdict.ACCEPTED) & ~reaching[arms]
    return np.where(short, int(Verdict.REJECTED), verdict)


def _find_reaching(record: DumpRecord) -> NDArray[np.bool_] | None:
    """Find (n,) flags; None without a mark beside the rule."""
    run, mark = record.run, record.run["pass_mark"]
    if mark is None or not record.ended or record.algorithm.takes_mark:
        return None
    pulls, sums = count_answers(record, None)
    on_set = record.options.get("accuracy") == THIS_SET
    sizes = np.array(record.decks)[record.kind] if on_set else None
    joined = min(int(run["joined"]) * len(record.ks), record.n)
    marks = judge_marks(sums, pulls, mark, run["delta"], questions=sizes, joined=joined)
    return np.asarray(marks == REACHES)
