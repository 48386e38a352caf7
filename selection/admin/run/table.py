"""The table of a run's workers: filtered, searched, sorted and paged on the server."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import QueryDict

from selection.models import Run
from selection.reports import WorkerStanding
from selection.runs import quotas

from .columns import COLUMNS, KEYS, SHAPES, VERDICTS, TableColumn

PER_PAGE = 100
PRESENCES = ["invited", "active", "gone"]
# Attributes with more values than that are names rather than groups.
MOST_VALUES = 20


@dataclass(frozen=True)
class Heading:
    words: str
    name: str
    about: str
    query: str
    sorted: str


@dataclass(frozen=True)
class FilterChoice:
    words: str
    count: int
    query: str
    chosen: bool
    shape: str = ""


@dataclass(frozen=True)
class TableRow:
    """border  how many are selected, where the selection ends above this row; else 0"""

    line: WorkerStanding
    place: int | None
    border: int = 0

    @property
    def span(self) -> float:
        return self.line.upper - self.line.lower

    @property
    def shape(self) -> str:
        return SHAPES[self.line.verdict]

    @property
    def id(self) -> str:
        return f"w{self.line.candidate}"


@dataclass(frozen=True)
class PageLink:
    """query is empty for what is left out between two numbers."""

    words: str
    query: str
    chosen: bool = False


@dataclass(frozen=True)
class Table:
    rows: list[TableRow]
    page: Page
    headings: list[Heading]
    choices: list[FilterChoice]
    presences: list[FilterChoice]
    pages: list[PageLink]
    previous: str
    next: str
    found: int
    skills: list[FilterChoice]
    everybody: str


def build_table(run: Run, lines: Sequence[WorkerStanding], asked: QueryDict) -> Table:
    """The part of the lines that this query string asks for; nonsense in it is passed over."""
    every, skill = lines, asked.get("skill", "")
    lines = [line for line in every if skill in ("", str(line.number))]
    found = _search_lines(run, lines, asked)
    there = [
        line for line in found if _matches_filter(_presence_key(line), asked.get("presence", ""))
    ]
    kept = [line for line in there if _has_verdict(line, asked.get("verdict", ""))]
    kept = _sort_lines(kept, asked.get("sort", ""))
    page = Paginator(kept, PER_PAGE).get_page(asked.get("page"))
    return Table(
        rows=_page_rows(lines, kept, page, asked.get("sort", "")),
        page=page,
        headings=[_column_heading(column, asked) for column in COLUMNS],
        choices=_filter_choices(there, asked),
        presences=_presence_choices(found, asked),
        pages=_page_links(page, asked),
        previous=query_string(asked, page=page.number - 1) if page.has_previous() else "",
        next=query_string(asked, page=page.number + 1) if page.has_next() else "",
        found=len(kept),
        skills=_skill_choices(every, asked),
        everybody=query_string(
            asked, q=None, verdict=None, presence=None, attribute=None, page=None
        ),
    )


_ORDERS = {order for name in KEYS for order in (name, f"-{name}")}


# -- which lines


def _search_lines(run: Run, lines: list[WorkerStanding], asked: QueryDict) -> list[WorkerStanding]:
    search, group = asked.get("q", "").strip().casefold(), asked.get("attribute", "")
    among = _candidates_with_attribute(run, group) if "=" in group else None
    return [
        line
        for line in lines
        if (among is None or line.candidate in among)
        and (search in line.worker.casefold() or search in line.name.casefold())
    ]


def _candidates_with_attribute(run: Run, group: str) -> Collection[int]:
    """The candidates of workers with this value of an attribute, as in "language=English"."""
    attribute, _, value = group.partition("=")
    rows = run.candidates.values_list("pk", "worker__attributes")
    return {pk for pk, given in rows if quotas.value_of(given, attribute) == value}


def attribute_values(run: Run) -> dict[str, list[str]]:
    """What the workers can be told apart by: the values of each attribute that has a few."""
    found = quotas.count_attribute_values(run.pool)
    return {
        name: sorted(counts) for name, counts in found.items() if 1 < len(counts) <= MOST_VALUES
    }


def _presence_key(line: WorkerStanding) -> str:
    return line.presence if line.presence in PRESENCES else "gone"


def _matches_filter(value: str, wanted: str) -> bool:
    return wanted in ("", value)


def _has_verdict(line: WorkerStanding, wanted: str) -> bool:
    return _matches_filter(line.verdict, wanted) or (wanted == "selected" and line.selected)


def _sort_lines(lines: list[WorkerStanding], order: str) -> list[WorkerStanding]:
    key = KEYS.get(order.lstrip("-"))
    return sorted(lines, key=key, reverse=order.startswith("-")) if key else lines


# -- how they are shown


def _page_rows(
    lines: list[WorkerStanding], kept: list[WorkerStanding], page: Page, order: str
) -> list[TableRow]:
    """Only the page's. In order of merit the border is drawn between the selected and the rest."""
    places = _selected_places(lines)
    selected = Counter(line.number for line in lines if line.selected)
    ladder = order not in _ORDERS and any(line.answers for line in lines)
    start = max(0, page.start_index() - 1)
    before = [None, *kept[start : start + PER_PAGE]] if not start else kept[start - 1 :]
    return [
        TableRow(
            line,
            places.get(line.candidate),
            selected[line.number] if ladder and _is_border(last, line) else 0,
        )
        for last, line in zip(before, page, strict=False)
    ]


