"""Gold that was wrong: correct a question's key or retire it, and grade every answer to it anew.

The tallies are then counted again from the answers, and the algorithm judges by them. A regrading
is a step of its own in each run that it touches: nothing is told and nothing asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from selection import wakeups
from selection.engine import late_regrades, rejudge
from selection.engine.rejudge import Tally
from selection.errors import Conflict, Refused
from selection.grading.rules import describe_grading, is_match
from selection.history import events
from selection.models import DELETED, Answer, Assignment, Question, RecordedAnswer, Run

CHUNK = 2000
MOST_NAMED = 10
# The empty answer that closed a retired question, and those whose responses were deleted in time.
NEVER_GIVEN = Q(response__in=("", DELETED), expired=False)


@dataclass(frozen=True)
class Gold:
    """What a question asks and accepts; as it is, or as it is to be."""

    prompt: str
    accepted: list[str]
    choices: list[str]
    grading: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_question(cls, question: Question) -> "Gold":
        return cls(question.prompt, question.accepted, question.choices, question.grading)


@dataclass(frozen=True)
class CorrectionEffect:
    """What a change does in one run.

    answers  that were given to the question
    graded   of those, how many would be graded otherwise, or count otherwise
    """

    run: Run
    answers: int
    graded: int


# -- before it is done


def is_asked(question: Question) -> bool:
    """Whether it was handed out, or has an answer waiting."""
    mine = {"candidate__run__in": runs_of(question), "question": question}
    return (
        Assignment.objects.filter(**mine).exists() or RecordedAnswer.objects.filter(**mine).exists()
    )


def runs_of(question: Question) -> QuerySet[Run]:
    """The runs that have begun with this question's set."""
    own = Q(question_set=question.question_set_id)
    own |= Q(further__question_set=question.question_set_id)
    begun = Run.objects.exclude(status=Run.Status.DRAFT)
    return begun.filter(pk__in=Run.objects.filter(own).values("pk")).order_by("pk")


def preview_correction(question: Question, gold: Gold | None = None) -> list[CorrectionEffect]:
    """What correcting the question so would do; without ``gold``, what retiring it would."""
    return [
        found
        for run in runs_of(question)
        if (found := _preview_in_run(run, question, gold)).answers
    ]


def _preview_in_run(run: Run, question: Question, gold: Gold | None) -> CorrectionEffect:
    rows = list(_list_given_answers(run, question).values_list("response", "right", "expired"))
    if gold is None:
        return CorrectionEffect(run, len(rows), len(rows))
    other = sum(_is_right(gold, said, late) != right for said, right, late in rows)
    return CorrectionEffect(run, len(rows), other)


def _list_counted_answers(run: Run, question: Question) -> QuerySet[Answer]:
    return Answer.objects.filter(
        assignment__candidate__run=run, assignment__question=question
    ).order_by()


def _list_given_answers(run: Run, question: Question) -> QuerySet[Answer]:
    return _list_counted_answers(run, question).exclude(NEVER_GIVEN)


def _is_right(gold: Gold, response: str, expired: bool) -> bool:
    return not expired and is_match(gold.accepted, response, gold.grading)


# -- doing it


@transaction.atomic
def correct_question(question: Question, gold: Gold, who: str = "", why: str = "") -> list[Run]:
    """Give the question another key, and grade all answers to it by that; the runs touched.

    Raises Refused without a reason where the question was asked, or where nothing would change.
    """
    locked = _lock_question(question)
    before = Gold.from_question(locked)
    if gold == before:
        raise Refused("Nothing would change: the question is like this already.")
    locked.prompt, locked.accepted = gold.prompt, gold.accepted
    locked.choices, locked.grading = gold.choices, gold.grading
    locked.save(update_fields=["prompt", "accepted", "choices", "grading"])
    return _apply_everywhere(locked, _describe_changes(before, gold), who, why)


@transaction.atomic
def retire_question(question: Question, who: str = "", why: str = "") -> list[Run]:
    """Ask nobody the question any more, and let no answer to it count; the runs touched.

    Raises Conflict for one that is retired, Refused without a reason.
    """
    locked = _lock_question(question)
    if locked.retired:
        raise Conflict(f"“{locked}” is retired already.")
    locked.retired, locked.retired_why = timezone.now(), why[:300]
    locked.save(update_fields=["retired", "retired_why"])
    return _apply_everywhere(locked, "retired: no answer to it counts", who, why)


@transaction.atomic
def restore_question(question: Question, who: str = "", why: str = "") -> list[Run]:
    """Let a retired question be asked, and its answers count, as before; the runs touched.

    Whoever was to be asked while it was retired is not asked again. Raises Conflict for a question
    that is not retired, Refused without a reason.
    """
    locked = _lock_question(question)
    if not locked.retired:
        raise Conflict(f"“{locked}” is not retired.")
    locked.retired, locked.retired_why = None, ""
    locked.save(update_fields=["retired", "retired_why"])
    return _apply_everywhere(locked, "restored: the answers to it count again", who, why)


