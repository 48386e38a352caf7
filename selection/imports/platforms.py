"""Recognise the layout of a table by the names of its columns."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from selection.errors import Refused

from . import column_words, key_readings
from .column_patterns import ANY_WORKER, LAYOUTS, Layout, Only
from .column_plan import ANSWERS, FIELDS, QUESTIONS, WORKERS, ColumnPlan
from .column_words import fold

_OPTION = re.compile(
    r"(options?|choices?|opt?|answers?|ans|alternatives?|opcion(?:es)?|antwort(?:en)?|choix|secenek|)"
    r"[.:/\[(]?([a-j]|(?<=.)\d)[\])]?"
)
# By kind of file, its name in messages and the place to import it.
ABOUT = {
    WORKERS: ("a file of workers", "Import it into a pool."),
    QUESTIONS: ("a file of gold questions", "Import it into a question set."),
    ANSWERS: ("a file of answers", "Import it into a run."),
}


# A survey has a column of workers as well.
NO_QUESTION = (
    "No column has the name of a question in this run. If columns hold answers, assign them to "
    "questions. If each row is one answer, choose the columns with the question and the answer. "
    "To import workers, open a pool."
)


def normalise_column(column: str) -> str:
    return re.sub(r"[\s_-]", "", column).casefold()


def columns_signature(columns: Sequence[str]) -> str:
    """Hash the columns' names, whose order does not matter."""
    return hashlib.sha256("\n".join(sorted(map(normalise_column, columns))).encode()).hexdigest()


def recognise_columns(kind: str, columns: Sequence[str]) -> ColumnPlan:
    """Find the likeliest plan for these columns, without the fields that no column matches."""
    if kind == WORKERS and len(columns) == 1 and _is_id(columns[0]):
        return ColumnPlan(kind, "a list of ids", {"worker": columns[0]}, headed=False)
    for layout in LAYOUTS[kind]:
        if _layout_fits(layout, columns):
            return _build_plan(kind, layout, columns)
    usual = LAYOUTS[kind][-1]
    return replace(_build_plan(kind, usual, columns), title="")


def _is_id(cell: str) -> bool:
    """Recognise an id: names of columns have neither digits nor an @."""
    return bool(re.search(r"[\d@]", cell)) and not re.fullmatch(ANY_WORKER, fold(cell))


def _layout_fits(layout: Layout, columns: Sequence[str]) -> bool:
    signs = all(find_column(columns, [sign]) for sign in layout.signs)
    return signs and not (layout.without and find_column(columns, [layout.without]))


def find_column(columns: Sequence[str], patterns: Sequence[str], used: Sequence[str] = ()) -> str:
    """Find the first column that matches the first matching pattern, or ""."""
    free = [column for column in columns if column and column not in used]
    for pattern in patterns:
        hits = [column for column in free if re.fullmatch(pattern, fold(column))]
        if hits and (len(hits) == 1 or not isinstance(pattern, Only)):
            return hits[0]
    return ""


def _find_options(columns: Sequence[str], used: set[str]) -> list[str]:
    """Find the columns with a choice each, such as A to D or option1 to option4."""
    groups: dict[str, dict[str, str]] = {}
    for column in columns:
        match = _OPTION.fullmatch(fold(column))
        if match and column not in used:
            groups.setdefault(match[1], {})[match[2]] = column
    for options in groups.values():
        if len(options) > 1 and min(options) in ("a", "0", "1"):
            return [options[place] for place in sorted(options)]
    return []


