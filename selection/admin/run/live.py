"""What of a run's page changes while it goes on, in pieces; a refresh sends those that changed.

A browser names the state that it has (If-None-Match). When nothing changed it gets 304; else the
pieces that differ, or all of them if that state is not remembered any more. However many pages are
open, the pieces are made once for each state of the run, and less often where that is costly: of a
large pool, a few seconds after a step. All that is remembered is in the cache,
and is made anew where that is empty or away.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2s
from typing import Any

from django.core.cache import cache
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseNotModified,
    JsonResponse,
    QueryDict,
)
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils.decorators import method_decorator
from django.views.decorators.gzip import gzip_page

from selection import reports
from selection.admin.charts import population_chart, progress_chart
from selection.admin.page import Page
from selection.models import Run
from selection.runs import algorithm_choices, priors

from . import forecast_running, table

logger = logging.getLogger(__name__)

PARTS = [
    "state",
    "needs",
    "tiles",
    "progress",
    "outlook",
    "charts",
    "promise",
    "more",
    "signs",
    "choices",
    "pages",
]
# What depends on the clock alone, as "12 answers a minute", is so old at most.
FRESH_SECONDS = 5
# What takes more of a processor's time than this to make is made again after four times as long.
COSTLY_SECONDS = 0.5
REST = 4
# A page that was hidden for longer gets all pieces again.
KNOWN_SECONDS = 120


def live_context(run: Run, asked: QueryDict) -> dict[str, Any]:
    """All that the pieces of a run that has begun are made of, for this query string."""
    seen = reports.run_standings(run)
    lines, fit, signs = seen.lines, seen.fit, reports.find_signs(run)
    needs, promised = (
        reports.list_alerts(run, fit, signs),
        reports.promise_status(run, seen.selection, fit),
    )
    progress = reports.read_progress(run)
    return {
        "run": run,
        "live": run.status == Run.Status.RUNNING,
        "lasted": reports.format_duration(run.ended - run.started)
        if run.ended and run.started
        else "",
        "progress": progress,
        "percent": 100 if run.finished else min(99, round(100 * progress.closed)),
        "settled_in": sum(line.verdict == "settled in" for line in lines),
        "settled_out": sum(line.verdict == "settled out" for line in lines),
        "workers": len(lines) // len(run.skills),
        "skills": reports.skill_lines(run, lines),
        "quotas": reports.quota_lines(run, lines),
        "promised": promised,
        "proof": reports.current_guarantee(run, lines),
        "concerns": [need for need in needs if need.kind not in _named_in(promised)],
        "signs": signs,
        "population": population_chart.draw_population(fit.population) if fit.population else None,
        "interval": reports.interval_meaning(run),
        "accuracy": algorithm_choices.describe_accuracy(run),
        "learned": priors.learned_prior(run),
        "doubt": priors.prior_doubt(run),
        "ahead": forecast_running.running_forecast(run, progress),
        "chart": progress_chart.draw_progress(reports.read_history(run, 100), len(lines)),
        "table": table.build_table(run, lines, asked),
    }


def _named_in(promised: reports.GuaranteeStatus) -> set[str]:
    """Return the kinds of needs that the page's verdict names itself."""
    return {"review", "fit", "sharing"} if promised.verdict == reports.WEAKENED else {"review"}


@dataclass(frozen=True)
class PagePieces:
    """parts  HTML by the name of the part
    rows   HTML of each row of the table, by its id and in order
    """

    parts: dict[str, str]
    rows: dict[str, str]

    @property
    def part_digests(self) -> dict[str, str]:
        return {name: short_digest(html) for name, html in (self.parts | self.rows).items()}

    @property
    def tag(self) -> str:
        """Other pieces, or another order of the rows, have another."""
        return short_digest(repr(self.part_digests), 12)

    def since(self, known: dict[str, str]) -> dict[str, Any]:
        """What a page lacks that has pieces of these digests."""
        now = self.part_digests
        order = list(self.rows)
        return {
            "parts": {n: html for n, html in self.parts.items() if known.get(n) != now[n]},
            "rows": {n: html for n, html in self.rows.items() if known.get(n) != now[n]},
            "order": order if [n for n in known if n not in self.parts] != order else None,
        }


def short_digest(text: str, size: int = 6) -> str:
    return blake2s(text.encode(), digest_size=size).hexdigest()


def render_pieces(context: dict[str, Any]) -> PagePieces:
    """The pieces for this context. Nothing in them depends on who looks, and none is a secret."""
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


def remember_pieces(run: Run, pieces: PagePieces) -> None:
    """So that the page that has them can be told what changed."""
    _read_cache(
        lambda: cache.set(_digest_known(run, pieces.tag), pieces.part_digests, KNOWN_SECONDS)
    )


@method_decorator(gzip_page, name="dispatch")
class LiveView(Page):
    """A refresh. It is compressed, and alone in that: it holds no token of a form and no link that
    works as a password, so its length gives nothing away (BREACH).
    """

    permission_required = ["selection.view_run"]

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        run: Run = self.object
        if run.status == Run.Status.DRAFT:
            return HttpResponse(status=204)
        pieces = self._current_pieces(run, request)
        tag, known = pieces.tag, request.headers.get("If-None-Match", "").strip('W/"')
        headers = {"ETag": f'"{tag}"', "Vary": "If-None-Match"}
        if known == tag:
            return HttpResponseNotModified(headers=headers)
        remember_pieces(run, pieces)
        past = _read_cache(lambda: cache.get(_digest_known(run, known))) or {}
        live = run.status == Run.Status.RUNNING
        return JsonResponse({"live": live, **pieces.since(past)}, headers=headers)

    def _current_pieces(self, run: Run, request: HttpRequest) -> PagePieces:
        query = short_digest(request.GET.urlencode(), 12)
        key, calm = (
            f"pieces:{_state_key(run)}:{query}",
            f"pieces:{_state_key(run, STEPPING)}:{query}",
        )
        found = _read_cache(lambda: cache.get(key)) or _read_cache(lambda: cache.get(calm))
        if found is None:
            began = time.thread_time()
            made = found = render_pieces(live_context(run, request.GET))
            rest = _seconds_to_reuse(time.thread_time() - began)
            _read_cache(lambda: cache.set(key, made, FRESH_SECONDS))
            if rest:
                _read_cache(lambda: cache.set(calm, made, rest))
        return found


def _seconds_to_reuse(took: float) -> int:
    """For how many seconds such costly pieces are sent again, whatever steps are taken."""
    return round(REST * took) if took > COSTLY_SECONDS else 0


# What each step of the engine changes.
STEPPING = frozenset({"steps", "proof"})


def _state_key(run: Run, besides: frozenset[str] = frozenset()) -> str:
    """Another for whatever was done to the run, but what is said besides. Its memory changes with
    its steps alone."""
    left = besides | {"memory"}
    fields = [field.attname for field in Run._meta.concrete_fields if field.attname not in left]
    event = run.events.order_by("-id").values_list("id", flat=True).first()
    return short_digest(repr([event, *(getattr(run, name) for name in fields)]), 12)


def _digest_known(run: Run, tag: str) -> str:
    return f"known:{run.pk}:{short_digest(tag, 12)}"


def _read_cache(use: Callable[[], Any]) -> Any:
    """What the cache says; None where it is away, as where it knows nothing."""
    try:
        return use()
    except Exception:
        logger.warning("The cache does not answer: a page is made without it.")
        return None
