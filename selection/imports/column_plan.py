"""The meaning of a table's columns: the fields a file may have, and the plan for reading one."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from selection.errors import Refused

WORKERS, QUESTIONS, ANSWERS, GOLD = "workers", "questions", "answers", "gold"
ASKED = "asked"  # answers of a watch: a row without one tells what was asked
KEYED = "keyed"  # answers with their key in a column
# The meanings that several columns may have, and the lists of a plan that hold them.
SEVERAL = {
    WORKERS: {"attribute": "attributes"},
    QUESTIONS: {"option": "options", "wrong choice": "wrong", "context": "context"},
}


@dataclass(frozen=True)
class Field:
    """A field that a column may fill; ``label`` is its name on a page."""

    name: str
    label: str
    needed: bool = True


FIELDS: dict[str, tuple[Field, ...]] = {
    WORKERS: (
        Field("worker", "Worker ID"),
        Field("name", "Name", False),
        Field("email", "E-mail address", False),
    ),
    QUESTIONS: (
        Field("question", "Question ID", False),
        Field("prompt", "Question text"),
        Field("answer", "Correct answer"),
        Field("choices", "Choices", False),
        Field("labels", "Names of the choices", False),
        Field("kind", "Question type", False),
        Field("tolerance", "Tolerance of a number", False),
        Field("grading", "Grading rule", False),
        Field("image", "Image", False),
        Field("audio", "Audio", False),
        Field("video", "Video", False),
        Field("alt", "Image alt text", False),
    ),
    ANSWERS: (
        Field("worker", "Worker ID"),
        Field("question", "Question"),
        Field("response", "Answer"),
        Field("skill", "Skill", False),
    ),
    KEYED: (
        Field("worker", "Worker ID"),
        Field("question", "Question"),
        Field("response", "Answer"),
        Field("answer", "Correct answer"),
    ),
    GOLD: (Field("question", "Question"), Field("answer", "Correct answer")),
}


@dataclass
class ColumnPlan:
    """A plan for reading a table.

    title       the recognised layout, in words; empty if unknown
    fields      by field, the name of its column
    attributes  columns kept as attributes of a worker
    headed      True if the first row names the columns
    only        rows with an empty or false value in this column are skipped
    unless      rows with a true value in this column are skipped
    repeats     True if further rows of a worker are expected
    remembered  True if the team had such a file read this way before
    questions   of a survey, by column the key of the question that it answers
    skipped     rows below the header that name columns again
    header      line of the header if there is something above it; 0: the first line
    options     columns with a choice each
    wrong       columns with wrong choices, beside the correct answer
    context     columns whose text belongs to the prompt, such as a passage
    ticks       of a survey, by column the choice that it ticks
    reading     how the answers name the choices, see ``key_readings``; "" if it is found
    compared    how typed answers without a kind are compared; "" as their form shows
    readings    the readings of which a person must choose one, with an example each
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
    options: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    context: list[str] = field(default_factory=list)
    ticks: dict[str, str] = field(default_factory=dict)
    reading: str = ""
    compared: str = ""
    readings: dict[str, list[str]] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Tell if a person must choose a column, or the reading of one."""
        return bool(self.missing_fields() or (self.readings and not self.reading))

    def unread_columns(self, header: Sequence[str]) -> list[str]:
        """List the columns that have no meaning."""
        read = {*self.fields.values(), *self.attributes, *self.questions, *self.options}
        read |= {*self.wrong, *self.context, self.only, self.unless}
        return [column for column in header if column and column not in read]

    def missing_fields(self) -> list[Field]:
        needed = [entry for entry in FIELDS[self.kind] if entry.needed]
        if self.questions:
            needed = [entry for entry in needed if entry.name == "worker"]
        return [entry for entry in needed if entry.name not in self.fields]


def apply_column_choices(
    plan: ColumnPlan, columns: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> ColumnPlan:
    """Apply these changes to the plan. Raises Refused for an unknown name.

    pairs  (column, field), or (column, meaning of ``SEVERAL``); "" leaves it out
    """
    several = SEVERAL.get(plan.kind, {})
    fields = [*(entry.name for entry in FIELDS[plan.kind]), *several]
    for column, name in pairs:
        if column not in columns:
            present = ", ".join(filter(None, columns))
            raise Refused(f"There is no column “{column}”; the file has {present}.")
        if name and name not in fields:
            raise Refused(f"“{name}” is nothing a column can be: choose {', '.join(fields)}.")
    chosen = {column for column, _ in pairs}
    plan.remembered = False
    plan.fields = {name: column for name, column in plan.fields.items() if column not in chosen}
    plan.fields |= {name: column for column, name in pairs if name and name not in several}
    plan.questions = {c: key for c, key in plan.questions.items() if c not in chosen}
    if {"question", "response"} & set(plan.fields):  # so each row is one answer
        plan.questions = {}
    for name, listed in several.items():
        kept = [column for column in getattr(plan, listed) if column not in chosen]
        setattr(plan, listed, kept + [column for column, meaning in pairs if meaning == name])
    return plan
