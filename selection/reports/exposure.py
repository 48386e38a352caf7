"""Exposure of the gold: questions that are used up, and those that nearly are."""

from selection.facts import Facts
from selection.models import QuestionSet, exposure

NEAR = 0.9  # share of its limit


def count_exposure(question_set: QuestionSet) -> Facts:
    """Return the exposure of all questions in use, the most exposed first."""
    so_far, most = exposure.count_met([question_set.pk]), question_set.most_workers
    questions = question_set.questions.filter(retired=None)
    lines = []
    for question in questions:
        workers = so_far.get(question.pk, 0)
        used_up = most is not None and workers >= most
        nearly = most is not None and not used_up and workers >= NEAR * most
        lines.append(Facts(question=question, workers=workers, used_up=used_up, nearly=nearly))
    return Facts(
        most=most,
        lines=sorted(lines, key=lambda line: -line.workers),
        used_up=sum(line.used_up for line in lines),
        nearly=sum(line.nearly for line in lines),
        met=sum(line.workers > 0 for line in lines),
    )
