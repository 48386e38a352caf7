"""What is to be learnt from a practice question: its answer may be told, for it never counts."""

from dataclasses import dataclass
from typing import Self

from django.utils.safestring import SafeString, mark_safe

from selection.questions.practice import PracticeResult

from .sanitize import QuestionTexts


@dataclass(frozen=True)
class ExplainedAnswer:
    """prompt, answers and explanation are HTML."""

    right: bool
    prompt: SafeString
    answers: SafeString
    explanation: SafeString

    @classmethod
    def of(cls, lesson: PracticeResult) -> Self:
        asked = lesson.practice
        texts = QuestionTexts.of(
            asked.question_set, asked.prompt, asked.explanation, *asked.accepted, *asked.choices
        )
        told = asked.accepted if asked.kind in ("multiple", "order") else asked.accepted[:1]
        return cls(
            lesson.right,
            texts.html(asked.prompt),
            mark_safe(", ".join(map(texts.choice, told))),  # noqa: S308  # nosec: each is safe
            texts.html(asked.explanation),
        )
