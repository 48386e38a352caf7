"""The sentences that a run's guarantee is made of."""

from collections import Counter

from selection.models import Run
from selection.runs import manual_verdicts
from selection.runs.settings import algorithm_choices
from selection.texts import count_noun, counted
from selection.viewer_locale import format_moment
from topk import Goal, Promise
from topk.promise import GUARANTEE_LOST
from topk.roster import has_enough
from topk.selected_arms import BY_PROOF, SelectedArms

from .selection import MOST_NAMED, ended_early, selection_of_run

GONE = {"absent": "never answered", "left": "left", "withdrawn": "were withdrawn"}


def roster_clause(run: Run, counts: Counter[str]) -> str:
    losses = [
        f"{counts[reason]} {verb if counts[reason] > 1 else verb.replace('were ', 'was ')}"
        for reason, verb in GONE.items()
        if counts[reason]
    ]
    parts = []
    if losses:
        total = counts.total()
        parts.append(
            f"Of the {counted(total, 'worker')} {' and '.join(losses)}: they are not tested to "
            "the end, and "
            f"neither accepted nor rejected. The guarantee covers the other {counts['']}."
        )
    if run.enrolling:
        parts.append(
            f"The roster is open, with {counted(counts[''], 'worker')} now. No worker is "
            "accepted or "
            "rejected before it closes; the guarantee then covers the workers on it."
        )
    return " ".join(parts)


def find_no_shows(run: Run, selected: SelectedArms | None) -> list[str]:
    """List the ids of the workers without a counted answer, if they are out at the run's end.

    What holds of a selection among all workers holds among fewer, if they include the selected.
    """
    if run.status != Run.Status.ENDED or run.keep_no_shows:
        return []
    active = run.candidates.filter(gone="")
    arrivals = active.filter(pulls__gt=0).values("worker")
    rows = active.exclude(worker__in=arrivals).order_by("worker__key")
    absent = list(rows.values_list("worker__key", flat=True).distinct())
    if not absent or (selected or selection_of_run(run)).untested:
        return []
    rest = active.filter(skill=0).count() - len(absent)
    return absent if has_enough(rest, [k.k for k in run.skills], run.one_kind_each) else []


def participants_clause(run: Run, no_shows: int) -> str:
    """Write “ of the 27 who took part”; empty before the end, and without no-shows."""
    if run.status != Run.Status.ENDED:
        return ""
    workers, leavers = run.candidates.filter(skill=0), run.candidates.exclude(gone="")
    present = workers.filter(gone="").count() - no_shows
    if present == workers.count():
        return ""
    until = " to the end" if leavers.filter(pulls__gt=0).exists() else ""
    return f" of the {present} who took part{until}"


def no_shows_clause(absent: list[str], workers: int) -> str:
    if not absent:
        return ""
    who = count_noun(len(absent), "worker")
    rest = workers - len(absent)
    return f"No answer of {who} counted. The guarantee is about the {rest} who took part."


def manual_clause(run: Run) -> str:
    """Exclude verdicts by hand from the guarantee, in a sentence; empty without any."""
    counts = Counter(run.candidates.exclude(by_hand=None).values_list("by_hand", flat=True))
    clauses = [
        f"{counts[v]} {word} by hand" for v, word in manual_verdicts.WORDS.items() if counts[v]
    ]
    if not clauses:
        return ""
    return (
        f"{' and '.join(clauses).capitalize()}. The guarantee covers the "
        f"{counted(run.total, 'worker')} "
        "that the algorithm selects itself, not verdicts by hand."
    )


def empty_places(run: Run, selected: SelectedArms | None) -> str:
    """Describe untested workers in the selection at the run's end; else ""."""
    if run.status != Run.Status.ENDED:
        return ""
    empty = (selected or selection_of_run(run)).untested
    if not empty:
        return ""
    return (
        f" {empty} of the {counted(run.total, 'place')} stay empty: there were no tested "
        "workers left for "
        "them."
    )


def places_needed(run: Run) -> int:
    """Count the workers that fill a selection, at least."""
    return run.total if run.several and run.one_kind_each else 1


