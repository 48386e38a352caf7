"""A platform's file of submissions: who, and what became of it."""

from collections.abc import Sequence

from selection.errors import Refused
from selection.models import Upload, plain_key

from .readers import Table, read_table
from .staging import open_upload

# What columns are called by Prolific, by Mechanical Turk, and by people.
WORKERS = ("participant id", "participant_id", "prolific_pid", "workerid", "worker id", "worker")
STATUSES = ("status", "assignmentstatus", "submission status")
NO_COLUMNS = (
    "{name} needs a column with the worker (“Participant id”, “WorkerId” or “worker”) and one with "
    "the “Status”: take the platform's own export of submissions, as CSV."
)


def read_submissions(raw: bytes | str, name: str) -> dict[str, str]:
    """By worker, the last status that the file gives. Raises Refused for another kind of file."""
    table = read_table(raw, name, fits=lambda cells, below: None not in _find_columns(cells))
    worker, status = _find_columns(table.header)
    if worker is None or status is None:
        raise Refused(NO_COLUMNS.format(name=name))
    return _statuses(table, worker, status)


def statuses_of(upload: Upload) -> dict[str, str]:
    """Return by worker the last status in a file of workers; empty without such a column."""
    table, plan = open_upload(upload)
    _, status = _find_columns(table.header)
    if upload.kind != Upload.Kind.WORKERS or plan.missing_fields() or status is None:
        return {}
    return _statuses(table, table.header.index(plan.fields["worker"]), status)


def _statuses(table: Table, worker: int, status: int) -> dict[str, str]:
    found = {plain_key(cells[worker].strip()): cells[status].strip() for _, cells in table.rows}
    found.pop("", None)
    return found


def _find_columns(header: Sequence[str]) -> tuple[int | None, int | None]:
    """Where the worker stands, and where the status."""
    names = [column.casefold() for column in header]
    worker, status = (
        next((names.index(one) for one in known if one in names), None)
        for known in (WORKERS, STATUSES)
    )
    return worker, status
