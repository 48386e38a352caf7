"""A report of a run: one page to read, print and keep, with nothing outside it."""

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from selection import reports
from selection.models import Candidate, Run
from selection.runs import algorithm_choices, money

from . import methods_paragraph, svg_charts
from .context import ExportContext

MOST_NAMED, MOST_EVENTS = 50, 200
NEVER = "invited, and had not answered anything"


@dataclass(frozen=True)
class MissingWorkers:
    """Workers who were not tested to the end, and why; names: of the first of them."""

    why: str
    count: int
    names: list[str]

    @property
    def more(self) -> int:
        return self.count - len(self.names)


@dataclass(frozen=True)
class ReportPart:
    """One kind of task: who is selected for it, and how they stand. name: empty where it is all."""

    name: str
    k: int
    selected: list[reports.WorkerStanding]
    chart: svg_charts.StandingsChart | None


def write_report(wanted: ExportContext) -> Iterator[bytes]:
    return iter([render_page(wanted.run).encode()])


def render_page(run: Run, back: str = "") -> str:
    """back  the address of the run's page, for whoever reads it on the server"""
    return render_to_string(
        "selection/report.html", report_facts(ExportContext(run)) | {"back": back}
    )


@cache
def report_style() -> SafeString:
    """It stands in the page itself, so that a copy of the page looks like it."""
    own = render_to_string("selection/report.css")
    return mark_safe(own)  # noqa: S308  # nosec B308 B703: a file of ours


def content_policy() -> str:
    """The page may show this style and nothing else: no script, no picture, no form."""
    digest = base64.b64encode(hashlib.sha256(report_style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'none'; "
        "frame-ancestors 'none'; base-uri 'none'"
    )


def report_facts(wanted: ExportContext) -> dict[str, Any]:
    run = wanted.run
    return {
        "run": run,
        "style": report_style(),
        "made": timezone.now(),
        "workers": len(wanted.people) or run.pool.workers.count(),
        "needs": run.selector_class.needs,  # a template would call the class
        "title": run.selector_class.title,
        "citation": run.selector_class.promise.citation,
        "extras": algorithm_choices.describe_options(run),
        "accuracy": algorithm_choices.describe_accuracy(run),
        "percent": 100 * run.epsilon,
        "once_in": 1 / run.delta,
        "price": money.format_price(run),
        "budget_cost": money.format_cost(run, run.budget) if run.budget else "",
        "promised": wanted.promised,
        "early": reports.ended_early(run),
        "interval": reports.interval_meaning(run),
        "references": methods_paragraph.list_references(run),
        **(_started_facts(wanted) if run.status != Run.Status.DRAFT else {}),
    }


def _started_facts(wanted: ExportContext) -> dict[str, Any]:
    run, progress, given = (
        wanted.run,
        reports.read_progress(wanted.run),
        reports.count_given(wanted.run),
    )
    events = run.events.order_by("at", "id")
    tested = sum(any(line.answers for line in lines) for lines in wanted.people.values())
    end = run.ended or timezone.now()
    return {
        "progress": progress,
        "given": given,
        "cost": money.format_cost(run, given),
        "tested": tested,
        "lapsed": sum(line.lapsed for line in wanted.seen.lines),
        "lasted": reports.format_duration(end - run.started) if run.started else "",
        "parts": _report_parts(wanted),
        "warnings": wanted.seen.fit.warnings,
        "missing": _missing_workers(wanted),
        "corrections": events.filter(kind="regrade"),
        "events": events.exclude(kind="regrade")[:MOST_EVENTS],
        "reopened": events.filter(kind="reopen").last(),
        "course": svg_charts.draw_course(run),
        "by_hand": [line for line in wanted.seen.lines if line.by_hand],
        "methods": methods_paragraph.methods_paragraph(wanted),
        "box": {"width": svg_charts.WIDTH, "height": svg_charts.HEIGHT},
    }


def _report_parts(wanted: ExportContext) -> list[ReportPart]:
    found = []
    for skill in wanted.run.skills:
        lines = [line for line in wanted.seen.lines if line.number == skill.number]
        chosen = [line for line in lines if line.selected]
        name = str(skill) if wanted.run.several else ""
        found.append(ReportPart(name, skill.k, chosen, svg_charts.draw_standings(lines)))
    return found


def _missing_workers(wanted: ExportContext) -> list[MissingWorkers]:
    """By why: those who are gone, then those of whom nothing came. A worker is there once."""
    found: dict[str, list[str]] = {str(words): [] for _, words in Candidate.Gone.choices}
    found[NEVER] = []
    for worker, lines in wanted.people.items():
        presence = lines[0].presence
        if presence in found:
            found[presence].append(worker)
        elif not any(line.answers for line in lines):
            found[NEVER].append(worker)
    return [
        MissingWorkers(why, len(all_), all_[:MOST_NAMED]) for why, all_ in found.items() if all_
    ]
