"""Annotations from Label Studio's webhook: each becomes the answer of its annotator.

An annotation to an open assignment of its worker answers it. Any other waits until the algorithm
asks that worker that question, like answers made elsewhere. Sending the same again changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django.db import transaction
from django.db.models import Q

from selection import wakeups
from selection.errors import Conflict, Refused
from selection.models import Assignment, Candidate, Question, RecordedAnswer, Run

from .recording import outside_choices, record_answer, refuse_response, refuse_waiting

CREATED, UPDATED = "ANNOTATION_CREATED", "ANNOTATION_UPDATED"
State = Literal["answered", "waiting", "changed", "again", "ignored"]
# Separator of several choices in one answer.
SEPARATOR = " | "
# Attribute of workers whose id differs from Label Studio's id or address.
ATTRIBUTE = "label_studio"
ALREADY_ANSWERED = (
    "“{}” has answered question “{}” already, and otherwise: the first answer counts."
)


@dataclass(frozen=True)
class Annotation:
    """An answer from Label Studio.

    annotators  the annotator's names in Label Studio: an address, and a number as text
    """

    action: str
    annotators: list[str]
    question: str
    response: str


def read_annotation(payload: Mapping[str, Any], field: str) -> Annotation | None:
    """Parse a message; None if it is not an answer: skipped, a draft, or about a project.

    field  of the task's data: the key of the question

    Raises Refused for an incomplete answer.
    """
    action, annotation = str(payload.get("action", "")), payload.get("annotation")
    if action not in (CREATED, UPDATED):
        return None
    if not isinstance(annotation, dict):
        raise Refused("The message has no “annotation”; send Label Studio's own payload.")
    if annotation.get("was_cancelled") or annotation.get("ground_truth"):
        return None
    return Annotation(
        action,
        _annotator_keys(annotation),
        _question_key(payload, field),
        read_response(annotation),
    )


def _annotator_keys(annotation: dict[str, Any]) -> list[str]:
    by = annotation.get("completed_by")
    names = [by.get("email"), by.get("id")] if isinstance(by, dict) else [by]
    keys = [str(name) for name in names if isinstance(name, str | int) and str(name).strip()]
    if not keys:
        raise Refused("“annotation.completed_by” names nobody: it should be the annotator's id.")
    return keys


def _question_key(payload: Mapping[str, Any], field: str) -> str:
    task = payload.get("task")
    data = task.get("data") if isinstance(task, dict) else None
    key = data.get(field) if isinstance(data, dict) else None
    if not isinstance(key, str | int):
        raise Refused(
            f"The task's data have no “{field}”: put the question's key there, or name the field "
            "that has it with ?field=."
        )
    return str(key)


def read_response(annotation: Mapping[str, Any]) -> str:
    """Read the first result that holds text or numbers. Raises Refused if there is none."""
    results = annotation.get("result")
    for result in results if isinstance(results, list) else []:
        value = result.get("value") if isinstance(result, dict) else None
        for kind in ("choices", "text", "number", "rating"):
            answer = value.get(kind) if isinstance(value, dict) else None
            if answer not in (None, "", []):
                return SEPARATOR.join(map(str, answer)) if isinstance(answer, list) else str(answer)
    raise Refused("The annotation has no choices, text, number or rating that could be an answer.")


# -- recording


@transaction.atomic
def take_annotation(run: Run, annotation: Annotation) -> State:
    """Record an annotation and return the resulting state.

    Raises Refused for a worker or question that is not in the run or an invalid response,
    Conflict for a second and different answer, or if the run accepts none.
    """
    if run.status not in {Run.Status.RUNNING, Run.Status.PAUSED}:
        raise Conflict(f"The run “{run}” is {run.status}; it takes answers while it goes on.")
    candidate, question = _find_candidate(run, annotation)
    slip = _open_assignment(candidate, question)
    if slip is None:
        Run.objects.locked(run.pk)  # a concurrent step may be asking for it
        slip = _open_assignment(candidate, question)
    if slip is None:
        return _keep_for_later(run, annotation, candidate, question)
    if (answer := getattr(slip, "answer", None)) is not None:
        return _check_repeat(annotation, candidate, question, answer.response)
    record_answer(slip.pk, annotation.response)
    return "answered"


def _find_candidate(run: Run, annotation: Annotation) -> tuple[Candidate, Question]:
    condition = Q(worker__key__in=annotation.annotators)
    for name in annotation.annotators:
        condition |= Q(**{f"worker__attributes__{ATTRIBUTE}": name})
    rows = list(run.candidates.filter(condition).select_related("worker").order_by("arm"))
    annotator = annotation.annotators[0]
    if not rows:
        raise Refused(
            f"There is no worker “{annotator}” in this run: name workers as Label Studio does, or "
            f"give them an attribute “{ATTRIBUTE}” with that name."
        )
    if len({row.worker_id for row in rows}) > 1:
        raise Refused(f"Several workers of this run are known as “{annotator}”.")
    sets = {skill.question_set_id: skill.number for skill in run.skills}
    questions = Question.objects.filter(question_set__in=sets, key=annotation.question)
    if len(questions) != 1:
        often = "no" if not questions else "more than one"
        raise Refused(f"There is {often} question “{annotation.question}” in this run.")
    skill = sets[questions[0].question_set_id]
    return next(row for row in rows if row.skill == skill), questions[0]


def _open_assignment(candidate: Candidate, question: Question) -> Assignment | None:
    assignments = Assignment.objects.filter(candidate=candidate, question=question)
    return assignments.select_related("answer").first()


def _check_repeat(
    annotation: Annotation, candidate: Candidate, question: Question, before: str
) -> Literal["again"]:
    if before != annotation.response:
        raise Conflict(ALREADY_ANSWERED.format(candidate.worker, question))
    return "again"


def _keep_for_later(
    run: Run, annotation: Annotation, candidate: Candidate, question: Question
) -> State:
    """Store the answer until it is asked for; until then its annotator may change it."""
    refuse_waiting(run)
    refuse_response(annotation.response)
    if not question.allows(annotation.response):
        raise outside_choices(question.choices, annotation.response)
    record, created = RecordedAnswer.objects.get_or_create(
        candidate=candidate, question=question, defaults={"response": annotation.response}
    )
    if created:
        Run.objects.filter(pk=run.pk).update(has_recorded=True)
        wakeups.request_step(run.pk)
        return "waiting"
    if annotation.action == UPDATED and record.response != annotation.response:
        record.response = annotation.response
        record.save(update_fields=["response"])
        return "changed"
    return _check_repeat(annotation, candidate, question, record.response)
