"""Explanation of a worker's verdict, in words and with the algorithm's own numbers."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.db.models import Count, Max, Min, Q
from django.utils import timezone

from selection.models import Answer, Candidate, Run
from topk import Standing, Verdict, rounded_up
from topk.verify import DumpRecord, ReplayedRun, read_record, replay_run
from topk.verify.what_if import flips_needed, selected_numbers

from .dump import dump_run
from .durations import count_noun

# Limit of answers, because the counterfactuals replay the algorithm some ten times.
MOST_ANSWERS = 200_000


@dataclass(frozen=True)
class Explanation:
    """Sentences for a person, grouped by subject.

    answers    the worker's answers and their times
    how        how and when this algorithm decides
    settled    the reason for the verdict, or for its absence
    otherwise  changes of the answers that would have changed it
    """

    worker: str
    answers: list[str]
    how: list[str]
    settled: list[str]
    otherwise: list[str]

    def parts(self) -> list[tuple[str, list[str]]]:
        return [
            ("The answers", self.answers),
            ("How it is decided", self.how),
            ("What settled it", self.settled),
            ("What would have changed it", self.otherwise),
        ]


def explain_candidate(candidate: Candidate) -> Explanation:
    """Return the explanation. The run must have begun: a draft has nothing to explain."""
    run = candidate.run
    record = read_record(dump_run(run, anonymous=True))
    upto = candidate.decided_in
    replayed = replay_run(record, upto)
    return Explanation(
        worker=str(candidate.worker),
        answers=_answer_sentences(candidate),
        how=[_describe_asking(run)],
        settled=_settled_sentences(candidate, record, replayed),
        otherwise=_counterfactuals(candidate, record, upto),
    )


# -- the answers


def _answer_sentences(candidate: Candidate) -> list[str]:
    counted = Q(applied_in__isnull=False)
    sums = Answer.objects.filter(assignment__candidate=candidate).aggregate(
        won=Count("pk", filter=counted & Q(void=False, right=True)),
        late=Count("pk", filter=counted & Q(void=False, expired=True)),
        retired=Count("pk", filter=Q(void=True)),
        waiting=Count("pk", filter=Q(applied_in=None, void=False)),
        first=Min("at", filter=counted),
        last=Max("at", filter=counted),
    )
    pulls, asked = candidate.pulls, candidate.asked
    if not pulls:
        sentences = [
            f"No answer of this worker counts yet; {count_noun(asked, 'question')} handed out."
        ]
    else:
        wrong = pulls - sums["won"] - sums["late"]
        late = (
            f", {sums['late']} not given in time, which counts as not right" if sums["late"] else ""
        )
        sentences = [
            f"{count_noun(pulls, 'answer')} of this worker count{'s' if pulls == 1 else ''}, "
            f"{_date_range(sums['first'], sums['last'])}: {sums['won']} right, "
            f"{wrong} wrong{late}. That is a share of {sums['won'] / pulls:.3f}."
        ]
    if sums["waiting"]:
        sentences.append(
            f"{count_noun(sums['waiting'], 'answer')} more came in and wait to be counted."
        )
    if sums["retired"]:
        sentences.append(
            f"{count_noun(sums['retired'], 'answer')} to retired questions count for nothing."
        )
    return sentences


def _date_range(first: datetime, last: datetime) -> str:
    start, end = _format_date(first), _format_date(last)
    return f"all of {start}" if start == end else f"from {start} to {end}"


def _format_date(at: datetime | None) -> str:
    return timezone.localtime(at).strftime("%Y-%m-%d %H:%M %Z") if at else "–"


# -- rule of decision


def _describe_asking(run: Run) -> str:
    kind = run.selector_class
    budget, title = kind.promise.fixed == "budget", kind.title
    if kind.in_rounds and budget:
        return (
            f"{title} shares its budget out in rounds, and accepts or rejects when one is "
            "complete. It goes by who looks better than whom, and promises nothing."
        )
    if kind.in_rounds:
        return (
            f"{title} works in rounds: all who are undecided get as many answers, and when a round "
            "is complete whoever is clearly in or out is decided, for good."
        )
    if budget:
        return (
            f"{title} decides at its end only: when the budget is spent it names those that look "
            "best, and promises nothing."
        )
    if kind.promise.average:
        return (
            f"{title} decides at its end only, everybody at once: when few pools like this one "
            "would still lose more than the ε wanted by the selection that all answers make likely."
        )
    return (
        f"{title} decides at its end only, everybody at once: when the gap, by which its selection "
        "may still fall short, has come down to what is wanted. Until then its bounds say who is "
        "settled in or out, and that may open again."
    )


# -- reasons of the verdict


def _settled_sentences(
    candidate: Candidate, record: DumpRecord, replayed: ReplayedRun
) -> list[str]:
    verdict, sentences = Candidate.Verdicts(candidate.verdict), []
    if candidate.by_hand is not None:
        word = candidate.get_by_hand_display()
        sentences.append(
            f"By hand: {word}, because: {candidate.by_hand_why} The rest is the algorithm's."
        )
    if candidate.gone:
        sentences.append(f"The worker is out of the run: {candidate.get_gone_display()}.")
    if not candidate.pulls:
        return [*sentences, "Not tested: no answer was counted, so neither accepted nor rejected."]
    if verdict != Candidate.Verdicts.UNDECIDED:
        reason = candidate.decided_why.rstrip(".")
        at = candidate.run.history.filter(number=candidate.decided_in or 0).first()
        when = f" in step {at.number}, {_format_date(at.at)}" if at else ""
        sentences.append(f"{verdict.label.capitalize()}{when}{': ' if reason else ''}{reason}.")
    elif candidate.gone:
        return [*sentences, "So nothing was decided: neither accepted nor rejected."]
    return sentences + _number_sentences(candidate, record, replayed)


def _number_sentences(candidate: Candidate, record: DumpRecord, replayed: ReplayedRun) -> list[str]:
    """Return the worker's standing by the algorithm at the time of the verdict; or now."""
    places = np.flatnonzero(replayed.arms == candidate.arm)
    if replayed.selector is None or not places.size:
        return ["There was nothing to choose: no more were left than are wanted."]
    place, standing = int(places[0]), replayed.selector.standing()
    chosen = np.isin(replayed.arms, list(selected_numbers(record, replayed)))
    decided = candidate.decided_in is not None
    sentences = [
        f"{'At that step' if decided else 'Now'} "
        f"{_describe_standing(standing, place, candidate.run)}"
    ]
    sentences += _nearest_rivals(standing, chosen, place)
    wanted = standing.wanted
    if replayed.selector.promise.fixed == "confidence":
        gap = f"{'was' if decided else 'is'} {rounded_up(standing.gap):.3f}"
        sentences.append(f"The gap {gap}, and {wanted:g} is wanted.")
    if not decided:
        sentences.append(
            _explain_open(candidate.run, bool(chosen[place]), int(standing.settled[place]))
        )
    return sentences


