"""Answers with their key: in two files, in one, or in a file and a question set."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from selection.answers.recording import outside_choices
from selection.errors import Refused
from selection.grading import numbers, rules
from selection.grading.recognition import find_notation, recognise_comparison
from selection.limits import MOST_OF_THE_PAST
from selection.models import Question
from selection.texts import counted

from . import (
    column_patterns,
    column_plan,
    column_words,
    gold_cells,
    key_readings,
    platforms,
    row_parsers,
    score_tables,
    surveys,
)
from .column_plan import ColumnPlan
from .readers import Table, read_table
from .readers.results import Choice, Picked, describe
from .row_parsers import AnswerRow, BadRow, QuestionRow
from .uploads import refuse_large

NO_KEY = (
    "{name} has no column with the correct answers, such as “gold”. Add a file with the key (task, "
    "label), or choose a question set."
)


class FaultyRows(Refused):
    """A refusal of rows that may be left out on request."""

    def __init__(self, name: str, rows: Sequence[BadRow]) -> None:
        more = f" ({len(rows) - 1} more lines are bad)" if len(rows) > 1 else ""
        super().__init__(f"{name}, line {rows[0].line}: {rows[0].why.rstrip('.')}{more}.")
        self.name, self.rows = name, rows


_DECIMAL = re.compile(r"[.,]\d*[1-9]")
_MANY = 10  # answers, of which some are right
Key = dict[str, QuestionRow]


@dataclass(frozen=True)
class File:
    """An uploaded file.

    name  for refusals
    plan  its columns as a person chose them, or only its header; None: they are recognised
    picked     results of models that a person chose, by the name of the choice
    leave_out  True if rows with an error are left out
    alone      True if there is no other file with the key
    """

    name: str
    content: bytes
    plan: ColumnPlan | None = None
    picked: Picked = field(default_factory=dict)
    leave_out: bool = False
    alone: bool = False

    @property
    def chosen(self) -> ColumnPlan | None:
        return self.plan if self.plan and not self.plan.missing_fields() else None


def read_upload(file: Any) -> File | None:
    """Read an uploaded file; None without one. Raises Refused if it is too large to read."""
    if not file:
        return None
    refuse_large(file.name, file.size)
    return File(file.name[:200], file.read())


@dataclass(frozen=True)
class KeyedAnswers:
    """Graded answers, and the key of their questions.

    answers   one for each worker and question
    grades    of the answers, from 0 to 1
    left_out  number of answers to questions without a key
    idle      number of workers without an answer to a question of the key
    repeated  number of further answers of a worker to a question: the first counts
    bad       number of rows with an error that were left out on request
    choices   between several results of a model for a question
    unread    columns that were not read, of the answers and of the key
    """

    answers: list[AnswerRow]
    grades: list[float]
    key: Key
    left_out: int = 0
    idle: int = 0
    repeated: int = 0
    bad: int = 0
    choices: Sequence[Choice] = ()
    unread: Sequence[str] = ()

    @property
    def rows(self) -> list[tuple[str, str, float]]:
        pairs = zip(self.answers, self.grades, strict=True)
        return [(row.worker, row.question, grade) for row, grade in pairs]


def read_keyed_answers(answers: File, key: File | Key | None) -> KeyedAnswers:
    """Read the graded answers of a file. Raises Refused, with file and line.

    key  a file, the questions by their id, or None if the file of answers has it
    """
    answers = replace(answers, alone=key is None)
    if isinstance(key, File):
        key_name, questions = key.name, read_key(key)
    else:
        key_name, questions = "the key", read_key_within(answers) if key is None else key
    table, first, repeated, faults = _parse_answers(answers, questions)
    unread = _unread_columns(answers, key, questions)
    graded = _select_known(first, questions)
    idle = {row.worker for row in first} - {row.worker for row in graded}
    fitted, outside = _fit_answers(graded, questions)
    bad = sorted(faults + outside, key=lambda row: row.line)
    if bad and not answers.leave_out:
        raise FaultyRows(answers.name, bad)
    if not fitted:
        raise Refused(
            f"{answers.name} has no answer to a question of {key_name}: its first question is "
            f"“{first[0].question}”, and the first in the key is “{next(iter(questions))}”."
            if first
            else f"{answers.name} has no answers below its header."
        )
    grades = _grade_answers(fitted, questions, answers)
    _refuse_all_wrong(fitted, grades, questions, answers, table.choices)
    counts = (len(first) - len(graded), len(idle), repeated, len(bad))
    return KeyedAnswers(fitted, grades, questions, *counts, table.choices, unread)


def _unread_columns(answers: File, key: File | Key | None, questions: Key) -> list[str]:
    """List the columns that were not read, of the answers and of the key."""
    table, plan = open_table(answers), plan_answers(answers, questions)
    used = [] if key is not None else [*plan_keyed(answers).fields.values()]
    unread = [c for c in plan.unread_columns(table.header) if c not in used] + table.unread
    if isinstance(key, File):
        plan = plan_key(key)
        unread += plan.unread_columns(open_table(key, plan.kind).header)
    return list(dict.fromkeys(unread))


def _select_known(rows: Sequence[AnswerRow], questions: Key) -> list[AnswerRow]:
    columns = {"worker": [row.worker for row in rows], "task": [row.question for row in rows]}
    columns["answer"] = [row.response for row in rows]
    row_parsers.refuse_swapped("task", set(questions), columns, "the questions of the key")
    known = [row for row in rows if row.question in questions]
    texts = {text for q in questions.values() for text in (*q.accepted, *q.choices)}
    columns = {"answer": [row.response for row in known], "worker": [row.worker for row in known]}
    row_parsers.refuse_swapped("answer", texts, columns, "answers of the key")
    return known


def _fit_answers(rows: Sequence[AnswerRow], questions: Key) -> tuple[list[AnswerRow], list[BadRow]]:
    fitted: list[AnswerRow] = []
    outside: list[BadRow] = []
    for row in rows:
        question = questions[row.question]
        way = (question.choices, question.grading)
        response = gold_cells.fit_response(row.response, *way)
        if gold_cells.is_missing(response) and not _is_known(question, response):
            why = f"“{row.response}” stands for a missing answer."
            outside.append(BadRow(row.line, why))
        elif rules.is_possible_answer(question.choices, response, question.grading):
            fitted.append(replace(row, response=response))
        else:
            kind = rules.kind_of(*way)
            outside.append(BadRow(row.line, str(outside_choices(way[0], response, kind))))
    return fitted, outside


def _is_known(question: QuestionRow, response: str) -> bool:
    """Tell if the response is a choice or an accepted answer, such as “None”."""
    return rules.is_match([*question.choices, *question.accepted], response)


def _grade_answers(rows: Sequence[AnswerRow], questions: Key, file: File) -> list[float]:
    """Grade each answer: 1 if right, 0 if wrong, or the score. Raises Refused, with line."""
    several = {key for key, question in questions.items() if len(question.accepted) > 1}
    ticked = any(rules.SEPARATOR in row.response for row in rows if row.question in several)
    return [_grade_answer(questions[row.question], row, file.name, ticked) for row in rows]


def _refuse_all_wrong(
    rows: Sequence[AnswerRow],
    grades: Sequence[float],
    questions: Key,
    file: File,
    choices: Sequence[Choice],
) -> None:
    """Raise Refused for many answers of which none is right, unless a person chose them."""
    if len(rows) < _MANY or any(grades) or file.picked:
        return
    none = f"{file.name}: not one of {counted(len(rows), 'answer')} is right"
    if choices:
        raise Refused(f"{none}: {describe(choices)}.")
    raise Refused(
        f"{none}. The first is “{rows[0].response}”, and the key has "
        f"“{questions[rows[0].question].accepted[0]}”: the answers and the key seem to be written "
        "in different ways, or another column has the answers."
    )


def open_choices(choices: Sequence[Choice], file: File) -> list[Choice]:
    return [choice for choice in choices if choice.name not in file.picked]


def refuse_open_choices(keyed: KeyedAnswers, file: File) -> None:
    if chosen := open_choices(keyed.choices, file):
        raise Refused(f"{file.name} has several results for each answer: {describe(chosen)}.")


def _grade_answer(question: QuestionRow, row: AnswerRow, name: str, ticked: bool) -> float:
    accepted, response, grading = question.accepted, row.response, question.grading
    if accepted != [numbers.KEY]:
        if not question.choices and not grading:
            accepted = [gold_cells.whole_number(text) for text in accepted]
            response = gold_cells.whole_number(response)
            grading = {"multiple": True} if ticked and len(accepted) > 1 else {}
        return float(rules.is_match(accepted, response, grading, question.choices))
    try:
        return numbers.parse_score(response)
    except ValueError:
        raise Refused(
            f"{name}, line {row.line}: “{response}” is not {numbers.KEY}; write it as in 0.73."
        ) from None


def key_of_questions(questions: Iterable[Question]) -> Key:
    return {
        q.key: QuestionRow(0, q.key, q.prompt, q.accepted, q.choices, q.grading) for q in questions
    }


# -- the key


def plan_key(file: File) -> ColumnPlan:
    """Plan the columns of a key: chosen, of gold questions, or of known answers."""
    plan = file.chosen or recognise_columns(file, column_plan.QUESTIONS)
    if plan.missing_fields():
        return recognise_columns(file, column_plan.GOLD)
    if plan.kind != column_plan.QUESTIONS:
        return plan
    readings = row_parsers.find_readings(open_table(file, plan.kind), plan)
    reading = key_readings.find_name(file.picked.get("reading", ""))
    return replace(plan, reading=reading, readings=readings if len(readings) > 1 else {})


def read_key(file: File) -> Key:
    """Read the key in a file of known answers or of gold questions. Raises Refused."""
    plan = plan_key(file)
    return _collect_key(file, plan)


def plan_keyed(file: File) -> ColumnPlan:
    """Plan a file of answers that has its own key, perhaps with fields missing."""
    if file.chosen:
        return file.chosen
    plan = recognise_columns(file, column_plan.QUESTIONS)
    if plan.only and not plan.missing_fields():
        return plan
    answers = recognise_columns(file, column_plan.ANSWERS)
    fields = {name: column for name, column in answers.fields.items() if name != "skill"}
    header = open_table(file).header
    response = column_words.fold(fields.get("response", ""))
    pair = platforms.find_column(header, [re.escape(f"{response}gold")]) if response else ""
    if known := pair or _find_known_column(header, list(answers.fields.values())):
        fields["answer"] = known
    return replace(answers, kind=column_plan.KEYED, fields=fields)


def _find_known_column(header: Sequence[str], used: Sequence[str]) -> str:
    """Find the column with the correct answers; "" if there is none, or two with vague names."""
    clear = platforms.find_column(header, [column_patterns.KNOWN], used)
    free = [column for column in header if column not in used]
    vague = [name for name in free if re.fullmatch(column_words.TRUE, column_words.fold(name))]
    return clear or (vague[0] if len(vague) == 1 else "")


def read_key_within(file: File) -> Key:
    """Read the key that the file of answers has itself. Raises Refused if it has none."""
    plan = plan_keyed(file)
    if plan.kind == column_plan.QUESTIONS:
        return _collect_key(file, plan)
    table = open_table(file)
    platforms.refuse_missing(_drop_key(plan), table.header, file.name, table.line)
    if plan.missing_fields():
        raise Refused(NO_KEY.format(name=file.name))
    return _collect_key(file, plan)


def _drop_key(plan: ColumnPlan) -> ColumnPlan:
    fields = {name: column for name, column in plan.fields.items() if name != "answer"}
    return replace(plan, kind=column_plan.ANSWERS, fields=fields)


def _collect_key(file: File, plan: ColumnPlan) -> Key:
    key: Key = {}
    bad: list[BadRow] = []
    table = open_table(file, plan.kind)
    platforms.refuse_missing(plan, table.header, file.name, table.line)
    for _, row in row_parsers.parse_rows(table, plan):
        if isinstance(row, QuestionRow):
            fault = _add_question(key, row)
            if fault and plan.kind == column_plan.KEYED:
                raise Refused(f"{file.name}, line {row.line}: {fault}")
            bad += [BadRow(row.line, fault)] if fault else []
        elif isinstance(row, BadRow):
            bad.append(row)
    # Of a file that has both, the reader of the answers lists the bad rows.
    if bad and not file.leave_out and not (key and plan.kind == column_plan.KEYED):
        raise FaultyRows(file.name, bad)
    if not key:
        raise Refused(
            f"{file.name}: the column “{plan.fields['answer']}” is empty. It must hold the correct "
            "answers."
            if plan.kind == column_plan.KEYED
            else f"{file.name} has no line below the header: add a line for each known answer."
        )
    return key if plan.kind == column_plan.QUESTIONS else _recognise_comparisons(key)


def _recognise_comparisons(key: Key) -> Key:
    """Compare prices, dates and times in any notation; whole numbers may be labels."""
    answers = [answer for question in key.values() for answer in question.accepted]
    notation = replace(find_notation(answers), numeric=False)
    compared: Key = {}
    for name, question in key.items():
        grading, accepted = recognise_comparison(question.accepted, notation)
        plain = grading == {"number": True} and not any(map(_DECIMAL.search, accepted))
        compared[name] = (
            question if plain else replace(question, accepted=accepted, grading=grading)
        )
    return compared


def _add_question(key: Key, row: QuestionRow) -> str:
    """Add a question; return the fault if it has another correct answer in an earlier line."""
    first = key.setdefault(row.question, row)
    if first.accepted == row.accepted:
        return ""
    return f"“{row.question}” has another correct answer than in line {first.line}."


# -- the answers


def plan_answers(file: File, questions: Mapping[str, QuestionRow]) -> ColumnPlan:
    """Plan a file of answers to these questions, perhaps with fields missing."""
    if file.chosen:
        return _drop_key(file.chosen)
    plan = recognise_columns(file, column_plan.ANSWERS)
    if plan.missing_fields():
        survey = plan_survey(file, questions)
        plan = survey if survey.questions else plan
    return plan


def plan_survey(file: File, questions: Mapping[str, QuestionRow]) -> ColumnPlan:
    """Plan a survey with these questions, perhaps without any."""
    names = surveys.question_names((q.question, q.prompt, q.choices) for q in questions.values())
    table = open_table(file)
    header = table.line if table.titled else 0
    first = [cells for _, cells in islice(table.rows, 2)]
    return replace(surveys.plan_survey(table.header, names, first), header=header)


def _parse_answers(
    file: File, questions: Mapping[str, QuestionRow]
) -> tuple[Table, list[AnswerRow], int, list[BadRow]]:
    """Parse the table, the first answer of each worker to each question, and the other rows.

    These are the number of further answers, and the faulty rows.
    """
    table, plan = open_table(file), plan_answers(file, questions)
    platforms.refuse_missing(plan, table.header, file.name, table.line)
    rows = [row for _, row in row_parsers.parse_rows(table, plan)]
    answers = [row for row in rows if isinstance(row, AnswerRow)]
    first: dict[tuple[str, str], AnswerRow] = {}
    for row in answers:
        first.setdefault((row.worker, row.question), row)
    faults = [row for row in rows if isinstance(row, BadRow)]
    return table, list(first.values()), len(answers) - len(first), faults


# -- the file


def recognise_columns(file: File, kind: str) -> ColumnPlan:
    """Find the likeliest plan for a file of this kind. Raises Refused if it is unreadable."""
    table = open_table(file, kind)
    plan = platforms.recognise_columns(kind, table.header)
    return replace(plan, header=table.line if table.titled else 0)


def open_table(file: File, kind: str = column_plan.ANSWERS) -> Table:
    """Open the file's table, its header as chosen or as columns of this kind suggest."""
    kind = column_plan.ANSWERS if kind == column_plan.KEYED else kind
    fits = None if file.plan else platforms.header_test(kind)
    header = file.plan.header if file.plan else 0
    most = MOST_OF_THE_PAST
    picked = file.picked
    table = read_table(file.content, file.name, "", most, header, fits, True, picked)
    if not file.alone or file.plan or table.choices:
        return table
    rows = list(table.rows)
    found = score_tables.find_scores(table, rows, picked)
    table = replace(table, rows=iter(rows))
    return table.hold_results(*found, between=True, picked=picked) if found else table
