"""What each kind of file is good for: what would become of its rows, and how to take them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from selection import intake
from selection.intake import catalog, files
from selection.intake.answers import Outside
from selection.intake.files import BadRow
from selection.models import Pool, QuestionSet, Run, Upload, grading

ROWS_SHOWN = 10


@dataclass(frozen=True)
class Preview:
    """What would become of a file.

    count     rows that would be taken
    words     what would happen to them
    rows      the first of them, as texts in the order of the importer's columns
    problems  rows that would not be taken
    take      does it
    outside   how many rows answer none of their question's choices
    """

    count: int
    words: str
    rows: list[Sequence[str]]
    problems: list[BadRow]
    take: Callable[[], object]
    outside: int = 0


@dataclass(frozen=True)
class Importer:
    """A kind of file: what it looks like and what it is good for."""

    kind: Upload.Kind
    noun: str
    title: str
    format: str
    example: str
    columns: list[str]
    permission: str
    preview: Callable[[Any, str, str, Outside], Preview]


def preview_workers(pool: Pool, text: str, name: str, _: Outside) -> Preview:
    rows, problems = files.workers(text, name)
    catalog.refuse_swapped_workers(pool, rows)
    there = set(pool.workers.values_list("key", flat=True))
    known = sum(row.worker in there for row in rows)
    fate = "who are in it already would get the name and attributes given here"
    return Preview(
        len(rows),
        _joining(len(rows) - known, "new worker", f"the pool “{pool}”", known, fate),
        [(row.worker, row.name, _attributes(row.attributes)) for row in rows[:ROWS_SHOWN]],
        problems,
        lambda: catalog.take_workers(pool, rows),
    )


def _joining(new: int, noun: str, where: str, known: int, fate: str) -> str:
    """fate: what becomes of those that are there already"""
    more = f", and {known} {fate}" if known else ""
    return f"{counted(new, noun)} would join {where}{more}."


def preview_questions(question_set: QuestionSet, text: str, name: str, _: Outside) -> Preview:
    parsed, problems = files.questions(text, name)
    rows, asked = catalog.sort_questions(question_set, parsed)
    there = set(question_set.questions.values_list("key", flat=True))
    known = sum(row.question in there for row in rows)
    fate = "that are in it already would be replaced"
    return Preview(
        len(rows),
        _joining(len(rows) - known, "new question", f"the set “{question_set}”", known, fate),
        [
            (
                row.question,
                row.prompt,
                " | ".join(row.accepted),
                " | ".join(row.choices),
                grading.words(row.grading),
            )
            for row in rows[:ROWS_SHOWN]
        ],
        _in_order(problems, asked),
        lambda: catalog.take_questions(question_set, rows),
    )


def preview_answers(run: Run, text: str, name: str, outside: Outside) -> Preview:
    rows, problems = files.answers(text, name)
    sorting = intake.sort(run, rows, outside)
    bad = {problem.line for problem in sorting.problems}
    good = [row for row in rows if row.line not in bad]
    words = (
        f"{counted(len(sorting.answers), 'answer')} to questions that are out now would count at "
        f"once; {counted(len(sorting.recorded), 'answer')} would wait until the algorithm asks "
        "that worker that question."
    )
    return Preview(
        sorting.taken,
        words,
        [(row.worker, row.question, row.response) for row in good[:ROWS_SHOWN]],
        _in_order(problems, sorting.problems),
        lambda: intake.take(run, sorting),
        sorting.outside,
    )


WORKERS = Importer(
    Upload.Kind.WORKERS,
    "worker",
    "Import workers",
    "The first line names the columns: worker (the name your platform knows them by) and, if you "
    "like, name. Every further column is kept as an attribute of the worker.",
    "worker,name,country\nA1B2C3,Ada,UK\nD4E5F6,Grace,US",
    ["worker", "name", "attributes"],
    "selection.change_pool",
    preview_workers,
)


QUESTIONS = Importer(
    Upload.Kind.QUESTIONS,
    "question",
    "Import gold questions",
    "The first line names the columns: question (a name of your own), prompt (what the worker "
    "reads), answer and, if you like, choices. Separate several accepted answers, and the "
    "choices, with |. Without choices the worker types the answer. A column kind says what the "
    "worker does: single or multiple (all that apply), order (the answer is the choices in the "
    "right order), text, number; tolerance, of a number: 0.01 or 5%. A column grading says how "
    "texts are compared, where capitals and spacing matter or accents do not: exact, case, "
    "spaces, no accents.",
    "question,prompt,answer,choices,kind,tolerance\n"
    "q1,Is this a bird? https://example.org/1.jpg,yes,yes|no,,\n"
    "q2,What is the capital of France?,Paris|paris city,,,\n"
    "q3,How long is it in metres?,3.5,,number,0.1\n"
    "q4,Which of these can fly?,gull|bat,gull|bat|whale,multiple,",
    ["question", "prompt", "answer", "choices", "grading"],
    "selection.change_questionset",
    preview_questions,
)


ANSWERS = Importer(
    Upload.Kind.ANSWERS,
    "answer",
    "Import answers",
    "The first line names the columns: worker, question and response (or worker, task and label). "
    "Workers and questions must be those of this run.",
    "worker,question,response\nA1B2C3,q1,yes\nD4E5F6,q1,no",
    ["worker", "question", "response"],
    "selection.change_run",
    preview_answers,
)


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _attributes(attributes: dict[str, str]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in attributes.items())


def _in_order(*lists: list[BadRow]) -> list[BadRow]:
    return sorted((problem for problems in lists for problem in problems), key=lambda p: p.line)
