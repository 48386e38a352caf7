"""The plan of a forecast, from the guided start's fields."""

from decimal import Decimal
from typing import Any

from selection.errors import Refused
from selection.forecast import Plan
from selection.models import Run, exposure
from selection.runs import eligibility, validation

from .choices import ANSWERS, BY_MONEY, NEEDS, OWN_NUMBER

USUAL_EPSILON = 0.1


class FieldError(Exception):
    """A reason, and the field at fault."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field


def build_plan(cleaned: dict[str, Any]) -> Plan:
    """Return the plan. Prices stay out of it, so that a new price needs no new forecast."""
    pool = cleaned["pool"]
    settings = {
        "k": cleaned["k"],
        "epsilon": _parse_epsilon(cleaned),
        "delta": _parse_delta(cleaned),
        "budget": _affordable_answers(cleaned),
    }
    workers = pool.workers.count()
    for field, reason in validation.find_out_of_range(Run(**settings), workers).items():
        raise FieldError(FIELDS.get(field, field), reason)
    questions = exposure.count_askable(cleaned["question_set"])
    if not questions:
        raise FieldError("question_set", "This question set is empty: import gold questions first.")
    try:
        return Plan(
            workers=workers,
            questions=questions,
            left=exposure.answers_left(cleaned["question_set"], workers),
            met=eligibility.count_passed_over(_build_draft(cleaned)),
            goal="group" if cleaned["goal"] in ("", *NEEDS) else cleaned["goal"],
            **settings,
        )
    except Refused as refusal:
        raise FieldError("pool", str(refusal)) from refusal


def _build_draft(cleaned: dict[str, Any]) -> Run:
    """Return a run that skips questions that workers met before, to count those."""
    return Run(pool=cleaned["pool"], question_set=cleaned["question_set"], met=Run.Met.SKIP)


# Form fields of the settings that a run stores under another name.
FIELDS = {"epsilon": "precise_own", "delta": "sure_own", "budget": "spend"}


def _parse_delta(cleaned: dict[str, Any]) -> float:
    if cleaned["sure"] != OWN_NUMBER:
        return float(cleaned["sure"] or 0.05)
    if cleaned["sure_own"] is None:
        raise FieldError("sure_own", "Give a number, for example 97, or choose a confidence.")
    return float(1 - cleaned["sure_own"] / 100)


def _parse_epsilon(cleaned: dict[str, Any]) -> float:
    by_money, number = cleaned["precise"] == BY_MONEY, cleaned["precise_own"]
    if by_money and number is None:
        return USUAL_EPSILON
    if cleaned["precise"] != OWN_NUMBER and not by_money:
        return float(cleaned["precise"] or USUAL_EPSILON)
    if number is None:
        raise FieldError("precise_own", "Give a number, for example 7, or choose a precision.")
    return float(number / 100)


def _affordable_answers(cleaned: dict[str, Any]) -> int | None:
    """Return the number of answers that the budget pays for; None without a budget."""
    spend = cleaned["spend"]
    if spend is None:
        if cleaned["precise"] == BY_MONEY:
            raise FieldError("spend", "Give a budget, in money or in answers.")
        return None
    if cleaned["spend_unit"] == ANSWERS:
        return _whole_answers(spend)
    return _answers_for_money(spend, cleaned["price"])


def _whole_answers(spend: Decimal) -> int:
    if spend != int(spend):
        raise FieldError("spend", "Give a whole number of answers, for example 400.")
    return int(spend)


def _answers_for_money(spend: Decimal, price: Decimal | None) -> int:
    if not price:
        raise FieldError("price", "Give the price per answer, or a budget in answers.")
    if spend < price:
        raise FieldError("spend", f"{spend.normalize():f} does not pay for one answer.")
    return int(spend / price)
