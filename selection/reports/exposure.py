"""Exposure of the gold: questions that are used up, and those that nearly are."""

from dataclasses import dataclass

from selection.models import Question, QuestionSet, exposure

NEAR = 0.9  # share of its limit


@dataclass(frozen=True)
class QuestionExposure:
    """Exposure of one question: ``workers`` that got it; ``most``, its limit, or None."""

    question: Question
    workers: int
    most: int | None

    @property
    def used_up(self) -> bool:
        return self.most is not None and self.workers >= self.most

    @property
    def nearly(self) -> bool:
        return self.most is not None and NEAR * self.most <= self.workers < self.most


@dataclass(frozen=True)
class Exposure:
    """Exposure of a question set; ``lines`` has all questions in use, the most exposed first."""

    most: int | None
    lines: list[QuestionExposure]

    @property
    def used_up(self) -> int:
        return sum(line.used_up for line in self.lines)

    @property
    def nearly(self) -> int:
        return sum(line.nearly for line in self.lines)

    @property
    def met(self) -> int:
        """Questions that at least one worker met."""
        return sum(line.workers > 0 for line in self.lines)


def count_exposure(question_set: QuestionSet) -> Exposure:
    so_far, most = exposure.count_met([question_set.pk]), question_set.most_workers
    questions = question_set.questions.filter(retired=None)
    lines = [QuestionExposure(question, so_far.get(question.pk, 0), most) for question in questions]
    return Exposure(most, sorted(lines, key=lambda line: -line.workers))
