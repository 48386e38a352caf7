"""Parse the rows of files into workers, questions and answers."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from django.core import validators
from django.core.exceptions import ValidationError

from selection.errors import Refused
from selection.grading import question_kinds
from selection.grading.keys import shorten_key
from selection.limits import LONGEST_EMAIL, LONGEST_KEY, MOST_ROWS
from selection.models import Attributes, find_invisible, plain_key

from . import column_plan, gold_cells
from .column_plan import ColumnPlan
from .readers import Row, Table

_TEXT_FORMULA = re.compile(r'="(.*)"', re.S)
_QUOTED = re.compile(r"'+\s*[=+\-@\t\r]")

# Characters that change the direction of the text.
_TURNING = re.compile("[\u202a-\u202e]")
# Prolific's words in place of what participants no longer share.
_WITHDRAWN = ("DATA_EXPIRED", "CONSENT_REVOKED", "DATA EXPIRED", "CONSENT REVOKED")
_ROUNDED = re.compile(r"\d([.,]\d+)?E\+\d+")


@dataclass(frozen=True)
class BadRow:
    """A refused line with the reason."""

    line: int
    why: str


@dataclass(frozen=True)
class WorkerRow:
    line: int
    worker: str
    name: str
    attributes: Attributes
    email: str = ""  # empty: a stored one stays


@dataclass(frozen=True)
class QuestionRow:
    line: int
    question: str
    prompt: str
    accepted: list[str]
    choices: list[str]
    grading: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class AnswerRow:
    line: int
    worker: str
    question: str
    response: str
    skill: str = ""


Made = WorkerRow | QuestionRow | AnswerRow
Cells = dict[str, str]
Names = Mapping[str, str]


def restore_defused(value: str) -> str:
    """Restore an imported cell as it was before ``defuse_formula``, or before ="007" kept its 0."""
    if text := _TEXT_FORMULA.fullmatch(value):
        return text[1].replace('""', '"').strip()
    return value[1:] if _QUOTED.match(value) else value


def refuse_swapped(
    name: str, known: set[str], columns: Mapping[str, Sequence[str]], noun: str
) -> None:
    """Raise Refused if another column has the values that belong into this one.

    known    the values that the column ``name`` may have
    columns  name to values, with the column ``name`` itself
    """
    if not columns[name] or not known.isdisjoint(columns[name]):
        return
    for candidate, values in columns.items():
        matches = sum(value in known for value in values)
        if candidate != name and 2 * matches > len(values):
            raise Refused(
                f"The column “{candidate}” has {noun}, and the column “{name}” has other values: "
                "the columns seem to be swapped. Name the columns, or correct the names in the "
                "first line."
            )


def read_path(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Refused(f"{path} cannot be read: {reason}.") from error


# -- row by row


def parse_rows(table: Table, plan: ColumnPlan) -> Iterator[tuple[Row, Made | BadRow | None]]:
    """Yield each row with its parsed form; None for a row that is skipped without a message."""
    if plan.questions:
        yield from _parse_survey_rows(table, plan)
        return
    make, columns = _MAKERS[plan.kind], set(plan.fields.values())
    places = {name: table.header.index(column) for name, column in plan.fields.items()}
    attributes = [(column.lower(), table.header.index(column)) for column in plan.attributes]
    attributes = [(name, place) for name, place in attributes if table.header[place] not in columns]
    only = table.header.index(plan.only) if plan.only else None
    unless = table.header.index(plan.unless) if plan.unless else None
    rows = iter(table.rows if plan.headed else table.rows_with_header())
    if plan.kind == column_plan.QUESTIONS:
        rows = iter(_arrange_choices(list(rows), table, plan))
        places |= {"base": len(table.header), "choices": len(table.header) + 1}
    for row in rows:
        yield from _take_faults(table)
        line, cells = row
        useless = only is not None and _is_false(cells[only])
        if useless or (unless is not None and not _is_false(cells[unless])):
            yield row, None
            continue
        fields = {name: restore_defused(cells[place]) for name, place in places.items()}
        further = {
            name: restore_defused(cells[place])
            for name, place in attributes
            if cells[place] and cells[place] not in _WITHDRAWN
        }
        try:
            yield row, make(line, fields, plan.fields, further)
        except Refused as refusal:
            yield row, BadRow(line, str(refusal))
    yield from _take_faults(table)


def _take_faults(table: Table) -> Iterator[tuple[Row, BadRow]]:
    """Yield the unreadable lines that were met since the last call."""
    faults, table.faults[:] = list(table.faults), []
    for line, why in faults:
        yield (line, []), BadRow(line, why)


def _arrange_choices(rows: list[Row], table: Table, plan: ColumnPlan) -> list[Row]:
    """Add two cells to the rows: how numbers count the choices, and the choices."""
    column = plan.fields.get("choices")
    answer = table.header.index(plan.fields["answer"])
    places = [table.header.index(option) for option in plan.options]
    choices = [
        json.dumps([cells[place] for place in places if cells[place]])
        if places
        else cells[table.header.index(column)]
        if column
        else ""
        for _, cells in rows
    ]
    pairs = zip((cells[answer] for _, cells in rows), choices, strict=True)
    base = "" if (found := gold_cells.find_index_base(pairs)) is None else str(found)
    return [(line, [*cells, base, c]) for (line, cells), c in zip(rows, choices, strict=True)]


def _is_false(cell: str) -> bool:
    return cell.casefold() in ("", "0", "false")


def _parse_survey_rows(table: Table, plan: ColumnPlan) -> Iterator[tuple[Row, AnswerRow | BadRow]]:
    """Yield an answer for each answered question in a survey's rows, which have one worker each.

    Raises Refused if there are more answers than a file may hold.
    """
    worker_place = table.header.index(plan.fields["worker"])
    places = [(table.header.index(column), key) for column, key in plan.questions.items()]
    count = 0
    for row in islice(table.rows, plan.skipped, None):
        yield from _take_faults(table)
        line, cells = row
        try:
            key = {"worker": restore_defused(cells[worker_place])}
            worker = parse_key(key, "worker", plan.fields)
        except Refused as refusal:
            yield row, BadRow(line, str(refusal))
            continue
        answers = [
            (question, restore_defused(cells[place])) for place, question in places if cells[place]
        ]
        count += len(answers)
        if count > MOST_ROWS:
            raise Refused(
                f"{table.name}, line {line}: there are more than {MOST_ROWS:,} answers; split it "
                "into files of fewer rows."
            )
        for question, response in answers:
            yield row, AnswerRow(line, worker, question, response)
    yield from _take_faults(table)


def _parse_worker(line: int, cells: Cells, names: Names, attributes: Cells) -> WorkerRow:
    name = cells.get("name", "")
    if len(name) > LONGEST_KEY:
        raise Refused(f"The name is longer than {LONGEST_KEY} characters.")
    _refuse_turning(name, *attributes, *attributes.values())
    key = parse_key(cells, "worker", names)
    return WorkerRow(line, key, name, {**attributes}, read_email(cells.get("email", "")))


def read_email(text: str) -> str:
    address = text.strip()
    try:
        if address:
            validators.validate_email(address)
            if len(address) > LONGEST_EMAIL:
                raise ValidationError("too long")
    except ValidationError:
        raise Refused(
            "The e-mail address is invalid: write an address like ada@example.org."
        ) from None
    return address


def _parse_question(line: int, cells: Cells, names: Names, _: Cells) -> QuestionRow:
    choices = gold_cells.split_values(cells["choices"])
    accepted, shown = gold_cells.read_accepted(cells["answer"])
    prompt = question_kinds.add_media(gold_cells.read_prompt(cells["prompt"]), cells)
    if not prompt:
        raise Refused(f"The column “{names['prompt']}” is empty: write a text for the worker.")
    if not accepted:
        raise Refused(
            f"The column “{names['answer']}” is empty; a gold question needs a known answer."
        )
    _refuse_turning(prompt, *accepted, *choices)
    kind, tolerance, rule = (cells.get(name, "") for name in ("kind", "tolerance", "grading"))
    kind = kind or (shown if not choices and not rule else "")
    way = question_kinds.way_of(kind, tolerance, rule, choices)
    labels = gold_cells.read_labels(cells.get("labels", ""), cells["choices"])
    base = int(cells["base"]) if cells["base"] else None
    accepted = gold_cells.choose_accepted(accepted, choices, labels, base, way)
    for reason in question_kinds.find_question_faults(accepted, choices, way):
        raise Refused(reason)
    named = cells if cells.get("question") else {"question": prompt}
    key = parse_key(named, "question", {"question": names["prompt"], **names})
    return QuestionRow(line, key, prompt, accepted, choices, way)


def _parse_known(line: int, cells: Cells, names: Names, _: Cells) -> QuestionRow:
    key = parse_key(cells, "question", names)
    if not cells["answer"]:
        raise Refused(f"The column “{names['answer']}” is empty.")
    return QuestionRow(line, key, cells["question"], gold_cells.split_values(cells["answer"]), [])


def _parse_known_within(line: int, cells: Cells, names: Names, _: Cells) -> QuestionRow | None:
    return _parse_known(line, cells, names, _) if cells["answer"] and cells["question"] else None


def _parse_answer(line: int, cells: Cells, names: Names, _: Cells) -> AnswerRow:
    if not cells["response"]:
        raise Refused(f"The column “{names['response']}” is empty.")
    worker, question = parse_key(cells, "worker", names), parse_key(cells, "question", names)
    return AnswerRow(line, worker, question, cells["response"], cells.get("skill", ""))


_MAKERS: dict[str, Callable[[int, Cells, Names, Cells], Made | None]] = {
    column_plan.WORKERS: _parse_worker,
    column_plan.QUESTIONS: _parse_question,
    column_plan.ANSWERS: _parse_answer,
    column_plan.GOLD: _parse_known,
    column_plan.KEYED: _parse_known_within,
}


def parse_key(cells: Cells, name: str, names: Names) -> str:
    value, column = cells[name], names[name]
    if not value:
        raise Refused(f"The column “{column}” is empty.")
    if name == "question" and (len(value) > LONGEST_KEY or "\n" in value):
        value = shorten_key(value)
    if len(value) > LONGEST_KEY:
        raise Refused(f"The value of “{column}” is longer than {LONGEST_KEY} characters.")
    if code := find_invisible(value):
        raise Refused(f"The value of “{column}” has an invisible character ({code}): delete it.")
    if _ROUNDED.fullmatch(value):
        raise Refused(
            f"“{value}” was a longer number before a spreadsheet rounded it: format the column "
            f"“{column}” as text in the spreadsheet, and enter the values again."
        )
    return plain_key(value)


def _refuse_turning(*texts: str) -> None:
    if any(_TURNING.search(text) for text in texts):
        raise Refused(
            "A character reverses the direction of the text (U+202A to U+202E), and the text would "
            "look different from its content: delete the character."
        )
