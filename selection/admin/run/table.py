"""The table of a run's workers: filtered, searched, sorted and paged on the server."""

from collections import Counter
from collections.abc import Collection, Sequence
from math import ceil, floor
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import QueryDict

from selection import extensions
from selection.facts import Facts
from selection.models import Run
from selection.reports import WorkerStanding
from selection.reports.worker_columns import SHAPES, sort_key
from selection.runs.roster import quotas
from selection.viewer_locale import format_percent

PER_PAGE = 100
FILTERS = ("q", "verdict", "presence", "skill", "attribute", "sort")
NOT_STARTED = "not started"
# In words: an invitation may not have been sent.
PRESENCES = {"invited": NOT_STARTED, "active": "active", "gone": "gone"}
# An attribute with more values than this identifies workers rather than groups them.
MOST_VALUES = 20


# Names of the orders, each from its largest value down, except for the workers' names.
ORDERS = {
    "worker": "Name",
    "-answers": "Most answers",
    "-right": "Most right",
    "-wrong": "Most wrong",
    "-lapsed": "Most late",
    "-mean": "Highest accuracy",
    "-lower": "Highest lower bound",
    "-upper": "Highest upper bound",
    "-verdict": "Verdict",
}
PROVISIONAL = {"settled in": "provisionally in", "settled out": "provisionally out"}


def describe_presence(run: Run, worker: str, presence: str) -> str:
    """Word the presence; *invited* only after a message."""
    sent = presence != "invited" or _invited_keys(run, [worker])
    return presence if sent else NOT_STARTED


def _invited_keys(run: Run, workers: list[str]) -> set[str]:
    return {key for list_invited in extensions.INVITED for key in list_invited(run, workers)}


def plain_verdict(verdict: str) -> str:
    """Put the verdict in one of the four words; the shape tells a provisional one."""
    return "undecided" if verdict in PROVISIONAL else verdict


def format_share(line: WorkerStanding) -> str:
    return "–" if line.mean is None else format_percent(line.mean)


def format_bounds(line: WorkerStanding) -> str:
    lower, upper = (round(100 * bound, 6) for bound in (line.lower, line.upper))
    return f"{floor(lower)}–{ceil(upper)}"


def build_table(run: Run, lines: Sequence[WorkerStanding], query: QueryDict) -> Facts:
    """Build the rows that the query string asks for; invalid values in it are ignored."""
    all_lines, skill = lines, query.get("skill", "")
    lines = [line for line in all_lines if skill in ("", str(line.number))]
    matching = _search_lines(run, lines, query)
    present = [
        line for line in matching if _matches_filter(_presence_key(line), query.get("presence", ""))
    ]
    matches = [line for line in present if _has_verdict(line, query.get("verdict", ""))]
    matches = _sort_lines(matches, query.get("sort", ""))
    page = Paginator(matches, PER_PAGE).get_page(query.get("page"))
    return Facts(
        rows=_page_rows(run, lines, matches, page, query.get("sort", "")),
        page=page,
        orders=ORDERS,
        choices=_filter_choices(present, query),
        presences=_presence_choices(matching, query),
        pages=_page_links(page, query),
        previous=query_string(query, page=page.number - 1) if page.has_previous() else "",
        next=query_string(query, page=page.number + 1) if page.has_next() else "",
        found=len(matches),
        skills=_skill_choices(all_lines, query),
        everybody=query_string(
            query, q=None, verdict=None, presence=None, attribute=None, page=None
        ),
    )


_SORTABLE = {order.lstrip("-") for order in ORDERS}


# -- filters and order


def _search_lines(run: Run, lines: list[WorkerStanding], query: QueryDict) -> list[WorkerStanding]:
    search, group = query.get("q", "").strip().casefold(), query.get("attribute", "")
    candidates = _candidates_with_attribute(run, group) if "=" in group else None
    return [
        line
        for line in lines
        if (candidates is None or line.candidate in candidates)
        and (search in line.worker.casefold() or search in line.name.casefold())
    ]


def _candidates_with_attribute(run: Run, group: str) -> Collection[int]:
    """Find the candidates of workers with the attribute "name=value"."""
    attribute, _, value = group.partition("=")
    rows = run.candidates.values_list("pk", "worker__attributes")
    return {pk for pk, attributes in rows if quotas.value_of(attributes, attribute) == value}


def attribute_values(run: Run) -> dict[str, list[str]]:
    """List the values of each attribute that can serve as a filter, having a few values."""
    counts_by_name = quotas.count_attribute_values(run.pool)
    return {
        name: sorted(counts)
        for name, counts in counts_by_name.items()
        if 1 < len(counts) <= MOST_VALUES
    }


def _presence_key(line: WorkerStanding) -> str:
    return line.presence if line.presence in PRESENCES else "gone"


