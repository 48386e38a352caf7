"""A run's guarantee and its present state, in words and as a number."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils import timezone

from selection.models import Run
from selection.runs import (
    algorithm_choices,
    eligibility,
    manual_verdicts,
    priors,
    roster_opening,
    validation,
)
from topk import ASSUMPTIONS, Goal, Promise, build_selector, rounded_up
from topk.promise import GUARANTEE_LOST
from topk.roster import restrict_quotas
from topk.selected_arms import BY_PROOF, SelectedArms

from .collusion import find_signs
from .model_fit import ModelFit, model_fit
from .selection import MOST_NAMED, ended_early, selection_of_run
from .standings import WorkerStanding
from .weakenings import list_weakenings

GONE = {"absent": "never came", "left": "left", "withdrawn": "were withdrawn"}
STAYING = (
    " That a worker came or stayed away is assumed to have nothing to do with how good they are."
)
KEPT, WEAKENED, EARLY, NOTHING = "kept", "weakened", "early", "none"
NOBODY_TESTED = (
    "No answer was counted: nobody is tested, nobody is selected, and nothing is guaranteed."
)
EVERY_POOL, ON_AVERAGE = "for every pool", "on average over pools like this one"


@dataclass(frozen=True)
class GuaranteeStatus:
    """A run's guarantee and its present state.

    sentence  in full while it may still be kept and if it was kept, else the sentence that replaces
              it
    so_far    while the run goes on: the ε it would guarantee if it ended now; empty if it has no
              such bound
    meaning   the sentence for that ε; empty if there is none yet
    epsilon   of the guarantee that holds now, or held at the end; None if there is none
    holds     for every pool, or on average over pools
    assumes   the assumptions of all this
    over      the workers it is about, if they are not the whole pool; else empty
    by_hand   the effect of verdicts by hand on it; empty without any
    verdict   at the end: kept, weakened (the sentence gives the reasons), early (it holds for
              another ε than the run was started with) or none; empty while the run goes on
    """

    sentence: str
    so_far: str = ""
    meaning: str = ""
    epsilon: float | None = None
    holds: str = ""
    assumes: str = ASSUMPTIONS
    over: str = ""
    by_hand: str = ""
    verdict: str = ""


def promise_status(
    run: Run, selected: SelectedArms | None = None, doubts: ModelFit | None = None
) -> GuaranteeStatus:
    """Return the one verdict on a run's guarantee, which every surface shows.

    selected  the selected arms, and
    doubts    the model fit, if already computed
    """
    status = _compute_status(run, selected)
    if run.status != Run.Status.ENDED:
        return status
    if status.epsilon is None:
        return replace(status, verdict=NOTHING)
    reasons = list_weakenings(run, doubts or model_fit(run), find_signs(run), status.by_hand)
    if not reasons:
        return replace(status, verdict=EARLY if ended_early(run) else KEPT)
    sentence = f"The guarantee is weakened. {' '.join(reasons)} Apart from this: {status.sentence}"
    return replace(status, sentence=sentence, verdict=WEAKENED)


def _compute_status(run: Run, selected: SelectedArms | None) -> GuaranteeStatus:
    draft = run.status == Run.Status.DRAFT
    counts = Counter(run.candidates.filter(skill=0).values_list("gone", flat=True))
    n = validation.expected_workers(run, eligibility.count_eligible(run)) if draft else counts[""]
    if draft and (refused := validation.validate_run(run, n)):
        return GuaranteeStatus(" ".join(refused.values()))
    over = _roster_clause(run, counts)
    if run.status == Run.Status.ENDED and not run.candidates.filter(pulls__gt=0).exists():
        return GuaranteeStatus(NOBODY_TESTED, over=over)
    if n <= max(skill.k for skill in run.skills) or n < _places_needed(run):
        return GuaranteeStatus(_too_few_sentence(run, n), over=over)
    if run.enrolling and not draft and (reason := roster_opening.too_few(run)):
        return GuaranteeStatus(reason, over=over)
    promise = _run_guarantee(run, n)
    assumes = promise.assumes + priors.prior_assumption(run)
    if draft:
        return GuaranteeStatus(
            algorithm_choices.guarantee_sentence(run, promise, n), assumes=assumes
        )
    if run.guarantee_lost:
        return GuaranteeStatus(
            _explain_lost(run, selected), assumes=assumes, over=over, by_hand=_manual_clause(run)
        )
    if ended_early(run):
        selected = selected or selection_of_run(run)
        promise = selected.promise or promise
        epsilon, sentence = selected.rounded_epsilon, _early_sentence(run, promise, n, selected)
    else:
        epsilon, sentence = (
            _stated_epsilon(run, promise),
            algorithm_choices.guarantee_sentence(run, promise, n),
        )
    ended = run.status == Run.Status.ENDED
    provisional = epsilon is not None and not ended
    return GuaranteeStatus(
        by_hand=_manual_clause(run),
        sentence=sentence + _empty_places(run, selected) + _regraded_clause(run),
        so_far="" if ended else _sentence_with_epsilon(promise, epsilon),
        meaning=algorithm_choices.guarantee_sentence(run, promise, n, epsilon)
        if provisional
        else "",
        epsilon=epsilon,
        holds="" if epsilon is None else ON_AVERAGE if promise.average else EVERY_POOL,
        assumes=assumes + (STAYING if counts.total() > n else ""),
        over=over,
    )


def _run_guarantee(run: Run, n: int) -> Promise:
    """Return the algorithm's guarantee over ``n`` workers, the remaining ones in a begun run."""
    options = run.effective_options()
    if "quotas" in options and n != len(options["quotas"]["groups"]):
        candidates = run.candidates.filter(gone="", skill=0).order_by("arm")
        arms = list(candidates.values_list("arm", flat=True))
        options["quotas"] = restrict_quotas(options["quotas"], arms, run.k)
    return build_selector(run.algorithm, run.problem(n), **options).promise


