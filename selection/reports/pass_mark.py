"""Sentences on the selected workers and the run's pass mark, beside the guarantee."""

from collections import Counter
from collections.abc import Sequence

from selection import viewer_locale
from selection.models import Run, pass_marks
from selection.texts import counted
from topk import THIS_SET
from topk.selected_arms import SelectedArms

from .worker_columns import WorkerStanding


def state_pass_mark(run: Run, lines: Sequence[WorkerStanding]) -> str:
    """Word the sentences on the mark of an ended run; empty without one.

    lines  of all workers in all kinds of task
    """
    if run.status != Run.Status.ENDED or not pass_marks.has_mark(run):
        return ""
    marks = Counter(line.mark for line in lines if line.selected)
    reaching, selected = marks[pass_marks.WORDS[1]], marks.total()
    result = f"at least {pass_marks.format_mark(run)}{_set_words(run)} right"
    percent = 100 * (1 - run.delta)
    sure = viewer_locale.format_percent(1 - run.delta, viewer_locale.places_of(percent))
    if not selected:
        return f"Pass mark: no worker is selected who is shown to answer {result}."
    if reaching < selected:  # others are selected by hand
        few = counted(selected, "selected worker")
        return (
            f"Pass mark: {reaching} of the {few} reach it: with {sure} certainty, each of these "
            f"answers {result}."
        )
    who = f"each of the {selected} selected answers" if selected > 1 else "the selected one answers"
    return f"Pass mark: with {sure} certainty, {who} {result}."


def _set_words(run: Run) -> str:
    return " of this question set" if run.options.get("accuracy") == THIS_SET else ""


def short_clause(run: Run, selected: SelectedArms | None) -> str:
    """Word a sentence on those of the rule's selection that the mark excludes; else ""."""
    if selected is None or not selected.short or run.status != Run.Status.ENDED:
        return ""
    are = "is" if selected.short == 1 else "are"
    few = counted(run.total, "worker")
    return (
        f" This is about the {few} before the pass mark: {selected.short} of them {are} not "
        f"selected, as {pass_marks.SHORT} of {pass_marks.format_mark(run)}."
    )
