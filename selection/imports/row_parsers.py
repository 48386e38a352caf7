"""Parse the rows of files into workers, questions and answers."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from itertools import islice
from pathlib import Path
from typing import Any

from django.core import validators
from django.core.exceptions import ValidationError

from selection.errors import Refused
from selection.grading import question_kinds
from selection.grading.keys import NOT_PROLIFIC, PROLIFIC_ID, shorten_key
from selection.grading.recognition import Notation, find_notation, recognise_comparison
from selection.limits import LONGEST_EMAIL, LONGEST_KEY, MOST_ROWS
from selection.models import Attributes, find_invisible, plain_key
from selection.outside_text import FORMULA

from . import column_patterns, column_plan, gold_cells, key_readings
from .column_plan import ColumnPlan
from .readers import Row, Table
from .readers.json_lines import join_texts

_TEXT_FORMULA = re.compile(r'="(.*)"', re.S)
_QUOTED = re.compile(f"'{FORMULA}")

# Characters that change the direction of the text.
_TURNING = re.compile("[\u202a-\u202e]")
# Prolific's words in place of what participants no longer share.
_WITHDRAWN = ("DATA_EXPIRED", "CONSENT_REVOKED", "DATA EXPIRED", "CONSENT REVOKED")
_RULES = ("kind", "tolerance", "grading")  # fields that say how answers are compared
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
    columns: dict[str, str] = field(default_factory=dict)


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
    make, columns = _MAKERS.get(plan.kind), set(plan.fields.values())
    notation = Notation()
    places = {name: table.header.index(column) for name, column in plan.fields.items()}
    attributes = [(column.lower(), table.header.index(column)) for column in plan.attributes]
    attributes = [(name, place) for name, place in attributes if table.header[place] not in columns]
    only = table.header.index(plan.only) if plan.only else None
    unless = table.header.index(plan.unless) if plan.unless else None
    of_prolific = plan.kind == column_plan.WORKERS and (
        plan.title == column_patterns.PROLIFIC or "prolific" in plan.fields["worker"].lower()
    )
    rows = iter(table.rows if plan.headed else table.rows_with_header())
    if plan.kind == column_plan.QUESTIONS:
        arranged, readings = arrange_choices(list(rows), table.header, plan)
        rows, plan = iter(arranged), replace(plan, readings=readings)
        notation = _find_notation(arranged, table.header, plan)
        places |= {name: len(table.header) + i for i, name in enumerate(("context", "choices"))}
    beside = [(c, table.header.index(c)) for c in plan.unread_columns(table.header)]
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
            if cells[place] and cells[place] not in _WITHDRAWN and not _is_private(cells[place])
        }
        try:
            if of_prolific and not PROLIFIC_ID.fullmatch(fields["worker"]):
                raise Refused(NOT_PROLIFIC.format(fields["worker"][:30]))
            if make:
                yield row, make(line, fields, plan.fields, further)
            else:
                made = _parse_question(line, fields, plan, notation)
                texts = {name: restore_defused(cells[place]) for name, place in beside}
                yield row, replace(made, columns=texts)
        except Refused as refusal:
            yield row, BadRow(line, str(refusal))
    yield from _take_faults(table)


def _take_faults(table: Table) -> Iterator[tuple[Row, BadRow]]:
    """Yield the unreadable lines that were met since the last call."""
    faults, table.faults[:] = list(table.faults), []
    for line, why in faults:
        yield (line, []), BadRow(line, why)


def _is_private(cell: str) -> bool:
    """Tell if this is the address of a computer."""
    try:
        return ("." in cell or ":" in cell) and bool(ip_address(cell))
    except ValueError:
        return False


def find_readings(table: Table, plan: ColumnPlan) -> key_readings.Options:
    """Find how the answers of gold questions may name the choices; see ``key_readings``."""
    if plan.missing_fields():
        return {}
    rows, readings = arrange_choices(list(table.rows), table.header, plan)
    notation = _find_notation(rows, table.header, plan)
    if len(readings) < 2 and notation.unclear and not plan.compared:
        return key_readings.find_orders(notation.unclear)
    return readings


def _find_notation(rows: list[Row], header: Sequence[str], plan: ColumnPlan) -> Notation:
    """Find the notation of the typed answers, whose question has no kind of its own."""
    ruled = [header.index(plan.fields[name]) for name in _RULES if name in plan.fields]
    answer = header.index(plan.fields["answer"])
    typed = [cells[answer] for _, cells in rows if not any(map(cells.__getitem__, [*ruled, -1]))]
    notation = find_notation(answer for cell in typed for answer in _split_quietly(cell))
    if plan.reading in key_readings.ORDERS:
        return replace(notation, month_first=plan.reading == key_readings.MONTH, unclear="")
    return notation


def _split_quietly(cell: str) -> list[str]:
    try:
        return [] if gold_cells.is_missing(cell) else gold_cells.split_values(cell)
    except Refused:
        return []


def arrange_choices(
    rows: list[Row], header: Sequence[str], plan: ColumnPlan
) -> tuple[list[Row], key_readings.Options]:
    """Add the context and the choices to the rows, and find the readings of the answers."""
    place = {column: i for i, column in enumerate(header) if column}
    answer, named = place[plan.fields["answer"]], plan.fields.get("choices")
    texts = [place[column] for column in _context_columns(rows, place, plan)]
    arranged: list[Row] = []
    for line, cells in rows:
        choices = cells[place[named]] if named else ""
        if plan.options:
            options = {_label(column): cells[place[column]] for column in plan.options}
            choices = json.dumps(options if any(options.values()) else {})
        elif plan.wrong:
            choices = _mix_choices(cells[answer], [cells[place[column]] for column in plan.wrong])
        context = json.dumps([cells[i] for i in texts])
        arranged.append((line, [*cells, context, choices]))
    if plan.reading in key_readings.READINGS:
        return arranged, {plan.reading: []}
    keys = [_key_row(cells, place, plan) for _, cells in arranged]
    return arranged, key_readings.find_readings([key for key in keys if key])


def _label(column: str) -> str:
    return re.sub(r"(?<!\W)\W+$", "", column)[-1:]


def _mix_choices(answer: str, wrong: Sequence[str]) -> str:
    """Mix the correct answer with wrong ones, in an order that tells nothing."""
    try:
        parts = [gold_cells.read_accepted(answer)[0], *map(gold_cells.split_values, wrong)]
    except Refused:
        return ""
    return json.dumps(sorted({text for part in parts for text in part}, key=str.casefold))


def _context_columns(rows: list[Row], place: dict[str, int], plan: ColumnPlan) -> list[str]:
    """List the columns of the prompt, in their order; also one with a question named as the id."""
    question, prompt = plan.fields.get("question", ""), plan.fields["prompt"]
    columns = {*plan.context, prompt}
    if question and all(
        _is_wordy([c[place[column]] for _, c in rows]) for column in (question, prompt)
    ):
        columns.add(question)
    return sorted(columns, key=place.__getitem__) if len(columns) > 1 else []


def _is_wordy(cells: Sequence[str]) -> bool:
    """Tell if most cells are sentences rather than ids."""
    return 2 * sum(cell.endswith("?") or len(cell.split()) > 3 for cell in cells) > len(cells)


def _key_row(
    cells: Sequence[str], place: dict[str, int], plan: ColumnPlan
) -> key_readings.KeyRow | None:
    """Read the answers and choices of a row; None if they cannot be read."""
    try:
        fields = {name: cells[place[column]] for name, column in plan.fields.items()}
        if plan.only and _is_false(cells[place[plan.only]]):
            return None
        accepted = gold_cells.read_accepted(restore_defused(fields["answer"]))[0]
        return _build_key_row(accepted, fields | {"choices": cells[-1]}, plan, None)
    except Refused:
        return None


def _build_key_row(
    accepted: Sequence[str], cells: Cells, plan: ColumnPlan, way: dict[str, Any] | None
) -> key_readings.KeyRow:
    slots, labels = gold_cells.read_slots(cells["choices"])
    stated = gold_cells.split_values(cells.get("labels", ""))
    kind = question_kinds.read_kind(cells.get("kind", ""))
    grading = {kind: True} if way is None else way
    return key_readings.KeyRow(
        accepted, slots, stated or labels, bool(stated or (labels and not plan.options)), grading
    )


def _is_false(cell: str) -> bool:
    return cell.casefold() in ("", "0", "false", "reject", "ignore")  # the last two of Prodigy


def _parse_survey_rows(table: Table, plan: ColumnPlan) -> Iterator[tuple[Row, AnswerRow | BadRow]]:
    """Yield an answer for each answered question in a survey's rows, which have one worker each.

    Raises Refused if there are more answers than a file may hold.
    """
    worker_place = table.header.index(plan.fields["worker"])
    places = [(table.header.index(column), key) for column, key in plan.questions.items()]
    ticked = {table.header.index(column): choice for column, choice in plan.ticks.items()}
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
            (question, restore_defused(cells[place]))
            for place, question in places
            if cells[place] and place not in ticked
        ]
        answers += _join_ticks([(key, ticked[i], cells[i]) for i, key in places if i in ticked])
        count += len(answers)
        if count > MOST_ROWS:
            raise Refused(
                f"{table.name}, line {line}: there are more than {MOST_ROWS:,} answers; split it "
                "into files of fewer rows."
            )
        for question, response in answers:
            yield row, AnswerRow(line, worker, question, response)
    yield from _take_faults(table)


def _join_ticks(ticks: Sequence[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Join the ticked choices of each question, (question, choice, cell), with | between them."""
    joined: dict[str, list[str]] = {}
    for question, choice, cell in ticks:
        if not gold_cells.is_unticked(cell, choice):
            joined.setdefault(question, []).append(choice)
    return [(question, join_texts(choices)) for question, choices in joined.items()]


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


