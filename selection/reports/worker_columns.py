"""The columns of a worker's row: on the run's page, in files and in the API.

``WorkerStanding`` declares each with its type and, for programs, its meaning. The lists below say
which of them an output has, in which order.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from selection.models import Run, pass_marks

from .selection import ended_early

# In order of interest to a requester, with a shape that distinguishes them without colour.
SHAPES = {
    "accepted": "▲",
    "settled in": "△",
    "undecided": "○",
    "settled out": "▽",
    "rejected": "▼",
    "not tested": "–",
}
# Of the selected workers: first what they achieved, then what became of them.
SELECTED = ("rank", "worker", "name", "verdict", "answers", "right", "mean", "lower", "upper")
SELECTED_LIFE = ("lapsed", "presence", "by_hand", "by_hand_why", "selected_by")
EVERYBODY = (
    *("worker", "name", "selected", "by_algorithm", "verdict", "presence"),
    *("answers", "right", "wrong", "lapsed", "out", "mean", "lower", "upper"),
    *("decided_in", "why", "by_hand", "by_hand_why"),
)
BOUNDS = (
    "The accuracy is between lower and upper. For whom and at which times that holds depends on "
    "the algorithm: `interval` of the run's selection says it."
)
ROUNDED = ("mean", "lower", "upper", "expected")  # to four places


@dataclass(frozen=True)
class WorkerStanding:
    """A worker's standing in a run; with several skills, in one of them. Shares are in [0, 1].

    A worker who is not tested is never selected by the algorithm, has no reason for a verdict, and
    has the bounds 0 and 1.
    """

    candidate: Annotated[int, "A number of the worker in this run and skill."]
    worker: str
    name: str
    answers: Annotated[int, "That count."]
    out: Annotated[int, "Questions that are out with the worker, or not counted yet."]
    right: float
    mean: Annotated[float | None, "Share of right answers; null without an answer."]
    lower: Annotated[float, BOUNDS]
    upper: Annotated[float, BOUNDS]
    verdict: Annotated[
        str,
        "accepted, rejected, undecided, settled in or settled out by the present bounds; not "
        "tested: no answer of the worker was counted, or they left before a verdict.",
    ]
    selected: bool
    decided_in: Annotated[int | None, "The step that accepted or rejected."]
    why: str
    presence: Annotated[str, "invited, active, never came, left or withdrawn."] = "active"
    lapsed: Annotated[int, "Answers that were not given in time."] = 0
    by_hand: Annotated[str, "The requester's own verdict, if there is one."] = ""
    by_hand_why: str = ""
    by_algorithm: Annotated[bool, "True if the algorithm itself selects the worker."] = False
    group: Annotated[str, "By the attribute of the quotas."] = ""
    skill: str = ""
    number: Annotated[int, "Of the skill."] = 0
    expected: Annotated[
        float | None, "Where the run ended early: the accuracy that all answers make likely."
    ] = None
    mark: Annotated[
        str,
        "If the run has a pass mark: reaches the mark, below the mark or not shown yet. Each of "
        "the first two has an error probability δ of its own.",
    ] = ""
    elsewhere: Annotated[str, "The skill that the worker is selected for instead."] = ""

    @property
    def selected_by(self) -> str:
        return "algorithm" if self.by_algorithm else "hand"

    @property
    def wrong(self) -> int:
        """Answers that were given in time and not right."""
        return self.answers - round(self.right) - self.lapsed

    @property
    def judged(self) -> bool:
        """True if an answer counted or the requester gave a verdict. Platforms get only these."""
        return bool(self.answers or self.by_hand)


def selected_columns(run: Run) -> list[str]:
    several, group, last = _further_columns(run)
    return [*SELECTED, *group, *several, *SELECTED_LIFE, *last]


def all_columns(run: Run) -> list[str]:
    several, group, last = _further_columns(run)
    elsewhere = ["elsewhere"] if run.several and run.one_kind_each else []
    return [*EVERYBODY, *group, *several, *last, *elsewhere]


def _further_columns(run: Run) -> tuple[list[str], list[str], list[str]]:
    """List the columns for several skills, for quotas, for an early end and for a mark."""
    return (
        ["skill"] if run.several else [],
        ["group"] if run.quotas else [],
        [
            *(["expected"] if ended_early(run) else []),
            *(["mark"] if pass_marks.has_mark(run) else []),
        ],
    )


def cell_value(line: WorkerStanding, name: str) -> Any:
    """Write the value for a file: shares to four places, right answers as a whole number."""
    value = getattr(line, name)
    if name in ROUNDED:
        return None if value is None else round(value, 4)
    return round(value) if name == "right" else value


def sort_key(line: WorkerStanding, name: str) -> Any:
    value = getattr(line, name)
    if name == "worker":
        return value.casefold()
    if name == "verdict":
        return -list(SHAPES).index(value)
    return -1.0 if value is None else value
