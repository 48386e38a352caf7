"""Explanation of a worker's verdict, in words and with the algorithm's own numbers."""

from datetime import datetime

import numpy as np
from django.db.models import Count, Max, Min, Q

from selection.facts import Facts
from selection.models import Answer, Candidate, Run
from selection.texts import count_noun
from selection.viewer_locale import format_moment, format_percent, format_points
from topk import Standing, Verdict, rounded_up
from topk.verify import DumpRecord, ReplayedRun, read_record, replay_run
from topk.verify.marks import selected_numbers

from .dump import dump_run
from .guarantee import interval_meaning


def explain_candidate(candidate: Candidate) -> Facts:
    """Explain in sentences for a person, and in ``parts`` all of them under headings."""
    run = candidate.run
    record = read_record(dump_run(run, anonymous=True))
    replayed = replay_run(record, candidate.decided_in)
    answers, how = _answer_sentences(candidate), [_describe_asking(run)]
    settled = _settled_sentences(candidate, record, replayed)
    parts = {"The answers": answers, "Decision rule": how, "Reasons": settled}
    return Facts(answers=answers, how=how, settled=settled, parts=parts)


# -- the answers


def _answer_sentences(candidate: Candidate) -> list[str]:
    applied = Q(applied_in__isnull=False)
    sums = Answer.objects.filter(assignment__candidate=candidate).aggregate(
        won=Count("pk", filter=applied & Q(void=False, right=True)),
        late=Count("pk", filter=applied & Q(void=False, expired=True)),
        retired=Count("pk", filter=Q(void=True)),
        waiting=Count("pk", filter=Q(applied_in=None, void=False)),
        first=Min("at", filter=applied),
        last=Max("at", filter=applied),
    )
    pulls, assigned = candidate.pulls, candidate.asked
    if not pulls:
        sentences = [
            f"No answer of this worker counts yet; {count_noun(assigned, 'question')} assigned."
        ]
    else:
        wrong = pulls - sums["won"] - sums["late"]
        late = f", {sums['late']} too late, which counts as wrong" if sums["late"] else ""
        sentences = [
            f"{count_noun(pulls, 'answer')} of this worker count{'s' if pulls == 1 else ''}, "
            f"{_date_range(sums['first'], sums['last'])}: {sums['won']} right, "
            f"{wrong} wrong{late}. That is {format_percent(sums['won'] / pulls, 1)} right."
        ]
    if sums["waiting"]:
        sentences.append(f"{count_noun(sums['waiting'], 'answer')} more are not counted yet.")
    if sums["retired"]:
        sentences.append(
            f"{count_noun(sums['retired'], 'answer')} to retired questions do not count."
        )
    return sentences


def _date_range(first: datetime, last: datetime) -> str:
    start, end = _format_date(first), _format_date(last)
    return f"all of {start}" if start == end else f"from {start} to {end}"


def _format_date(at: datetime | None) -> str:
    return format_moment(at) if at else "–"


# -- rule of decision


def _describe_asking(run: Run) -> str:
    kind = run.selector_class
    budget, title = kind.guarantee.fixed == "budget", kind.title
    if kind.in_rounds and budget:
        return (
            f"{title} divides its budget into rounds, and accepts or rejects at the end of each. "
            "It compares the workers’ shares of right answers, and guarantees nothing."
        )
    if kind.in_rounds:
        return (
            f"{title} works in rounds: in each, all undecided workers get the same number of "
            "questions. At its end, workers clearly in or out get a final verdict."
        )
    if budget:
        return (
            f"{title} decides only at the end: when the budget is spent, it selects the workers "
            "who look best, and guarantees nothing."
        )
    if kind.guarantee.average:
        return (
            f"{title} decides about all workers at the end. It stops when the selection is within "
            "the target ε for all but a share δ of pools like this one."
        )
    return (
        f"{title} decides about all workers at the end. It stops when the gap, the largest "
        "possible loss of its selection, is down to the target. Until then, workers are "
        "provisionally in or out by its bounds, and that may change."
    )