def _is_border(last: WorkerStanding | None, line: WorkerStanding) -> bool:
    if last is None or line.selected:
        return False
    return last.selected and last.number == line.number


def _selected_places(lines: list[WorkerStanding]) -> dict[int, int]:
    """Of the selected, by candidate, each in its own skill."""
    counts: Counter[int] = Counter()
    places = {}
    for line in lines:
        if line.selected:
            counts[line.number] += 1
            places[line.candidate] = counts[line.number]
    return places


def _page_links(page: Page, asked: QueryDict) -> list[PageLink]:
    """The first, the last and those about this one."""
    numbers = page.paginator.get_elided_page_range(page.number, on_each_side=2, on_ends=1)
    return [
        PageLink(
            str(n), query_string(asked, page=n) if isinstance(n, int) else "", n == page.number
        )
        for n in numbers
    ]


def _column_heading(column: TableColumn, asked: QueryDict) -> Heading:
    """Numbers are first sorted from the largest, names from A."""
    up, down = column.name, "-" + column.name
    first, second = (up, down) if column.name == "worker" else (down, up)
    now = asked.get("sort", "")
    order = query_string(asked, sort=second if now == first else first, page=None)
    direction = {up: "up", down: "down"}.get(now, "")
    return Heading(column.words, column.name, column.about, order, direction)


def _filter_choices(lines: Sequence[WorkerStanding], asked: QueryDict) -> list[FilterChoice]:
    counts = Counter(line.verdict for line in lines)
    chosen = asked.get("verdict", "")
    named = [("All", "", len(lines))]
    selected = sum(line.selected for line in lines)
    if selected != counts["accepted"]:
        named.append(("Selected by now", "selected", selected))
    named += [(name.capitalize(), name, counts[name]) for name in VERDICTS if counts[name]]
    return [
        _build_choice(asked, "verdict", words, value, count, chosen)
        for words, value, count in named
    ]


def _presence_choices(lines: Sequence[WorkerStanding], asked: QueryDict) -> list[FilterChoice]:
    """Nothing while all are alike."""
    counts, chosen = Counter(map(_presence_key, lines)), asked.get("presence", "")
    if len(counts) < 2 and not chosen:
        return []
    named = [("Everybody", "", len(lines))]
    named += [(name.capitalize(), name, counts[name]) for name in PRESENCES if counts[name]]
    return [
        _build_choice(asked, "presence", words, value, count, chosen)
        for words, value, count in named
    ]


def _skill_choices(lines: Sequence[WorkerStanding], asked: QueryDict) -> list[FilterChoice]:
    """One skill of several, or all of them."""
    names = {str(line.number): line.skill for line in lines}
    if len(names) < 2:
        return []
    counts = Counter(str(line.number) for line in lines)
    named = [("All skills", "", len(lines))]
    named += [(name, number, counts[number]) for number, name in names.items()]
    chosen = asked.get("skill", "")
    return [
        _build_choice(asked, "skill", words, value, count, chosen) for words, value, count in named
    ]


def _build_choice(
    asked: QueryDict, field: str, words: str, value: str, count: int, chosen: str
) -> FilterChoice:
    address = query_string(asked, **{field: value or None}, page=None)
    return FilterChoice(words, count, address, value == chosen, SHAPES.get(value, ""))


def query_string(asked: QueryDict, **changes: Any) -> str:
    """This query string with other values; None takes one out."""
    changed = asked.copy()
    for name, value in changes.items():
        changed.pop(name, None)
        if value is not None:
            changed[name] = str(value)
    return "?" + changed.urlencode()
