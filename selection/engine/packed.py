"""The candidates' columns by arm: kept packed in one row, with the changed candidates read anew.

A step then costs what changed. Triggers write the log of changes (``models.candidate_arrays``), so
it has every change that was committed before it is read, whoever made it. Its entries are deleted
only when the row is written with their changes.
"""

import io
import zipfile
from dataclasses import dataclass

import numpy as np
from django.db import connection
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from selection.db.read_columns import read_table
from selection.models import Candidate, Run
from selection.models.candidate_arrays import CandidateArrays, CandidateChange, has_triggers

Column = NDArray[np.int64] | NDArray[np.float64]
Columns = dict[str, Column]

COUNTS = ("arm", "id", "worker_id", "skill", "asked", "pulls", "void", "verdict", "skipped")
FLAGS = ("left", "unaffordable")
NAMES = (*COUNTS, *FLAGS, "rewards")
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
        columns, few = _unpack(run), False
        if columns is not None and log.shape[1] <= FEW + MANY * columns["arm"].size:
            columns = _with_changes(run, columns, np.unique(log[1]))
            few = columns is not None and log.shape[1] <= FEW + SHARE * columns["arm"].size
        if columns is None or log.shape[1] > FEW + MANY * columns["arm"].size:
            columns = _by_arm(_read(run.candidates.order_by()))
        return cls(run, columns, log[0], not few)

    def keep(self) -> None:
        """Write the packed row if it is far behind; forget it at the end of the run."""
        if self.run.status == Run.Status.ENDED:
            forget_columns(self.run)
        elif self.stale:
            written = {"step": self.run.steps, "content": _pack(self.columns)}
            CandidateArrays.objects.update_or_create(run=self.run, defaults=written)
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


def _by_arm(columns: Columns) -> Columns:
    order = columns["arm"].astype(np.int64).argsort()  # quicker than in order from the disk
    return {name: values[order] for name, values in columns.items()}


def _with_changes(run: Run, columns: Columns, candidates: NDArray[np.int64]) -> Columns | None:
    """Return the columns with these candidates read anew; None if they do not fit together."""
    last = run.candidates.order_by("-arm").values_list("arm", flat=True).first()
    changed = _read(Candidate.objects.filter(pk__among=candidates).order_by())
    n, arms = columns["arm"].size, changed["arm"].astype(np.int64)
    new, known = np.sort(arms[arms >= n]), arms < n
    fits = np.array_equal(new, np.arange(n, n + new.size)) and last == n + new.size - 1
    if not fits or (columns["id"][arms[known]] != changed["id"][known]).any():
        return None
    for name, values in columns.items():
        if new.size:
            columns[name] = np.concatenate([values, np.zeros(new.size, values.dtype)])
        columns[name][arms] = changed[name]
    return columns


def _unpack(run: Run) -> Columns | None:
    """Return the packed columns; None if there are none that can be relied on."""
    rows = CandidateArrays.objects.filter(run=run, step__lte=run.steps)
    content = rows.values_list("content", flat=True).first()
    if content is None or not has_triggers(connection):
        return None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            kinds = dict.fromkeys(NAMES, np.int64) | {"rewards": np.float64}
            return {name: file[name].astype(kind) for name, kind in kinds.items()}
    except (KeyError, ValueError, OSError, zipfile.BadZipFile):
        return None  # of another version, or damaged


def _pack(columns: Columns) -> bytes:
    file = io.BytesIO()
    np.savez(file, **{name: _shrink(values) for name, values in columns.items()})
    return file.getvalue()


def _shrink(values: Column) -> Column:
    """Return the values in as few bytes as hold them."""
    whole = values.astype(np.int64)
    if not whole.size or not np.array_equal(whole, values):
        return values
    ends = [np.min_scalar_type(int(end)) for end in (whole.min(), whole.max())]
    return whole.astype(np.result_type(*ends))
