"""Files of surveys: a row for each worker, a column for each question.

A column is of the question that it names, by its key or by its text, as forms write them: with a
number before it, or as the row of a grid in brackets; or of the one that a person says.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from selection.errors import Refused
from selection.grading import rules
from selection.models import Question, Run

from . import platforms
from .column_plan import ANSWERS, ColumnPlan

TITLE = "a survey, with a row for each worker and a column for each question"
# By what a question may be called in a header, the key that it has.
Names = Mapping[str, str]

_NUMBERED = re.compile(r"(q(uestion)?\s*)?\d+\s*[.):-]\s*", re.I)
_BEFORE = re.compile(r"(answer\.|output:)", re.I)
_GRID = re.compile(r".*\[(.+)\]\s*", re.S)
# Markdown that a survey would not show: pictures and links but for their words, emphasis, headings.
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"[*`#]+|(?<!\w)_+|_+(?!\w)")
_WORKER = (
    ".*prolific(p?id|participant).*",
    ".*(worker|participant|annotator|mturk)id.*",
    "id|user|username|e?mail(address)?",
)
_IMPORT_ID = '{"ImportId":'


def questions_of(run: Run) -> list[tuple[str, str]]:
    """(key, prompt) of each question of the run."""
    sets = {skill.question_set.pk for skill in run.skills}
    rows = Question.objects.filter(question_set__in=sets).values_list("key", "prompt")
    return list(rows.order_by("question_set", "number"))


def names_of(run: Run) -> dict[str, str]:
    """By what the run's questions may be called. What two of them are called says nothing."""
    return question_names(questions_of(run))


def question_names(questions: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The same of these (key, prompt)."""
    listed = list(questions)
    found: dict[str, str] = {}
    for key, prompt in listed:
        for name in {_plain_text(key), _plain_text(prompt)} - {""}:
            found[name] = key if found.get(name, key) == key else ""
    return {name: key for name, key in found.items() if key} | {key: key for key, _ in listed}


def recognise_survey(
    columns: Sequence[str], names: Names, first: Sequence[Sequence[str]] = ()
) -> ColumnPlan:
    """The likeliest plan for a file of answers with these columns; else see ``survey``."""
    usual, found = platforms.recognise_columns(ANSWERS, columns), plan_survey(columns, names, first)
    # One column may be called as a question by chance.
    fewest = 1 if usual.missing_fields() and not found.missing_fields() else 2
    return found if len(found.questions) >= fewest else usual


def plan_survey(
    columns: Sequence[str], names: Names, first: Sequence[Sequence[str]] = ()
) -> ColumnPlan:
    """The plan by which it is a survey; without questions where no column names one.

    names  of the questions that it may be about
    first  its first rows: Qualtrics has two further lines of names there
    """
    skipped = 2 if _is_qualtrics(first) else 0
    said = list(first[0]) if skipped else [""] * len(columns)
    worker = platforms.recognise_columns(ANSWERS, columns).fields.get("worker") or _worker_column(
        columns, said
    )
    found = _match_columns([column if column != worker else "" for column in columns], names, said)
    fields = {"worker": worker} if worker else {}
    return ColumnPlan(ANSWERS, TITLE, fields, questions=found, skipped=skipped)


def assign_columns(
    plan: ColumnPlan, columns: Sequence[str], pairs: Iterable[tuple[str, str]], names: Names
) -> ColumnPlan:
    """This plan of a survey with these columns as the answers to these questions.

    pairs  (column, question by its key or its text); "" leaves a column out

    Raises Refused for a column or question that there is none of, and for a question with two.
    """
    said = dict(pairs)
    if missing := [column for column in said if not column or column not in columns]:
        raise Refused(f"There is no column “{missing[0]}” in this file.")
    if plan.fields.get("worker") in {column for column, name in said.items() if name}:
        raise Refused("The column with the worker's id has no answers.")
    found = {column: key for column, key in plan.questions.items() if column not in said}
    for column, name in said.items():
        key = key_of(name, names) if name else ""
        if key in found.values():
            raise Refused(f"Two columns would have the answers to “{key}”; leave one of them out.")
        if key:
            found[column] = key
    worker = {name: column for name, column in plan.fields.items() if name == "worker"}
    return replace(plan, title=TITLE, fields=worker, questions=found, remembered=False)


def key_of(name: str, names: Names) -> str:
    """The key of the question that a person calls so. Raises Refused."""
    key = names.get(name) or names.get(_plain_text(name), "")
    if not key:
        raise Refused(f"There is no question “{name[:80]}” in this run; write its key or its text.")
    return key


def _match_columns(columns: Sequence[str], names: Names, said: Sequence[str]) -> dict[str, str]:
    """By column, the key of the question that it names: of several for one question the first.

    said  what stands below each, where there is more than a line of names
    """
    found: dict[str, str] = {}
    for place, column in enumerate(columns):
        called = [*_column_names(column), *_column_names(said[place])]
        key = next((names[name] for name in called if name in names), "")
        if column and key and key not in found.values():
            found[column] = key
    return found


def _column_names(column: str) -> Iterator[str]:
    yield column
    bare = _BEFORE.sub("", column, count=1) if _BEFORE.match(column) else column
    yield bare
    yield _plain_text(bare)
    numbered, grid = _NUMBERED.match(bare), _GRID.fullmatch(bare)
    if numbered:
        yield _plain_text(bare[numbered.end() :])
    if grid:
        yield _plain_text(grid[1])


def _plain_text(text: str) -> str:
    shown = _MARKS.sub("", _LINK.sub(r"\1", text))
    return rules.normalise_text(shown).strip(" .:?*")


def _is_qualtrics(first: Sequence[Sequence[str]]) -> bool:
    return len(first) > 1 and any(cell.startswith(_IMPORT_ID) for cell in first[1])


def _worker_column(columns: Sequence[str], said: Sequence[str]) -> str:
    """The column that a survey has the worker's id in."""
    for pattern in _WORKER:
        for column, text in zip(columns, said, strict=True):
            if column and any(
                re.fullmatch(pattern, platforms.normalise_column(one)) for one in (column, text)
            ):
                return column
    return ""


def join_ticked(question: Question, response: str) -> str:
    """Several ticked choices as everywhere here; forms put commas between them."""
    if question.kind != "multiple" or question.allows(response):
        return response
    parts = f" {rules.BETWEEN} ".join(re.split(r"\s*[,;]\s*", response.strip()))
    return parts if question.allows(parts) else response
