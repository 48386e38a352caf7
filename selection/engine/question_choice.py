"""Deal assignments: the question of each, and recorded answers to use instead of asking."""

import numpy as np

from selection.answers import recording, uncounted
from selection.db import bulk
from selection.models import Assignment, Question, RecordedAnswer, Run, Skill
from topk import question_order

from .arrays import Counts, StepArrays

CHUNK = 2000


def deal_assignments(arrays: StepArrays) -> None:
    run, counts = arrays.run, arrays.counts
    if not counts.any():
        return
    # (m,) the arm of each assignment, in order; then the index of the arm's first assignment, so
    # that positions continue after those already asked.
    arms = np.repeat(np.arange(counts.size), counts)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    positions = arrays.asked[arms] + np.arange(arms.size) - first
    records = _recorded_answers(run, arms) if run.has_recorded else {}
    questions = _question_ids(arrays, arms, positions, records)
    bulk.insert_rows(
        Assignment,
        {
            "candidate_id": arrays.ids[arms].tolist(),
            "position": positions.tolist(),
            "question_id": questions,
        },
        same={"step": run.steps},
    )
    if records:
        _give_recorded_answers(run, list(records.values()))
    _pass_over_retired(run)


def _pass_over_retired(run: Run) -> None:
    """Close retired questions as they are dealt: each keeps its place and costs nothing.

    Answers recorded elsewhere to such a question are deleted: they would not be asked for again,
    even if the question is restored. The workers get their next questions in the step requested
    here.
    """
    sets = [skill.question_set_id for skill in run.skills]
    retired = Question.objects.filter(question_set__in=sets).exclude(retired=None)
    if not retired.exists():
        return
    dealt = Assignment.objects.filter(candidate__run=run, step=run.steps, question__in=retired)
    skips = list(dealt.open().select_related("question"))
    recording.record_many(run, [(row, "") for row in skips])
    if run.has_recorded and skips:
        owners = {(row.candidate_id, row.question_id) for row in skips}
        waiting = RecordedAnswer.objects.filter(candidate__run=run, question__in=retired)
        obsolete = [row for row in waiting if (row.candidate_id, row.question_id) in owners]
        lost = [(row.candidate_id, row.question_id, row.response) for row in obsolete]
        uncounted.note_rows(run, uncounted.FILE, lost)
        RecordedAnswer.objects.filter(pk__in=[row.pk for row in obsolete]).delete()


def _give_recorded_answers(run: Run, records: list[RecordedAnswer]) -> None:
    outstanding = Assignment.objects.filter(candidate__run=run).open()
    dealt = {
        (assignment.candidate_id, assignment.question_id): assignment
        for assignment in outstanding.filter(step=run.steps)
    }
    answers = []
    for record in records:
        assignment = dealt[record.candidate_id, record.question_id]
        assignment.question = record.question
        answers.append((assignment, record.response))
    recording.record_many(run, answers)
    for start in range(0, len(records), CHUNK):
        used = [record.pk for record in records[start : start + CHUNK]]
        RecordedAnswer.objects.filter(pk__in=used).delete()


# -- which question


def _recorded_answers(run: Run, arms: Counts) -> dict[int, RecordedAnswer]:
    """Map indexes of assignments to the recorded answers they use: those of the worker come first.

    They are taken in a random order of their own, so that the way of collecting them does not
    matter.
    """
    waiting = (
        RecordedAnswer.objects.askable()
        .filter(candidate__run=run, candidate__arm__in=np.unique(arms).tolist())
        .values_list("id", "candidate__arm", "question__number")
    )
    # (w, 3) id, arm and question number of waiting answers, by arm, then in the arm's own order.
    table = np.array(list(waiting), np.int64).reshape(-1, 3)
    table = table[
        np.lexsort((question_order.shuffle_ranks(run.seed, table[:, 1], table[:, 2]), table[:, 1]))
    ]
    ids, owners = table[:, 0], table[:, 1]
    # (w,) 0 for an arm's first recorded answer, 1 for its second; as many are used as are dealt.
    turn = np.arange(owners.size) - np.searchsorted(owners, owners)
    chosen = turn < np.bincount(arms, minlength=owners.max(initial=0) + 1)[owners]
    # The assignments are in order of arm, so an arm's t-th is t places after its first.
    places = (np.searchsorted(arms, owners) + turn)[chosen].tolist()
    records = RecordedAnswer.objects.select_related("question").in_bulk(ids[chosen].tolist())
    return {i: records[key] for i, key in zip(places, ids[chosen].tolist(), strict=True)}


