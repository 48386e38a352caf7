"""Verification of a dump: every claim is recomputed from the answers, and compared."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topk.guarantee import GUARANTEE_LOST, Goal, Guarantee, describe_covered, rounded_up
from topk.roster import build_problem, has_enough
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
from .marks import apply_mark
from .replaying import ReplayedRun, is_lost, replay_participants, replay_run
from .verdicts import CLOSE

FILE = Finding("File", "its digest is not of what it says: it was changed after it was made")


@dataclass(frozen=True)
class Verification:
    """The result of a verification.

    selection  the names of the workers that the answers select, kind by kind
    guarantee  the guarantee of them in words, or why it is lost; empty without any
    epsilon    its ε; None without
    written_by the version of the application that wrote the dump
    findings   the claims that do not hold; empty if all do
    """

    selection: tuple[str, ...]
    guarantee: str
    epsilon: float | None
    written_by: str
    findings: tuple[Finding, ...]

    @property
    def same(self) -> bool:
        return not self.findings


def verify_dump(document: Any) -> Verification:
    """Verify a dump. Raises DumpError if it is not one."""
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
        replayed = replay_run(record)
    except ValueError as error:  # impossible answers: the checks above have reported them
        if not findings:
            raise
        unknown = Finding("Answers", f"the algorithm does not take them: {error_text(error)}")
        return Verification((), "", None, written_by(document), (*findings, unknown))
    selected, guarantee, epsilon = _check_end(record, replayed)
    findings += verdicts.check_verdicts(record, replayed)
    selected = only_tested(selected, record.claim("pulls").astype(int))
    selected = apply_mark(record, selected)
    findings += _check_selection(record, selected) + _check_guarantee(record, guarantee, epsilon)
    keys = tuple(record.worker_name(arm) for arm in selected.arms.tolist())
    return Verification(keys, guarantee, epsilon, written_by(document), tuple(findings))


def _check_end(record: DumpRecord, replayed: ReplayedRun) -> tuple[SelectedArms, str, float | None]:
    """Find the arms that these answers select, word their guarantee, and find its ε."""
    if replayed.selector is None:
        return _select_remaining(record, replayed.arms), "", None
    early = record.ended and not record.finished
    replayed = (replay_participants(record) if early else None) or replayed
    loss = is_lost(record)
    assert replayed.selector is not None
    selected = select_arms(replayed.selector, replayed.arms, early, record.best_guarantee, loss)
    if loss:
        return selected, GUARANTEE_LOST if record.ended else "", None
    guarantee, epsilon = replayed.selector.guarantee, None
    if early:
        guarantee, epsilon = selected.guarantee or guarantee, selected.rounded_epsilon
    elif record.run["ending"] == "guarantee" and guarantee.goal is not Goal.NONE:
        epsilon = 0.0 if guarantee.goal is Goal.EXACT else float(record.run["epsilon"])
    elif not record.ended and guarantee.bounds_early:
        epsilon = _least_epsilon(record)
    return (
        selected,
        "" if epsilon is None else _word_guarantee(record, guarantee, epsilon, selected),
        epsilon,
    )


def _least_epsilon(record: DumpRecord) -> float | None:
    """Find the least ε proved, or else that of the last step; ``verdicts`` checks both."""
    gap = float(record.steps[max(record.steps)]["gap"]) if record.steps else 1.0
    epsilon = record.best_guarantee["epsilon"] if record.best_guarantee else gap
    return rounded_up(epsilon) if epsilon < 1 else None


def _word_guarantee(
    record: DumpRecord, guarantee: Guarantee, epsilon: float, selected: SelectedArms
) -> str:
    """Word the guarantee, which is about the workers left, and holds with the run's δ."""
    run, workers = record.run, int((~record.gone & (record.kind == 0)).sum())
    limits = (run["epsilon"], run["delta"], run["budget"])
    problem = build_problem(record.ks, workers, record.algorithm.several_skills, *limits)
    if record.several:
        guarantee = replace(guarantee, within=record.result["among"])
    guarantee = replace(guarantee, covered=_describe_covered(record, selected))
    return guarantee.sentence(problem, None if record.finished else epsilon)


def _describe_covered(record: DumpRecord, selected: SelectedArms) -> str:
    """Name the workers that the guarantee at the end is about, if not all: without no-shows."""
    if not record.ended:
        return ""
    gone, pulls, worker = record.gone, record.claim("pulls").astype(int), record.worker
    staying, counted = np.unique(worker[~gone]), np.unique(worker[~gone & (pulls > 0)])
    keeps = record.run.get("keep_no_shows", True) or only_tested(selected, pulls).untested
    enough = has_enough(counted.size, record.ks, record.run["one_kind_each"])
    present = staying.size if keeps or not enough else counted.size
    stopped = bool((gone & (pulls > 0)).any())
    return describe_covered(present, np.unique(worker).size, stopped)


def _select_remaining(record: DumpRecord, arms: Counts) -> SelectedArms:
    if record.run["ending"] != "roster":
        return SelectedArms(arms[:0])
    hits, pulls = record.claim("rewards")[arms], record.claim("pulls")[arms].astype(int)
    people = record.worker[arms] if record.several and record.run["one_kind_each"] else None
    return select_everybody(arms, hits, pulls, record.ks, people)


def _check_selection(record: DumpRecord, recomputed: SelectedArms) -> list[Finding]:
    claimed, arms = set(record.result["selection"]), set(recomputed.arms.tolist())
    findings = [
        *(
            Finding("Selection", f"{record.worker_name(arm)} is selected")
            for arm in sorted(arms - claimed)
        ),
        *(
            Finding("Selection", f"{record.worker_name(arm)} is not")
            for arm in sorted(claimed - arms)
        ),
    ]
    if record.result["by"] != recomputed.by:
        source, claimed_source = map(_verdict_source, (recomputed.by, record.result["by"]))
        message = f"by {source}, and {claimed_source} is stated"
        findings.append(Finding("Selection", message))
    return findings[:MOST_NAMED]


def _verdict_source(word: str) -> str:
    return "there being nobody else" if word == EVERYBODY else f"its {word}"


def _check_guarantee(record: DumpRecord, sentence: str, epsilon: float | None) -> list[Finding]:
    claimed = record.result["epsilon"]
    same = claimed == epsilon or (
        claimed is not None and epsilon is not None and abs(claimed - epsilon) <= CLOSE
    )
    findings = (
        []
        if same
        else [
            Finding(
                "ε", f"{_format_epsilon(epsilon)} holds, and {_format_epsilon(claimed)} is stated"
            )
        ]
    )
    if record.ended and sentence and sentence not in record.result["guarantee"]:
        findings.append(Finding("Guarantee", f"what holds is: {sentence}"))
    return findings


def _format_epsilon(epsilon: float | None) -> str:
    return "none" if epsilon is None else f"{epsilon:g}"
