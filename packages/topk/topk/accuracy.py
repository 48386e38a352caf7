"""The meaning of accuracy: on questions like these, or on this very set."""

from collections.abc import Mapping
from typing import Any

from .options import Option
from .problem import ProblemError

LIKE_THESE, THIS_SET = "on questions like these", "on this question set"
MOST_QUESTIONS = 1000

ACCURACY = Option(
    "accuracy",
    LIKE_THESE,
    "The accuracy that the guarantee covers. “on this question set” is recommended if gold "
    "questions are few and only these questions matter.",
    "choice",
    (LIKE_THESE, THIS_SET),
)
QUESTIONS = Option(
    "questions",
    None,
    f"How many questions there are in the set, if accuracy means {THIS_SET}.",
    "integer",
    above=0,
    most=MOST_QUESTIONS,
    by_hand=False,
)


def questions_of(options: Mapping[str, Any]) -> int:
    """Count the questions of the set that accuracy means, 0 for any others."""
    if options.get("accuracy") != THIS_SET:
        return 0
    if options.get("scores"):
        raise ProblemError(
            f"Accuracy {THIS_SET} is about right and wrong answers: for scores choose accuracy "
            f"{LIKE_THESE}."
        )
    if not options["questions"]:
        raise ProblemError(f"Accuracy {THIS_SET} needs the number of questions in the set.")
    return int(options["questions"])
