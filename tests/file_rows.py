"""Rows of files of answers and of known answers, for tests."""

from collections.abc import Iterator

from selection.imports import column_plan, platforms
from selection.imports.keyed_answers import File, read_key
from selection.imports.readers import read_table
from selection.imports.row_parsers import AnswerRow, BadRow, parse_rows


def _parse_file(raw: bytes | str, name: str) -> Iterator[object]:
    kind = column_plan.ANSWERS
    table = read_table(raw, name, fits=platforms.header_test(kind))
    plan = platforms.recognise_columns(kind, table.header)
    platforms.refuse_missing(plan, table.header, name, table.line)
    return (row for _, row in parse_rows(table, plan))


def parse_answers(raw: bytes | str, name: str) -> tuple[list[AnswerRow], list[BadRow]]:
    """Return the answers and the refused rows of a file."""
    rows = list(_parse_file(raw, name))
    answers = [row for row in rows if isinstance(row, AnswerRow)]
    return answers, [row for row in rows if isinstance(row, BadRow)]


def parse_gold(raw: bytes | str, name: str) -> dict[str, str]:
    """Return a known answer of each task. Raises Refused."""
    content = raw.encode() if isinstance(raw, str) else raw
    return {task: row.accepted[0] for task, row in read_key(File(name, content)).items()}