def _parse_question(line: int, cells: Cells, plan: ColumnPlan, notation: Notation) -> QuestionRow:
    names = plan.fields
    choices = [text for text in gold_cells.read_slots(cells["choices"])[0] if text]
    accepted, shown = _read_answer(cells["answer"], choices, names["answer"])
    prompt = _read_prompt(cells, names["prompt"])
    _refuse_turning(prompt, *accepted, *choices)
    kind, tolerance, rule = (cells.get(name, "") for name in _RULES)
    kind = kind or (shown if not choices and not rule else "")
    way = question_kinds.way_of(kind, tolerance, rule, choices)
    if not (choices or kind or tolerance or rule):
        way, accepted = _choose_comparison(accepted, plan.compared, notation)
    key = _build_key_row(accepted, cells, plan, way)
    accepted = key_readings.read_choices(key, list(plan.readings))
    for reason in question_kinds.find_question_faults(accepted, choices, way):
        raise Refused(reason)
    has_key = cells.get("question") and cells["question"] not in json.loads(cells["context"])
    named = cells if has_key else {"question": prompt}
    key_text = parse_key(named, "question", {"question": names["prompt"], **names})
    return QuestionRow(line, key_text, prompt, accepted, choices, way)


def _choose_comparison(
    accepted: list[str], compared: str, notation: Notation
) -> tuple[dict[str, Any], list[str]]:
    if compared:
        return question_kinds.grading_of("" if compared == "text" else compared), accepted
    return recognise_comparison(accepted, notation)