def too_few_sentence(run: Run, n: int) -> str:
    if run.enrolling:
        more = max(places_needed(run) - 1, *(skill.k for skill in run.skills))
        return f"More than {counted(more, 'worker')} must join before there is a choice."
    if run.ending == Run.Ending.ROSTER and run.several:
        return (
            f"Only {counted(n, 'worker', 'were')} left for "
            f"{counted(run.total, 'place')}, too few for a choice. The "
            "workers favoured by all answers are selected, with no guarantee."
        )
    if run.ending == Run.Ending.ROSTER:
        tested = run.candidates.filter(gone="", pulls__gt=0).count()
        rest = f"the {n} selected were" if n > 1 else "the one selected was"
        if tested != n:
            rest = f"{counted(n, 'worker')}, {tested} of them tested, {'were' if n > 1 else 'was'}"
        return (
            f"Only {rest} left: there was no choice, and there is no guarantee. "
            f"The target was {counted(run.k, 'worker')}."
        )
    return f"Only {counted(n, 'worker', 'are')} left; a guarantee needs more than {run.k}."


def explain_lost(run: Run, selected: SelectedArms | None) -> str:
    if run.status != Run.Status.ENDED:
        return GUARANTEE_LOST
    if ended_early(run):
        return f"{GUARANTEE_LOST} {_naming_clause(run, selected or selection_of_run(run))}"
    return f"{GUARANTEE_LOST} The selection follows the algorithm’s rule."


def early_sentence(run: Run, promise: Promise, n: int, selected: SelectedArms) -> str:
    """Describe a run that ended early: its guarantee and its selection rule."""
    if run.fixed_budget:
        if selected.rounded_epsilon is None:
            clause = "favoured by all answers, because the run ended before its plan was complete"
            return f"The {counted(run.total, 'worker')} {clause}; no guarantee."
        short = "The run ended before its plan was complete"
    else:
        short = _shortfall_sentence(run, promise, selected)
    guarantee = (
        ""
        if selected.rounded_epsilon is None
        else f" {algorithm_choices.guarantee_sentence(run, promise, n, selected.rounded_epsilon)}"
    )
    if promise.goal is Goal.MARK:
        return f"The run ended before all workers were judged.{guarantee}"
    return f"{short}.{guarantee} {_naming_clause(run, selected)}"


def _shortfall_sentence(run: Run, promise: Promise, selected: SelectedArms) -> str:
    """State the guarantee that was not reached; the reason, if nothing was."""
    exact = run.selector_class.promise.goal is Goal.EXACT
    short = f"ε = {run.epsilon:g} was not achieved" if promise.average else "Not certified"
    if selected.rounded_epsilon is None:
        return f"{short}: there were too few answers for a guarantee"
    if promise.average:
        return short
    return f"{short} as the best {run.total}" if exact else f"{short} for ε = {run.epsilon:g}"


def _naming_clause(run: Run, selected: SelectedArms) -> str:
    alone = run.total == 1
    if selected.by != BY_PROOF:
        return f"The selected {'worker is' if alone else 'workers are'} favoured by all answers."
    return (
        f"The selected {'worker has' if alone else 'workers have'} the strongest guarantee, from "
        f"step {run.proof['step']}. All answers since favour {_favoured_clause(run, selected)}, "
        "with a weaker guarantee."
    )


def _favoured_clause(run: Run, selected: SelectedArms) -> str:
    """Name the workers that all answers favour, and those they would replace."""
    proved, favoured = (
        set(selected.arms.tolist()),
        set((selected.favoured if selected.favoured is not None else selected.arms).tolist()),
    )
    added, dropped = sorted(favoured - proved), sorted(proved - favoured)
    if len(added) > MOST_NAMED:
        return f"{len(added)} others"
    keys = dict(run.candidates.filter(arm__in=[*added, *dropped]).values_list("arm", "worker__key"))
    lists = [", ".join(f"“{keys[arm]}”" for arm in arms) for arms in (added, dropped)]
    return " instead of ".join(lists)


def regraded_clause(run: Run) -> str:
    if not run.regraded:
        return ""
    when = format_moment(run.regraded)
    if run.has_replaced:
        return f" Selected workers were replaced after the end ({when}); this is about the others."
    return f" Gold questions were corrected after the end ({when}); this uses the corrected keys."


def sentence_with_epsilon(promise: Promise, epsilon: float | None) -> str:
    if not has_running_bound(promise):
        return ""
    label = "Achieved on average" if promise.average else "Certified so far"
    reached = "no guarantee yet, too few answers" if epsilon is None else f"ε = {epsilon:g}"
    return f"{label}: {reached}."


def has_running_bound(promise: Promise) -> bool:
    """Tell if the gap bounds a loss before the algorithm has stopped by itself."""
    goal = promise.early if promise.goal is Goal.EXACT else promise.goal
    return promise.fixed == "confidence" and goal not in (Goal.NONE, Goal.MARK)
