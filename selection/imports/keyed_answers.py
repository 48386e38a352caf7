"""Answers with their key: in two files, in one, or in a file and a question set."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from selection.errors import Refused
from selection.grading import rules, scores
from selection.limits import MOST_OF_THE_PAST
from selection.models import Question, plain_key

from . import column_patterns, column_plan, column_words, platforms, row_parsers, surveys
from .column_plan import ColumnPlan
from .past_answers import select_known, take_first_answers
from .readers import Table, read_table
from .row_parsers import AnswerRow, BadRow, QuestionRow
from .uploads import refuse_large

NO_KEY = (
    "{name} has no column with the correct answers, such as “gold”. Add a file with the key (task, "
    "label), or choose a question set."
)

Key = dict[str, QuestionRow]


@dataclass(frozen=True)
class File:
    """An uploaded file.

    name  for refusals
    plan  its columns as a person chose them, or only its header; None: they are recognised
    leave_out  True if rows with an error, such as blank answers, are left out
    """

    name: str
    content: bytes
    plan: ColumnPlan | None = None
    leave_out: bool = False

    @property
    def chosen(self) -> ColumnPlan | None:
        """Return the plan if it has all columns, else None."""
        return self.plan if self.plan and not self.plan.missing_fields() else None


def read_upload(file: Any) -> File | None:
    """Return an uploaded file; None without one. Raises Refused if it is too large to read."""
    if not file:
        return None
    refuse_large(file.name, file.size)
    return File(file.name[:200], file.read())


@dataclass(frozen=True)
class KeyedAnswers:
    """Graded answers, and the key of their questions.

    rows      (worker, question, grade from 0 to 1), one for each worker and question
    left_out  number of answers to questions without a key
    idle      number of workers without an answer to a question of the key
    repeated  number of further answers of a worker to a question: the first counts
    """

    rows: list[tuple[str, str, float]]
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
    parsed, faults = _parse_answers(answers, questions)
    if answers.leave_out:
        faults = [row for row in faults if row.repeats]
    rows, repeated = take_first_answers(parsed, faults, answers.name)
    graded, left_out, idle = select_known(rows, questions, "the questions of the key")
    if not graded:
        raise Refused(
            f"{answers.name} has no answer to a question of {key_name}: its first question is "
            f"“{rows[0].question}”, and the first in the key is “{next(iter(questions))}”."
            if rows
            else f"{answers.name} has no answers below its header."
        )
    return KeyedAnswers(
        [
            (row.worker, row.question, _grade_answer(questions[row.question], row, answers.name))
            for row in graded
        ],
        questions,
        left_out,
        idle,
        repeated,
    )


def _grade_answer(question: QuestionRow, row: AnswerRow, name: str) -> float:
    """Return 1 for a right answer, 0 for a wrong one, or the score. Raises Refused, with line."""
    if question.accepted != [scores.KEY]:
        return float(rules.is_match(question.accepted, row.response, question.grading))
    try:
        return scores.parse_score(row.response)
    except ValueError:
        raise Refused(
            f"{name}, line {row.line}: “{row.response}” is not {scores.KEY}; write it as in 0.73."
        ) from None


def key_of_questions(questions: Iterable[Question]) -> Key:
    """Return the key of stored questions."""
    return {
        q.key: QuestionRow(0, q.key, q.prompt, q.accepted, q.choices, q.grading) for q in questions
    }


# -- the key


def plan_key(file: File) -> ColumnPlan:
    """Return the plan of a key: chosen, of gold questions, or of known answers."""
    if file.chosen:
        return file.chosen
    plan = recognise_columns(file, column_plan.QUESTIONS)
    return recognise_columns(file, column_plan.GOLD) if plan.missing_fields() else plan


def read_key(file: File) -> Key:
    """Return the key in a file of known answers or of gold questions. Raises Refused."""
    plan = plan_key(file)
    if plan.kind == column_plan.QUESTIONS:
        return _collect_key(file, plan)
    if file.plan and not plan.missing_fields():
        return _read_key_column(file, plan)
    labels = row_parsers.parse_gold(file.content, file.name)
    return {task: _plain_question(task, label) for task, label in labels.items()}


def plan_keyed(file: File) -> ColumnPlan:
    """Return the plan of a file of answers that has its own key, perhaps with fields missing."""
    if file.chosen:
        return file.chosen
    plan = recognise_columns(file, column_plan.QUESTIONS)
    if plan.only and not plan.missing_fields():
        return plan
    answers = recognise_columns(file, column_plan.ANSWERS)
    fields = {name: column for name, column in answers.fields.items() if name != "skill"}
    header = open_table(file).header
    if known := _find_known_column(header, list(answers.fields.values())):
        fields["answer"] = known
    return replace(answers, kind=column_plan.KEYED, fields=fields)


def _find_known_column(header: Sequence[str], used: Sequence[str]) -> str:
    """Return the column with the correct answers; "" if there is none, or two with vague names."""
    clear = platforms.find_column(header, [column_patterns.KNOWN], used)
    free = [column for column in header if column not in used]
    vague = [name for name in free if re.fullmatch(column_words.TRUE, column_words.fold(name))]
    return clear or (vague[0] if len(vague) == 1 else "")


def read_key_within(file: File) -> Key:
    """Return the key that the file of answers has itself. Raises Refused if it has none."""
    plan = plan_keyed(file)
    if plan.kind == column_plan.QUESTIONS:
        return _collect_key(file, plan)
    table = open_table(file)
    platforms.refuse_missing(_drop_key(plan), table.header, file.name, table.line)
    if plan.missing_fields():
        raise Refused(NO_KEY.format(name=file.name))
    return _read_key_column(file, plan)


def _drop_key(plan: ColumnPlan) -> ColumnPlan:
    """Return the plan of the answers alone."""
    fields = {name: column for name, column in plan.fields.items() if name != "answer"}
    return replace(plan, kind=column_plan.ANSWERS, fields=fields)


def _collect_key(file: File, plan: column_plan.ColumnPlan) -> Key:
    key: Key = {}
    for _, row in row_parsers.parse_rows(open_table(file, column_plan.QUESTIONS), plan):
        if isinstance(row, BadRow):
            raise Refused(f"{file.name}, line {row.line}: {row.why}")
        if isinstance(row, QuestionRow):
            _add_question(key, row, file.name)
    if not key:
        raise Refused(f"{file.name} has no known answer below its header.")
    return key


def _read_key_column(file: File, plan: ColumnPlan) -> Key:
    table, column = open_table(file), plan.fields["answer"]
    key: Key = {}
    places = table.header.index(plan.fields["question"]), table.header.index(column)
    for line, cells in table.rows:
        task, label = (row_parsers.restore_defused(cells[place]) for place in places)
        if task and label:
            _add_question(key, replace(_plain_question(task, label), line=line), file.name)
    if not key:
        raise Refused(
            f"{file.name}: the column “{column}” is empty. It must hold the correct answers."
        )
    return key


def _add_question(key: Key, row: QuestionRow, name: str) -> None:
    first = key.setdefault(row.question, row)
    if first.accepted != row.accepted:
        raise Refused(
            f"{name}, line {row.line}: “{row.question}” has another correct answer than in line "
            f"{first.line}."
        )


def _plain_question(task: str, label: str) -> QuestionRow:
    return QuestionRow(0, plain_key(task), task, [label], [])


# -- the answers


def plan_answers(file: File, questions: Mapping[str, QuestionRow]) -> ColumnPlan:
    """Return the plan of a file of answers to these questions, perhaps with fields missing."""
    if file.chosen:
        return _drop_key(file.chosen)
    plan = recognise_columns(file, column_plan.ANSWERS)
    if plan.missing_fields():
        survey = plan_survey(file, questions)
        plan = survey if survey.questions else plan
    return plan


def plan_survey(file: File, questions: Mapping[str, QuestionRow]) -> ColumnPlan:
    """Return the plan of a survey with these questions, perhaps without any."""
    names = surveys.question_names((q.question, q.prompt) for q in questions.values())
    table = open_table(file)
    header = table.line if table.titled else 0
    first = [cells for _, cells in islice(table.rows, 2)]
    return replace(surveys.plan_survey(table.header, names, first), header=header)


def _parse_answers(
    file: File, questions: Mapping[str, QuestionRow]
) -> tuple[list[AnswerRow], list[BadRow]]:
    """Return the first answer of each worker to each question, and the faulty rows."""
    table, plan = open_table(file), plan_answers(file, questions)
    platforms.refuse_missing(plan, table.header, file.name, table.line)
    return row_parsers.first_answers(row for _, row in row_parsers.parse_rows(table, plan))


# -- the file


def recognise_columns(file: File, kind: str) -> ColumnPlan:
    """Return the likeliest plan for a file of this kind. Raises Refused if it is unreadable."""
    table = open_table(file, kind)
    plan = platforms.recognise_columns(kind, table.header)
    return replace(plan, header=table.line if table.titled else 0)


def open_table(file: File, kind: str = column_plan.ANSWERS) -> Table:
    """Return the file's table, its header as chosen or as columns of this kind suggest."""
    fits = None if file.plan else platforms.header_test(kind)
    header = file.plan.header if file.plan else 0
    most = MOST_OF_THE_PAST
    return read_table(file.content, file.name, "", most, header, fits, between=True)
