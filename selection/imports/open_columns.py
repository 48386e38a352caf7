"""Files of past answers of which a person must choose columns, results or rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from . import column_plan
from .column_plan import ColumnPlan
from .key_readings import describe_example
from .keyed_answers import (
    File,
    Key,
    open_choices,
    open_table,
    plan_answers,
    plan_key,
    plan_keyed,
    plan_survey,
    read_key,
)
from .readers.results import Choice
from .row_parsers import QuestionRow
from .uploads import HEAD, FileHead

ANSWERS, KEY = "answers", "key"


@dataclass(frozen=True)
class OpenColumns:
    """What a person must choose for a file, answers or key.

    plan     the likeliest one, which lacks a column
    choices  between several results of a model for a question
    faults   (line, reason) of the first rows with an error, which may be left out
    bad      number of all such rows
    """

    role: str
    name: str
    plan: ColumnPlan = field(default_factory=lambda: ColumnPlan(column_plan.KEYED))
    head: FileHead = field(default_factory=lambda: FileHead([], [], ""))
    choices: Sequence[Choice] = ()
    faults: Sequence[tuple[int, str]] = ()
    bad: int = 0


def find_open_columns(answers: File, key: File | Key | None) -> OpenColumns | None:
    """Find the first file that lacks a column which a person could choose; None if none does.

    The key is first, because it recognises a survey's questions; only a survey needs it read.
    Raises Refused for unreadable files.
    """
    answers = replace(answers, alone=key is None)
    if chosen := open_choices(open_table(answers).choices, answers):
        return OpenColumns(ANSWERS, answers.name, choices=chosen)
    if key is None:
        return _lacking_columns(ANSWERS, answers, plan_keyed(answers), {})
    if isinstance(key, File):
        plan = plan_key(key)
        if plan.missing_fields():
            return _lacking_columns(KEY, key, plan, {})
        if plan.is_open:
            words = {n: describe_example(n, pair) for n, pair in plan.readings.items()}
            return OpenColumns(KEY, key.name, choices=[Choice("reading", [*words], "", words)])
    if not plan_answers(answers, {}).missing_fields():
        return None
    questions = read_key(key) if isinstance(key, File) else key
    return _lacking_columns(ANSWERS, answers, plan_answers(answers, questions), questions)


def _lacking_columns(
    role: str, file: File, plan: ColumnPlan, questions: Mapping[str, QuestionRow]
) -> OpenColumns | None:
    missing, table = plan.missing_fields(), open_table(file)
    unknown = {*table.header} - {"", *plan.fields.values(), *plan.questions}
    if not missing or len(unknown) < len(missing):
        return None
    rows = [cells for _, cells in islice(table.rows, HEAD)]
    asked = [(q.question, q.prompt, q.choices) for q in questions.values()]
    survey = plan_survey(file, questions) if asked else None
    head = FileHead(table.header, rows, "", table.line, survey, asked)
    return OpenColumns(role, file.name, plan, head)
