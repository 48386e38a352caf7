"""The candidates' columns by arm: kept packed in one row, with the changed candidates read anew.

A step then costs as much as the changes. Triggers write the log of changes
(``models.candidate_arrays``), so it has every change that was committed before it is read, also of
statements by hand. Its entries are deleted only when the row is written with their changes.
"""

import io
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Q, QuerySet
from numpy.lib.format import read_array_header_1_0, read_magic
from numpy.typing import NDArray

from selection.db.read_columns import read_table
from selection.models import Candidate, Run
from selection.models.candidate_arrays import CandidateArrays, CandidateChange, read_packed

Column = NDArray[np.int64] | NDArray[np.float64]
Columns = dict[str, Column]

COUNTS = ("arm", "id", "worker_id", "skill", "asked", "pulls", "void", "verdict", "skipped")
FLAGS = ("left", "unaffordable")
NAMES = (*COUNTS, *FLAGS, "rewards")
KINDS = {"rewards": np.float64}
CHECKSUM, HEAD = 4, 4096  # bytes; numpy's head is shorter
# Changes after which the row is written again: reading one takes as long as writing 100 candidates.
FEW, SHARE = 200, 0.01
MANY = 0.2  # changes from which all candidates are read, by number of candidates


@dataclass
class CandidateColumns:
    """The columns of a locked run's candidates.

    columns  name of ``NAMES`` to (n,) values by arm
    changes  ids of the entries of the log whose changes the columns have
    stale    True if the packed row is missing or behind
    """

    run: Run
    columns: Columns
    changes: NDArray[np.int64]
    stale: bool

    @classmethod
    def read(cls, run: Run) -> "CandidateColumns":
        # The log first: a change that is committed in between is in the columns and stays in it.
        log = read_table(_log_of(run), ("id", "candidate_id")).astype(np.int64)
        content, stale = read_packed(run), False
        columns = unpack_columns(content) if content else None
        if columns is not None:
            n, changes = columns["arm"].size, log.shape[1]
            stale = changes > FEW + SHARE * n
            # The step that wrote the row has changed candidates after it: an empty log was emptied.
            fresh = 0 < changes <= FEW + MANY * n
            columns = _apply_changes(columns, np.unique(log[1])) if fresh else None
        if columns is None:
            columns, stale = _order_by_arm(_read(run.candidates.order_by())), True
        return cls(run, columns, log[0], stale)

    def keep(self) -> None:
        """Write the packed row if it is far behind; forget it at the end of the run."""
        if self.run.status == Run.Status.ENDED:
            forget_columns(self.run)
        elif self.stale:
            row = CandidateArrays(
                run=self.run, step=self.run.steps, content=pack_columns(self.columns)
            )
            CandidateArrays.objects.bulk_create(
                [row],
                update_conflicts=True,
                unique_fields=["run"],
                update_fields=["step", "content"],
            )
            if self.changes.size:
                CandidateChange.objects.filter(pk__among=self.changes)._raw_delete("default")


def forget_columns(run: Run) -> None:
    """Delete the packed columns of a locked run: the next step reads all candidates."""
    CandidateArrays.objects.filter(run=run)._raw_delete("default")
    _log_of(run)._raw_delete("default")


def _log_of(run: Run) -> QuerySet[CandidateChange]:
    return CandidateChange.objects.filter(run=run).order_by()


def _read(candidates: QuerySet[Candidate]) -> Columns:
    table = read_table(candidates.annotate(left=~Q(gone="")), NAMES)
    counts = table[:-1].astype(np.int64)
    return dict(zip(NAMES, [*counts, table[-1]], strict=True))


def _order_by_arm(columns: Columns) -> Columns:
    order = columns["arm"].astype(np.int64).argsort()  # quicker than in order from the disk
    return {name: values[order] for name, values in columns.items()}


def _apply_changes(columns: Columns, candidates: NDArray[np.int64]) -> Columns | None:
    """Return the columns with these candidates read anew; None if they do not fit together."""
    changed = _read(Candidate.objects.filter(pk__among=candidates).order_by())
    n, arms = columns["arm"].size, changed["arm"].astype(np.int64)
    new, known = np.sort(arms[arms >= n]), arms < n
    fits = np.array_equal(new, np.arange(n, n + new.size))
    if not fits or (columns["id"][arms[known]] != changed["id"][known]).any():
        return None
    for name, values in columns.items():
        if new.size:
            columns[name] = np.concatenate([values, np.zeros(new.size, values.dtype)])
        columns[name][arms] = changed[name]
    return columns


def pack_columns(columns: Columns) -> bytes:
    """Return a checksum and an array of numpy with a record for each candidate."""
    small = {name: _shrink(values) for name, values in columns.items()}
    table = np.empty(columns["arm"].size, [(name, one.dtype) for name, one in small.items()])
    for name, values in small.items():
        table[name] = values
    file = io.BytesIO()
    np.save(file, table)
    content = file.getvalue()
    return zlib.crc32(content).to_bytes(CHECKSUM, "big") + content


def unpack_columns(content: bytes) -> Columns | None:
    """Return the columns; None if they are damaged, or of a version with other columns."""
    packed = memoryview(content)[CHECKSUM:]
    if zlib.crc32(packed) != int.from_bytes(content[:CHECKSUM], "big"):
        return None
    head = io.BytesIO(packed[:HEAD])
    read_magic(head)
    _, _, dtype = read_array_header_1_0(head)
    # Without the copy that np.load makes.
    table: Any = np.frombuffer(packed, dtype, offset=head.tell())
    if table.dtype.names != NAMES:
        return None
    return {name: table[name].astype(KINDS.get(name, np.int64)) for name in NAMES}


def _shrink(values: Column) -> Column:
    """Return the values in as few bytes as hold them."""
    whole = values.astype(np.int64)
    if not whole.size or not np.array_equal(whole, values):
        return values
    ends = [np.min_scalar_type(int(end)) for end in (whole.min(), whole.max())]
    return whole.astype(np.result_type(*ends))
