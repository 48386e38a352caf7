"""The three kinds of import: texts of the pages, and the cells of a row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from selection.admin.page import Page, object_url
from selection.answers.recording import Outside
from selection.grading import recognition, rules
from selection.imports import commit
from selection.models import Upload, UploadedRow
from selection.texts import count_noun
from selection.worker import page


@dataclass(frozen=True)
class Importer:
    """A kind of import: its texts, an example and its columns.

    help   lines of advice on the file
    words  returns a sentence about the effect of the accepted rows
    cells  returns a row's cells in the order of the columns
    """

    kind: Upload.Kind
    noun: str
    title: str
    help: Sequence[str]
    example: str
    columns: list[str]
    permission: str
    words: Callable[[Any, Upload, Outside], str]
    cells: Callable[[UploadedRow], Sequence[str]]


def _import_workers(pool: Any, upload: Upload, _: Outside) -> str:
    effect = "already in it will get the name and attributes from this file"
    return _describe_merge(upload, "worker", f"the pool “{pool}”", effect)


def _import_questions(question_set: Any, upload: Upload, outside: Outside) -> str:
    effect = "already in it will be replaced"
    words = _describe_merge(upload, "question", f"the set “{question_set}”", effect)
    if outside == "refuse" or not upload.outside:
        return words
    count = count_noun(upload.outside, "asked question")
    return f"{words} {count} will be corrected, and the answers to them graded again."


def _describe_merge(upload: Upload, noun: str, target: str, effect: str) -> str:
    present = commit.accepted_rows(upload).filter(fresh=False).count()
    more = f" {count_noun(present, noun)} {effect}." if present else ""
    new = count_noun(upload.accepted_rows - present, f"new {noun}")
    return f"{new} will be added to {target}.{more}"


def _import_answers(run: Any, upload: Upload, outside: Outside) -> str:
    immediate, later, retired = commit.count_by_moment(upload, outside)
    parts = [
        (immediate, "to open assignments will count at once"),
        (later, "will be held until the run asks for them"),
        (retired, "to retired questions will be kept and count only if you restore the questions"),
    ]
    return " ".join(f"{count_noun(count, 'answer')} {effect}." for count, effect in parts if count)


def _import_gold(watch: Any, upload: Upload, outside: Outside) -> str:
    count = commit.accepted_rows(upload, outside).count()
    return f"{count_noun(count, 'gold answer')} will be counted in the watch “{watch}”."


def _worker_cells(row: UploadedRow) -> Sequence[str]:
    attributes = ", ".join(f"{name}: {value}" for name, value in row.data["attributes"].items())
    return [row.key or "", row.data["name"], row.data.get("email", ""), attributes]


def _question_cells(row: UploadedRow) -> Sequence[str]:
    accepted, choices = (" | ".join(row.data[name]) for name in ("accepted", "choices"))
    grading = rules.describe_grading(row.data["grading"])
    other = recognition.write_other_form(row.data["accepted"][0], row.data["grading"])
    grading += f" (also right: {other})" if other else ""
    return [row.key or "", row.data["prompt"], accepted, choices, grading]


def _answer_cells(row: UploadedRow) -> Sequence[str]:
    return [row.data[name] for name in ("worker", "question", "response")]


FORMATS = "Formats: Excel, OpenDocument, CSV from any spreadsheet, TSV, JSON and JSON Lines."

WORKERS = Importer(
    Upload.Kind.WORKERS,
    "worker",
    "Import workers",
    (
        FORMATS,
        "We recognise MTurk worker files and batch results, Prolific exports and lists of IDs.",
        "In your own file, the first row names the columns. Only worker is required: the "
        "worker’s ID on your platform.",
        "Optional columns: name and email. All other columns are kept as worker attributes; "
        "language (or Sprache, langue, idioma) chooses the language of e-mails.",
    ),
    "worker,name,email,language\nA1B2C3,Ada,ada@example.org,English\n"
    "D4E5F6,Grace,grace@example.org,German",
    ["worker", "name", "e-mail", "attributes"],
    "selection.change_pool",
    _import_workers,
    _worker_cells,
)


QUESTIONS = Importer(
    Upload.Kind.QUESTIONS,
    "question",
    "Import gold questions",
    (
        FORMATS,
        "We recognise Label Studio JSON (its ground truth) and Toloka TSV (GOLDEN:…).",
        "In your own file, the first row names the columns. Required: prompt (what the worker "
        "reads) and answer.",
        "Optional: question (an ID), choices, kind, tolerance, grading, image, audio, video, alt.",
        "Separate several accepted answers, and the choices, with |. Without choices, workers "
        "type the answer.",
        "kind: single, multiple (all that apply), order (the answer has the choices in the right "
        "order), text, number (3,5 then equals 3.5), date or time. If it is empty, prices, dates, "
        "times and percentages are recognised; the preview says which.",
        "tolerance, for numbers: 0.01 or 5%.",
        "grading, for texts: exact, case, spaces or no accents; for numbers: money, percent or "
        "number with unit. By default, case and extra spaces are ignored.",
    ),
    "question,prompt,answer,choices,kind,tolerance\n"
    "q1,Is this a bird? https://example.org/1.jpg,yes,yes|no,,\n"
    "q2,What is the capital of France?,Paris|paris city,,,\n"
    "q3,How long is it in metres?,3.5,,number,0.1\n"
    "q4,Which of these can fly?,gull|bat,gull|bat|whale,multiple,",
    ["question", "prompt", "answer", "choices", "grading"],
    "selection.change_questionset",
    _import_questions,
    _question_cells,
)


ANSWERS = Importer(
    Upload.Kind.ANSWERS,
    "answer",
    "Import answers",
    (
        FORMATS,
        "We recognise MTurk batch results, Toloka TSV and Label Studio JSON.",
        "One answer per row: the columns worker, question and response, or worker, task and label.",
        "Or a survey: one worker per row, and one column per question, named by its ID or text.",
        "The workers and questions must belong to this run.",
    ),
    "worker,question,response\nA1B2C3,q1,yes\nD4E5F6,q1,no",
    ["worker", "question", "response"],
    "selection.change_run",
    _import_answers,
    _answer_cells,
)


GOLD = Importer(
    Upload.Kind.GOLD,
    "gold answer",
    "Import gold answers",
    (
        *ANSWERS.help[:-1],
        "The workers and questions must belong to this watch. The lines are in the order in which "
        "the questions were asked.",
    ),
    ANSWERS.example,
    ANSWERS.columns,
    "selection.change_watch",
    _import_gold,
    _answer_cells,
)


# As strict as the worker's own page, and forms cannot be sent.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' https:; media-src 'self' https:; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)


class PreviewQuestion(Page):
    permission_required = ["selection.view_question"]
    location = ("<int:pk>/preview/", "preview")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        question, instructions = page.preview_question(self.object)
        context = {
            "question": question,
            "instructions": instructions,
            "back": object_url(self.object),
        }
        response = render(request, "work/preview.html", context)
        response.headers["Content-Security-Policy"] = POLICY
        return response
