"""The table of a run's workers: filtered, searched, sorted and paged on the server."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import QueryDict

from selection.reports import Line
from selection.worker import links

PER_PAGE = 100
# In the order in which a requester asks for them.
VERDICTS = ["accepted", "settled in", "undecided", "settled out", "rejected"]


@dataclass(frozen=True)
class Column:
    name: str
    words: str
    key: Callable[[Line], Any]


COLUMNS = [
    Column("worker", "Worker", lambda line: line.worker.casefold()),
    Column("answers", "Answers", lambda line: line.answers),
    Column("right", "Right", lambda line: line.right),
    Column("mean", "Mean", lambda line: -1.0 if line.mean is None else line.mean),
    Column("lower", "Lower", lambda line: line.lower),
    Column("upper", "Upper", lambda line: line.upper),
    Column("verdict", "Verdict", lambda line: -VERDICTS.index(line.verdict)),
]
KEYS = {column.name: column.key for column in COLUMNS}


@dataclass(frozen=True)
class Heading:
    words: str
    name: str
    query: str
    sorted: str


@dataclass(frozen=True)
class Choice:
    words: str
    count: int
    query: str
    chosen: bool


@dataclass(frozen=True)
class Row:
    line: Line
    link: str
    place: int | None

    @property
    def span(self) -> float:
        return self.line.upper - self.line.lower


@dataclass(frozen=True)
class Table:
    rows: list[Row]
    page: Page
    headings: list[Heading]
    choices: list[Choice]
    previous: str
    next: str
    found: int
    skills: list[Choice]


def build(lines: Sequence[Line], asked: QueryDict) -> Table:
    """The part of the lines that this query string asks for; nonsense in it is passed over."""
    every, skill = lines, asked.get("skill", "")
    lines = [line for line in every if skill in ("", str(line.number))]
    kept = [line for line in lines if _wanted(line, asked)]
    page = Paginator(_sorted(kept, asked.get("sort", "")), PER_PAGE).get_page(asked.get("page"))
    places = {
        line.candidate: place
        for skill in {line.number for line in lines}
        for place, line in enumerate(
            (line for line in lines if line.selected and line.number == skill), 1
        )
    }
    return Table(
        rows=[
            Row(line, links.address(line.candidate), places.get(line.candidate)) for line in page
        ],
        page=page,
        headings=[_heading(column, asked) for column in COLUMNS],
        choices=_choices(lines, asked),
        previous=_query(asked, page=page.number - 1) if page.has_previous() else "",
        next=_query(asked, page=page.number + 1) if page.has_next() else "",
        found=len(kept),
        skills=_skill_choices(every, asked),
    )


def _wanted(line: Line, asked: QueryDict) -> bool:
    verdict, search = asked.get("verdict", ""), asked.get("q", "").strip().casefold()
    fits = not verdict or line.verdict == verdict or (verdict == "selected" and line.selected)
    return fits and (search in line.worker.casefold() or search in line.name.casefold())


def _sorted(lines: list[Line], order: str) -> list[Line]:
    key = KEYS.get(order.lstrip("-"))
    return sorted(lines, key=key, reverse=order.startswith("-")) if key else lines


def _heading(column: Column, asked: QueryDict) -> Heading:
    """Numbers are first sorted from the largest, names from A."""
    up, down = column.name, "-" + column.name
    first, second = (up, down) if column.name == "worker" else (down, up)
    now = asked.get("sort", "")
    query = _query(asked, sort=second if now == first else first, page=None)
    return Heading(column.words, column.name, query, {up: "up", down: "down"}.get(now, ""))


def _choices(lines: Sequence[Line], asked: QueryDict) -> list[Choice]:
    counts = Counter(line.verdict for line in lines)
    chosen = asked.get("verdict", "")
    named = [("All", "", len(lines))]
    selected = sum(line.selected for line in lines)
    if selected != counts["accepted"]:
        named.append(("Selected by now", "selected", selected))
    named += [(name.capitalize(), name, counts[name]) for name in VERDICTS if counts[name]]
    return [
        Choice(words, count, _query(asked, verdict=value or None, page=None), value == chosen)
        for words, value, count in named
    ]


def _skill_choices(lines: Sequence[Line], asked: QueryDict) -> list[Choice]:
    """One skill of several, or all of them."""
    names = {str(line.number): line.skill for line in lines}
    if len(names) < 2:
        return []
    counts = Counter(str(line.number) for line in lines)
    named = [("All skills", "", len(lines))]
    named += [(name, number, counts[number]) for number, name in names.items()]
    chosen = asked.get("skill", "")
    return [
        Choice(words, count, _query(asked, skill=value or None, page=None), value == chosen)
        for words, value, count in named
    ]


def _query(asked: QueryDict, **changes: Any) -> str:
    changed = asked.copy()
    changed.pop("fragment", None)
    for name, value in changes.items():
        changed.pop(name, None)
        if value is not None:
            changed[name] = str(value)
    return "?" + changed.urlencode()
