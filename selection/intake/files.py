"""Reading the CSV files that people have: every refusal names file, line and column."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from selection.errors import Refused

from . import ways

csv.field_size_limit(10_000_000)

# What a spreadsheet would compute instead of showing it. An apostrophe before it makes it text.
_COMPUTED = re.compile(r"'*\s*[=+\-@\t\r]")
_QUOTED = re.compile(r"'+\s*[=+\-@\t\r]")

LONGEST_KEY = 200

Made = TypeVar("Made")


@dataclass(frozen=True)
class BadRow:
    """A line that is not taken, and why; repeats tells that an earlier line says the same thing."""

    line: int
    why: str
    repeats: bool = False


@dataclass(frozen=True)
class WorkerRow:
    line: int
    worker: str
    name: str
    attributes: dict[str, str]


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


@dataclass
class Table:
    """A CSV file with a header.

    columns  as in the file, lower case, stripped
    rows     (line number, {column: value})
    """

    name: str
    columns: list[str]
    rows: list[tuple[int, dict[str, str]]]


def defused(value: Any) -> Any:
    """A cell of a file that goes out: no text in it is a formula. Numbers stay numbers."""
    return f"'{value}" if isinstance(value, str) and _COMPUTED.match(value) else value


def as_written(value: str) -> str:
    """A cell that comes in, as it was before ``defused``."""
    return value[1:] if _QUOTED.match(value) else value


def text_of(raw: bytes, name: str) -> str:
    """The text of a file, with or without a byte-order mark. Raises Refused."""
    encoding = "utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise Refused(
            f"{name}, line {line}: this is not UTF-8 text; save the file as UTF-8 CSV."
        ) from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise Refused(f"{name}, line {line}: there is a NUL character; this is not a CSV file.")
    return text


def refuse_swapped(
    name: str, known: set[str], columns: Mapping[str, Sequence[str]], what: str
) -> None:
    """Raise Refused where another column has what belongs into this one.

    known    what values the column ``name`` may have
    columns  name to values, with the column ``name`` itself
    """
    if not columns[name] or not known.isdisjoint(columns[name]):
        return
    for other, values in columns.items():
        if other != name and 2 * sum(value in known for value in values) > len(values):
            raise Refused(
                f"The column “{other}” holds {what}, and the column “{name}” holds none of them: "
                "the two seem to be swapped. Change their names in the first line."
            )


def read_path(path: Path) -> str:
    """The text of the file at this path. Raises Refused."""
    try:
        return text_of(path.read_bytes(), str(path))
    except OSError as error:
        raise Refused(
            f"{path} cannot be read: {(error.strerror or str(error)).lower()}."
        ) from error


def table(text: str, name: str, needed: Sequence[str]) -> Table:
    """Parse CSV text that must have the needed columns. Raises Refused."""
    lines = _lines(text, name)
    try:
        _, header = next(lines)
    except StopIteration:
        raise Refused(
            f"{name} is empty; its first line must name the columns {', '.join(needed)}."
        ) from None
    columns = [as_written(column.strip()).casefold() for column in header]
    missing = [column for column in needed if column not in columns]
    if missing:
        raise Refused(
            f"{name}, line 1: there is no column “{missing[0]}”; the file must have "
            f"{', '.join(needed)}, and it has {', '.join(columns)}."
        )
    twice = sorted({column for column in columns if column and columns.count(column) > 1})
    if twice:
        raise Refused(f"{name}, line 1: the column “{twice[0]}” is there twice.")
    return Table(name, columns, [_row(line, columns, cells, name) for line, cells in lines])


def _lines(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """(number of its first line, cells) of every row that is not blank."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise Refused(f"{name}, line {line}: {error}; check the quotation marks.") from error


def _row(line: int, columns: list[str], cells: list[str], name: str) -> tuple[int, dict[str, str]]:
    if len(cells) > len(columns):
        raise Refused(
            f"{name}, line {line}: there are {len(cells)} values for {len(columns)} columns; "
            "put a value that has a comma in it in quotation marks."
        )
    values = [as_written(cell.strip()) for cell in cells] + [""] * (len(columns) - len(cells))
    return line, dict(zip(columns, values, strict=True))


# -- what the files hold


