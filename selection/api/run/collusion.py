"""Signs of collusion, to be reviewed by a person."""

from dataclasses import asdict
from typing import Any, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Schema

from selection import reports
from selection.accounts import scoped
from selection.api.base import ERRORS, api
from selection.api.fields import Id
from selection.models import Run


class SignOut(Schema):
    kind: Literal["identical", "jump", "speed"]
    workers: list[str]
    words: str
    chance: float = Field(
        description="Of finding any sign so striking in the whole run, if nobody shares."
    )


class PowerOut(Schema):
    """Probability of detecting collusion with the answers counted so far."""

    answers: float = Field(description="Counted answers of a worker in a skill, median.")
    copying: float = Field(
        description="Probability that a worker is reported who copies all answers of another."
    )
    leaked: float = Field(
        description="Probability that a worker is reported who gets the correct answers on the way."
    )
    words: str


class SignsOut(Schema):
    """Signs, the most striking first. They have no effect on verdicts."""

    found: list[SignOut]
    answers: int = Field(description="Number of counted answers examined.")
    rate: float = Field(
        description="Probability at most that one look finds anything where nobody shares."
    )
    power: PowerOut | None = Field(
        description="null before any answer. Workers who have the correct answers from the start "
        "leave no sign in their answers."
    )


@api.get("/runs/{run_id}/signs", response={200: SignsOut, **ERRORS}, tags=["runs"])
def show_signs(request: HttpRequest, run_id: Id) -> dict[str, Any]:
    """Return signs that workers share answers: identical errors, sudden jumps, implausible speed.

    They are recomputed after a tenth more answers, and at the end.
    """
    signs = reports.find_signs(get_object_or_404(scoped(Run, request), pk=run_id))
    power = {"power": asdict(signs.power) | {"words": signs.power.words}} if signs.power else {}
    return asdict(signs) | power
