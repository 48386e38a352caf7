"""Import of a file of gold questions of which some were asked, and are corrected by it."""

from functools import partial
from typing import Any

from selection.answers.recording import Outside
from selection.imports import commit
from selection.imports.staging import GOLD
from selection.models import QuestionSet, Upload

from . import corrections


def commit_file(upload: Upload, outside: Outside, who: str) -> tuple[Upload, int]:
    """Import the file as ``commit.commit_import``, which also says what it raises.

    who  corrects the questions that were asked, if that is wanted
    """
    wanted = upload.kind == Upload.Kind.QUESTIONS and outside == "correct"
    correct = partial(_correct_questions, who=who) if wanted else None
    return commit.commit_import(upload.pk, outside, correct)


def _correct_questions(question_set: QuestionSet, upload: Any, who: str) -> int:
    """Correct the asked questions that differ, and grade the answers to them again."""
    rows = dict(upload.rows.filter(outside=True).order_by("line").values_list("key", "data"))
    for question in question_set.questions.filter(key__in=rows):
        gold = corrections.Gold(**{name: rows[question.key][name] for name in GOLD})
        if gold != corrections.Gold.from_question(question):
            corrections.correct_question(question, gold, who, f"File {upload.name}")
    return len(rows)