def _describe_standing(standing: Standing, place: int, run: Run) -> str:
    mean, lower, upper = (
        float(numbers[place]) for numbers in (standing.mean, standing.lower, standing.upper)
    )
    estimate = f"the algorithm put the worker at {mean:.3f}"
    if np.isnan(mean):
        estimate = "nothing was known of the worker"
    if lower <= 0 and upper >= 1:
        return f"{estimate}, with no bounds."
    kind = run.selector_class.interval.split(":")[0]
    return f"{estimate}, between {lower:.3f} and {upper:.3f} ({kind})."


def _nearest_rivals(standing: Standing, chosen: np.ndarray, place: int) -> list[str]:
    """Return the mean of the nearest worker on the other side."""
    means = np.nan_to_num(standing.mean, nan=0.5)
    others = means[~chosen] if chosen[place] else means[chosen]
    if not others.size:
        return []
    if chosen[place]:
        return [f"The best of those who are not selected stood at {others.max():.3f}."]
    return [f"The last of those who are selected stood at {others.min():.3f}."]


def _explain_open(run: Run, inside: bool, settled: int) -> str:
    side = "among those whom it would select" if inside else "not among those whom it would select"
    if run.status == Run.Status.ENDED:
        return f"The run ended before it was decided; by all answers the worker is {side}."
    if settled:
        where = "in" if settled == Verdict.ACCEPTED else "out"
        return f"By the present bounds the worker is settled {where}; it is decided at the end."
    return f"The answers so far do not tell. By now the worker is {side}."


# -- counterfactuals


def _counterfactuals(candidate: Candidate, record: DumpRecord, upto: int | None) -> list[str]:
    if candidate.gone or record.run["ending"] == Run.Ending.ROSTER or not candidate.pulls:
        return ["Nothing that this worker answered: it did not come to that."]
    if record.asked.arm.size > MOST_ANSWERS:
        return [f"With more than {MOST_ANSWERS:,} questions handed out this is not worked out."]
    inside = candidate.arm in selected_numbers(record, replay_run(record, upto))
    count = flips_needed(record, candidate.arm, upto)
    was, other = ("right", "wrong") if inside else ("wrong", "right")
    side = "not be selected" if inside else "be selected"
    same = "everything else being the same"
    if not count:
        never = f"None of its answers was {was}" if count == 0 else ""
        never = never or f"Not even if all its {was} answers had been {other}"
        return [f"{never}: by its own answers alone the worker would not {side}, {same}."]
    last = f"{was} answer" if count == 1 else f"{count} {was} answers"
    return [f"Had the last {last} been {other}, the worker would {side}, {same}."]
