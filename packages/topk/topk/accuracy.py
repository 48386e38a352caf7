"""The meaning of accuracy: on questions like these, or on this very set."""

from .options import Option

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