# -- reasons of the verdict


def _settled_sentences(
    candidate: Candidate, record: DumpRecord, replayed: ReplayedRun
) -> list[str]:
    verdict, sentences = Candidate.Verdicts(candidate.verdict), []
    if candidate.by_hand is not None:
        word = candidate.get_by_hand_display()
        sentences.append(
            f"By hand: {word}, because: {candidate.by_hand_why} The rest is by the algorithm."
        )
    if candidate.gone:
        sentences.append(f"The worker is out of the run: {candidate.get_gone_display()}.")
    if not candidate.pulls:
        return [
            *sentences,
            "Not tested: no answer was counted. The worker is neither accepted nor rejected.",
        ]
    if verdict != Candidate.Verdicts.UNDECIDED or candidate.decided_in:
        label = verdict.label if verdict else "found"
        reason = candidate.decided_why.rstrip(".")
        at = candidate.run.history.filter(number=candidate.decided_in or 0).first()
        when = f" in step {at.number}, {_format_date(at.at)}" if at else ""
        sentences.append(f"{label.capitalize()}{when}{': ' if reason else ''}{reason}.")
    elif candidate.gone:
        return [*sentences, "The worker left before a verdict: neither accepted nor rejected."]
    return sentences + _number_sentences(candidate, record, replayed)


def _number_sentences(candidate: Candidate, record: DumpRecord, replayed: ReplayedRun) -> list[str]:
    places = np.flatnonzero(replayed.arms == candidate.arm)
    if replayed.selector is None or not places.size:
        return ["There was no choice: the run needed all remaining workers."]
    place, standing = int(places[0]), replayed.selector.standing()
    chosen = np.isin(replayed.arms, list(selected_numbers(record, replayed)))
    decided = candidate.decided_in is not None
    sentences = [
        f"{'At that step' if decided else 'Now'}, "
        f"{_describe_standing(standing, place, candidate.run)}"
    ]
    sentences += _nearest_rivals(standing, chosen, place)
    target = standing.wanted
    if replayed.selector.guarantee.fixed == "confidence":
        gap = f"{'was' if decided else 'is'} {format_points(rounded_up(standing.gap))} points"
        sentences.append(f"The gap {gap}; the target is {format_points(target)}.")
    if not decided:
        sentences.append(
            _explain_open(candidate.run, bool(chosen[place]), int(standing.settled[place]))
        )
    return sentences


def _describe_standing(standing: Standing, place: int, run: Run) -> str:
    mean, lower, upper = (
        float(numbers[place]) for numbers in (standing.mean, standing.lower, standing.upper)
    )
    estimate = "no estimate of the accuracy"
    if not np.isnan(mean):
        estimate = f"the estimated accuracy: {format_percent(mean, 1)}"
    if lower <= 0 and upper >= 1:
        return f"{estimate}, with no bounds."
    kind = interval_meaning(run).split(":")[0]
    bounds = f"between {format_percent(lower, 1)} and {format_percent(upper, 1)}"
    return f"{estimate}, {bounds} ({kind})."


def _nearest_rivals(standing: Standing, chosen: np.ndarray, place: int) -> list[str]:
    means = np.nan_to_num(standing.mean, nan=0.5)
    others = means[~chosen] if chosen[place] else means[chosen]
    if not others.size:
        return []
    if chosen[place]:
        return [f"The best unselected worker: {format_percent(others.max(), 1)}."]
    return [f"The last selected worker: {format_percent(others.min(), 1)}."]


def _explain_open(run: Run, inside: bool, settled: int) -> str:
    side = "selected" if inside else "not selected"
    if run.status == Run.Status.ENDED:
        return f"The run ended before a verdict; by all answers the worker is {side}."
    if settled:
        where = "in" if settled == Verdict.ACCEPTED else "out"
        return f"The worker is provisionally {where} by the current bounds, until the end."
    return f"There are too few answers to tell. Currently the worker is {side}."
