"""Annotations as Label Studio's webhook sends them: each becomes the answer of its annotator.

An annotation to a question that is out with its worker answers it. To one that is not, it waits
until the algorithm asks that worker that question, as answers made elsewhere do. To send the same
again changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django.db import transaction
from django.db.models import Q

from selection import wakeups
from selection.errors import Conflict, Refused
from selection.models import (
    Answer,
    Assignment,
    Candidate,
    Question,
    RecordedAnswer,
    Run,
    stored_spellings,
)

from .recording import outside_choices, record_answer, refuse_response

CREATED, UPDATED = "ANNOTATION_CREATED", "ANNOTATION_UPDATED"
State = Literal["answered", "waiting", "changed", "again", "ignored"]
# Several choices in one answer, as everywhere here.
BETWEEN = " | "
# An attribute of workers who are not known by the id or the address that Label Studio gives them.
ATTRIBUTE = "label_studio"
COUNTED = "“{}” has answered question “{}” already, and otherwise: the first answer counts."


@dataclass(frozen=True)
class Annotation:
    """annotator  what Label Studio calls them: an address, and a number as text"""

    action: str
    annotators: list[str]
    question: str
    response: str


def read_annotation(payload: Mapping[str, Any], field: str) -> Annotation | None:
    """What the message says; None for one that is no answer: skipped, a draft, about a project.

    field  of the task's data: the key of the question

    Raises Refused for a message that should be an answer and is none.
    """
    action, found = str(payload.get("action", "")), payload.get("annotation")
    if action not in (CREATED, UPDATED):
        return None
    if not isinstance(found, dict):
        raise Refused("The message has no “annotation”; send Label Studio's own payload.")
    if found.get("was_cancelled") or found.get("ground_truth"):
        return None
    return Annotation(
        action, _annotator_keys(found), _question_key(payload, field), _response_text(found)
    )


def _annotator_keys(annotation: dict[str, Any]) -> list[str]:
    by = annotation.get("completed_by")
    names = [by.get("email"), by.get("id")] if isinstance(by, dict) else [by]
    found = [str(name) for name in names if isinstance(name, str | int) and str(name).strip()]
    if not found:
        raise Refused("“annotation.completed_by” names nobody: it should be the annotator's id.")
    return found


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


def _response_text(annotation: dict[str, Any]) -> str:
    """The first of the results that says something in words or numbers."""
    results = annotation.get("result")
    for one in results if isinstance(results, list) else []:
        value = one.get("value") if isinstance(one, dict) else None
        for kind in ("choices", "text", "number", "rating"):
            said = value.get(kind) if isinstance(value, dict) else None
            if said not in (None, "", []):
                return BETWEEN.join(map(str, said)) if isinstance(said, list) else str(said)
    raise Refused("The annotation has no choices, text, number or rating that could be an answer.")


# -- taking it


@transaction.atomic
def take_annotation(run: Run, annotation: Annotation) -> State:
    """Record it; what became of it.

    Raises Refused for a worker or question that is not in the run or a response that cannot be,
    Conflict for a second and different answer, or while the run takes none.
    """
    if run.status not in {Run.Status.RUNNING, Run.Status.PAUSED}:
        raise Conflict(f"The run “{run}” is {run.status}; it takes answers while it goes on.")
    candidate, question = _find_candidate(run, annotation)
    slip = _open_assignment(candidate, question)
    if slip is None:
        Run.objects.locked(run.pk)  # a step that asks for it now would do so again for what waits
        slip = _open_assignment(candidate, question)
    if slip is None:
        return _keep_for_later(run, annotation, candidate, question)
    if (given := _find_answer(slip)) is not None:
        return _check_repeat(annotation, candidate, question, given.response)
    record_answer(slip.pk, annotation.response)
    return "answered"


def _find_candidate(run: Run, annotation: Annotation) -> tuple[Candidate, Question]:
    named = Q(worker__key__in=stored_spellings(annotation.annotators))
    for name in annotation.annotators:
        named |= Q(**{f"worker__attributes__{ATTRIBUTE}": name})
    rows = list(run.candidates.filter(named).select_related("worker").order_by("arm"))
    who = annotation.annotators[0]
    if not rows:
        raise Refused(
            f"There is no worker “{who}” in this run: name workers as Label Studio does, or give "
            f"them an attribute “{ATTRIBUTE}” with that name."
        )
    if len({row.worker_id for row in rows}) > 1:
        raise Refused(f"Several workers of this run are known as “{who}”.")
    sets = {skill.question_set_id: skill.number for skill in run.skills}
    questions = Question.objects.filter(
        question_set__in=sets, key__in=stored_spellings([annotation.question])
    )
    if len(questions) != 1:
        often = "no" if not questions else "more than one"
        raise Refused(f"There is {often} question “{annotation.question}” in this run.")
    skill = sets[questions[0].question_set_id]
    return next(row for row in rows if row.skill == skill), questions[0]


def _open_assignment(candidate: Candidate, question: Question) -> Assignment | None:
    asked = Assignment.objects.filter(candidate=candidate, question=question)
    return asked.select_related("answer").first()


def _find_answer(slip: Assignment) -> Answer | None:
    return slip.answer if hasattr(slip, "answer") else None


def _check_repeat(
    annotation: Annotation, candidate: Candidate, question: Question, before: str
) -> Literal["again"]:
    if before != annotation.response:
        raise Conflict(COUNTED.format(candidate.worker, question))
    return "again"


def _keep_for_later(
    run: Run, annotation: Annotation, candidate: Candidate, question: Question
) -> State:
    """Until it is asked for. Before that it may be changed by whoever gave it."""
    refuse_response(annotation.response)
    if not question.allows(annotation.response):
        raise outside_choices(question.choices, annotation.response)
    kept, new = RecordedAnswer.objects.get_or_create(
        candidate=candidate, question=question, defaults={"response": annotation.response}
    )
    if new:
        Run.objects.filter(pk=run.pk).update(has_recorded=True)
        wakeups.request_step(run.pk)
        return "waiting"
    if annotation.action == UPDATED and kept.response != annotation.response:
        kept.response = annotation.response
        kept.save(update_fields=["response"])
        return "changed"
    return _check_repeat(annotation, candidate, question, kept.response)
