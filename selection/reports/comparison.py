"""Two runs side by side: where they differ, and whom both select."""

from dataclasses import dataclass
from typing import Any

from selection import algorithms
from selection.models import Run
from selection.models.runs import SETTINGS
from selection.runs import algorithm_choices

from .guarantee_status import promise_status
from .progress import read_progress
from .standings import WorkerStanding, worker_standings

COMPARED = (*SETTINGS, "seed")


@dataclass(frozen=True)
class ComparedPair:
    """What one thing is in each of the two; both as words."""

    what: str
    one: str
    other: str


@dataclass(frozen=True)
class Comparison:
    """settings    those in which they differ
    figures     what each has cost, and reached
    both        workers whom both select; and those whom only one does
    verdicts    workers of both whose verdicts differ
    shared      workers who are in both
    """

    settings: list[ComparedPair]
    figures: list[ComparedPair]
    both: list[str]
    only_one: list[str]
    only_other: list[str]
    verdicts: list[ComparedPair]
    shared: int


def compare_runs(one: Run, other: Run) -> Comparison:
    lines = _lines_by_worker(one), _lines_by_worker(other)
    chosen = [{key for key, line in each.items() if line.selected} for each in lines]
    shared = [key for key in lines[0] if key in lines[1]]
    return Comparison(
        settings=[pair for pair in _setting_pairs(one, other) if pair.one != pair.other],
        figures=_figure_pairs(one, other),
        both=sorted(chosen[0] & chosen[1]),
        only_one=sorted(chosen[0] - chosen[1]),
        only_other=sorted(chosen[1] - chosen[0]),
        verdicts=[
            ComparedPair(key, lines[0][key].verdict, lines[1][key].verdict)
            for key in sorted(shared)
            if lines[0][key].verdict != lines[1][key].verdict
        ],
        shared=len(shared),
    )


def _lines_by_worker(run: Run) -> dict[str, WorkerStanding]:
    """By worker, and where a run has several skills, by worker and skill."""
    return {
        f"{line.worker} ({line.skill})" if line.skill else line.worker: line
        for line in worker_standings(run)
    }


def _setting_pairs(one: Run, other: Run) -> list[ComparedPair]:
    names = [
        (_setting_label(name), _value_text(getattr(one, name)), _value_text(getattr(other, name)))
        for name in COMPARED
    ]
    pairs = [ComparedPair(*each) for each in names]
    extras = (
        dict(algorithm_choices.describe_options(one)),
        dict(algorithm_choices.describe_options(other)),
    )
    labels = [*extras[0], *(label for label in extras[1] if label not in extras[0])]
    pairs += [ComparedPair(label, *(each.get(label, "–") for each in extras)) for label in labels]
    return pairs


def _setting_label(name: str) -> str:
    words = str(getattr(Run._meta.get_field(name), "verbose_name", name))
    return words[:1].upper() + words[1:] if words.isascii() else words


def _value_text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and value in algorithms.ALGORITHMS:
        return algorithms.ALGORITHMS[value].title
    return f"{value:g}" if isinstance(value, float) else str(value)


def _figure_pairs(one: Run, other: Run) -> list[ComparedPair]:
    return [
        ComparedPair(*each)
        for each in zip(
            (
                "State",
                "Ended because",
                "Answers counted",
                "ε reached",
                "Accepted",
                "Rejected",
                "Not tested",
            ),
            _figures_of(one),
            _figures_of(other),
            strict=True,
        )
    ]


def _figures_of(run: Run) -> list[str]:
    far, epsilon = read_progress(run), promise_status(run).epsilon
    workers = (str(count) for count in (far.accepted, far.rejected, far.not_tested))
    return [run.state, run.why_ended or "–", f"{far.counted:,}", _value_text(epsilon), *workers]
