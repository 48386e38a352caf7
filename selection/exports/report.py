"""Report of a run: one self-contained page to read, print and keep."""

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from selection import db_clock, reports
from selection.charts import run_charts, worker_charts
from selection.facts import Facts
from selection.models import Candidate, Run
from selection.runs import money
from selection.runs.settings import algorithm_choices

from . import methods_paragraph, model_part
from .context import ExportContext

MOST_NAMED, MOST_EVENTS = 50, 200
NEVER = "on the roster without any answer"


def write_report(context: ExportContext) -> Iterator[bytes]:
    return iter([render_page(context.run).encode()])


def render_page(run: Run, back: str = "") -> str:
    """Render the page.

    back  address of the run's page, for readers on the server
    """
    return render_to_string(
        "selection/report.html", report_facts(ExportContext(run)) | {"back": back}
    )


@cache
def report_style() -> SafeString:
    style = render_to_string("selection/report.css")
    return mark_safe(style)  # noqa: S308


def content_policy() -> str:
    """Write a policy that allows this style and nothing more: no script, no picture, no form."""
    digest = base64.b64encode(hashlib.sha256(report_style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'none'; "
        "frame-ancestors 'none'; base-uri 'none'"
    )


def report_facts(context: ExportContext) -> dict[str, Any]:
    run = context.run
    return {
        "run": run,
        "style": report_style(),
        "made": db_clock.database_now(),
        "workers": len(context.lines_by_worker) or run.pool.workers.count(),
        "needs": run.selector_class.needs,  # a template would call the class
        "takes_mark": run.selector_class.takes_mark,
        "title": run.selector_class.title,
        "citation": run.selector_class.guarantee.citation,
        "extras": algorithm_choices.describe_options(run),
        "accuracy": algorithm_choices.describe_accuracy(run),
        "percent": 100 * run.epsilon,
        "once_in": 1 / run.delta,
        "price": money.format_price(run),
        "budget_cost": money.format_cost(run, run.budget) if run.budget else "",
        "guarantee": context.guarantee,
        "early": reports.ended_early(run),
        "interval": reports.interval_meaning(run),
        "references": methods_paragraph.format_bibtex(run.selector_class.guarantee.citation),
        **(_started_facts(context) if run.status != Run.Status.DRAFT else {}),
    }


def _started_facts(context: ExportContext) -> dict[str, Any]:
    run = context.run
    progress = reports.read_progress(context.run)
    answers = reports.count_given(context.run)
    events = run.events.order_by("at", "id")
    tested = sum(any(line.answers for line in lines) for lines in context.lines_by_worker.values())
    end = run.ended or db_clock.database_now()
    return {
        "claims": reports.claims_at_end(run, context.standings.lines),
        "progress": progress,
        "given": answers,
        "cost": money.format_cost(run, answers),
        "tested": tested,
        "lapsed": sum(line.lapsed for line in context.standings.lines),
        "lasted": reports.format_duration(end - run.started) if run.started else "",
        "parts": _report_parts(context),
        "models": model_part.describe_models(context),
        "missing": _missing_workers(context),
        "corrections": events.filter(kind="regrade"),
        "events": events.exclude(kind="regrade")[:MOST_EVENTS],
        "reopened": events.filter(kind="reopen").last(),
        "course": run_charts.draw_course(run),
        "by_hand": [line for line in context.standings.lines if line.by_hand],
        "methods": methods_paragraph.methods_paragraph(context),
        "box": {"width": run_charts.COURSE_WIDTH, "height": run_charts.COURSE_HEIGHT},
    }


def _report_parts(context: ExportContext) -> list[Facts]:
    parts = []
    for skill in context.run.skills:
        lines = [line for line in context.standings.lines if line.number == skill.number]
        chosen = [line for line in lines if line.selected]
        name = str(skill) if context.run.several else ""
        parts.append(
            Facts(name=name, k=skill.k, selected=chosen, chart=worker_charts.draw_standings(lines))
        )
    return parts


def _missing_workers(context: ExportContext) -> list[Facts]:
    """List each missing worker once, by reason: first those gone, then those without answers."""
    workers: dict[str, list[str]] = {str(label): [] for _, label in Candidate.Gone.choices}
    workers[NEVER] = []
    for worker, lines in context.lines_by_worker.items():
        presence = lines[0].presence
        if presence in workers:
            workers[presence].append(worker)
        elif not any(line.answers for line in lines):
            workers[NEVER].append(worker)
    return [
        Facts(why=reason, count=len(keys), names=keys[:MOST_NAMED], more=len(keys[MOST_NAMED:]))
        for reason, keys in workers.items()
        if keys
    ]