def _lock_question(question: Question) -> Question:
    # Not its key: a step deals the question while it holds the run that this waits for.
    return Question.objects.select_for_update(no_key=True).get(pk=question.pk)


def list_differences(before: Gold, after: Gold) -> list[tuple[str, str, str]]:
    """(what, as it was, as it is to be) of all that differs, in words."""
    usual = "as text, capitals and spacing aside"
    rows = [
        ("accepted", " | ".join(before.accepted), " | ".join(after.accepted)),
        ("choices", " | ".join(before.choices) or "none", " | ".join(after.choices) or "none"),
        (
            "compared",
            describe_grading(before.grading) or usual,
            describe_grading(after.grading) or usual,
        ),
        ("prompt", before.prompt, after.prompt),
    ]
    return [row for row in rows if row[1] != row[2]]


def _describe_changes(before: Gold, after: Gold) -> str:
    found = list_differences(before, after)
    said = [f"{what} “{old}”, now “{new}”" for what, old, new in found if what != "prompt"]
    if found and found[-1][0] == "prompt":
        said.append("the wording changed; who answered had read the old one")
    return "; ".join(said)


def _apply_everywhere(question: Question, what: str, who: str, why: str) -> list[Run]:
    """Regrade every run that asked it, in order, so that two of these never wait for each other."""
    if not why.strip() and is_asked(question):
        raise Refused("Give a reason: it is written to the history of the runs.")
    found = [_apply_in_run(run.pk, question, what, who, why) for run in runs_of(question)]
    done = [run for run in found if run is not None]
    transaction.on_commit(lambda: _regrade_late_answers(done), robust=True)
    return done


def _regrade_late_answers(runs: Sequence[Run]) -> None:
    """For what was graded by the old key after the others were graded anew, and before this."""
    for run in runs:
        late_regrades.regrade_late_answers(run.pk, run.steps)


def _apply_in_run(pk: int, question: Question, what: str, who: str, why: str) -> Run | None:
    run = Run.objects.locked(pk)
    if run is None or not Assignment.objects.filter(**_assignment_filter(run, question)).exists():
        return None
    mine = list(run.candidates.filter(assignments__question=question).select_related("worker"))
    before = rejudge.read_tallies(mine)
    if question.retired:
        _close_open_assignments(run, question)
    regraded = _regrade_answers(run, question)
    verdict = rejudge.rejudge(run)
    mine = list(run.candidates.filter(assignments__question=question).select_related("worker"))
    changes = _describe_changed_tallies(before, rejudge.read_tallies(mine))
    said = f"Question “{question}” {what}. {regraded} graded anew. {changes} {verdict}"
    events.write_event(run, "regrade", said, who, why)
    wakeups.request_step(run.pk)
    return run


def _assignment_filter(run: Run, question: Question) -> dict[str, Any]:
    return {"candidate__run": run, "question": question}


def _close_open_assignments(run: Run, question: Question) -> None:
    """What is out of a retired question closes with a void answer: its position counts nothing."""
    out = Assignment.objects.open().filter(**_assignment_filter(run, question))
    now = timezone.now()
    # Who is being shown it now has it before this, and it costs, or never: see presence.show.
    Assignment.objects.filter(pk__in=out.filter(due=None).values("pk")).update(due=now)
    Answer.objects.bulk_create(
        [
            Answer(assignment_id=pk, run=run, right=False, void=True, at=now)
            for pk in out.values_list("pk", flat=True)
        ],
        CHUNK,
        ignore_conflicts=True,
    )


def _regrade_answers(run: Run, question: Question) -> str:
    """Set ``right`` and ``void`` of every answer to it; how many those are, in words.

    One that came in while this waited for its lock is among them. Void answers are graded too, for
    the day on which the question is restored.
    """
    gold, void = Gold.from_question(question), question.retired is not None
    rows = list(
        _list_given_answers(run, question).values_list("pk", "response", "expired", "right", "void")
    )
    right = {pk: _is_right(gold, said, late) for pk, said, late, _, _ in rows}
    flips = [pk for pk, _, _, was, _ in rows if was != right[pk]]
    for value in (True, False):
        _update_answers([pk for pk in flips if right[pk] == value], right=value)
    _update_answers([row[0] for row in rows if row[4] != void], void=void)
    return f"{len(rows)} answer{'' if len(rows) == 1 else 's'}"


def _update_answers(answers: Sequence[int], **values: bool) -> None:
    for start in range(0, len(answers), CHUNK):
        Answer.objects.filter(pk__in=answers[start : start + CHUNK]).update(**values)


def _describe_changed_tallies(before: dict[int, Tally], after: dict[int, Tally]) -> str:
    changed = [(was, after[pk]) for pk, was in before.items() if was != after[pk]]
    if not changed:
        return "Nobody's count of right answers changed."
    named = [f"{was.worker} {was} → {now}" for was, now in changed[:MOST_NAMED]]
    more = len(changed) - len(named)
    rest = f", and {more} more" if more else ""
    return f"Right answers, before and after: {', '.join(named)}{rest}."
