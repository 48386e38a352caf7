"""A run's guarantee and its present state, in words and as a number."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from selection.facts import Facts
from selection.model_workers import spending
from selection.models import Run
from selection.runs.roster import eligibility, roster_opening
from selection.runs.settings import algorithm_choices, priors, validation
from topk import ASSUMPTIONS, Goal, Promise, build_selector, rounded_up
from topk.roster import restrict_options
from topk.selected_arms import SelectedArms

from . import guarantee_texts as texts
from . import plain_guarantee as plain
from .collusion import CollusionSigns, find_signs
from .model_fit import ModelFit, model_fit
from .pass_mark import short_clause
from .selection import ended_early, selection_of_run
from .standings import WorkerStanding
from .weakenings import Weakening, list_weakenings

STAYING = (
    " That a worker came or stayed away is assumed to have nothing to do with how good they are."
)
LIMITED = (
    " As the limit in money can end the run, prices of models are assumed to tell nothing of how "
    "good they are."
)
KEPT, WEAKENED, EARLY, NOTHING = "kept", "weakened", "early", "none"
NOBODY_TESTED = (
    "No answer was counted: no worker is tested, no worker is selected, and nothing is guaranteed."
)
NOTHING_YET = "No guarantee yet: there are too few answers."
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
    plain     the sentence in short, without what weakens it; empty if it is short already
    achieved  while the run goes on: ``plain`` for the ε that holds now; empty if there is none
    no_shows    the workers, by id, that it leaves out at the end: no answer of theirs counted
    weakenings  each with its remedy; some only add an assumption
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
    plain: str = ""
    achieved: str = ""
    no_shows: tuple[str, ...] = ()
    weakenings: tuple[Weakening, ...] = ()

    @property
    def short(self) -> str:
        return self.plain or self.sentence

    @property
    def reasons(self) -> tuple[str, ...]:
        """What weakens it, each in a few words."""
        return tuple(reason.short for reason in self.weakenings if reason.remedy.weakens)

    @property
    def now(self) -> str:
        """The present guarantee and its weakenings, in one sentence."""
        guarantee = self.achieved or (NOTHING_YET if self.so_far else self.short)
        if not self.reasons:
            return guarantee
        causes = "; ".join(self.reasons)
        loss = self.plain == plain.LOST
        return f"No guarantee: {causes}." if loss else f"{guarantee} Weakened: {causes}."


def promise_status(
    run: Run,
    selected: SelectedArms | None = None,
    doubts: ModelFit | None = None,
    signs: CollusionSigns | None = None,
) -> GuaranteeStatus:
    """Reach the one verdict on a run's guarantee, which every surface shows.

    selected  the selected arms, ``doubts`` the model fit, and ``signs``, if already computed
    """
    status = _compute_status(run, selected)
    if run.status == Run.Status.DRAFT:
        return status
    fit, signs = doubts or model_fit(run), signs or find_signs(run)
    weakenings = list_weakenings(run, fit, signs, status.by_hand, status.no_shows)
    status = replace(status, weakenings=weakenings)
    if run.status != Run.Status.ENDED:
        return status
    if status.epsilon is None:
        return replace(status, verdict=NOTHING)
    if not status.reasons:
        return replace(status, verdict=EARLY if ended_early(run) else KEPT)
    causes = " ".join(each.sentence for each in status.weakenings if each.remedy.weakens)
    return replace(
        status,
        sentence=f"The guarantee is weakened. {causes} Apart from this: {status.sentence}",
        plain=status.short,
        verdict=WEAKENED,
    )


def _compute_status(run: Run, selected: SelectedArms | None) -> GuaranteeStatus:
    draft = run.status == Run.Status.DRAFT
    counts = Counter(run.candidates.filter(skill=0).values_list("gone", flat=True))
    n = validation.expected_workers(run, eligibility.count_eligible(run)) if draft else counts[""]
    if draft and (refused := validation.validate_run(run, n)):
        return GuaranteeStatus(" ".join(refused.values()))
    over = texts.roster_clause(run, counts)
    if run.status == Run.Status.ENDED and not run.candidates.filter(pulls__gt=0).exists():
        return GuaranteeStatus(NOBODY_TESTED, over=over)
    if n <= max(skill.k for skill in run.skills) or n < texts.places_needed(run):
        return GuaranteeStatus(texts.too_few_sentence(run, n), over=over)
    if run.enrolling and not draft and (reason := roster_opening.too_few(run)):
        return GuaranteeStatus(reason, over=over)
    promise = _run_guarantee(run, n)
    assumes = promise.assumes + priors.prior_assumption(run) + _limit_assumption(run, promise)
    if draft:
        return GuaranteeStatus(
            algorithm_choices.guarantee_sentence(run, promise, n),
            assumes=assumes,
            plain=plain.state_guarantee(run, promise, n),
        )
    if run.guarantee_lost:
        return GuaranteeStatus(
            texts.explain_lost(run, selected),
            assumes=assumes,
            over=over,
            by_hand=texts.manual_clause(run),
            plain=plain.LOST,
        )
    ended = run.status == Run.Status.ENDED
    if ended:
        selected = selected or selection_of_run(run)
    no_shows = texts.find_no_shows(run, selected)
    among = texts.participants_clause(run, len(no_shows))
    if selected and ended_early(run):
        promise = selected.promise or promise
        epsilon = selected.rounded_epsilon
        sentence = texts.early_sentence(run, promise, n, selected)
        short = plain.state_early_end(run, promise, n, epsilon, among)
    else:
        epsilon = _stated_epsilon(run, promise)
        sentence = algorithm_choices.guarantee_sentence(run, promise, n)
        short = plain.state_guarantee(run, promise, n, among=among)
    if epsilon is not None:
        over = " ".join(filter(None, (over, texts.no_shows_clause(no_shows, n))))
    provisional = epsilon is not None and not ended
    changes = texts.empty_places(run, selected) + texts.regraded_clause(run)
    changes += short_clause(run, selected)
    return GuaranteeStatus(
        by_hand=texts.manual_clause(run),
        sentence=sentence + changes,
        plain=short + changes,
        achieved=plain.state_guarantee(run, promise, n, epsilon) if provisional else "",
        so_far="" if ended else texts.sentence_with_epsilon(promise, epsilon),
        meaning=algorithm_choices.guarantee_sentence(run, promise, n, epsilon)
        if provisional
        else "",
        epsilon=epsilon,
        holds="" if epsilon is None else ON_AVERAGE if promise.average else EVERY_POOL,
        assumes=assumes + (STAYING if counts.total() > n else ""),
        over=over,
        no_shows=tuple(no_shows) if epsilon is not None else (),
    )


def _run_guarantee(run: Run, n: int) -> Promise:
    """Find the algorithm's guarantee over ``n`` workers, the remaining ones in a begun run."""
    options = run.effective_options()
    if {"quotas", "prices", "groups"} & options.keys():
        candidates = run.candidates.filter(gone="", skill=0).order_by("arm")
        arms = list(candidates.values_list("arm", flat=True))
        options = restrict_options(options, arms, run.k)
    return build_selector(run.algorithm, run.problem(n), **options).promise


