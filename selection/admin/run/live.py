"""Parts of a run's page that change while it is running; live.js exchanges those that changed.

A browser names the state that it shows (If-None-Match). If nothing changed it gets 304, else all
parts. However many pages are open, the parts are rendered once per state of the run, and less often
if that is costly: for a large pool, a few seconds after a step. Everything cached is rendered anew
if the cache is empty or unreachable.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2s
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, JsonResponse, QueryDict
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils.decorators import method_decorator
from django.views.decorators.gzip import gzip_page

from selection import reports, viewer_locale
from selection.admin.model_workers.run_page import format_spending
from selection.admin.page import Page
from selection.charts import run_charts
from selection.facts import Facts
from selection.models import Run
from selection.reports import WorkerStanding
from selection.runs.settings import algorithm_choices

from . import forecast_running, status_line, table
from .forecast_running import format_cost

logger = logging.getLogger(__name__)

PARTS = [
    "status",
    "now",
    "needs",
    "tiles",
    "choices",
    "pages",
    "progress",
    "charts",
    "guarantee",
    "more",
    "signs",
    "money",
]
# Maximum age of values that depend on the clock alone, for example "12 answers a minute".
FRESH_SECONDS = 5
# Pieces that take more processor time than this are reused for four times as long.
COSTLY_SECONDS = 0.5
REST_FACTOR = 4


def live_context(run: Run, query: QueryDict) -> dict[str, Any]:
    standings = reports.run_standings(run)
    lines, fit, signs = standings.lines, standings.fit, reports.find_signs(run)
    alerts = reports.list_alerts(run, fit, signs)
    guarantee = reports.guarantee_of_run(run, standings.selection, fit, signs)
    progress = reports.read_progress(run)
    remaining = forecast_running.describe_remaining(run, progress)
    status = status_line.write_status(run, progress, remaining, alerts, lines)
    return {
        "run": run,
        "live": run.status == Run.Status.RUNNING,
        "lasted": reports.format_duration(run.ended - run.started)
        if run.ended and run.started
        else "",
        "progress": progress,
        "uncounted": reports.count_uncounted(run),
        "percent": 100 if run.finished else min(99, round(100 * progress.closed)),
        "workers": len(lines) // len(run.skills),
        "skills": reports.skill_lines(run, lines),
        "quotas": reports.quota_lines(run, lines),
        "guarantee": guarantee,
        "remedies": status_line.show_remedies(run, guarantee.weakenings),
        "since": reports.current_guarantee(run, lines),
        "status": status,
        "money": format_spending(run),
        "alerts": status_line.show_alerts(run, alerts, status, remaining),
        "signs": signs,
        "claims": reports.claims_at_end(run, lines),
        "outcome": build_outcome(run, lines),
        "population": run_charts.draw_population(fit.population) if fit.population else None,
        "interval": reports.interval_meaning(run),
        "accuracy": algorithm_choices.describe_accuracy(run),
        "remaining": remaining,
        "chart": run_charts.draw_progress(reports.read_history(run, 100), len(lines)),
        "table": table.build_table(run, lines, query),
    }


@dataclass(frozen=True)
class PagePieces:
    """The rendered parts of a page.

    parts  HTML by the name of the part
    rows   HTML of each row of the table, by its id and in order
    """

    parts: dict[str, str]
    rows: dict[str, str]

    @property
    def tag(self) -> str:
        return short_digest(repr(self))


def short_digest(text: str) -> str:
    return blake2s(text.encode(), digest_size=12).hexdigest()


def render_pieces(context: dict[str, Any]) -> PagePieces:
    """Render pieces that depend on no user and contain no secret: all users share them."""
    parts = {part: render_to_string(f"selection/live/{part}.html", context) for part in PARTS}
    rows = {}
    for row in context["table"].rows:
        if row.border:
            border = {"row": row, "run": context["run"]}
            rows[f"{row.id}-border"] = render_to_string("selection/live/border.html", border)
        rows[row.id] = render_to_string("selection/live/row.html", context | {"row": row})
    return PagePieces(
        {name: html.strip() for name, html in parts.items()},
        {name: html.strip() for name, html in rows.items()},
    )


@method_decorator(gzip_page, name="dispatch")
class LiveView(Page):
    """A refresh, the only compressed page.

    It contains no form token and no link that works as a password, so its length reveals nothing
    (BREACH).
    """

    permission_required = ["selection.view_run"]
    location = ("<int:pk>/live/", "live")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        run: Run = self.object
        if run.status == Run.Status.DRAFT:
            return HttpResponse(status=204)
        pieces = self._current_pieces(run, request)
        tag, page_tag = pieces.tag, request.headers.get("If-None-Match", "").strip('W/"')
        headers = {"ETag": f'"{tag}"', "Vary": "If-None-Match, Accept-Language"}
        if page_tag == tag:
            return HttpResponseNotModified(headers=headers)
        live = run.status == Run.Status.RUNNING
        return JsonResponse({"live": live, **vars(pieces)}, headers=headers)

    def _current_pieces(self, run: Run, request: HttpRequest) -> PagePieces:
        query = short_digest(f"{viewer_locale.locale_name()}?{request.GET.urlencode()}")
        short_key = f"pieces:{_state_key(run)}:{query}"
        long_key = f"pieces:{_state_key(run, STEP_FIELDS)}:{query}"
        pieces = _read_cache(lambda: cache.get(short_key)) or _read_cache(
            lambda: cache.get(long_key)
        )
        if pieces is None:
            start = time.thread_time()
            fresh = pieces = render_pieces(live_context(run, request.GET))
            lifetime = _seconds_to_reuse(time.thread_time() - start)
            _read_cache(lambda: cache.set(short_key, fresh, FRESH_SECONDS))
            if lifetime:
                _read_cache(lambda: cache.set(long_key, fresh, lifetime))
        return pieces


def _seconds_to_reuse(took: float) -> int:
    return round(REST_FACTOR * took) if took > COSTLY_SECONDS else 0


# The fields that each step of the engine changes.
STEP_FIELDS = frozenset({"steps", "best_guarantee"})


def _state_key(run: Run, ignored: frozenset[str] = frozenset()) -> str:
    """Hash the run: a digest that changes with the run, except with the fields in ``ignored``.

    The engine's memory is left out: it changes only together with the step counter.
    """
    excluded = ignored | {"memory"}
    fields = [field.attname for field in Run._meta.concrete_fields if field.attname not in excluded]
    event = run.events.order_by("-id").values_list("id", flat=True).first()
    return short_digest(repr([event, *(getattr(run, name) for name in fields)]))


def _read_cache(use: Callable[[], Any]) -> Any:
    try:
        return use()
    except Exception:
        logger.warning("The cache does not answer: a page is made without it.")
        return None


# The table below has the others: the guarantee and the cost must stay in the first screen.
MOST_NAMED = 8


def build_outcome(run: Run, lines: Sequence[WorkerStanding]) -> Facts | None:
    """Describe the outcome; None if the run has not ended.

    lines  of all workers, best first in each skill
    """
    if run.status != Run.Status.ENDED:
        return None
    selected = [line for line in lines if line.selected]
    groups = [
        _build_group(run, skill.number, [line for line in selected if line.number == skill.number])
        for skill in run.skills
    ]
    return Facts(
        groups=[group for group in groups if group.named],
        selected=len(selected),
        cost=_cost(run, lines),
    )


def _build_group(run: Run, number: int, selected: list[WorkerStanding]) -> Facts:
    rows = [(line, format_accuracy(line, run.fixed_budget)) for line in selected[:MOST_NAMED]]
    skill = selected[0].skill if selected else ""
    return Facts(skill=skill, number=number, named=rows, more=len(selected) - len(rows))


def format_accuracy(line: WorkerStanding, without_bounds: bool) -> str:
    """Write the share of right answers with its bounds, rounded outwards: 89%, 81–95.

    without_bounds  as for a run with a fixed budget, whose bounds mean nothing
    """
    if line.mean is None:
        return "no answer counted"
    share = table.format_share(line)
    return share if without_bounds else f"{share}, {table.format_bounds(line)}"


def _cost(run: Run, lines: Sequence[WorkerStanding]) -> str:
    workers = Counter(line.number for line in lines)
    everything = sum(workers[skill.number] * skill.deck_size for skill in run.skills)
    paid = format_cost(run, reports.count_given(run))
    return f"{paid}. Testing everyone on every question: {format_cost(run, everything)}."
