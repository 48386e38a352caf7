"""A platform's file of submissions: who, and what became of it."""

from selection.errors import Refused
from selection.models import plain_key
from selection.reading import read_table

# What columns are called by Prolific, by Mechanical Turk, and by people.
WORKERS = ("participant id", "participant_id", "prolific_pid", "workerid", "worker id", "worker")
STATUSES = ("status", "assignmentstatus", "submission status")
NO_COLUMNS = (
    "{name} needs a column with the worker (“Participant id”, “WorkerId” or “worker”) and one with "
    "the “Status”: take the platform's own export of submissions, as CSV."
)


def read(raw: bytes | str, name: str) -> dict[str, str]:
    """By worker, the last status that the file gives. Raises Refused for another kind of file."""
    table = read_table(raw, name)
    header = [column.casefold() for column in table.header]
    worker = next((header.index(one) for one in WORKERS if one in header), None)
    status = next((header.index(one) for one in STATUSES if one in header), None)
    if worker is None or status is None:
        raise Refused(NO_COLUMNS.format(name=name))
    found = {plain_key(cells[worker].strip()): cells[status].strip() for _, cells in table.rows}
    found.pop("", None)
    return found
