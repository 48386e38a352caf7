"""The plan of a forecast, from the guided start's fields."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from selection.errors import Refused
from selection.forecast import Plan
from selection.models import Run, exposure
from selection.runs.roster import eligibility
from selection.runs.settings import validation
from selection.texts import count_noun

from .choices import ANSWERS, BY_MONEY, MARK, NEEDS, OWN_NUMBER

USUAL_EPSILON = 0.1
FEWEST = 2  # workers to choose from
ADD_WORKERS = "Import workers first, or choose the platform on which people join by a link."
EXPECT_WORKERS = "Give the number of workers that you expect to join, for example 30."


class FieldError(Exception):
    """A reason, and the field at fault."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field


def build_plan(cleaned: dict[str, Any]) -> Plan:
    """Build the plan without prices, so that a new price needs no new forecast."""
    settings = {"k": cleaned["k"], **parse_rule(cleaned)}
    workers = _count_workers(cleaned)
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
            mark=cleaned["pass_mark"],
            goal="group" if cleaned["goal"] in ("", *NEEDS) else cleaned["goal"],
            **settings,
        )
    except Refused as refusal:
        field = "pass_mark" if cleaned["goal"] == MARK else "pool"
        raise FieldError(field, str(refusal)) from refusal


def parse_rule(cleaned: dict[str, Any]) -> dict[str, Any]:
    return {
        "epsilon": _parse_epsilon(cleaned),
        "delta": _parse_delta(cleaned),
        "budget": _affordable_answers(cleaned),
    }


def plans_agree(plan: Plan, other: Plan) -> bool:
    """Tell if they differ at most by the questions that other runs asked meanwhile."""
    return replace(plan, met=(), left=None) == replace(other, met=(), left=None)


def _count_workers(cleaned: dict[str, Any]) -> int:
    present, expected = cleaned["pool"].workers.count(), cleaned["expected"]
    if not (cleaned["platform"] or cleaned["enrolling"]):
        if present < FEWEST:
            raise FieldError("pool", f"{_describe_size(present)} {ADD_WORKERS}")
        return int(present)
    if expected is None and present <= max(cleaned["k"], FEWEST - 1):
        raise FieldError("expected", f"{_describe_size(present)} {EXPECT_WORKERS}")
    if expected is not None and expected <= present:
        reason = f"{_describe_size(present)} Give a larger number, or leave the field blank."
        raise FieldError("expected", reason)
    return int(expected or present)


def _describe_size(workers: int) -> str:
    return f"The pool has {count_noun(workers, 'worker')}." if workers else "The pool is empty."


def _build_draft(cleaned: dict[str, Any]) -> Run:
    return Run(pool=cleaned["pool"], question_set=cleaned["question_set"], met=Run.Met.SKIP)


# Form fields of the settings that a run stores under another name.
FIELDS = {
    "epsilon": "precise_own",
    "delta": "sure_own",
    "budget": "spend",
    "enrol_most": "expected",
}


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
