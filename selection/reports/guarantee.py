"""The guarantee of a run and its present state: the one function that every surface asks."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from selection.facts import Facts
from selection.models import Run
from selection.runs.roster import eligibility, roster_opening
from selection.runs.settings import guarantee_texts as texts
from selection.runs.settings import guarantees, validation
from selection.runs.settings.guarantees import EARLY, KEPT, NOTHING, WEAKENED, GuaranteeFacts
from topk import Goal, Guarantee, rounded_up
from topk.guarantee import describe_covered
from topk.roster import has_enough
from topk.selected_arms import BY_GUARANTEE, SelectedArms

from .collusion import CollusionSigns, find_signs
from .model_fit import ModelFit, model_fit
from .selection import ended_early, selection_of_run
from .standings import WorkerStanding
from .weakenings import Weakening, list_weakenings

EVERY_POOL, ON_AVERAGE = "every pool", "average over pools like this one"


@dataclass(frozen=True)
class RunGuarantee:
    """A run's guarantee: the facts, what weakens it with remedies, and its three texts.

    text         what is guaranteed now, or was at the end, with all that qualifies it
    target       what is guaranteed when the run's rule to stop is met
    assumptions  what is assumed in both
    """

    facts: GuaranteeFacts
    weakenings: tuple[Weakening, ...]
    text: str
    target: str
    assumptions: str

    @property
    def verdict(self) -> str:
        return self.facts.verdict

    @property
    def epsilon(self) -> float | None:
        return self.facts.epsilon

    @property
    def scope(self) -> str:
        """The pools that it holds for; empty without a guarantee."""
        statement = self.facts.reached or self.facts.statement
        if self.epsilon is None or statement is None:
            return ""
        return ON_AVERAGE if statement.average else EVERY_POOL

    @property
    def reasons(self) -> tuple[str, ...]:
        """What weakens it, each in a few words."""
        return tuple(reason.short for reason in self.weakenings if reason.remedy.weakens)


def guarantee_of_run(
    run: Run,
    selected: SelectedArms | None = None,
    doubts: ModelFit | None = None,
    signs: CollusionSigns | None = None,
) -> RunGuarantee:
    """Reach the one verdict on a run's guarantee, which every surface shows.

    selected  the selected arms, ``doubts`` the model fit, and ``signs``, if already computed
    """
    facts = _read_facts(run, selected)
    weakenings: tuple[Weakening, ...] = ()
    if run.status != Run.Status.DRAFT:
        fit, signs = doubts or model_fit(run), signs or find_signs(run)
        by_hand = texts.word_manual(run, facts.by_hand)
        weakenings = list_weakenings(run, fit, signs, by_hand, facts.no_shows)
        facts = _judge(run, facts, weakenings)
    return RunGuarantee(
        facts,
        weakenings,
        texts.word_guarantee(run, facts),
        texts.word_target(run, facts),
        texts.word_assumptions(run, facts),
    )


def _judge(run: Run, facts: GuaranteeFacts, weakenings: Sequence[Weakening]) -> GuaranteeFacts:
    doubts = tuple(each.sentence for each in weakenings if each.remedy.weakens)
    notes = tuple(each.sentence for each in weakenings if not each.remedy.weakens)
    verdict = ""
    if run.status == Run.Status.ENDED:
        verdict = WEAKENED if doubts else EARLY if ended_early(run) else KEPT
        verdict = NOTHING if facts.epsilon is None else verdict
    return replace(facts, doubts=doubts, notes=notes, verdict=verdict)


def _read_facts(run: Run, selected: SelectedArms | None) -> GuaranteeFacts:
    draft, ended = run.status == Run.Status.DRAFT, run.status == Run.Status.ENDED
    gone = Counter(run.candidates.filter(skill=0).values_list("gone", flat=True))
    n = validation.expected_workers(run, eligibility.count_eligible(run)) if draft else gone[""]
    if missing := _find_missing(run, n):
        refusals = validation.validate_run(run, n).values() if draft else ()
        return GuaranteeFacts(None, n, gone, missing, tuple(refusals), by_hand=_count_manual(run))
    if ended:
        selected = selected or selection_of_run(run)
    no_shows = _find_no_shows(run, selected) if selected else ()
    statement = guarantees.state_guarantee(run, n)
    facts = GuaranteeFacts(
        replace(statement, covered=_describe_covered(run, len(no_shows)) if ended else ""),
        n,
        gone,
        selected=selected,
        by_hand=_count_manual(run),
        empty=selected.untested if ended and selected else 0,
        favoured=_find_favoured(run, selected) if selected else ((), ()),
    )
    if draft:
        return facts
    if run.guarantee_lost:
        return replace(facts, missing="lost")
    return _read_reached(run, facts, no_shows)


def _read_reached(run: Run, facts: GuaranteeFacts, no_shows: tuple[str, ...]) -> GuaranteeFacts:
    """Add the ε that holds now, or held at the end, and its statement."""
    statement, selected = facts.statement, facts.selected
    assert statement is not None
    if selected and ended_early(run):
        epsilon = selected.rounded_epsilon
        early = guarantees.qualify_statement(run, selected.guarantee or statement)
        reached = replace(early, covered=statement.covered)
    else:
        epsilon, reached = _stated_epsilon(run, statement), statement
    absent = no_shows if epsilon is not None else ()
    return replace(facts, epsilon=epsilon, reached=reached, no_shows=absent)


def _find_missing(run: Run, n: int) -> str:
    """Find the code of the reason for no statement about so many workers."""
    draft = run.status == Run.Status.DRAFT
    if draft and validation.validate_run(run, n):
        return "invalid"
    if run.status == Run.Status.ENDED and not run.candidates.filter(pulls__gt=0).exists():
        return "untested"
    if n <= max(skill.k for skill in run.skills) or n < texts.places_needed(run):
        return "few"
    return "joining" if run.enrolling and not draft and roster_opening.too_few(run) else ""


def _count_manual(run: Run) -> tuple[int, int]:
    counts = Counter(run.candidates.exclude(by_hand=None).values_list("by_hand", flat=True))
    return counts[1], counts[-1]


def _find_no_shows(run: Run, selected: SelectedArms) -> tuple[str, ...]:
    """Find the ids of the workers without a counted answer, if they are out at the run's end.

    What holds of a selection among all workers holds among fewer, if they include the selected.
    """
    if run.status != Run.Status.ENDED or run.keep_no_shows:
        return ()
    active = run.candidates.filter(gone="")
    arrivals = active.filter(pulls__gt=0).values("worker")
    rows = active.exclude(worker__in=arrivals).order_by("worker__key")
    absent = tuple(rows.values_list("worker__key", flat=True).distinct())
    if not absent or selected.untested:
        return ()
    rest = active.filter(skill=0).count() - len(absent)
    return absent if has_enough(rest, [k.k for k in run.skills], run.one_kind_each) else ()


def _describe_covered(run: Run, no_shows: int) -> str:
    workers, leavers = run.candidates.filter(skill=0), run.candidates.exclude(gone="")
    present = workers.filter(gone="").count() - no_shows
    return describe_covered(present, workers.count(), leavers.filter(pulls__gt=0).exists())


def _find_favoured(run: Run, selected: SelectedArms) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Name the workers that all answers favour over an earlier selection, and those it has."""
    if selected.by != BY_GUARANTEE or selected.favoured is None:
        return (), ()
    held, favoured = set(selected.arms.tolist()), set(selected.favoured.tolist())
    pair = sorted(favoured - held), sorted(held - favoured)
    rows = run.candidates.filter(arm__in=[*pair[0], *pair[1]])
    keys = dict(rows.values_list("arm", "worker__key"))
    added, dropped = (tuple(keys[arm] for arm in arms) for arms in pair)
    return added, dropped


