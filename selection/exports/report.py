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
from .context import Wanted

MOST_NAMED, MOST_EVENTS = 50, 200
NEVER = "invited, and had not answered anything"


@dataclass(frozen=True)
class Missing:
    """Workers who were not tested to the end, and why; names: of the first of them."""

    why: str
    count: int
    names: list[str]

    @property
    def more(self) -> int:
        return self.count - len(self.names)


@dataclass(frozen=True)
class Part:
    """One kind of task: who is selected for it, and how they stand. name: empty where it is all."""

    name: str
    k: int
    selected: list[reports.Line]
    chart: svg_charts.Standings | None


def report(wanted: Wanted) -> Iterator[bytes]:
    return iter([page(wanted.run).encode()])


def page(run: Run, back: str = "") -> str:
    """back  the address of the run's page, for whoever reads it on the server"""
    return render_to_string("selection/report.html", facts(Wanted(run)) | {"back": back})


@cache
def style() -> SafeString:
    """It stands in the page itself, so that a copy of the page looks like it."""
    own = render_to_string("selection/report.css")
    return mark_safe(own)  # noqa: S308  # nosec B308 B703: a file of ours


def content_policy() -> str:
    """The page may show this style and nothing else: no script, no picture, no form."""
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'none'; "
        "frame-ancestors 'none'; base-uri 'none'"
    )


def facts(wanted: Wanted) -> dict[str, Any]:
    run = wanted.run
    return {
        "run": run,
        "style": style(),
        "made": timezone.now(),
        "workers": len(wanted.people) or run.pool.workers.count(),
        "needs": run.selector_class.needs,  # a template would call the class
        "title": run.selector_class.title,
        "citation": run.selector_class.promise.citation,
        "extras": algorithm_choices.words(run),
        "accuracy": algorithm_choices.accuracy(run),
        "percent": 100 * run.epsilon,
        "once_in": 1 / run.delta,
        "price": money.price(run),
        "budget_cost": money.of(run, run.budget) if run.budget else "",
        "promised": wanted.promised,
        "early": reports.ended_early(run),
        "interval": reports.interval(run),
        "references": methods_paragraph.references(run),
        **(_begun(wanted) if run.status != Run.Status.DRAFT else {}),
    }


def _begun(wanted: Wanted) -> dict[str, Any]:
    run, progress, given = wanted.run, reports.progress(wanted.run), reports.count_given(wanted.run)
    events = run.events.order_by("at", "id")
    tested = sum(any(line.answers for line in lines) for lines in wanted.people.values())
    end = run.ended or timezone.now()
    return {
        "progress": progress,
        "given": given,
        "cost": money.of(run, given),
        "tested": tested,
        "lapsed": sum(line.lapsed for line in wanted.seen.lines),
        "lasted": reports.duration(end - run.started) if run.started else "",
        "parts": _parts(wanted),
        "warnings": wanted.seen.fit.warnings,
        "missing": _missing(wanted),
        "corrections": events.filter(kind="regrade"),
        "events": events.exclude(kind="regrade")[:MOST_EVENTS],
        "reopened": events.filter(kind="reopen").last(),
        "course": svg_charts.course(run),
        "by_hand": [line for line in wanted.seen.lines if line.by_hand],
        "methods": methods_paragraph.paragraph(wanted),
        "box": {"width": svg_charts.WIDTH, "height": svg_charts.HEIGHT},
    }


def _parts(wanted: Wanted) -> list[Part]:
    found = []
    for skill in wanted.run.skills:
        lines = [line for line in wanted.seen.lines if line.number == skill.number]
        chosen = [line for line in lines if line.selected]
        name = str(skill) if wanted.run.several else ""
        found.append(Part(name, skill.k, chosen, svg_charts.standings(lines)))
    return found


def _missing(wanted: Wanted) -> list[Missing]:
    """By why: those who are gone, then those of whom nothing came. A worker is there once."""
    found: dict[str, list[str]] = {str(words): [] for _, words in Candidate.Gone.choices}
    found[NEVER] = []
    for worker, lines in wanted.people.items():
        presence = lines[0].presence
        if presence in found:
            found[presence].append(worker)
        elif not any(line.answers for line in lines):
            found[NEVER].append(worker)
    return [Missing(why, len(all_), all_[:MOST_NAMED]) for why, all_ in found.items() if all_]