def _matches_filter(value: str, chosen: str) -> bool:
    return chosen in ("", value)


def _has_verdict(line: WorkerStanding, chosen: str) -> bool:
    return _matches_filter(line.verdict, chosen) or (chosen == "selected" and line.selected)


def _sort_lines(lines: list[WorkerStanding], order: str) -> list[WorkerStanding]:
    name = order.lstrip("-")
    if name not in _SORTABLE:
        return lines
    return sorted(lines, key=lambda line: sort_key(line, name), reverse=order.startswith("-"))


# -- presentation


def _page_rows(
    run: Run, lines: list[WorkerStanding], shown: list[WorkerStanding], page: Page, order: str
) -> list[Facts]:
    """Build the page's rows. In order of merit a border separates the selected from the rest.

    It is the number of selected workers, above the first of the others; 0 elsewhere.
    """
    places = _selected_places(lines)
    selected = Counter(line.number for line in lines if line.selected)
    by_merit = order.lstrip("-") not in _SORTABLE and any(line.answers for line in lines)
    start = max(0, page.start_index() - 1)
    waiting = [line.worker for line in page if line.presence == "invited"]
    sent = _invited_keys(run, waiting) if waiting else set()
    predecessors = [None, *shown[start : start + PER_PAGE]] if not start else shown[start - 1 :]
    return [
        Facts(
            line=line,
            place=places.get(line.candidate),
            border=selected[line.number] if by_merit and _is_border(previous, line) else 0,
            presence=NOT_STARTED
            if line.presence == "invited" and line.worker not in sent
            else line.presence,
            span=line.upper - line.lower,
            shape=SHAPES[line.verdict],
            verdict=plain_verdict(line.verdict),
            hint=PROVISIONAL.get(line.verdict, "").capitalize(),
            share=format_share(line),
            bounds=format_bounds(line) if line.answers else "",
            id=f"w{line.candidate}",
        )
        for previous, line in zip(predecessors, page, strict=False)
    ]


def _is_border(previous: WorkerStanding | None, line: WorkerStanding) -> bool:
    if previous is None or line.selected:
        return False
    return previous.selected and previous.number == line.number


def _selected_places(lines: list[WorkerStanding]) -> dict[int, int]:
    counts: Counter[int] = Counter()
    places = {}
    for line in lines:
        if line.selected:
            counts[line.number] += 1
            places[line.candidate] = counts[line.number]
    return places


def _page_links(page: Page, query: QueryDict) -> list[Facts]:
    numbers = page.paginator.get_elided_page_range(page.number, on_each_side=2, on_ends=1)
    return [
        Facts(
            words=str(n),
            query=query_string(query, page=n) if isinstance(n, int) else "",
            chosen=n == page.number,
        )
        for n in numbers
    ]


def _filter_choices(lines: Sequence[WorkerStanding], query: QueryDict) -> list[Facts]:
    counts = Counter(line.verdict for line in lines)
    selected = sum(line.selected for line in lines)
    by_now = [("Selected so far", "selected", selected)] if selected != counts["accepted"] else []
    options = [
        (PROVISIONAL.get(name, name).capitalize(), name, counts[name])
        for name in SHAPES
        if counts[name]
    ]
    return _build_choices(query, "verdict", [("All", "", len(lines)), *by_now, *options])


def _presence_choices(lines: Sequence[WorkerStanding], query: QueryDict) -> list[Facts]:
    """Build the filter by presence; empty if all workers have the same."""
    counts = Counter(map(_presence_key, lines))
    if len(counts) < 2 and not query.get("presence"):
        return []
    options = [
        (PRESENCES[name].capitalize(), name, counts[name]) for name in PRESENCES if counts[name]
    ]
    return _build_choices(query, "presence", [("Everybody", "", len(lines)), *options])


def _skill_choices(lines: Sequence[WorkerStanding], query: QueryDict) -> list[Facts]:
    counts = Counter((line.skill, str(line.number)) for line in lines)
    if len(counts) < 2:
        return []
    options = [(name, number, count) for (name, number), count in counts.items()]
    return _build_choices(query, "skill", [("All skills", "", len(lines)), *options])


def _build_choices(
    query: QueryDict, field: str, choices: list[tuple[str, str, int]]
) -> list[Facts]:
    chosen = query.get(field, "")
    return [
        Facts(
            words=label,
            count=count,
            query=query_string(query, **{field: value or None}, page=None),
            chosen=value == chosen,
            shape=SHAPES.get(value, ""),
        )
        for label, value, count in choices
    ]


def query_string(query: QueryDict, **changes: Any) -> str:
    changed = query.copy()
    for name, value in changes.items():
        changed.pop(name, None)
        if value is not None:
            changed[name] = str(value)
    return "?" + changed.urlencode()
