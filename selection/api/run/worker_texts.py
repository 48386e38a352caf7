"""Texts for a run's workers besides the questions: pay, completion codes, next steps."""

from decimal import Decimal
from typing import Any

from django.http import HttpRequest
from ninja import Field, Schema

from selection.api.base import api, find_object, requester_name
from selection.api.fields import Id, Part, price_field
from selection.models import Run
from selection.runs import worker_texts
from selection.runs.worker_texts import LONGEST_CODE, OUTCOMES, PageFacts


class CodesIn(Part):
    """Completion codes by outcome; missing ones are generated."""

    done: str = Field("", max_length=LONGEST_CODE, description=OUTCOMES["done"])
    screened: str = Field("", max_length=LONGEST_CODE, description=OUTCOMES["screened"])
    nothing: str = Field("", max_length=LONGEST_CODE, description=OUTCOMES["nothing"])


class PageIn(Part):
    pay: Decimal | None = price_field(
        "Payment of a worker for an answer. null: the page does not mention payment."
    )
    codes: CodesIn | None = None
    text_at_end: str = Field("", max_length=5000, description="Shown at the end, in Markdown.")


class CodesOut(Schema):
    done: str = Field(examples=["C1A2B3C4"])
    screened: str
    nothing: str


class PageOut(Schema):
    pay: float | None
    currency: str
    codes: CodesOut = Field(description="Completion codes in use: generated or set by hand.")
    text_at_end: str


@api.get("/runs/{run_id}/page", response=PageOut, summary="Show worker page")
def show_page(request: HttpRequest, run_id: Id) -> dict[str, Any]:
    """Return the texts on the workers' page besides the questions."""
    run = find_object(request, Run, run_id)
    facts = PageFacts.from_run(run)
    codes = {outcome: worker_texts.completion_code(run, outcome) for outcome in OUTCOMES}
    return {"pay": facts.pay, "currency": run.currency, "codes": codes, "text_at_end": facts.after}


@api.put("/runs/{run_id}/page", response=PageOut, summary="Set worker page")
def change_page(request: HttpRequest, run_id: Id, payload: PageIn) -> dict[str, Any]:
    """Replace all of these texts; possible at any time."""
    run = find_object(request, Run, run_id)
    codes = payload.codes.dict() if payload.codes else {}
    worker_texts.change_facts(
        run, PageFacts(payload.pay, codes, payload.text_at_end), requester_name(request)
    )
    return show_page(request, run_id)
