"""Recognise the layout of a table by the names of its columns."""

import hashlib
import re
from collections.abc import Callable, Sequence

from selection.errors import Refused

from .column_patterns import ANY_WORKER, LAYOUTS, Layout
from .column_plan import ANSWERS, FIELDS, QUESTIONS, WORKERS, ColumnPlan
from .column_words import fold

# What a file of each kind is for people, and where it belongs.
ABOUT = {
    WORKERS: ("a file of workers", "import it into a pool"),
    QUESTIONS: ("a file of gold questions", "import it into a question set"),
    ANSWERS: ("a file of answers", "import it into a run"),
}


# A survey as well has a column of workers, and others.
NO_QUESTION = (
    "No column is called as a question of this run. If its columns are questions, say which; if "
    "each row is one answer, choose the columns with the question and the answer. A file of "
    "workers belongs into a pool."
)


def normalise_column(column: str) -> str:
    """The name as patterns know it."""
    return re.sub(r"[\s_-]", "", column).casefold()


def columns_signature(columns: Sequence[str]) -> str:
    """The same for files with the same columns, in whatever order."""
    return hashlib.sha256("\n".join(sorted(map(normalise_column, columns))).encode()).hexdigest()


def recognise_columns(kind: str, columns: Sequence[str]) -> ColumnPlan:
    """The likeliest plan for these columns; fields that are not found are missing in it."""
    if kind == WORKERS and len(columns) == 1 and _is_id(columns[0]):
        return ColumnPlan(kind, "a list of ids", {"worker": columns[0]}, headed=False)
    for layout in LAYOUTS[kind]:
        if _layout_fits(layout, columns):
            return _build_plan(kind, layout, columns)
    usual = LAYOUTS[kind][-1]
    found = _build_plan(kind, usual, columns)
    found.title = ""
    return found


def _is_id(cell: str) -> bool:
    """A name of a column has neither digits nor an @."""
    return bool(re.search(r"[\d@]", cell)) and not re.fullmatch(ANY_WORKER, fold(cell))


def _layout_fits(layout: Layout, columns: Sequence[str]) -> bool:
    return all(_find_column(columns, [sign]) for sign in layout.signs)


def _find_column(columns: Sequence[str], patterns: Sequence[str], taken: Sequence[str] = ()) -> str:
    """The first column that the first of these patterns fits; empty where none does."""
    free = [column for column in columns if column and column not in taken]
    hits = (c for pattern in patterns for c in free if re.fullmatch(pattern, fold(c)))
    return next(hits, "")


def _build_plan(kind: str, layout: Layout, columns: Sequence[str]) -> ColumnPlan:
    fields: dict[str, str] = {}
    for name, patterns in layout.fields.items():
        column = _find_column(columns, patterns, list(fields.values()))
        if column:
            fields[name] = column
    taken = set(fields.values())
    return ColumnPlan(
        kind,
        layout.title,
        fields,
        attributes=[
            column
            for column in columns
            if column
            and column not in taken
            and re.fullmatch(layout.attributes, normalise_column(column))
        ],
        only=_find_column(columns, [layout.only]) if layout.only else "",
        unless=_find_column(columns, [layout.unless]) if layout.unless else "",
        repeats=layout.repeats,
    )


def header_test(kind: str) -> Callable[[list[str], Sequence[list[str]]], bool]:
    """Whether a row names all columns that a file of this kind needs."""
    return lambda columns, later: not recognise_columns(kind, columns).missing_fields()


def suggest_other_kind(kind: str, columns: Sequence[str]) -> str:
    """Where such a file belongs if it is of another kind, in a sentence; else empty."""
    if kind not in ABOUT:
        return ""
    # A single one that is missing has another name; then a column of workers says nothing.
    known = (
        ABOUT
        if len(recognise_columns(kind, columns).missing_fields()) > 1
        else (QUESTIONS, ANSWERS)
    )
    for other in known:
        fits = any(_layout_fits(layout, columns) for layout in LAYOUTS[other])
        if other != kind and fits and not recognise_columns(other, columns).missing_fields():
            words, remedy = ABOUT[other]
            if (kind, other) == (ANSWERS, WORKERS) and _is_bare(columns):
                return NO_QUESTION
            return f"This looks like {words}, not like {ABOUT[kind][0]}: {remedy}."
    return ""


def _is_bare(columns: Sequence[str]) -> bool:
    """Whether nothing but a column with ids tells of workers."""
    plan = recognise_columns(WORKERS, columns)
    return plan.title == LAYOUTS[WORKERS][-1].title and set(plan.fields) == {"worker"}


def refuse_missing(plan: ColumnPlan, header: Sequence[str], name: str, line: int = 1) -> None:
    """Raises Refused where a column that is needed was not found."""
    missing = plan.missing_fields()
    if not missing:
        return
    hint = suggest_other_kind(plan.kind, header)
    if hint:
        raise Refused(f"{name}: {hint}")
    wanted = ", ".join(one.name for one in FIELDS[plan.kind] if one.needed)
    raise Refused(
        f"{name}, line {line}: there is no column “{missing[0].name}”; the file must have "
        f"{wanted}, and it has {', '.join(filter(None, header))}. If another row names the "
        "columns, say which."
    )
