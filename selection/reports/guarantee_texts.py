"""The sentences that a run's guarantee is made of."""

from collections import Counter

from django.utils import timezone

from selection.models import Run
from selection.runs import algorithm_choices, manual_verdicts
from topk import Goal, Promise
from topk.promise import GUARANTEE_LOST
from topk.selected_arms import BY_PROOF, SelectedArms

from .selection import MOST_NAMED, ended_early, selection_of_run

GONE = {"absent": "never came", "left": "left", "withdrawn": "were withdrawn"}


def roster_clause(run: Run, counts: Counter[str]) -> str:
    """Return the sentences that limit the guarantee to the workers on the roster."""
    losses = [
        f"{counts[reason]} {verb if counts[reason] > 1 else verb.replace('were', 'was')}"
        for reason, verb in GONE.items()
        if counts[reason]
    ]
    parts = []
    if losses:
        total = counts.total()
        parts.append(
            f"Of the {total} workers {' and '.join(losses)}: not tested to the end, they are "
            f"neither accepted nor rejected. All that is said here is about the other {counts['']}."
        )
    if run.enrolling:
        parts.append(
            f"The roster is open, with {counts['']} workers so far. Nobody is accepted or rejected "
            "before it is closed; the promise is then about those who are on it."
        )
    return " ".join(parts)


def manual_clause(run: Run) -> str:
    """Return the sentence that excludes verdicts by hand from the guarantee; empty without any."""
    counts = Counter(run.candidates.exclude(by_hand=None).values_list("by_hand", flat=True))
    clauses = [
        f"{counts[v]} {word} by hand" for v, word in manual_verdicts.WORDS.items() if counts[v]
    ]
    if not clauses:
        return ""
    return (
        f"{' and '.join(clauses).capitalize()}. The promise is about the {run.total} that the "
        "algorithm selects itself, and says nothing of whom a verdict by hand puts in or takes out."
    )


def empty_places(run: Run, selected: SelectedArms | None) -> str:
    """Return a sentence on untested workers in the selection at the run's end; else ""."""
    if run.status != Run.Status.ENDED:
        return ""
    empty = (selected or selection_of_run(run)).untested
    if not empty:
        return ""
    return (
        f" {empty} of the {run.total} places stay empty: the workers named for them gave no answer "
        "that counts, so they are not tested and not selected."
    )


def places_needed(run: Run) -> int:
    """Return the least number of workers that fill a selection."""
    return run.total if run.several and run.one_kind_each else 1


def too_few_sentence(run: Run, n: int) -> str:
    if run.enrolling:
        more = max(places_needed(run) - 1, *(skill.k for skill in run.skills))
        return f"More than {more} workers must join before there is anything to choose."
    if run.ending == Run.Ending.ROSTER and run.several:
        return (
            f"Only {n} workers were left for {run.total} places, too few to choose from: those are "
            "selected whom all answers favour, and nothing is promised of how good they are."
        )
    if run.ending == Run.Ending.ROSTER:
        tested = run.candidates.filter(gone="", pulls__gt=0).count()
        left = f"the {n} selected" if tested == n else f"{n} workers, {tested} of them tested,"
        return (
            f"No more than {left} were left of the workers, so there was nothing to "
            f"choose and nothing is promised of how good they are. {run.k} were wanted."
        )
    return f"Only {n} workers are left; more than {run.k} are needed for a promise."


def explain_lost(run: Run, selected: SelectedArms | None) -> str:
    if run.status != Run.Status.ENDED:
        return GUARANTEE_LOST
    if ended_early(run):
        return f"{GUARANTEE_LOST} {_naming_clause(run, selected or selection_of_run(run))}"
    return f"{GUARANTEE_LOST} Selected are those whom its rule names."


def early_sentence(run: Run, promise: Promise, n: int, selected: SelectedArms) -> str:
    """Return the sentences of a run that ended early: its guarantee and its selection rule."""
    if run.fixed_budget:
        if selected.rounded_epsilon is None:
            clause = "whom all answers favour, as it ended before its plan was carried out"
            return f"The {run.total} workers {clause}; no promise."
        short = "It ended before its plan was carried out"
    else:
        short = _shortfall_sentence(run, promise, selected)
    holds = (
        ""
        if selected.rounded_epsilon is None
        else f" {algorithm_choices.guarantee_sentence(run, promise, n, selected.rounded_epsilon)}"
    )
    return f"{short}.{holds} {_naming_clause(run, selected)}"


def _shortfall_sentence(run: Run, promise: Promise, selected: SelectedArms) -> str:
    """Return the guarantee that was not reached; the reason, if nothing was."""
    exact = run.selector_class.promise.goal is Goal.EXACT
    short = f"ε = {run.epsilon:g} was not reached" if promise.average else "Not certified"
    if selected.rounded_epsilon is None:
        return f"{short}: there were too few answers to promise anything about these workers"
    if promise.average:
        return short
    return f"{short} as the best {run.total}" if exact else f"{short} for ε = {run.epsilon:g}"


def _naming_clause(run: Run, selected: SelectedArms) -> str:
    if selected.by != BY_PROOF:
        return "Selected are those whom all answers favour."
    step = run.proof["step"]
    return (
        f"Selected are those for whom this was proved, in step {step}. All answers, with those "
        f"since then, favour {_favoured_clause(run, selected)}; what is proved of these is weaker."
    )


def _favoured_clause(run: Run, selected: SelectedArms) -> str:
    """Return the ids of the workers that all answers favour, and of those they would replace."""
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
    when = timezone.localtime(run.regraded).strftime("%Y-%m-%d %H:%M %Z")
    return f" Gold answers were corrected after its end ({when}); this is by the corrected ones."


def sentence_with_epsilon(promise: Promise, epsilon: float | None) -> str:
    if not has_running_bound(promise):
        return ""
    label = "Reached so far, on average" if promise.average else "Certified so far"
    reached = "nothing yet, there are too few answers" if epsilon is None else f"ε = {epsilon:g}"
    return f"{label}: {reached}."


def has_running_bound(promise: Promise) -> bool:
    """Return True if the gap bounds a loss before the algorithm has stopped by itself."""
    goal = promise.early if promise.goal is Goal.EXACT else promise.goal
    return promise.fixed == "confidence" and goal is not Goal.NONE
