"""Tables of scores of models: a row for each model and question, or a column for each of either."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from selection.errors import Refused
from selection.grading import rules

from .column_patterns import ANY_MODEL, ANY_WORKER, ITEMS, KNOWN, RESPONSES
from .column_words import SUMMARY, fold
from .gold_cells import is_missing, split_values
from .platforms import find_column
from .readers import Table
from .readers.limits import Row
from .readers.result_formats import Format, Metrics
from .readers.results import Objects, Picked, parse_mark

_SCORE = (
    "\\w*(correctness|faithfulness|relevanc[ey]|relevance|similarity|precision|recall|recallscore)|(is)?(correct|right|true|passed?|pass|success|solved)|acc(uracy)?(norm)?|(\\w*)scores?(\\w*)|"
    "exactmatch|em|f1|marks?|grades?|results?|reward|ok|richtig|korrekt|punkte|correcte?|juste"
)
_TASK = "task|benchmark|subject|dataset|category"
_VERDICT = re.compile(r"\[(PASS|FAIL|ERROR)\]")  # promptfoo's, before the output


# The format, its objects, and the columns that are read.
Found = tuple[Format, Objects, Sequence[str]]


def find_scores(table: Table, rows: list[Row], picked: Picked) -> tuple[Format, Objects] | None:
    """Find the scores in a table without a key, as results of models; None if it has none."""
    header = table.header
    worker = find_column(header, (ANY_WORKER, ANY_MODEL))
    item = find_column(header, ITEMS, [worker])
    objects = [(line, dict(zip(header, cells, strict=True))) for line, cells in rows]
    if (
        len(header) > 2
        and not (worker or item or header[0])
        and _has_only_marks(objects, header[1:])
    ):
        raise Refused(
            f"{table.name}: the first column has no name. Write “model” above it if each row is a "
            "model, or “question” if each row is a question."
        )
    find = _find_long if worker and item else _find_wide
    found = find(objects, header, worker, item, table.name)
    if found:
        form, scores, read = found
        table.unread[:] = [column for column in header if column and column not in read]
        return form, scores
    return None


def _find_long(
    objects: list[tuple[int, dict[str, str]]],
    header: Sequence[str],
    worker: str,
    item: str,
    name: str,
) -> Found | None:
    response = find_column(header, RESPONSES, [worker, item])
    known = find_column(header, [KNOWN], [worker, item, response]) if response else ""
    candidates = [
        column
        for column in header
        if column not in (worker, item, response, known)
        and re.fullmatch(_SCORE, fold(column))
        and _are_marks(row[column] for _, row in objects)
    ]
    if not candidates or (response and _are_marks(row[response] for _, row in objects)):
        return None  # such as True, which may be the answer to a question of true or false

    def list_scores(row: Any) -> Metrics:
        scores = {column: row[column] for column in candidates if not is_missing(row[column])}
        if not known or is_missing(row[known]) or is_missing(row[response]):
            return scores
        alike = rules.is_match(split_values(row[known]), row[response])
        return {**scores, f"{response} = {known}": alike}

    objects = [(n, row) for n, row in objects if not _is_summary(row[worker], row[item])]
    task = find_column(header, [_TASK], [worker, item])
    form = Format("a table of scores", (), list_scores, (worker,), (item,), (task,))
    read = [worker, item, task, response, known, *candidates]
    return form, ((line, row, name) for line, row in objects), read


def _is_summary(*names: str) -> bool:
    """Tell if a row has a mean rather than a score, by the name of its model or question."""
    return any(re.fullmatch(SUMMARY, fold(name)) for name in names)


def _find_wide(
    objects: list[tuple[int, dict[str, str]]],
    header: Sequence[str],
    worker: str,
    item: str,
    name: str,
) -> Found | None:
    header = [column for column in header if column and not _is_summary(column)]
    judged = [c for c in header if all(_VERDICT.match(row[c]) for _, row in objects)]
    first = worker or item
    if objects and len(judged) > 1:
        worker, first = "", next((c for c in header if c not in judged), "")
    scored = judged if len(judged) > 1 else [column for column in header if column != first]
    if not first or len(scored) < 2 or not objects:
        return None
    if scored != judged and not _has_only_marks(objects, scored):
        return None

    def list_cells(row: Any, _: Any) -> Iterator[dict[str, Any]]:
        for column in () if _is_summary(row[first]) else scored:
            names = (row[first], column) if worker else (column, row[first])
            yield {"model": names[0], "id": names[1], "cell": row[column]}

    form = Format("a matrix of scores", (), _read_cell, task=(), records=list_cells)
    return form, ((line, row, name) for line, row in objects), [first, *scored]


def _read_cell(record: dict[str, str]) -> Metrics:
    verdict = _VERDICT.match(record["cell"])
    if verdict:
        return {} if verdict[1] == "ERROR" else {"score": verdict[1]}
    return None if is_missing(record["cell"]) else {"score": record["cell"]}


def _has_only_marks(objects: list[tuple[int, dict[str, str]]], columns: Sequence[str]) -> bool:
    return all(column and _are_marks(row[column] for _, row in objects) for column in columns)


def _are_marks(cells: Iterator[str]) -> bool:
    values = {cell for cell in cells if not is_missing(cell)}
    try:
        return bool(values) and all(parse_mark(value) >= 0 for value in values)
    except ValueError:
        return False
