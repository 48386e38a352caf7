"""Files of past answers whose columns a person must choose."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from .column_plan import ColumnPlan
from .keyed_answers import (
    File,
    Key,
    open_table,
    plan_answers,
    plan_key,
    plan_keyed,
    plan_survey,
    read_key,
)
from .row_parsers import QuestionRow
from .uploads import FileHead

ANSWERS, KEY = "answers", "key"
HEAD = 10  # rows


@dataclass(frozen=True)
class OpenColumns:
    """A file, answers or key, with its likeliest plan, which lacks a column."""

    role: str
    name: str
    plan: ColumnPlan
    head: FileHead


def find_open_columns(answers: File, key: File | Key | None) -> OpenColumns | None:
    """Return the first file that lacks a column which a person could choose; None if none does.

    The key is first, because it recognises a survey's questions; only a survey needs it read.
    Raises Refused for unreadable files.
    """
    if key is None:
        return _lacking_columns(ANSWERS, answers, plan_keyed(answers), {})
    if isinstance(key, File):
        plan = plan_key(key)
        if plan.missing_fields():
            return _lacking_columns(KEY, key, plan, {})
    if not plan_answers(answers, {}).missing_fields():
        return None
    questions = read_key(key) if isinstance(key, File) else key
    return _lacking_columns(ANSWERS, answers, plan_answers(answers, questions), questions)


def _lacking_columns(
    role: str, file: File, plan: ColumnPlan, questions: Mapping[str, QuestionRow]
) -> OpenColumns | None:
    """Return the file with its first rows if it has a column for each missing field."""
    missing, table = plan.missing_fields(), open_table(file)
    unknown = {*table.header} - {"", *plan.fields.values(), *plan.questions}
    if not missing or len(unknown) < len(missing):
        return None
    rows = [cells for _, cells in islice(table.rows, HEAD)]
    asked = [(question.question, question.prompt) for question in questions.values()]
    survey = plan_survey(file, questions) if asked else None
    head = FileHead(table.header, rows, "", table.line, survey, asked)
    return OpenColumns(role, file.name, plan, head)
