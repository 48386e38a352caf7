"""The guarantee of a run as codes and numbers; ``guarantee_texts`` words it for every surface."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from selection.models import Run
from selection.runs.roster import eligibility, quotas
from topk import Goal, Guarantee, Selector, build_selector
from topk.best_sets import Quotas
from topk.roster import restrict_options
from topk.selected_arms import SelectedArms

from . import validation

PER_WORKER = {"quotas", "prices"}  # options with a value for each worker
KEPT, WEAKENED, EARLY, NOTHING = "kept", "weakened", "early", "none"


@dataclass(frozen=True)
class GuaranteeFacts:
    """What is guaranteed of a run, now or at its end.

    statement  of the run's own end; None if it cannot run as it is
    workers    that it is about; ``gone``: how many are not, by reason
    missing    code of the reason for no guarantee: invalid, untested, few, joining or lost; else ""
    refusals   the sentences of invalid settings
    reached    the statement for ``epsilon``
    epsilon    of the guarantee that holds now, or held at the end; None if there is none
    verdict    at the end: kept, weakened, early (it holds for another ε than the run was started
               with) or none; empty while the run goes on
    no_shows   the workers, by id, that it leaves out at the end: no answer of theirs counted
    favoured   (keys, keys) of workers that all answers favour, and of those they would replace,
               if the selection is an earlier one
    empty      places at the end without tested workers for them
    by_hand    verdicts by hand: (accepted, rejected)
    doubts     sentences on what weakens it; ``notes`` on changes that only add an assumption
    """

    statement: Guarantee | None
    workers: int = 0
    gone: Mapping[str, int] = field(default_factory=dict)
    missing: str = ""
    refusals: tuple[str, ...] = ()
    reached: Guarantee | None = None
    epsilon: float | None = None
    verdict: str = ""
    no_shows: tuple[str, ...] = ()
    selected: SelectedArms | None = None
    favoured: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    empty: int = 0
    by_hand: tuple[int, int] = (0, 0)
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def claims(self) -> bool:
        """True if something is guaranteed: who is accepted at a mark, is so before the end."""
        marks = self.statement is not None and self.statement.goal is Goal.MARK
        return not self.missing and (self.epsilon is not None or marks)


def state_guarantee(run: Run, workers: int) -> Guarantee:
    """State the guarantee over so many workers, the remaining ones in a begun run."""
    return qualify_statement(run, _build_selector(run, workers).guarantee)


def qualify_statement(run: Run, statement: Guarantee) -> Guarantee:
    """Add the run's own conditions: its quotas or kinds of task, and its mark."""
    if run.several:
        statement = replace(statement, within=describe_allowed_selections(run))
    elif run.quotas and run.selector_class.keeps_quotas:
        statement = replace(statement, within=Quotas.within)
    if statement.goal is Goal.MARK and statement.mark is None:
        statement = replace(statement, mark=run.pass_mark)
    return statement


def describe_allowed_selections(run: Run) -> str:
    """Describe the allowed selections of a run with several kinds of task."""
    counts = [f"{skill.k} for “{skill}”" for skill in run.skills]
    nobody = ", nobody for two of them" if run.one_kind_each else ""
    return f", among all selections of {', '.join(counts[:-1])} and {counts[-1]}{nobody}"


def _build_selector(run: Run, workers: int) -> Selector:
    if run.status == Run.Status.DRAFT:
        return _fill_options(run, workers).selector(workers=workers)
    options = run.effective_options()
    if PER_WORKER & options.keys():
        candidates = run.candidates.filter(gone="", skill=0).order_by("arm")
        arms = list(candidates.values_list("arm", flat=True))
        options = restrict_options(options, arms, run.k)
    return build_selector(run.algorithm, run.problem(workers), **options)


def _fill_options(run: Run, workers: int) -> Run:
    """Fill in a draft's options with a value for each worker: assumptions depend on them."""
    filled: dict[str, Any] = {}
    if run.by_price:
        filled["prices"] = [1.0 + place % 2 for place in range(workers)]  # any that differ
    if run.quotas and not validation.validate_quotas(run):  # a form may name no limits yet
        filled["quotas"] = _build_quotas(run, workers)
    if not filled:
        return run
    started = validation.copy_unsaved(run)
    started.options = run.options | filled
    return started


def _build_quotas(run: Run, workers: int) -> dict[str, Any]:
    if run.enrolling:  # the workers are not known yet
        return {"groups": [0] * workers, "at_least": [0], "at_most": [workers], "names": [""]}
    eligible, attribute = eligibility.eligible_workers(run), run.quotas["attribute"]
    return quotas.build_quota_option(run.quotas, quotas.attribute_values(eligible, attribute))
