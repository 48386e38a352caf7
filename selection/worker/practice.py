"""Explanation after a practice question: it may show the answer, since it never counts."""

from dataclasses import dataclass
from typing import Self

from django.utils.safestring import SafeString, mark_safe

from selection.questions.practice import PracticeResult
from selection.questions.sanitize import QuestionTexts


@dataclass(frozen=True)
class ExplainedAnswer:
    """An answered practice question; prompt, answers and explanation are HTML."""

    right: bool
    prompt: SafeString
    answers: SafeString
    explanation: SafeString

    @classmethod
    def build(cls, lesson: PracticeResult) -> Self:
        question = lesson.practice
        texts = QuestionTexts.load(
            question.question_set,
            question.prompt,
            question.explanation,
            *question.accepted,
            *question.choices,
        )
        answers = (
            question.accepted if question.kind in ("multiple", "order") else question.accepted[:1]
        )
        return cls(
            lesson.right,
            texts.html(question.prompt),
            mark_safe(", ".join(map(texts.choice, answers))),  # noqa: S308  # nosec: each is safe
            texts.html(question.explanation),
        )
