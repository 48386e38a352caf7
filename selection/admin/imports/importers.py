"""The three kinds of import: texts of the pages, and the cells of a row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from selection.answers.recording import Outside
from selection.grading import rules
from selection.imports import commit
from selection.models import Upload, UploadedRow


@dataclass(frozen=True)
class Importer:
    """A kind of import: its texts, an example and its columns.

    words  returns a sentence about the effect of the accepted rows
    cells  returns a row's cells in the order of the columns
    """

    kind: Upload.Kind
    noun: str
    title: str
    format: str
    example: str
    columns: list[str]
    permission: str
    words: Callable[[Any, Upload, Outside], str]
    cells: Callable[[UploadedRow], Sequence[str]]


def _import_workers(pool: Any, upload: Upload, _: Outside) -> str:
    fate = "who are in it already would get the name and attributes given here"
    return _describe_merge(upload, "new worker", f"the pool “{pool}”", fate)


def _import_questions(question_set: Any, upload: Upload, _: Outside) -> str:
    fate = "that are in it already would be replaced"
    return _describe_merge(upload, "new question", f"the set “{question_set}”", fate)


def _describe_merge(upload: Upload, noun: str, target: str, fate: str) -> str:
    """Return a sentence about the merge; ``fate`` is the part about rows already present."""
    present = commit.accepted_rows(upload).filter(fresh=False).count()
    more = f", and {present:,} {fate}" if present else ""
    return f"{count_noun(upload.accepted_rows - present, noun)} would join {target}{more}."


def _import_answers(run: Any, upload: Upload, outside: Outside) -> str:
    immediate, later, retired = commit.count_by_moment(upload, outside)
    waiting = (
        f"{count_noun(later, 'answer')} would wait until the algorithm asks that worker that "
        "question"
    )
    counted = f"{count_noun(immediate, 'answer')} to questions that are out now would count at once"
    unused = (
        f"{count_noun(retired, 'answer')} to questions that were retired would be kept, and used "
        "only if those are restored"
    )
    parts = [counted] * bool(immediate) + [waiting] * bool(later) + [unused] * bool(retired)
    return "; ".join(parts) + "."


def _worker_cells(row: UploadedRow) -> Sequence[str]:
    attributes = ", ".join(f"{name}: {value}" for name, value in row.data["attributes"].items())
    return [row.key or "", row.data["name"], row.data.get("email", ""), attributes]


def _question_cells(row: UploadedRow) -> Sequence[str]:
    accepted, choices = (" | ".join(row.data[name]) for name in ("accepted", "choices"))
    grading = rules.describe_grading(row.data["grading"])
    return [row.key or "", row.data["prompt"], accepted, choices, grading]


def _answer_cells(row: UploadedRow) -> Sequence[str]:
    return [row.data[name] for name in ("worker", "question", "response")]


FORMATS = (
    "Excel, OpenDocument, CSV in whatever form your spreadsheet saves it, TSV and JSON are read; "
    "the columns are shown before anything is imported. "
)

WORKERS = Importer(
    Upload.Kind.WORKERS,
    "worker",
    "Import workers",
    FORMATS
    + "MTurk's worker file and batch results, Prolific's exports and plain lists of ids are "
    "known. In a file of your own the first line names the columns: worker (the name your platform "
    "knows them by) and, if you like, name and email. Every further column is kept as an "
    "attribute.",
    "worker,name,country\nA1B2C3,Ada,UK\nD4E5F6,Grace,US",
    ["worker", "name", "e-mail", "attributes"],
    "selection.change_pool",
    _import_workers,
    _worker_cells,
)


QUESTIONS = Importer(
    Upload.Kind.QUESTIONS,
    "question",
    "Import gold questions",
    FORMATS
    + "Label Studio's JSON (its ground truth) and Toloka-style TSV (GOLDEN:…) are known. In a "
    "file of your own the first line names the columns: question (a name of your own), prompt "
    "(what the worker reads), answer and, if you like, choices. Separate several accepted "
    "answers, and the choices, with |. Without choices the worker types the answer. A column "
    "kind says what the worker does: single or multiple (all that apply), order (the answer is "
    "the choices in the right order), text, number; tolerance, of a number: 0.01 or 5%. A column "
    "grading says how texts are compared, where capitals and spacing matter or accents do not: "
    "exact, case, spaces, no accents.",
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
    FORMATS
    + "MTurk's batch results, Toloka-style TSV and Label Studio's JSON are known. In a file "
    "of your own the first line names the columns: worker, question and response (or worker, task "
    "and label); or it is a survey, with a row for each worker and a column for each question, "
    "called as the question or by its text. Workers and questions must be those of this run.",
    "worker,question,response\nA1B2C3,q1,yes\nD4E5F6,q1,no",
    ["worker", "question", "response"],
    "selection.change_run",
    _import_answers,
    _answer_cells,
)


def count_noun(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