def _question_ids(
    arrays: StepArrays, arms: Counts, positions: Counts, records: dict[int, RecordedAnswer]
) -> list[int]:
    run = arrays.run
    limited = _limited_questions(arrays, arms, records)
    rest = [i for i in range(arms.size) if i not in records and i not in limited]
    fresh = np.array(rest, np.int64)
    numbers = _question_numbers(arrays, arms[fresh], positions[fresh])
    if run.has_recorded and fresh.size:
        numbers = _avoid_recorded_questions(arrays, arms, positions, records, fresh, numbers)
    chosen = np.zeros(arms.size, np.int64)
    chosen[fresh] = _lookup_question_ids(arrays, arms[fresh], numbers)
    for i, record in records.items():
        chosen[i] = record.question_id
    for i, question in limited.items():
        chosen[i] = question
    return chosen.tolist()


def _limited_questions(
    arrays: StepArrays, arms: Counts, records: dict[int, RecordedAnswer]
) -> dict[int, int]:
    """Map indexes of assignments to the questions reserved for them under exposure limits."""
    if arrays.limits is None:
        return {}
    reserved = {arm: iter(questions) for arm, questions in arrays.limits.dealt.items()}
    places = [
        (i, arm) for i, arm in enumerate(arms.tolist()) if i not in records and arm in reserved
    ]
    return {i: next(reserved[arm]) for i, arm in places}


def _question_numbers(arrays: StepArrays, arms: Counts, positions: Counts) -> Counts:
    numbers, run = np.zeros(arms.size, np.int64), arrays.run
    decks = question_order.decks_of(arms, run.selector_class.common_order)
    for skill in run.skills:
        mask = arrays.skill[arms] == skill.number
        size = skill.deck_size
        numbers[mask] = question_order.questions_at(run.seed, decks[mask], positions[mask], size)
    return (
        _skip_met_questions(arrays, arms, positions, numbers)
        if arrays.skipped[arms].any()
        else numbers
    )


def _skip_met_questions(
    arrays: StepArrays, arms: Counts, positions: Counts, numbers: Counts
) -> Counts:
    """Shift the numbers of arms that met some questions before: the same order without them."""
    skipping = np.unique(arms[arrays.skipped[arms] > 0]).tolist()
    rows = arrays.run.candidates.filter(arm__in=skipping).values_list("arm", "met")
    for arm, met in rows.order_by():
        size, mask = arrays.run.skills[arrays.skill[arm]].deck_size, arms == arm
        numbers[mask] = question_order.questions_without(
            arrays.run.seed, arm, positions[mask], size, met
        )
    return numbers


def _avoid_recorded_questions(
    arrays: StepArrays,
    arms: Counts,
    positions: Counts,
    records: dict[int, RecordedAnswer],
    fresh: Counts,
    numbers: Counts,
) -> Counts:
    """Replace questions that a recorded answer used up before their turn.

    If position p used question q out of turn, the deck's question at p takes q's turn. Following
    these swaps always ends at a question that was not asked yet.
    """
    run = arrays.run
    used: dict[tuple[int, int], int] = {
        (arm, number): position
        for arm, number, position in Assignment.objects.filter(
            candidate__run=run, candidate__arm__in=np.unique(arms[fresh]).tolist()
        ).values_list("candidate__arm", "question__number", "position")
    }
    for i, record in records.items():
        used[int(arms[i]), record.question.number] = int(positions[i])
    replaced = numbers.copy()
    for j, arm in enumerate(arms[fresh].tolist()):
        while (position := used.get((arm, int(replaced[j])))) is not None:
            replaced[j] = _question_numbers(arrays, np.array([arm]), np.array([position]))[0]
        used[arm, int(replaced[j])] = int(positions[fresh[j]])
    return replaced


def _lookup_question_ids(arrays: StepArrays, arms: Counts, numbers: Counts) -> Counts:
    """Find the id of the question with each number, in the question set of the arm's skill."""
    ids = np.zeros(arms.size, np.int64)
    for skill in arrays.run.skills:
        mask = arrays.skill[arms] == skill.number
        by_number = _map_question_ids(skill, np.unique(numbers[mask]))
        ids[mask] = [by_number[number] for number in numbers[mask].tolist()]
    return ids


def _map_question_ids(skill: Skill, numbers: Counts) -> dict[int, int]:
    questions = Question.objects.filter(question_set=skill.question_set_id, number__among=numbers)
    return dict(questions.values_list("number", "id"))
