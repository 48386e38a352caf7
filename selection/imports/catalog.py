"""Store imported workers and gold questions."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Q

from selection.models import (
    Assignment,
    Candidate,
    GoldAnswer,
    Pool,
    Question,
    QuestionSet,
    RecordedAnswer,
    Run,
    Worker,
)

from .row_parsers import QuestionRow, WorkerRow, refuse_swapped

CHUNK = 2000


def refuse_swapped_workers(pool: Pool, rows: Sequence[WorkerRow]) -> None:
    """Raise Refused if another column than ``worker`` has the pool's workers."""
    attributes = {name for row in rows for name in row.attributes}
    columns = {"worker": [row.worker for row in rows], "name": [row.name for row in rows]}
    columns |= {
        name: [str(row.attributes.get(name, "")) for row in rows] for name in sorted(attributes)
    }
    values = {value for column in columns.values() for value in column}
    keys = set(pool.workers.filter(key__in=values).values_list("key", flat=True))
    refuse_swapped("worker", keys, columns, "this pool's workers")


@transaction.atomic
def take_workers(pool: Pool, rows: Sequence[WorkerRow]) -> int:
    """Add workers, or change names, attributes and addresses of those already in the pool."""
    addressed = [row for row in rows if row.email]
    _store_workers(pool, [row for row in rows if not row.email], ["name", "attributes"])
    _store_workers(pool, addressed, ["name", "attributes", "mail_address"])
    return len(rows)


def _store_workers(pool: Pool, rows: Sequence[WorkerRow], changed: list[str]) -> None:
    workers = [
        Worker(
            pool=pool,
            key=row.worker,
            name=row.name,
            attributes=row.attributes,
            mail_address=row.email,
        )
        for row in rows
    ]
    Worker.objects.bulk_create(
        workers, CHUNK, update_conflicts=True, unique_fields=["pool", "key"], update_fields=changed
    )


def refuse_swapped_questions(question_set: QuestionSet, rows: Sequence[QuestionRow]) -> None:
    columns = {
        "question": [row.question for row in rows],
        "prompt": [row.prompt for row in rows],
        "answer": [" | ".join(row.accepted) for row in rows],
    }
    keys = set(question_set.questions.values_list("key", flat=True))
    refuse_swapped("question", keys, columns, "this set's questions")


def refuse_asked(question: str) -> str:
    """Refuse to change an asked question, which was graded by the answers it had."""
    return (
        f"“{question}” has been asked and cannot be changed by a file; its own page can, "
        "and grades the answers to it anew."
    )


def offer_correction(question: str) -> str:
    return f"“{question}” has been asked, and differs: a correction grades its answers again."


@transaction.atomic
def take_questions(question_set: QuestionSet, rows: Sequence[QuestionRow]) -> int:
    """Add questions; those already in the set are replaced and keep their number."""
    QuestionSet.objects.select_for_update().get(pk=question_set.pk)
    numbers = dict(question_set.questions.values_list("key", "number"))
    following = max(numbers.values(), default=-1) + 1
    questions = []
    for row in rows:
        number = numbers.setdefault(row.question, following)
        following += number == following
        questions.append(build_question(question_set, number, row))
    Question.objects.bulk_create(
        questions,
        CHUNK,
        update_conflicts=True,
        unique_fields=["question_set", "key"],
        update_fields=["prompt", "accepted", "choices", "grading", "columns"],
    )
    return len(questions)


def build_question(question_set: QuestionSet, number: int, row: QuestionRow) -> Question:
    return Question(
        question_set=question_set,
        number=number,
        key=row.question,
        prompt=row.prompt,
        accepted=row.accepted,
        choices=row.choices,
        grading=row.grading,
        columns=row.columns,
    )


def question_keys_asked(question_set: QuestionSet) -> set[str]:
    """List the keys of questions that were handed out, or have an answer waiting or in a watch.

    By way of the candidates: no index leads from a question to its assignments.
    """
    runs = Run.objects.filter(Q(question_set=question_set) | Q(further__question_set=question_set))
    candidates = Candidate.objects.filter(run__in=runs)
    asked = Assignment.objects.filter(candidate__in=candidates).order_by()
    recorded = RecordedAnswer.objects.filter(candidate__in=candidates)
    used = {
        question
        for rows in (asked, recorded)
        for question in rows.values_list("question", flat=True).distinct()
    }
    watched = GoldAnswer.objects.filter(question__question_set=question_set).order_by()
    used |= set(watched.values_list("question", flat=True).distinct())
    questions = question_set.questions.values_list("pk", "key")
    return {key for pk, key in questions if pk in used}
