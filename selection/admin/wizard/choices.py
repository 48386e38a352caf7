"""Choices of the guided start's questions, in words."""

from django.utils.html import format_html

OWN_NUMBER, BY_MONEY = "own", "money"


def _worded_choices(*choices: tuple[str, str, str]) -> list[tuple[str, str]]:
    """Return radio buttons for (value, label, number beside it)."""
    return [(value, format_html("{} <small>{}</small>", *texts)) for value, *texts in choices]


GOALS = _worded_choices(
    ("group", "They are good as a group", "their mean accuracy is close to that of the best"),
    ("every", "Nobody among them is bad", "each one is close to the last of the best"),
    ("exact", "They are exactly the best", "costs most, however precise it has to be"),
)
CONFIDENCES = _worded_choices(
    ("0.2", "Fairly sure", "80 % (δ = 0.2)"),
    ("0.1", "Sure", "90 % (δ = 0.1)"),
    ("0.05", "Very sure", "95 % (δ = 0.05)"),
    ("0.01", "As good as certain", "99 % (δ = 0.01)"),
    (OWN_NUMBER, "A number of your own", ""),
)
PRECISIONS = _worded_choices(
    ("0.2", "Roughly", "within 20 points of the best (ε = 0.2)"),
    ("0.1", "Well enough", "within 10 points (ε = 0.1)"),
    ("0.05", "Closely", "within 5 points (ε = 0.05)"),
    ("0.02", "Very closely", "within 2 points (ε = 0.02)"),
    (OWN_NUMBER, "A number of your own", ""),
    (BY_MONEY, "As my budget allows", "says which ε the money reaches"),
)
BELIEFS = _worded_choices(
    ("", "Nothing", "crowds of all usual kinds are tried"),
    ("0.75-0.95", "Mostly good", "four of five between 75 % and 95 % right"),
    ("0.5-0.95", "Very mixed", "four of five between 50 % and 95 % right"),
    ("0.5-0.75", "Mostly poor", "four of five between 50 % and 75 % right"),
    ("range", "A range", "most of them between two numbers"),
    ("run", "As in an earlier run", ""),
    ("file", "As in answers that I have", "a file of past answers, and the known ones"),
)
