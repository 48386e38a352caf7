"""Signs of collusion, to be reviewed by a person."""

from dataclasses import asdict
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Field, Schema

from selection import reports
from selection.api.base import api, find_object
from selection.api.fields import Id, declared_by
from selection.models import Run
from selection.reports.collusion import CollusionSign, CollusionSigns, Power


@declared_by(CollusionSign, without=("candidates",))
class SignOut(Schema):
    kind: Literal["identical", "speed"]


@declared_by(Power)
class PowerOut(Schema):
    """Probability of detecting collusion with the answers counted so far."""

    words: str


@declared_by(CollusionSigns)
class SignsOut(Schema):
    """Signs, the most striking first. They have no effect on verdicts."""

    found: list[SignOut]
    power: PowerOut | None = Field(
        description="null before any answer. Workers who know the correct answers leave no sign."
    )


@api.get("/runs/{run_id}/signs", response=SignsOut, summary="Show signs of collusion")
def show_signs(request: HttpRequest, run_id: Id) -> dict[str, Any]:
    """Return signs that workers share answers: identical errors and implausible speed.

    They are recomputed after a tenth more answers, and at the end.
    """
    signs = reports.find_signs(find_object(request, Run, run_id))
    power = {"power": asdict(signs.power) | {"words": signs.power.words}} if signs.power else {}
    return asdict(signs) | power