def _stated_epsilon(run: Run, statement: Guarantee) -> float | None:
    """Choose the ε to state while the run goes on, and for a run that reached its own end."""
    if run.certified:
        return 0.0 if statement.goal is Goal.EXACT else run.epsilon
    return _gap_to_show(run) if statement.bounds_early else None


def _gap_to_show(run: Run) -> float | None:
    """Round up the least ε shown so far for display; None while it is 1."""
    if run.best_guarantee:
        return rounded_up(run.best_guarantee["epsilon"])
    last = run.history.order_by("-number").first()
    return None if last is None or last.gap >= 1 else rounded_up(last.gap)


def current_guarantee(run: Run, lines: Sequence[WorkerStanding]) -> Facts | None:
    """State the ε so far; None before anything is shown, and after the end, with its own sentence.

    lines  of all workers, with the present selection
    """
    if not run.best_guarantee or run.status == Run.Status.ENDED or run.guarantee_lost:
        return None
    arms = run.candidates.filter(arm__in=run.best_guarantee["arms"]).values_list("pk", flat=True)
    others = {line.candidate for line in lines if line.selected}.symmetric_difference(arms)
    return Facts(
        epsilon=rounded_up(run.best_guarantee["epsilon"]),
        step=run.best_guarantee["step"],
        others=len(others) // 2,
    )


def interval_meaning(run: Run) -> str:
    if run.fixed_budget:
        return "bounds that the algorithm works with, if it has any: without a guarantee"
    return run.selector_class.interval
