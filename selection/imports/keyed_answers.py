"""Answers with their key: in two files, in one, or in a file and a question set."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from selection.errors import Refused
from selection.grading import rules
from selection.limits import MOST_OF_THE_PAST
from selection.models import Question, plain_key

from . import column_plan, column_words, platforms, row_parsers, surveys
from .past_answers import select_known, take_first_answers
from .readers import Table, read_table
from .row_parsers import AnswerRow, BadRow, QuestionRow
from .uploads import refuse_large

_KNOWN = f"gold|goldlabel|correct|correctanswer|groundtruth|truth|expected|{column_words.CORRECT}"
NO_KEY = (
    "{name} has no column with the known answers, such as “gold”: add a file with the key (task, "
    "label), or choose a question set."
)

Key = dict[str, QuestionRow]


@dataclass(frozen=True)
class File:
    """An uploaded file; ``name`` is for refusals."""

    name: str
    content: bytes


def read_upload(file: Any) -> File | None:
    """Return an uploaded file; None without one. Raises Refused if it is too large to read."""
    if not file:
        return None
    refuse_large(file.name, file.size)
    return File(file.name[:200], file.read())


@dataclass(frozen=True)
class KeyedAnswers:
    """Graded answers, and the key of their questions.

    rows      (worker, question, True if right), one for each worker and question
    left_out  number of answers to questions without a key
    idle      number of workers without an answer to a question of the key
    repeated  number of further answers of a worker to a question: the first counts
    """

    rows: list[tuple[str, str, bool]]
    key: Key
    left_out: int = 0
    idle: int = 0
    repeated: int = 0


def read_keyed_answers(answers: File, key: File | Key | None) -> KeyedAnswers:
    """Return the graded answers of a file. Raises Refused, with file and line.

    key  a file, the questions by their id, or None if the file of answers has it
    """
    if isinstance(key, File):
        key_name, questions = key.name, read_key(key)
    else:
        key_name, questions = "the key", read_key_within(answers) if key is None else key
    rows, repeated = take_first_answers(*_parse_answers(answers, questions), answers.name)
    graded, left_out, idle = select_known(rows, questions, "the questions of the key")
    if not graded:
        raise Refused(
            f"{answers.name} has no answer to a question of {key_name}: its first question is "
            f"“{rows[0].question}”, and the first in the key is “{next(iter(questions))}”."
            if rows
            else f"{answers.name} has no answers below its header."
        )
    return KeyedAnswers(
        [(row.worker, row.question, _is_right(questions[row.question], row)) for row in graded],
        questions,
        left_out,
        idle,
        repeated,
    )


def _is_right(question: QuestionRow, row: AnswerRow) -> bool:
    return rules.is_match(question.accepted, row.response, question.grading)


def key_of_questions(questions: Iterable[Question]) -> Key:
    """Return the key of stored questions."""
    return {
        q.key: QuestionRow(0, q.key, q.prompt, q.accepted, q.choices, q.grading) for q in questions
    }


# -- the key


def read_key(file: File) -> Key:
    """Return the key in a file of known answers or of gold questions. Raises Refused."""
    plan = platforms.recognise_columns(column_plan.QUESTIONS, _open_table(file).header)
    if plan.missing_fields():
        labels = row_parsers.parse_gold(file.content, file.name)
        return {task: _plain_question(task, label) for task, label in labels.items()}
    return _collect_key(file, plan)


def read_key_within(file: File) -> Key:
    """Return the key that the file of answers has itself. Raises Refused if it has none."""
    table = _open_table(file)
    plan = platforms.recognise_columns(column_plan.QUESTIONS, table.header)
    if plan.only and not plan.missing_fields():
        return _collect_key(file, plan)
    answers = platforms.recognise_columns(column_plan.ANSWERS, table.header)
    platforms.refuse_missing(answers, table.header, file.name, table.line)
    column = platforms.find_column(table.header, [_KNOWN], list(answers.fields.values()))
    if not column:
        raise Refused(NO_KEY.format(name=file.name))
    return _read_key_column(file, table, answers.fields["question"], column)


def _collect_key(file: File, plan: column_plan.ColumnPlan) -> Key:
    key: Key = {}
    for _, row in row_parsers.parse_rows(_open_table(file, column_plan.QUESTIONS), plan):
        if isinstance(row, BadRow):
            raise Refused(f"{file.name}, line {row.line}: {row.why}")
        if isinstance(row, QuestionRow):
            _add_question(key, row, file.name)
    if not key:
        raise Refused(f"{file.name} has no known answer below its header.")
    return key


def _read_key_column(file: File, table: Table, question: str, column: str) -> Key:
    key: Key = {}
    places = table.header.index(question), table.header.index(column)
    for line, cells in table.rows:
        task, label = (row_parsers.restore_defused(cells[place]) for place in places)
        if task and label:
            _add_question(key, replace(_plain_question(task, label), line=line), file.name)
    if not key:
        raise Refused(f"{file.name}: the column “{column}” is empty; it must have known answers.")
    return key


def _add_question(key: Key, row: QuestionRow, name: str) -> None:
    first = key.setdefault(row.question, row)
    if first.accepted != row.accepted:
        raise Refused(
            f"{name}, line {row.line}: “{row.question}” has another known answer than in line "
            f"{first.line}."
        )


def _plain_question(task: str, label: str) -> QuestionRow:
    return QuestionRow(0, plain_key(task), task, [label], [])


# -- the answers


def _parse_answers(
    file: File, questions: Mapping[str, QuestionRow]
) -> tuple[list[AnswerRow], list[BadRow]]:
    """Return the first answer of each worker to each question, and the faulty rows."""
    table = _open_table(file)
    plan = platforms.recognise_columns(column_plan.ANSWERS, table.header)
    if plan.missing_fields():
        names = surveys.question_names((q.question, q.prompt) for q in questions.values())
        first = [cells for _, cells in islice(_open_table(file).rows, 2)]
        survey = surveys.plan_survey(table.header, names, first)
        plan = survey if survey.questions and not survey.missing_fields() else plan
    platforms.refuse_missing(plan, table.header, file.name, table.line)
    return row_parsers.first_answers(row for _, row in row_parsers.parse_rows(table, plan))


def _open_table(file: File, kind: str = column_plan.ANSWERS) -> Table:
    return read_table(
        file.content, file.name, most_rows=MOST_OF_THE_PAST, fits=platforms.header_test(kind)
    )
