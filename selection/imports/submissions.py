"""Read a platform's file of submissions: workers and their statuses."""

from collections.abc import Sequence

from selection.errors import Refused
from selection.models import Upload, plain_key

from .readers import Table, read_table
from .staging import open_upload

# Names of the columns at Prolific and Mechanical Turk, and plain ones.
WORKERS = ("participant id", "participant_id", "prolific_pid", "workerid", "worker id", "worker")
STATUSES = ("status", "assignmentstatus", "submission status")
NO_COLUMNS = (
    "{name} needs a column with the worker (“Participant id”, “WorkerId” or “worker”) and one with "
    "the “Status”. Download the submissions from the platform as CSV, and upload that file."
)


def read_submissions(raw: bytes | str, name: str) -> dict[str, str]:
    """Read, by worker, the last status in the file. Raises Refused for another kind of file."""
    table = read_table(raw, name, fits=lambda cells, below: None not in _find_columns(cells))
    worker, status = _find_columns(table.header)
    if worker is None or status is None:
        raise Refused(NO_COLUMNS.format(name=name))
    return _statuses(table, worker, status)


def statuses_of(upload: Upload) -> dict[str, str]:
    table, plan = open_upload(upload)
    _, status = _find_columns(table.header)
    if upload.kind != Upload.Kind.WORKERS or plan.missing_fields() or status is None:
        return {}
    return _statuses(table, table.header.index(plan.fields["worker"]), status)


def _statuses(table: Table, worker: int, status: int) -> dict[str, str]:
    statuses = {plain_key(cells[worker].strip()): cells[status].strip() for _, cells in table.rows}
    statuses.pop("", None)
    return statuses


def _find_columns(header: Sequence[str]) -> tuple[int | None, int | None]:
    names = [column.casefold() for column in header]
    worker, status = (
        next((names.index(candidate) for candidate in candidates if candidate in names), None)
        for candidates in (WORKERS, STATUSES)
    )
    return worker, status
