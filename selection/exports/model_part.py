"""The part of a report about models: ranking, cost, replies, and the questions that decided."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Sum

from selection.facts import Facts
from selection.model_workers import unreadable
from selection.model_workers.prices import to_amount
from selection.models import Candidate, Endpoint, Question, Run
from selection.reports import WorkerStanding
from selection.runs import money

from .context import ExportContext

MOST_MODELS, MOST_DECIDING = 200, 20


def describe_models(context: ExportContext) -> Facts | None:
    """Describe the models of a run; None if it called none."""
    run = context.run
    if not run.model_calls.exists():
        return None
    calls = run.model_calls.order_by().values_list("worker__key")
    costs: dict[str, int] = dict(calls.annotate(cost_of_all=Sum("cost")))
    replies = {count.worker: count for count in unreadable.count_replies(run)}
    present = Endpoint.objects.filter(worker__candidates__run=run)
    problems = dict(present.exclude(problem="").values_list("worker__key", "problem"))
    lines = context.standings.lines
    rows = [
        Facts(
            standing=line,
            cost=_format_cost(run, costs.get(line.worker, 0)),
            lost=replies[line.worker].lost if line.worker in replies else 0,
            notice=replies[line.worker].advice if line.worker in replies else "",
            problem=problems.get(line.worker, ""),
        )
        for line in lines[:MOST_MODELS]
    ]
    deciding = [part for skill in run.skills if (part := _compare(run, lines, skill.number))]
    total = _format_cost(run, sum(costs.values()))
    more = len(lines) - len(rows)
    return Facts(rows=rows, more=more, cost=total, calls=run.model_calls.count(), deciding=deciding)


def _format_cost(run: Run, nano: int) -> str:
    return money.format_call_cost(to_amount(nano), run.currency)


def _compare(run: Run, lines: Sequence[WorkerStanding], number: int) -> Facts | None:
    """Compare the selected with the best of the others, question by question."""
    gone = {str(label) for _, label in Candidate.Gone.choices}
    tested = [line for line in lines if line.number == number and line.answers]
    chosen = [line for line in tested if line.selected]
    rest = [line for line in tested if not line.selected and line.presence not in gone]
    if not chosen or not rest:
        return None
    rival = rest[0]  # lines are in the order of merit
    differing, common = _list_differing(run, [line.candidate for line in chosen], rival.candidate)
    shown = differing[:MOST_DECIDING]
    texts: dict[int, Any] = Question.objects.in_bulk([row[0] for row in shown])
    rows = [
        Facts(
            key=texts[question].key,
            prompt=texts[question].prompt,
            right=right,
            met=met,
            rival_right=rival_right,
        )
        for question, right, met, rival_right in shown
    ]
    return Facts(
        name=rival.skill,
        rival=rival.worker,
        rows=rows,
        common=common,
        differing=len(differing),
        against=sum(rival_right for *_, rival_right in differing),
    )


def _list_differing(
    run: Run, chosen: Sequence[int], rival: int
) -> tuple[list[tuple[int, int, int, bool]], int]:
    answers = run.answers.filter(void=False, assignment__candidate__in=[*chosen, rival])
    columns = ("assignment__question", "assignment__candidate", "right")
    met: dict[int, list[bool]] = defaultdict(list)
    rival_answers: dict[int, bool] = {}
    for question, candidate, right in answers.exclude(applied_in=None).values_list(*columns):
        if candidate == rival:
            rival_answers[question] = right
        else:
            met[question].append(right)
    return rank_differing(met, rival_answers)


def rank_differing(
    met: Mapping[Any, Sequence[bool]], rival: Mapping[Any, bool]
) -> tuple[list[tuple[Any, int, int, bool]], int]:
    """List (question, right, met, rival right) where most of the selected differ from the rival.

    The clearest difference is first. Return the number of questions that both met as well.
    """
    common = [question for question in rival if met.get(question)]
    rows = [(q, sum(met[q]), len(met[q]), rival[q]) for q in common]
    differing = [row for row in rows if abs(row[1] / row[2] - row[3]) > 1 / 2]
    differing.sort(key=lambda row: (-abs(row[1] / row[2] - row[3]), -row[2], row[0]))
    return differing, len(common)
