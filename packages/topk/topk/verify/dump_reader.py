"""Reader of a dump into arrays, nothing of which is trusted. docs/dumps.md describes the format."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topk.registry import ALL_SELECTORS
from topk.selector import Counts, Floats, Selector
from topk.version import __version__

FORMAT, VERSION = "crowdselect-run", 1
# Kinds of events that change the roster or the grading: the algorithm is told everything again.
ANEW = ("regrade", "withdraw", "absent", "leave", "screened")
ANSWER = ("question", "position", "right", "void", "counted")
DEALT = "dealt"  # may be missing: then all assignments were there from the start
UNCOUNTED = 0
# Errors that invalid values lead to.
SPOILT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class DumpError(ValueError):
    """A file that cannot be read as a dump. The message is a sentence for users."""


@dataclass(frozen=True)
class DumpedAssignments:
    """The assignments of a dump, in order of arm and position. All are (a,).

    question  its number in its kind's deck
    counted   number of the step that counted it; 0 if none did
    dealt     number of the step that handed it out
    """

    arm: Counts
    position: Counts
    question: Counts
    right: Counts
    void: NDArray[np.bool_]
    counted: Counts
    dealt: Counts

    def tally(self, which: NDArray[np.bool_], n: int) -> Counts:
        """Count (n,) how many of these each arm has."""
        return np.bincount(self.arm[which], minlength=n).astype(np.int64)


@dataclass(frozen=True)
class DumpRecord:
    """The stored record of a run: the problem, the answers, and the claimed result.

    run      settings and how it ended, by name
    ks       (kinds,) workers wanted of each kind of task; decks: how many questions it has
    kind, worker, gone, claims  (n,) by arm; a claim is the dump's statement of the arm's tallies
    steps    by number; anew: the last step at which everything was told again, 0 if none
    result   the claimed end: ``selection`` (arms), ``by``, ``epsilon``, ``guarantee``, ``among``
    """

    run: dict[str, Any]
    options: dict[str, Any]
    ks: tuple[int, ...]
    decks: tuple[int, ...]
    workers: Sequence[dict[str, Any]]
    kind: Counts
    worker: Counts
    gone: NDArray[np.bool_]
    claims: Sequence[dict[str, Any]]
    asked: DumpedAssignments
    steps: dict[int, dict[str, Any]]
    events: Sequence[dict[str, Any]]
    memory: dict[str, Any]
    best_guarantee: dict[str, Any]
    result: dict[str, Any]

    @property
    def n(self) -> int:
        return self.kind.size

    @property
    def several(self) -> bool:
        return len(self.ks) > 1

    @property
    def algorithm(self) -> type[Selector]:
        return ALL_SELECTORS[self.run["algorithm"]]

    @property
    def anew(self) -> int:
        """The last step at which all answers were told again; 0 for algorithms that remember
        tallies only.
        """
        if self.algorithm.open_roster:
            return 0
        return max((event["step"] for event in self.events if event["kind"] in ANEW), default=0)

    @property
    def ended(self) -> bool:
        return bool(self.run["status"] == "ended")

    @property
    def fixed_budget(self) -> bool:
        return self.algorithm.guarantee.fixed == "budget"

    @property
    def finished(self) -> bool:
        """True if the run claims to have reached its algorithm's own end."""
        ending = self.run["ending"]
        return bool(ending == "guarantee" or (self.fixed_budget and ending == "budget"))

    def claim(self, name: str) -> Floats:
        """Read (n,) a number that is claimed of each arm."""
        return np.array([row[name] for row in self.claims], float)

    def worker_name(self, arm: int) -> str:
        number = int(self.worker[arm])
        name = str(self.workers[number].get("worker") or f"number {number + 1}")
        return f"{name}, kind {self.kind[arm] + 1}" if self.several else name


def digest_of(document: dict[str, Any]) -> str:
    """Leave out ``digest`` itself."""
    rest = {name: value for name, value in document.items() if name != "digest"}
    return hashlib.sha256(canonical_json(rest).encode()).hexdigest()


def canonical_json(value: Any) -> str:
    """Write JSON with sorted names and no spaces, so that the same values are the same text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def read_record(document: Any) -> DumpRecord:
    """Read a dump. Raises DumpError for an invalid dump or an unknown version."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DumpError("This is no dump of a run: it does not begin with its format.")
    if document.get("version") != VERSION:
        raise DumpError(
            f"This dump was written by {written_by(document)} in version "
            f"{document.get('version')!r} of its format; topk {__version__} reads version "
            f"{VERSION}."
        )
    try:
        return _read_record(document)
    except SPOILT as error:
        raise DumpError(f"This dump cannot be read: {error_text(error)}.") from error


def written_by(document: dict[str, Any]) -> str:
    return f"version {document.get('software')} of the application"


def error_text(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing or not known"
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__


def _read_record(document: dict[str, Any]) -> DumpRecord:
    run, rows = document["run"], sorted(document["candidates"], key=lambda row: row["arm"])
    kinds = document["kinds"]
    if [row["arm"] for row in rows] != list(range(len(rows))):
        raise ValueError("the arms of its candidates are not numbered from 0 without a gap")
    record = DumpRecord(
        run=run,
        options=dict(run["options"]),
        ks=tuple(int(kind["k"]) for kind in kinds),
        decks=tuple(int(kind["deck"]) for kind in kinds),
        workers=document["workers"],
        kind=np.array([row["kind"] for row in rows], np.int64),
        worker=np.array([row["worker"] for row in rows], np.int64),
        gone=np.array([bool(row["gone"]) for row in rows], bool),
        claims=rows,
        asked=_read_asked(rows, document["answer_columns"]),
        steps={int(step["number"]): step for step in document["steps"]},
        events=document["events"],
        memory=document["memory"],
        best_guarantee=document["best_guarantee"],
        result=document["result"],
    )
    _refuse_strange(record)
    return record


def _refuse_strange(record: DumpRecord) -> None:
    """Raise an error for values that would cause one later: missing names, arms out of range."""
    record.algorithm  # noqa: B018  an algorithm that is not known raises KeyError
    for name in ("status", "ending", "seed", "joined", "recorded", "epsilon", "delta", "budget"):
        record.run[name]
    for name in ("selection", "by", "epsilon", "guarantee", "among"):
        record.result[name]
    seed = record.run["seed"]
    if not isinstance(seed, int) or seed < 0:
        raise ValueError("its seed is no whole number")
    inside = (record.kind >= 0) & (record.kind < len(record.ks))
    valid = (record.worker >= 0) & (record.worker < len(record.workers))
    if not (inside.all() and valid.all()):
        raise ValueError("a candidate is of a kind or a worker that is not in it")
    selection = np.array(record.result["selection"], np.int64)
    if selection.size and not (selection.min() >= 0 and selection.max() < record.n):
        raise ValueError("its selection names an arm that is not in it")


def _read_asked(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> DumpedAssignments:
    names = [*ANSWER, DEALT] if DEALT in columns else [*ANSWER]
    places = [columns.index(name) for name in names]
    table = np.array(
        [
            (row["arm"], *(int(answer[place] or 0) for place in places))
            for row in rows
            for answer in row["answers"]
        ],
        np.int64,
    ).reshape(-1, 1 + len(names))
    table = table[np.lexsort((table[:, 2], table[:, 0]))]
    arm, question, position, grade, void, step = table.T[:6]
    dealt = table[:, 6] if DEALT in columns else np.zeros_like(arm)
    return DumpedAssignments(arm, position, question, grade, void.astype(bool), step, dealt)