def _read_answer(cell: str, choices: Sequence[str], column: str) -> tuple[list[str], str]:
    if cell and cell not in choices and gold_cells.is_missing(cell):
        raise Refused(
            f"“{cell}” stands for a missing value, and a gold question needs a known answer: if it "
            f'is the answer, write ["{cell}"].'
        )
    accepted, shown = gold_cells.read_accepted(cell)
    if not accepted:
        raise Refused(f"The column “{column}” is empty; a gold question needs a known answer.")
    return accepted, shown


def _read_prompt(cells: Cells, column: str) -> str:
    texts = json.loads(cells["context"]) or [cells["prompt"]]
    texts = [gold_cells.read_prompt(restore_defused(text)) for text in texts if text]
    prompt = question_kinds.add_media("\n\n".join(texts), cells)
    if not prompt:
        raise Refused(f"The column “{column}” is empty: write a text for the worker.")
    return prompt


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
    return _parse_asked(line, cells, names, _)


def _parse_asked(line: int, cells: Cells, names: Names, _: Cells) -> AnswerRow:
    worker, question = parse_key(cells, "worker", names), parse_key(cells, "question", names)
    return AnswerRow(line, worker, question, cells["response"], cells.get("skill", ""))


_MAKERS: dict[str, Callable[[int, Cells, Names, Cells], Made | None]] = {
    column_plan.WORKERS: _parse_worker,
    column_plan.ANSWERS: _parse_answer,
    column_plan.ASKED: _parse_asked,
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