def _build_plan(kind: str, layout: Layout, columns: Sequence[str]) -> ColumnPlan:
    fields: dict[str, str] = {}
    patterns_by_field = dict(layout.fields)
    if kind == WORKERS:  # else an address would become an attribute, which exports show
        patterns_by_field["email"] = (column_words.EMAIL,)
    for name, patterns in patterns_by_field.items():
        column = find_column(columns, patterns, list(fields.values()))
        if column:
            fields[name] = column
    if kind == ANSWERS and "response" not in fields and (judged := _find_judged(columns)):
        fields["response"] = judged
    used = set(fields.values())
    options: list[str] = []
    wrong: list[str] = []
    if kind == QUESTIONS:
        options = _find_options(columns, used - {fields.get("choices", "")})
        wrong = _find_all(column_words.WRONG, columns, used) if not options else []
    if "choices" in fields and fields["choices"] in options:
        used.remove(fields.pop("choices"))
    options = [] if "choices" in fields else options
    used |= {*options, *wrong}
    return ColumnPlan(
        kind,
        layout.title,
        fields,
        attributes=[
            column
            for column in columns
            if column and column not in used and re.fullmatch(layout.attributes, fold(column))
        ],
        only=find_column(columns, [layout.only]) if layout.only else "",
        unless=find_column(columns, [layout.unless]) if layout.unless else "",
        repeats=layout.repeats,
        options=options,
        wrong=wrong if "choices" not in fields else [],
        context=_find_all(column_words.CONTEXT, columns, used) if kind == QUESTIONS else [],
    )


def _find_judged(columns: Sequence[str]) -> str:
    """Find the only column that has a second one with its known answers, as Appen writes them."""
    folded = {fold(column) for column in columns}
    judged = [column for column in columns if f"{fold(column)}gold" in folded]
    return judged[0] if len(judged) == 1 and fold(judged[0]) else ""


def _find_all(pattern: str, columns: Sequence[str], used: set[str]) -> list[str]:
    bare = ((column, fold(column).removeprefix("question.")) for column in columns)
    return [c for c, folded in bare if c and c not in used and re.fullmatch(pattern, folded)]


def header_test(kind: str) -> Callable[[list[str], Sequence[list[str]]], bool]:
    return lambda columns, later: not recognise_columns(kind, columns).missing_fields()


def suggest_other_kind(kind: str, columns: Sequence[str]) -> str:
    """Write a sentence on the place to import such a file if it is of another kind, or ""."""
    if kind not in ABOUT:
        return ""
    # A single missing column probably has another name; then a column of workers proves nothing.
    missing = recognise_columns(kind, columns).missing_fields()
    candidates = ABOUT if len(missing) > 1 else (QUESTIONS, ANSWERS)
    titles = {one: _fitting_title(one, columns) for one in candidates if one != kind}
    fitting = [candidate for candidate, title in titles.items() if title]
    if not fitting:
        return ""
    if (kind, fitting[0]) == (ANSWERS, WORKERS) and _is_bare(columns):
        return NO_QUESTION
    if {WORKERS, ANSWERS} <= set(fitting):
        return (
            f"This looks like {titles[ANSWERS]}, not {ABOUT[kind][0]}. Import the answers into a "
            "run, or the workers into a pool."
        )
    description, remedy = ABOUT[fitting[0]]
    return f"This looks like {description}, not {ABOUT[kind][0]}. {remedy}"


def _fitting_title(kind: str, columns: Sequence[str]) -> str:
    """Find the title of this kind's layout for these columns, or "" if none fits them all."""
    plan = recognise_columns(kind, columns)
    return "" if plan.missing_fields() else plan.title


def _is_bare(columns: Sequence[str]) -> bool:
    plan = recognise_columns(WORKERS, columns)
    return plan.title == LAYOUTS[WORKERS][-1].title and set(plan.fields) == {"worker"}


def refuse_missing(plan: ColumnPlan, header: Sequence[str], name: str, line: int = 1) -> None:
    missing = plan.missing_fields()
    if not missing:
        if plan.is_open:
            raise Refused(f"{name}: {key_readings.describe_readings(plan.readings)}")
        return
    hint = suggest_other_kind(plan.kind, header)
    if hint:
        raise Refused(f"{name}: {hint}")
    required = ", ".join(field.name for field in FIELDS[plan.kind] if field.needed)
    tool = f" ({plan.title})" if plan.title else ""
    raise Refused(
        f"{name}{tool}, line {line}: there is no column “{missing[0].name}”. The file needs "
        f"{required}; it has {', '.join(filter(None, header))}. If another row names the columns, "
        "say which."
    )
