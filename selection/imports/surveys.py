"""Files of surveys: a row for each worker, a column for each question.

A column belongs to the question that it names, by its key or by its text, as forms write them (with
a number before it, or as the row of a grid in brackets), or to the one that a person assigns.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from selection.errors import Refused
from selection.grading import rules
from selection.models import Question, Run, Watch

from . import platforms
from .column_plan import ANSWERS, ColumnPlan

TITLE = "a survey, with a row for each worker and a column for each question"
# Possible names of questions in a header, with the question's key.
Names = Mapping[str, str]


class Tick(str):
    """The key of a question of which a column ticks one choice."""

    choice: str


_NUMBERED = re.compile(r"(q(uestion)?\s*)?\d+\s*[.):-]\s*", re.I)
_BEFORE = re.compile(r"(answer\.|output:)", re.I)
_GRID = re.compile(r".*\[([^\[]+)\]\s*", re.S)
# A choice after its question: q1/gull, q1[gull], q1: gull, and REDCap's q1___2.
_CHOICE_OF = re.compile(
    r"(.{1,300}?)\s{0,3}(?:___|[/\[({:.–-])\s{0,3}([^/\[({:]{1,100}?)\s{0,3}[\])}]?"
)
# Markdown that a survey would not show: pictures and links except their text, emphasis, headings.
_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()]++|\([^()]*\))*+\)")
_MARKS = re.compile(r"[*`#]+|(?<!\w)_+|(?<!_)_++(?!\w)")
_WORKER = (
    ".*prolific(p?id|participant).*",
    ".*(worker|participant|annotator|mturk)(public|private)?id.*|recordid|surveyidentifier",
    "id|user|username|e?mail(address)?",
)
_IMPORT_ID = '{"ImportId":'


def questions_of(target: Run | Watch) -> list[tuple[str, str, list[str]]]:
    """Return (key, prompt, choices) of the questions that a file of answers may be about."""
    if isinstance(target, Watch):
        questions = Question.objects.filter(question_set__watches=target)
    else:
        sets = {skill.question_set.pk for skill in target.skills}
        questions = Question.objects.filter(question_set__in=sets)
    rows = questions.values_list("key", "prompt", "choices")
    return list(rows.order_by("question_set", "number"))


def names_of(target: object) -> dict[str, str]:
    """Return the key by possible name, for a file of answers; other files have no questions."""
    return question_names(questions_of(target)) if isinstance(target, Run | Watch) else {}


def question_names(questions: Iterable[Sequence[Any]]) -> dict[str, str]:
    """Index the keys by possible name, as ``names_of``, for these (key, prompt[, choices])."""
    listed = list(questions)
    names: dict[str, str] = {}
    for key, prompt, *choices in listed:
        for name in {_plain_text(key), _plain_text(prompt)} - {""}:
            names[name] = key if names.get(name, key) == key else ""
            for choice in choices[0] if choices and names[name] else ():
                tick = names[f"{name}/{_plain_text(choice)}"] = Tick(key)
                tick.choice = choice
    return {name: key for name, key in names.items() if key} | {key: key for key, *_ in listed}


def recognise_survey(
    columns: Sequence[str], names: Names, first: Sequence[Sequence[str]] = ()
) -> ColumnPlan:
    """Find the likeliest plan for a file of answers with these columns; see ``plan_survey``."""
    usual, survey = (
        platforms.recognise_columns(ANSWERS, columns),
        plan_survey(columns, names, first),
    )
    # A single column may be named like a question by chance.
    fewest = 1 if usual.missing_fields() and not survey.missing_fields() else 2
    return survey if len(survey.questions) >= fewest else usual


def plan_survey(
    columns: Sequence[str], names: Names, first: Sequence[Sequence[str]] = ()
) -> ColumnPlan:
    """Plan to read the file as a survey; without questions if no column names one.

    names  of the questions that it may be about
    first  its first rows: Qualtrics has two further lines of names there
    """
    skipped = 2 if _is_qualtrics(first) else 0
    subtitles = list(first[0]) if skipped else [""] * len(columns)
    worker = platforms.recognise_columns(ANSWERS, columns).fields.get("worker") or _worker_column(
        columns, subtitles
    )
    questions = _match_columns(
        [column if column != worker else "" for column in columns], names, subtitles
    )
    fields = {"worker": worker} if worker else {}
    ticks = {column: key.choice for column, key in questions.items() if isinstance(key, Tick)}
    _refuse_codes(columns, questions, names)
    return ColumnPlan(ANSWERS, TITLE, fields, questions=questions, skipped=skipped, ticks=ticks)


def _refuse_codes(columns: Sequence[str], questions: Mapping[str, str], names: Names) -> None:
    """Raise Refused for columns with ticks of a question that do not name its choices."""
    coded: dict[str, list[str]] = {}
    for column in columns:
        part = None if column in questions else _CHOICE_OF.fullmatch(column)
        key = names.get(_plain_text(part[1]), "") if part else ""
        if key and any(isinstance(tick, Tick) and tick == key for tick in names.values()):
            coded.setdefault(key, []).append(column)
    key, listed = next(((k, c) for k, c in coded.items() if len(c) > 1), ("", []))
    if key and key not in questions.values():
        tool = " of REDCap: export labels instead of raw data" if "___" in listed[0] else ""
        named = ", ".join(f"“{column}”" for column in listed[:3])
        raise Refused(
            f"The columns {named} seem to hold the ticks of “{key}” by codes{tool}. Name each by "
            f"its choice, as in “{key}[choice]”, or write one column with | between the choices."
        )


def assign_columns(
    plan: ColumnPlan, columns: Sequence[str], pairs: Iterable[tuple[str, str]], names: Names
) -> ColumnPlan:
    """Assign these columns as the answers to these questions.

    pairs  (column, question by its key or its text); "" leaves a column out

    Raises Refused for an unknown column or question, and for a question with two columns.
    """
    choices = dict(pairs)
    if missing := [column for column in choices if not column or column not in columns]:
        raise Refused(f"There is no column “{missing[0]}” in this file.")
    if plan.fields.get("worker") in {column for column, name in choices.items() if name}:
        raise Refused("The column with the worker's id has no answers.")
    questions = {column: key for column, key in plan.questions.items() if column not in choices}
    ticks = {column: choice for column, choice in plan.ticks.items() if column in questions}
    for column, name in choices.items():
        key = key_of(name, names) if name else ""
        if key in questions.values() and not isinstance(key, Tick):
            raise Refused(f"Two columns would have the answers to “{key}”; leave one of them out.")
        if isinstance(key, Tick):
            ticks[column] = key.choice
        if key:
            questions[column] = key
    worker = {name: column for name, column in plan.fields.items() if name == "worker"}
    return replace(
        plan, title=TITLE, fields=worker, questions=questions, ticks=ticks, remembered=False
    )


def key_of(name: str, names: Names) -> str:
    key = names.get(name) or names.get(_plain_text(name), "")
    if not key:
        raise Refused(f"There is no question “{name[:80]}” in this run; write its key or its text.")
    return key


def _match_columns(
    columns: Sequence[str], names: Names, subtitles: Sequence[str]
) -> dict[str, str]:
    """Match, by column, the key of the question it names; of several columns for one, the first.

    subtitles  the line below the header, if there is a second line of names
    """
    questions: dict[str, str] = {}
    for place, column in enumerate(columns):
        candidates = [*_column_names(column), *_column_names(subtitles[place])]
        key = next((names[name] for name in candidates if name in names), "")
        if column and key and (isinstance(key, Tick) or key not in questions.values()):
            questions[column] = key
    whole = {key for key in questions.values() if not isinstance(key, Tick)}
    return {c: key for c, key in questions.items() if not (isinstance(key, Tick) and key in whole)}


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
    if part := _CHOICE_OF.fullmatch(bare):
        yield f"{_plain_text(part[1])}/{_plain_text(part[2])}"


def _plain_text(text: str) -> str:
    plain = _MARKS.sub("", _LINK.sub(r"\1", text))
    return rules.normalise_text(plain).strip(" .:?*")


def _is_qualtrics(first: Sequence[Sequence[str]]) -> bool:
    return len(first) > 1 and any(cell.startswith(_IMPORT_ID) for cell in first[1])


def _worker_column(columns: Sequence[str], subtitles: Sequence[str]) -> str:
    for pattern in _WORKER:
        for column, text in zip(columns, subtitles, strict=True):
            if column and any(
                re.fullmatch(pattern, platforms.normalise_column(label)) for label in (column, text)
            ):
                return column
    return ""
