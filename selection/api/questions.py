"""Gold questions of question sets. Tokens with the scope to answer cannot read them."""

from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema

from selection.imports import rows
from selection.imports.row_parsers import QuestionRow
from selection.limits import LONGEST_KEY, MOST_ENTRIES
from selection.models import Question
from selection.questions import corrections
from selection.questions.corrections import Gold

from .base import api, requester_name
from .fields import Id, Key, Part, RowsOut, Yes
from .pagination import Page, paginate
from .question_sets import find_question_set
from .schemas import ReasonIn


class Grading(Part, extra="forbid"):
    """Comparison with the accepted answers; by default as text, ignoring case and spacing."""

    number: Yes = Field(False, description="Compare as numbers: 3,50 equals 3.5.")
    tolerance: float | None = Field(
        None,
        ge=0,
        strict=True,
        allow_inf_nan=False,
        description="Largest allowed difference from an accepted number.",
        examples=[0.01],
    )
    relative: Yes = Field(
        False, description="The tolerance is a share of the accepted number: 0.05 is 5 %."
    )
    unit: Literal["", "money", "percent", "unit"] = Field(
        "",
        description="Of a number: it may have a currency, a percent sign or a unit, and must not "
        "have another than an accepted one. 5 % is also 0.05.",
    )
    date: Literal["", "any", "day first", "month first"] = Field(
        "", description="Compare as dates; the order is that of 3/4/2025."
    )
    time: Yes = Field(False, description="Compare as times of the day: 15:30 is 3:30 pm.")
    multiple: Yes = Field(
        False, description="The worker ticks several choices: exactly the accepted choices."
    )
    order: Yes = Field(
        False, description="The worker puts the choices in order: the order of `accepted`."
    )
    case: Yes = Field(False, description="Capitals matter.")
    spaces: Yes = Field(False, description="Spacing matters.")
    no_accents: Yes = Field(False, description="é is e.")


class GoldIn(Schema):
    prompt: str = Field(description="The text that the worker reads.", examples=["1 + 1"])
    accepted: list[str] = Field(
        min_length=1,
        max_length=1000,
        description="Each accepted answer is right.",
        examples=[["2", "two"]],
    )
    choices: list[str] = Field(
        [],
        max_length=1000,
        description="Two or more choices. Empty: the worker types the answer.",
        examples=[[]],
    )
    grading: Grading | None = None


class QuestionIn(GoldIn):
    question: str = Field(description="Id of the question, unique in the set.", examples=["sum-1"])
    columns: dict[str, str] = Field(
        {}, max_length=1000, description="Texts that a model's template names as {column}."
    )


class QuestionsIn(Schema):
    questions: list[QuestionIn] = Field(min_length=1, max_length=MOST_ENTRIES)


class CorrectionIn(GoldIn, ReasonIn):
    """The corrected question. A question that has been asked needs ``reason``."""


class QuestionOut(Schema):
    question: str = Field(alias="key", examples=["sum-1"])
    prompt: str
    accepted: list[str]
    choices: list[str]
    grading: Grading
    columns: dict[str, str]
    retired_at: datetime | None = Field(alias="retired", description="Time of the retirement.")
    retired_reason: str = Field(alias="retired_why")


class RunNameOut(Schema):
    id: int
    name: str


class CorrectedOut(Schema):
    question: QuestionOut
    runs: list[RunNameOut] = Field(description="Runs with regraded answers.")


class QuestionsQuery(Page):
    search: str = Field(
        "", max_length=LONGEST_KEY, description="Only questions with this text in id or prompt."
    )
    retired: bool | None = Field(
        None, description="true: only retired questions; false: only the others."
    )


@api.get("/question-sets/{set_id}/questions", response=list[QuestionOut])
def list_questions(
    request: HttpRequest, response: HttpResponse, set_id: Id, query: Query[QuestionsQuery]
) -> list[Question]:
    """Return the questions of a set with their answers, oldest first."""
    questions = find_question_set(request, set_id).questions.all()
    if query.search:
        questions = questions.filter(key__icontains=query.search) | questions.filter(
            prompt__icontains=query.search
        )
    if query.retired is not None:
        questions = questions.filter(retired__isnull=not query.retired)
    return paginate(request, response, questions, query, by="number")


@api.put("/question-sets/{set_id}/questions", response=RowsOut, summary="Add questions")
def put_questions(request: HttpRequest, set_id: Id, payload: QuestionsIn) -> dict[str, Any]:
    """Add gold questions to a set, at most 10,000 at once. Repeating it changes nothing.

    Existing questions are replaced unless they have been asked.
    """
    item = find_question_set(request, set_id)
    question_rows = [
        replace(_question_row(row, question.question, question), columns=question.columns)
        for row, question in enumerate(payload.questions, 1)
    ]
    return rows.report_rows(item, "questions", rows.store_questions(item, question_rows))


def _question_row(number: int, key: str, gold: GoldIn) -> QuestionRow:
    return QuestionRow(
        number, key, gold.prompt, gold.accepted, gold.choices, stored_grading(gold.grading)
    )


def stored_grading(grading: Grading | None) -> dict[str, Any]:
    """Drop the default values of the grading, as it is stored."""
    options = grading.dict() if grading else {}
    return {name: value for name, value in options.items() if value}


def _find_question(request: HttpRequest, set_id: int, key: str) -> Question:
    question: Question = get_object_or_404(find_question_set(request, set_id).questions, key=key)
    return question


# Addresses with a suffix must be registered first, since a question's id may contain slashes.


@api.post("/question-sets/{set_id}/questions/{key:question}/retire", response=CorrectedOut)
def retire_question(
    request: HttpRequest, set_id: Id, question: Key, payload: ReasonIn
) -> dict[str, Any]:
    """Retire a question: workers do not get it any more, and no answer to it counts."""
    item = _find_question(request, set_id, question)
    return _correction_payload(
        item, corrections.retire_question(item, requester_name(request), payload.reason)
    )


@api.post("/question-sets/{set_id}/questions/{key:question}/restore", response=CorrectedOut)
def restore_question(
    request: HttpRequest, set_id: Id, question: Key, payload: ReasonIn
) -> dict[str, Any]:
    """Restore a retired question: workers get it again, and the answers to it count."""
    item = _find_question(request, set_id, question)
    return _correction_payload(
        item, corrections.restore_question(item, requester_name(request), payload.reason)
    )


@api.get("/question-sets/{set_id}/questions/{key:question}", response=QuestionOut)
def show_question(request: HttpRequest, set_id: Id, question: Key) -> Question:
    """Return a question with its answers."""
    return _find_question(request, set_id, question)


@api.put("/question-sets/{set_id}/questions/{key:question}", response=CorrectedOut)
def correct_question(
    request: HttpRequest, set_id: Id, question: Key, payload: CorrectionIn
) -> dict[str, Any]:
    """Correct a question: its answers are graded again, and runs judge by the new grades."""
    item = _find_question(request, set_id, question)
    row = _question_row(1, item.key, payload)
    rows.refuse_question(row)
    gold = Gold(row.prompt, row.accepted, row.choices, row.grading)
    return _correction_payload(
        item, corrections.correct_question(item, gold, requester_name(request), payload.reason)
    )


def _correction_payload(item: Question, runs: list[Any]) -> dict[str, Any]:
    item.refresh_from_db()
    return {"question": item, "runs": runs}
