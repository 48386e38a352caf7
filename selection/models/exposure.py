"""How many workers met each gold question, over all runs, and what is left where that is limited.

A question was met by whoever was given it: those to whom it is out count, so that a limit holds
however many runs deal at once. Passed over because it was retired is not met.
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
    """By question of these sets, to how many workers it was given; none where to nobody.

    for_good  leaves out those who were not shown it yet: from them it may go back
    """
    own = Q(question_set__in=sets) | Q(further__question_set__in=sets)
    given = Assignment.objects.filter(
        candidate__run__in=Run.objects.filter(own).values("pk"), question__question_set__in=sets
    ).exclude(shown=None, answer__void=True, answer__response="")  # AnswerQuerySet.closed_unseen
    if for_good:
        given = given.exclude(shown=None, answer=None)
    rows = given.order_by().values_list("question")
    return dict(rows.annotate(workers=Count("candidate__worker", distinct=True)))


def used_up(sets: Collection[int]) -> set[int]:
    """The questions of these sets that as many workers met as may."""
    limits = limits_of(QuestionSet.objects.filter(pk__in=sets))
    if not limits:
        return set()
    of_set = dict(
        Question.objects.filter(question_set__in=limits).values_list("pk", "question_set")
    )
    return {pk for pk, workers in count_met(limits).items() if workers >= limits[of_set[pk]]}


def limits_of(sets: QuerySet[QuestionSet]) -> dict[int, int]:
    """To how many workers a question of each of these may be given, where that is limited."""
    rows = sets.exclude(most_workers=None).order_by("pk").values_list("pk", "most_workers")
    return {pk: most for pk, most in rows if most is not None}


def count_askable(question_set: QuestionSet) -> int:
    """How many of its questions are neither retired nor used up."""
    rows = question_set.questions.filter(retired=None)
    gone = used_up([question_set.pk])
    return sum(pk not in gone for pk in rows.values_list("pk", flat=True)) if gone else rows.count()


def askable_numbers(question_set: QuestionSet) -> set[int]:
    """The numbers of those."""
    gone = used_up([question_set.pk])
    rows = question_set.questions.filter(retired=None).values_list("pk", "number")
    return {number for pk, number in rows if pk not in gone}


def answers_left(question_set: QuestionSet, workers: int) -> int | None:
    """How many answers so many workers can still give in all; None where nothing limits it."""
    most = question_set.most_workers
    if most is None:
        return None
    so_far = count_met([question_set.pk])
    ids = question_set.questions.filter(retired=None).values_list("pk", flat=True)
    return sum(min(workers, max(0, most - so_far.get(pk, 0))) for pk in ids)


def closed_to(run: Run) -> NDArray[np.int64]:
    """(n,) by arm, how many questions it was not asked and is asked no more: they are used up.

    Those that it met in another run are not among them: they are not in its deck anyway.
    """
    closed = np.zeros(run.candidates.count(), np.int64)
    for skill in run.skills:
        gone = used_up([skill.question_set_id])
        if not gone:
            continue
        own = run.candidates.filter(skill=skill.number).order_by()
        in_deck = skill.question_set.questions.filter(number__lt=skill.deck_size, pk__in=gone)
        closed[list(own.values_list("arm", flat=True))] = in_deck.count()
        asked = Assignment.objects.filter(candidate__in=own, question__in=in_deck).order_by()
        for arm, many in asked.values_list("candidate__arm").annotate(many=Count("pk")):
            closed[arm] -= many
        numbers = set(in_deck.values_list("number", flat=True))
        for arm, met in own.filter(skipped__gt=0).values_list("arm", "met"):
            closed[arm] -= len(numbers.intersection(met))
    return closed


def closed_for_good(own: Candidate, skill: Skill) -> int:
    """How many questions this worker was not asked and never will be, while the limit stays."""
    limits = limits_of(QuestionSet.objects.filter(pk=skill.question_set_id))
    if not limits:
        return 0
    mine = Assignment.objects.filter(candidate=own).values("question")
    others = Question.objects.filter(question_set__in=limits, number__lt=skill.deck_size)
    others = others.exclude(number__in=own.met).exclude(pk__in=mine)
    so_far, most = count_met(limits, for_good=True), limits[skill.question_set_id]
    return sum(so_far.get(pk, 0) >= most for pk in others.values_list("pk", flat=True))
