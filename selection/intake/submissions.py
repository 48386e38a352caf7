"""A platform's file of submissions: who, and what became of it."""

import csv
import io

from selection.errors import Refused

# What columns are called by Prolific, by Mechanical Turk, and by people.
WORKERS = ("participant id", "participant_id", "prolific_pid", "workerid", "worker id", "worker")
STATUSES = ("status", "assignmentstatus", "submission status")
NO_COLUMNS = (
    "{name} needs a column with the worker (“Participant id”, “WorkerId” or “worker”) and one with "
    "the “Status”: take the platform's own export of submissions, as CSV."
)


def read(text: str, name: str) -> dict[str, str]:
    """By worker, the last status that the file gives. Raises Refused for another kind of file."""
    first = text.lstrip("\ufeff").splitlines()[:1]
    delimiter = max(",;\t", key=(first or [""])[0].count)
    rows = csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=delimiter)
    header = [cell.strip().casefold() for cell in next(rows, [])]
    worker = next((header.index(one) for one in WORKERS if one in header), None)
    status = next((header.index(one) for one in STATUSES if one in header), None)
    if worker is None or status is None:
        raise Refused(NO_COLUMNS.format(name=name))
    long_enough = (row for row in rows if len(row) > max(worker, status))
    found = {row[worker].strip(): row[status].strip() for row in long_enough}
    found.pop("", None)
    return found