def _limit_assumption(run: Run, promise: Promise) -> str:
    """Name the assumption if the money spent may end the run (prices.md of topk), else nothing.

    Bounds that hold at all times do not depend on when the run ends.
    """
    always = not (promise.at_the_stop or promise.average)
    return "" if always or run.by_price or spending.read_limit(run) is None else LIMITED


def _stated_epsilon(run: Run, promise: Promise) -> float | None:
    """Choose the ε to state while the run goes on, and for a run that reached its own end."""
    if run.certified:
        return 0.0 if promise.goal is Goal.EXACT else run.epsilon
    return _gap_to_show(run) if texts.has_running_bound(promise) else None


def _gap_to_show(run: Run) -> float | None:
    """Round up the least ε proved so far for display; None while it is 1."""
    if run.proof:
        return rounded_up(run.proof["epsilon"])
    last = run.history.order_by("-number").first()
    return None if last is None or last.gap >= 1 else rounded_up(last.gap)


def current_guarantee(run: Run, lines: Sequence[WorkerStanding]) -> Facts | None:
    """State the ε so far; None before anything is proved, and after the end, with its own sentence.

    lines  of all workers, with the present selection
    """
    if not run.proof or run.status == Run.Status.ENDED or run.guarantee_lost:
        return None
    arms = run.candidates.filter(arm__in=run.proof["arms"]).values_list("pk", flat=True)
    others = {line.candidate for line in lines if line.selected}.symmetric_difference(arms)
    return Facts(
        epsilon=rounded_up(run.proof["epsilon"]), step=run.proof["step"], others=len(others) // 2
    )


def interval_meaning(run: Run) -> str:
    if run.fixed_budget:
        return "bounds that the algorithm works with, if it has any: without a guarantee"
    return run.selector_class.interval
