"""Exposure of gold questions over all runs, and the rest if it is limited.

A question was met by every worker it was given to, including open assignments, so that a limit
holds however many runs deal at once. One passed over because it was retired is not met.
"""

from collections.abc import Collection

import numpy as np
from django.db.models import Count, Q, QuerySet
from numpy.typing import NDArray

from .answers import Assignment, Candidate
from .questions import Question, QuestionSet
from .runs import Run
from .skills import Skill


def count_met(sets: Collection[int], for_good: bool = False) -> dict[int, int]:
    """Count the workers that were given each question of these sets; absent if there are none.

    for_good  exclude workers that were not shown it yet: the assignment may be withdrawn
    """
    uses = Q(question_set__in=sets) | Q(further__question_set__in=sets)
    assignments = Assignment.objects.filter(
        candidate__run__in=Run.objects.filter(uses).values("pk"), question__question_set__in=sets
    ).exclude(shown=None, answer__void=True, answer__response="")  # AnswerQuerySet.closed_unseen
    if for_good:
        assignments = assignments.exclude(shown=None, answer=None)
    rows = assignments.order_by().values_list("question")
    return dict(rows.annotate(workers=Count("candidate__worker", distinct=True)))


def used_up(sets: Collection[int]) -> set[int]:
    """Find the questions of these sets that have reached their exposure limit."""
    limits = limits_of(QuestionSet.objects.filter(pk__in=sets))
    if not limits:
        return set()
    set_ids = dict(
        Question.objects.filter(question_set__in=limits).values_list("pk", "question_set")
    )
    return {pk for pk, workers in count_met(limits).items() if workers >= limits[set_ids[pk]]}


def limits_of(sets: QuerySet[QuestionSet]) -> dict[int, int]:
    """Map each limited set to the most workers that a question of it may be given to."""
    rows = sets.exclude(most_workers=None).order_by("pk").values_list("pk", "most_workers")
    return {pk: most for pk, most in rows if most is not None}


def count_askable(question_set: QuestionSet) -> int:
    """Count the questions of the set that are neither retired nor used up."""
    rows = question_set.questions.filter(retired=None)
    closed = used_up([question_set.pk])
    if not closed:
        return rows.count()
    return sum(pk not in closed for pk in rows.values_list("pk", flat=True))


def askable_numbers(question_set: QuestionSet) -> set[int]:
    """List the numbers of the questions that are neither retired nor used up."""
    closed = used_up([question_set.pk])
    rows = question_set.questions.filter(retired=None).values_list("pk", "number")
    return {number for pk, number in rows if pk not in closed}


def answers_left(question_set: QuestionSet, workers: int) -> int | None:
    """Count the answers that so many workers can still give; None without a limit."""
    most = question_set.most_workers
    if most is None:
        return None
    met = count_met([question_set.pk])
    ids = question_set.questions.filter(retired=None).values_list("pk", flat=True)
    return sum(min(workers, max(0, most - met.get(pk, 0))) for pk in ids)


def closed_to(run: Run) -> NDArray[np.int64]:
    """Count (n,) by arm its unasked questions that are used up.

    Questions that it met in another run are not among them: they are not in its deck anyway.
    """
    closed = np.zeros(run.candidates.count(), np.int64)
    for skill in run.skills:
        used = used_up([skill.question_set_id])
        if not used:
            continue
        candidates = run.candidates.filter(skill=skill.number).order_by()
        in_deck = skill.question_set.questions.filter(number__lt=skill.deck_size, pk__in=used)
        closed[list(candidates.values_list("arm", flat=True))] = in_deck.count()
        dealt = Assignment.objects.filter(candidate__in=candidates, question__in=in_deck).order_by()
        for arm, many in dealt.values_list("candidate__arm").annotate(many=Count("pk")):
            closed[arm] -= many
        numbers = set(in_deck.values_list("number", flat=True))
        for arm, met in candidates.filter(skipped__gt=0).values_list("arm", "met"):
            closed[arm] -= len(numbers.intersection(met))
    return closed


def closed_for_good(candidate: Candidate, skill: Skill) -> int:
    """Count the questions that this worker can never be asked while the limit stays."""
    limits = limits_of(QuestionSet.objects.filter(pk=skill.question_set_id))
    if not limits:
        return 0
    dealt = Assignment.objects.filter(candidate=candidate).values("question")
    undealt = Question.objects.filter(question_set__in=limits, number__lt=skill.deck_size)
    undealt = undealt.exclude(number__in=candidate.met).exclude(pk__in=dealt)
    met, most = count_met(limits, for_good=True), limits[skill.question_set_id]
    return sum(met.get(pk, 0) >= most for pk in undealt.values_list("pk", flat=True))
