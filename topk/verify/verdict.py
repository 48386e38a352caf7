"""Whether a dump's own words hold: every claim is made again from the answers, and compared."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topk.promise import GUARANTEE_LOST, Goal, Promise, rounded_up
from topk.roster import build_problem
from topk.selected_arms import EVERYBODY, SelectedArms, only_tested, select_arms, select_everybody
from topk.selector import Counts

from . import answers, verdicts
from .dump_reader import (
    SPOILT,
    DumpError,
    DumpRecord,
    digest_of,
    error_text,
    read_record,
    written_by,
)
from .findings import MOST_NAMED, Finding
from .replaying import ReplayedRun, is_lost, replay_run
from .verdicts import CLOSE

FILE = Finding("File", "its digest is not of what it says: it was changed after it was made")


@dataclass(frozen=True)
class Verification:
    """selection  whom the answers select, as people call them, kind by kind
    promise    what holds of them, in words, or why nothing does any more; empty without any
    epsilon    of that; None without
    written_by the program that wrote the dump, with its version
    findings   where the dump says otherwise; none: all of it holds
    """

    selection: tuple[str, ...]
    promise: str
    epsilon: float | None
    written_by: str
    findings: tuple[Finding, ...]

    @property
    def same(self) -> bool:
        return not self.findings


def verify_dump(document: Any) -> Verification:
    """Raises DumpError for what is no dump."""
    record = read_record(document)
    try:
        return _verify_record(document, record)
    except SPOILT as error:
        raise DumpError(
            f"What this dump says cannot be recomputed: {error_text(error)}."
        ) from error


def _verify_record(document: dict[str, Any], record: DumpRecord) -> Verification:
    findings = [] if digest_of(document) == document.get("digest") else [FILE]
    for check in answers.CHECKS:
        findings += check(record)
    try:
        found = replay_run(record)
    except ValueError as error:  # answers that no run can have had: they were named above
        if not findings:
            raise
        unknown = Finding("Answers", f"the algorithm does not take them: {error_text(error)}")
        return Verification((), "", None, written_by(document), (*findings, unknown))
    named, promise, epsilon = _check_end(record, found)
    findings += verdicts.check_verdicts(record, found)
    named = only_tested(named, record.claim("pulls").astype(int))
    findings += _check_selection(record, named) + _check_guarantee(record, promise, epsilon)
    keys = tuple(record.who(arm) for arm in named.arms.tolist())
    return Verification(keys, promise, epsilon, written_by(document), tuple(findings))


def _check_end(record: DumpRecord, found: ReplayedRun) -> tuple[SelectedArms, str, float | None]:
    """Whom these answers select, what holds of them in words, and its ε."""
    if found.selector is None:
        return _select_remaining(record, found.arms), "", None
    early = record.ended and not record.finished
    lost = is_lost(record)
    named = select_arms(found.selector, found.arms, early, record.proof, lost)
    if lost:
        return named, GUARANTEE_LOST if record.ended else "", None
    promise, epsilon = found.selector.promise, None
    if early:
        promise, epsilon = named.promise or promise, named.shown
    elif record.run["ending"] == "promise" and promise.goal is not Goal.NONE:
        epsilon = 0.0 if promise.goal is Goal.EXACT else float(record.run["epsilon"])
    elif not record.ended and _has_running_bound(promise):
        epsilon = _least_epsilon(record)
    return (
        named,
        "" if epsilon is None else _guarantee_sentence(record, promise, epsilon, early),
        epsilon,
    )


def _has_running_bound(promise: Promise) -> bool:
    """Whether its gap bounds anything before it has stopped by itself."""
    goal = promise.early if promise.goal is Goal.EXACT else promise.goal
    return promise.fixed == "confidence" and goal is not Goal.NONE


def _least_epsilon(record: DumpRecord) -> float | None:
    """The least that was proved, or else what the last step reached; judging checks both."""
    gap = float(record.steps[max(record.steps)]["gap"]) if record.steps else 1.0
    known = record.proof["epsilon"] if record.proof else gap
    return rounded_up(known) if known < 1 else None


def _guarantee_sentence(record: DumpRecord, promise: Promise, epsilon: float, early: bool) -> str:
    """A promise is about those who are left, and holds with the δ that was wanted."""
    run, workers = record.run, int((~record.gone & (record.kind == 0)).sum())
    limits = (run["epsilon"], run["delta"], run["budget"])
    asked = build_problem(record.ks, workers, record.algorithm.several_skills, *limits)
    if record.several:
        promise = replace(promise, within=record.result["among"])
    going = not record.ended
    return promise.sentence(asked, epsilon if early or going else None)


def _select_remaining(record: DumpRecord, arms: Counts) -> SelectedArms:
    if record.run["ending"] != "roster":
        return SelectedArms(arms[:0])
    right, pulls = record.claim("rewards")[arms], record.claim("pulls")[arms].astype(int)
    people = record.worker[arms] if record.several and record.run["one_kind_each"] else None
    return select_everybody(arms, right, pulls, record.ks, people)


def _check_selection(record: DumpRecord, named: SelectedArms) -> list[Finding]:
    # Older dumps also name workers without a counted answer.
    tested = set(np.flatnonzero(record.claim("pulls") > 0).tolist())
    claimed, made = set(record.result["selection"]) & tested, set(named.arms.tolist())
    found = [
        *(Finding("Selection", f"{record.who(arm)} is selected") for arm in sorted(made - claimed)),
        *(Finding("Selection", f"{record.who(arm)} is not") for arm in sorted(claimed - made)),
    ]
    if record.result["by"] != named.by:
        said = (
            f"by {_verdict_source(named.by)}, and {_verdict_source(record.result['by'])} is stated"
        )
        found.append(Finding("Selection", said))
    return found[:MOST_NAMED]


def _verdict_source(word: str) -> str:
    return "there being nobody else" if word == EVERYBODY else f"its {word}"


def _check_guarantee(record: DumpRecord, promise: str, epsilon: float | None) -> list[Finding]:
    claimed = record.result["epsilon"]
    same = claimed == epsilon or (
        claimed is not None and epsilon is not None and abs(claimed - epsilon) <= CLOSE
    )
    found = (
        []
        if same
        else [
            Finding(
                "ε", f"{_format_epsilon(epsilon)} holds, and {_format_epsilon(claimed)} is stated"
            )
        ]
    )
    if record.ended and promise and promise not in record.result["promise"]:
        found.append(Finding("Promise", f"what holds is: {promise}"))
    return found


def _format_epsilon(epsilon: float | None) -> str:
    return "none" if epsilon is None else f"{epsilon:g}"
