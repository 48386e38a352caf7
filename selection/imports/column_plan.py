"""The meaning of a table's columns: the fields a file may have, and the plan for reading one."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from selection.errors import Refused

WORKERS, QUESTIONS, ANSWERS, GOLD = "workers", "questions", "answers", "gold"


@dataclass(frozen=True)
class Field:
    """What a column may be."""

    name: str
    words: str
    needed: bool = True


FIELDS: dict[str, tuple[Field, ...]] = {
    WORKERS: (Field("worker", "the worker's id"), Field("name", "the name", False)),
    QUESTIONS: (
        Field("question", "the question's own name", False),
        Field("prompt", "what the worker reads"),
        Field("answer", "the known answer"),
        Field("choices", "the choices", False),
        Field("kind", "what the worker does", False),
        Field("tolerance", "the tolerance of a number", False),
        Field("grading", "how texts are compared", False),
        Field("image", "a picture", False),
        Field("audio", "a sound", False),
        Field("video", "a film", False),
        Field("alt", "the picture in words", False),
    ),
    ANSWERS: (
        Field("worker", "the worker's id"),
        Field("question", "the question"),
        Field("response", "the answer given"),
        Field("skill", "the skill", False),
    ),
    GOLD: (Field("question", "the task"), Field("answer", "the known answer")),
}


@dataclass
class ColumnPlan:
    """How a table is read.

    title       what it looks like, in words; empty where nobody knows
    fields      by field, the name of its column
    attributes  columns that are kept as attributes of a worker
    headed      whether the first row names the columns
    only        column that says by being empty or false that a row is of no use
    unless      column that says by being true that a row is of no use
    repeats     whether further rows of a worker are expected
    remembered  whether it is how such a file was read before
    questions   of a survey, by column the key of the question that it has the answers to
    skipped     rows below the header that name columns again
    header      line of the header where something stands above it; 0: it is the first
    """

    kind: str
    title: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    attributes: list[str] = field(default_factory=list)
    headed: bool = True
    only: str = ""
    unless: str = ""
    repeats: bool = False
    remembered: bool = False
    questions: dict[str, str] = field(default_factory=dict)
    skipped: int = 0
    header: int = 0

    def missing_fields(self) -> list[Field]:
        needed = [one for one in FIELDS[self.kind] if one.needed]
        if self.questions:
            needed = [one for one in needed if one.name == "worker"]
        return [one for one in needed if one.name not in self.fields]

    def stored(self) -> dict[str, Any]:
        return asdict(self)


def apply_column_choices(
    plan: ColumnPlan, columns: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> ColumnPlan:
    """This plan with these changes. Raises Refused for a name that is not known.

    pairs  (column, field); "attribute" for the field keeps a column, "" leaves it out
    """
    known = [one.name for one in FIELDS[plan.kind]] + ["attribute"] * (plan.kind == WORKERS)
    for column, name in pairs:
        if column not in columns:
            there = ", ".join(filter(None, columns))
            raise Refused(f"There is no column “{column}”; the file has {there}.")
        if name and name not in known:
            raise Refused(f"“{name}” is nothing a column can be: choose {', '.join(known)}.")
    said = {column for column, _ in pairs}
    plan.remembered = False
    plan.fields = {name: column for name, column in plan.fields.items() if column not in said}
    plan.fields |= {name: column for column, name in pairs if name not in ("", "attribute")}
    plan.questions = {c: key for c, key in plan.questions.items() if c not in said}
    if {"question", "response"} & set(plan.fields):  # it says that a row is one answer
        plan.questions = {}
    kept = [column for column in plan.attributes if column not in said]
    plan.attributes = kept + [column for column, name in pairs if name == "attribute"]
    return plan
