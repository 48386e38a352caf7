"""Comparison of two runs: their differences, and the workers that both select."""

from typing import Any

from selection import algorithms
from selection.facts import Facts
from selection.models import Run
from selection.runs.settings import algorithm_choices
from selection.runs.settings.run_settings import RUN_SETTINGS, SETTINGS
from selection.viewer_locale import format_count, format_figure

from .guarantee import guarantee_of_run
from .progress import read_progress
from .standings import WorkerStanding, worker_standings

COMPARED = (*(setting.name for setting in RUN_SETTINGS if setting.copied), "seed")


def compare_runs(first: Run, second: Run) -> Facts:
    lines = _lines_by_worker(first), _lines_by_worker(second)
    chosen = [{key for key, line in by_worker.items() if line.selected} for by_worker in lines]
    shared = [key for key in lines[0] if key in lines[1]]
    return Facts(
        settings=[pair for pair in _setting_pairs(first, second) if pair.one != pair.other],
        figures=_figure_pairs(first, second),
        both=sorted(chosen[0] & chosen[1]),
        only_one=sorted(chosen[0] - chosen[1]),
        only_other=sorted(chosen[1] - chosen[0]),
        verdicts=[
            Facts(what=key, one=lines[0][key].verdict, other=lines[1][key].verdict)
            for key in sorted(shared)
            if lines[0][key].verdict != lines[1][key].verdict
        ],
        shared=len(shared),
    )


def _lines_by_worker(run: Run) -> dict[str, WorkerStanding]:
    return {
        f"{line.worker} ({line.skill})" if line.skill else line.worker: line
        for line in worker_standings(run)
    }


def _setting_pairs(first: Run, second: Run) -> list[Facts]:
    one, other = _settings_of(first), _settings_of(second)
    return [
        Facts(what=what, one=one.get(what, "–"), other=other.get(what, "–")) for what in one | other
    ]


def _settings_of(run: Run) -> dict[str, str]:
    stored = {SETTINGS[name].title: _value_text(getattr(run, name)) for name in COMPARED}
    return stored | dict(algorithm_choices.describe_options(run))


def _value_text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and value in algorithms.ALGORITHMS:
        return algorithms.ALGORITHMS[value].title
    return f"{format_figure(value)}" if isinstance(value, float) else str(value)


def _figure_pairs(first: Run, second: Run) -> list[Facts]:
    one, other = _figures_of(first), _figures_of(second)
    return [Facts(what=name, one=one[name], other=other[name]) for name in one]


def _figures_of(run: Run) -> dict[str, str]:
    progress = read_progress(run)
    return {
        "State": run.state,
        "Ended because": run.why_ended or "–",
        "Answers counted": format_count(progress.counted),
        "ε reached": _value_text(guarantee_of_run(run).epsilon),
        "Accepted": str(progress.accepted),
        "Rejected": str(progress.rejected),
        "Not tested": str(progress.not_tested),
    }