def workers(text: str, name: str) -> tuple[list[WorkerRow], list[BadRow]]:
    """``worker``, optional ``name``; every further column is kept as an attribute."""
    parsed = table(text, name, ["worker"])

    def row(line: int, cells: dict[str, str]) -> WorkerRow:
        attributes = {
            column: value
            for column, value in cells.items()
            if column and column not in {"worker", "name"} and value
        }
        if len(cells.get("name", "")) > LONGEST_KEY:
            raise Refused(f"The name is longer than {LONGEST_KEY} characters.")
        return WorkerRow(line, key(cells, "worker"), cells.get("name", ""), attributes)

    return _parse(parsed, row, lambda made: made.worker, "worker")


def questions(text: str, name: str) -> tuple[list[QuestionRow], list[BadRow]]:
    """``question``, ``prompt``, ``answer``, optional ``choices``; several are separated by |.

    Optional ``kind``, ``tolerance``, ``grading``: what a worker does, and how responses are
    compared (ways.way_of); ``image``, ``audio``, ``video``, ``alt``: what the prompt shows.
    """
    parsed = table(text, name, ["question", "prompt", "answer"])

    def row(line: int, cells: dict[str, str]) -> QuestionRow:
        accepted, choices = _several(cells["answer"]), _several(cells.get("choices", ""))
        prompt = ways.with_media(cells["prompt"], cells)
        if not prompt:
            raise Refused("The column “prompt” is empty; it is what the worker reads.")
        if not accepted:
            raise Refused("The column “answer” is empty; a gold question needs a known answer.")
        kind, off, named = (cells.get(name, "") for name in ("kind", "tolerance", "grading"))
        way = ways.way_of(kind, off, named, choices)
        for why in ways.faults(accepted, choices, way):
            raise Refused(why)
        return QuestionRow(line, key(cells, "question"), prompt, accepted, choices, way)

    return _parse(parsed, row, lambda made: made.question, "question")


def answers(text: str, name: str) -> tuple[list[AnswerRow], list[BadRow]]:
    """``worker,question,response``, optional ``skill``; or crowd-kit's ``worker,task,label``."""
    header = table(text, name, ["worker"]).columns
    item, label = ("task", "label") if "task" in header else ("question", "response")
    parsed = table(text, name, ["worker", item, label])

    def row(line: int, cells: dict[str, str]) -> AnswerRow:
        if not cells[label]:
            raise Refused(f"The column “{label}” is empty.")
        return AnswerRow(
            line, key(cells, "worker"), key(cells, item), cells[label], cells.get("skill", "")
        )

    return _parse(parsed, row, lambda made: (made.worker, made.question, made.skill), "answer")


def gold(text: str, name: str) -> dict[str, str]:
    """``task,label``: the known answer of each task. Raises Refused for the first bad line."""
    header = table(text, name, []).columns
    item, label = ("task", "label") if "task" in header else ("question", "answer")
    found: dict[str, str] = {}
    for line, cells in table(text, name, [item, label]).rows:
        if not cells[item] or not cells[label]:
            empty = item if not cells[item] else label
            raise Refused(f"{name}, line {line}: the column “{empty}” is empty.")
        if cells[item] in found:
            raise Refused(f"{name}, line {line}: “{cells[item]}” is there twice.")
        found[cells[item]] = cells[label]
    if not found:
        raise Refused(f"{name} has no line below its header; it must name the known answers.")
    return found


def _parse(
    parsed: Table,
    row: Callable[[int, dict[str, str]], Made],
    identity: Callable[[Made], object],
    noun: str,
) -> tuple[list[Made], list[BadRow]]:
    made: list[Made] = []
    bad: list[BadRow] = []
    first: dict[object, int] = {}
    for line, cells in parsed.rows:
        try:
            item = row(line, cells)
        except Refused as refusal:
            bad.append(BadRow(line, str(refusal)))
            continue
        if identity(item) in first:
            why = f"This {noun} is there already, in line {first[identity(item)]}."
            bad.append(BadRow(line, why, repeats=True))
            continue
        first[identity(item)] = line
        made.append(item)
    return made, bad


def key(cells: dict[str, str], column: str) -> str:
    value = cells[column]
    if not value:
        raise Refused(f"The column “{column}” is empty.")
    if len(value) > LONGEST_KEY:
        raise Refused(f"The value of “{column}” is longer than {LONGEST_KEY} characters.")
    return value


def _several(value: str) -> list[str]:
    return [part.strip() for part in value.split("|") if part.strip()]
