"""Choices of the guided start, in words."""

from django.utils.html import format_html

from selection.models import Platform

OWN_NUMBER, BY_MONEY = "own", "money"


def _worded_choices(*choices: tuple[str, str, str]) -> list[tuple[str, str]]:
    return [(value, format_html("{} <small>{}</small>", *texts)) for value, *texts in choices]


# What the guarantee must cover. The values of NEEDS ask for a good group, and for more than an
# average over crowds.
KIND_OF_CROWD, SINGLE_POOL, EXACT, MARK = "kind", "pool", "exact", "mark"
NEEDS = (KIND_OF_CROWD, SINGLE_POOL)
GOALS = _worded_choices(
    ("group", "A good group, on average over crowds like yours", "costs least: Credible"),
    (KIND_OF_CROWD, "A good group, for this kind of crowd", "costs more: Universal"),
    (SINGLE_POOL, "A good group, for each single pool", "costs still more: Certified"),
    ("every", "Every worker is good", "each is within ε of the K-th best worker"),
    (MARK, "All good workers, up to K", "each is shown to reach the pass mark less ε"),
    (EXACT, "Exactly the best K workers (ε = 0)", "costs most: Pair-LUCB"),
)
# Without an estimate, what a goal asks for.
ALGORITHM_OF_NEED = {
    "group": "credible",
    KIND_OF_CROWD: "universal",
    SINGLE_POOL: "certified",
    "every": "each-good",
    MARK: "mark-share",
    EXACT: "pair-lucb",
}
CONFIDENCES = _worded_choices(
    ("0.2", "Fairly sure", "80% (δ = 0.2)"),
    ("0.1", "Sure", "90% (δ = 0.1)"),
    ("0.05", "Very sure", "95% (δ = 0.05)"),
    ("0.01", "Near-certain", "99% (δ = 0.01)"),
    (OWN_NUMBER, "Your own number", ""),
)
PRECISIONS = _worded_choices(
    ("0.2", "Roughly", "within 20 points of the best (ε = 0.2)"),
    ("0.1", "Well enough", "within 10 points (ε = 0.1)"),
    ("0.05", "Closely", "within 5 points (ε = 0.05)"),
    ("0.02", "Very closely", "within 2 points (ε = 0.02)"),
    (OWN_NUMBER, "Your own number", ""),
    (BY_MONEY, "As precise as my budget allows", "we estimate ε"),
)
BELIEFS = _worded_choices(
    ("", "No idea", "try a range of typical crowds"),
    ("0.75-0.95", "Mostly good", "80% of workers are 75–95% accurate"),
    ("0.5-0.95", "Very mixed", "80% of workers are 50–95% accurate"),
    ("0.5-0.75", "Mostly poor", "80% of workers are 50–75% accurate"),
    ("range", "Your own range", "between two accuracies"),
    ("run", "Like an earlier run", ""),
    ("file", "Upload past answers and their key", ""),
)
# The unit of the budget.
MONEY, ANSWERS = "money", "answers"
UNITS = [(MONEY, "in money"), (ANSWERS, "in answers")]
PLACES = [("", "None: personal links, programs or files"), *Platform.choices]
