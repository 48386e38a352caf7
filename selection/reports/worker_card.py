"""Card of a worker in one run: every answer with its times and interval, and the verdict."""

from datetime import datetime

from selection.facts import Facts
from selection.models import Answer, Assignment, Candidate

from .right_shares import RightShare
from .standings import run_standings


def worker_card(candidate: Candidate) -> Facts:
    run = candidate.run
    line = next(line for line in run_standings(run).lines if line.candidate == candidate.pk)
    answers = _list_given_answers(candidate)
    decided = run.history.filter(number=candidate.decided_in or 0).first()
    return Facts(
        line=line,
        given=answers,
        points=_accuracy_points(answers),
        decided=decided,
        others=_earlier_runs(candidate),
    )


def _list_given_answers(candidate: Candidate) -> list[Facts]:
    rows = list(candidate.assignments.select_related("question", "answer").order_by("position"))
    steps = candidate.run.history.filter(number__in={row.step for row in rows})
    times = dict(steps.values_list("number", "at"))
    return [_card_row(row, times.get(row.step)) for row in rows]


def _card_row(row: Assignment, asked: datetime | None) -> Facts:
    answer: Answer | None = getattr(row, "answer", None)
    replied = answer is not None and not answer.expired
    answered = answer.at if answer is not None and replied else None
    return Facts(
        number=row.position + 1,
        question=row.question.key,
        prompt=row.question.prompt,
        accepted=row.question.accepted,
        step=row.step,
        asked=asked,
        shown=row.shown,
        answered=answered,
        took=answered - row.shown if answered and row.shown else None,
        response=answer.response if answer else "",
        outcome=_describe_outcome(row, answer),
        counted=answer.applied_in if answer else None,
    )


def _describe_outcome(row: Assignment, answer: Answer | None) -> str:
    if answer is None:
        return "shown" if row.shown else "out"
    if answer.void:
        return "question retired"
    if answer.expired:
        return "not in time"
    return "right" if answer.right else "wrong"


def _accuracy_points(cards: list[Facts]) -> list[Facts]:
    """Plot the share right after each counted answer, and its interval, in the order asked."""
    hits, points = 0, []
    steps = [card for card in cards if card.counted and card.outcome != "question retired"]
    for answers, card in enumerate(steps, 1):
        hits += card.outcome == "right"
        lower, upper = RightShare(hits, answers).wilson()
        points.append(Facts(answers=answers, mean=hits / answers, lower=lower, upper=upper))
    return points


def _earlier_runs(candidate: Candidate) -> list[Facts]:
    """List the newest run first; a run of several skills appears once per skill."""
    same_worker = Candidate.objects.filter(worker=candidate.worker_id).exclude(pk=candidate.pk)
    rows = same_worker.select_related("run", "run__question_set").order_by("-run_id", "skill")[:50]
    return [
        Facts(
            run=row.run,
            answers=row.pulls,
            right=round(row.rewards),
            verdict=row.status,
            skill=str(row.run.skills[row.skill]) if row.run.several else "",
        )
        for row in rows
    ]
