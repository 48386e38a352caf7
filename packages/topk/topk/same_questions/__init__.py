"""``same-questions``: pairs are judged on the differences on questions that both have met."""

from .selector import SameQuestions

__all__ = ["SameQuestions"]