def _roster_clause(run: Run, counts: Counter[str]) -> str:
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


def _manual_clause(run: Run) -> str:
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


def _empty_places(run: Run, selected: SelectedArms | None) -> str:
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


def _places_needed(run: Run) -> int:
    """Return the least number of workers that fill a selection."""
    return run.total if run.several and run.one_kind_each else 1


def _too_few_sentence(run: Run, n: int) -> str:
    if run.enrolling:
        more = max(_places_needed(run) - 1, *(skill.k for skill in run.skills))
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


def _explain_lost(run: Run, selected: SelectedArms | None) -> str:
    if run.status != Run.Status.ENDED:
        return GUARANTEE_LOST
    if ended_early(run):
        return f"{GUARANTEE_LOST} {_naming_clause(run, selected or selection_of_run(run))}"
    return f"{GUARANTEE_LOST} Selected are those whom its rule names."


def _early_sentence(run: Run, promise: Promise, n: int, selected: SelectedArms) -> str:
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


def _regraded_clause(run: Run) -> str:
    if not run.regraded:
        return ""
    when = timezone.localtime(run.regraded).strftime("%Y-%m-%d %H:%M %Z")
    return f" Gold answers were corrected after its end ({when}); this is by the corrected ones."


def _sentence_with_epsilon(promise: Promise, epsilon: float | None) -> str:
    if not _has_running_bound(promise):
        return ""
    label = "Reached so far, on average" if promise.average else "Certified so far"
    reached = "nothing yet, there are too few answers" if epsilon is None else f"ε = {epsilon:g}"
    return f"{label}: {reached}."


def _stated_epsilon(run: Run, promise: Promise) -> float | None:
    """Return the ε to state while the run goes on, and for a run that reached its own end."""
    if run.certified:
        return 0.0 if promise.goal is Goal.EXACT else run.epsilon
    return _gap_to_show(run) if _has_running_bound(promise) else None


def _has_running_bound(promise: Promise) -> bool:
    """Return True if the gap bounds a loss before the algorithm has stopped by itself."""
    goal = promise.early if promise.goal is Goal.EXACT else promise.goal
    return promise.fixed == "confidence" and goal is not Goal.NONE


def _gap_to_show(run: Run) -> float | None:
    """Return the least ε proved so far, rounded up for display; None while it is 1."""
    if run.proof:
        return rounded_up(run.proof["epsilon"])
    last = run.history.order_by("-number").first()
    return None if last is None or last.gap >= 1 else rounded_up(last.gap)


@dataclass(frozen=True)
class CurrentGuarantee:
    """The least ε proved so far, its step, and how many of its workers are now unselected."""

    epsilon: float
    step: int
    others: int


def current_guarantee(run: Run, lines: Sequence[WorkerStanding]) -> CurrentGuarantee | None:
    """Return None before anything is proved, and after the end, which has its own sentence.

    lines  of all workers, with the present selection
    """
    if not run.proof or run.status == Run.Status.ENDED or run.guarantee_lost:
        return None
    arms = run.candidates.filter(arm__in=run.proof["arms"]).values_list("pk", flat=True)
    others = {line.candidate for line in lines if line.selected}.symmetric_difference(arms)
    return CurrentGuarantee(rounded_up(run.proof["epsilon"]), run.proof["step"], len(others) // 2)


def interval_meaning(run: Run) -> str:
    """Return the meaning of a worker's lower and upper bound, in words."""
    if run.fixed_budget:
        return "bounds that the algorithm works with, if it has any: nothing is promised of them"
    return run.selector_class.interval
