"""Handing out assignments: which question each worker gets, and answers that are there already."""

import numpy as np

from selection.answers import recording
from selection.db import bulk
from selection.models import Assignment, Question, RecordedAnswer, Run, Skill
from topk import question_order

from .arrays import Counts, StepArrays

CHUNK = 2000


def deal_assignments(arrays: StepArrays) -> None:
    """Turn the arrays's counts into assignments."""
    run, counts = arrays.run, arrays.counts
    if not counts.any():
        return
    # (m,) for each assignment its arm, arm by arm; then the index at which the arm's own begin,
    # so that they get the positions that follow what the arm was asked before.
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
    """A retired question closes as it is dealt: it keeps its place in the deck, and costs nothing.

    What somebody answered to it elsewhere would be asked for no more, also if it is restored. The
    workers get their next questions in the step that this asks for.
    """
    sets = [skill.question_set_id for skill in run.skills]
    retired = Question.objects.filter(question_set__in=sets).exclude(retired=None)
    if not retired.exists():
        return
    dealt = Assignment.objects.filter(candidate__run=run, step=run.steps, question__in=retired)
    passed = list(dealt.open().select_related("question"))
    recording.record_many(run, [(one, "") for one in passed])
    if run.has_recorded and passed:
        owners = {(one.candidate_id, one.question_id) for one in passed}
        waiting = RecordedAnswer.objects.filter(candidate__run=run, question__in=retired)
        vain = [one.pk for one in waiting if (one.candidate_id, one.question_id) in owners]
        RecordedAnswer.objects.filter(pk__in=vain).delete()


def _give_recorded_answers(run: Run, records: list[RecordedAnswer]) -> None:
    """Give the answers that were made elsewhere and are asked for now."""
    asked = Assignment.objects.filter(candidate__run=run).open()
    given = {
        (assignment.candidate_id, assignment.question_id): assignment
        for assignment in asked.filter(step=run.steps)
    }
    answers = []
    for record in records:
        assignment = given[record.candidate_id, record.question_id]
        assignment.question = record.question
        answers.append((assignment, record.response))
    recording.record_many(run, answers)
    for start in range(0, len(records), CHUNK):
        used = [record.pk for record in records[start : start + CHUNK]]
        RecordedAnswer.objects.filter(pk__in=used).delete()


# -- which question


def _recorded_answers(run: Run, arms: Counts) -> dict[int, RecordedAnswer]:
    """By index of assignment, the recorded answer it asks for: a worker's own come first.

    They are taken in a random order of their own, so that no way of collecting them matters.
    """
    waiting = (
        RecordedAnswer.objects.askable()
        .filter(candidate__run=run, candidate__arm__in=np.unique(arms).tolist())
        .values_list("id", "candidate__arm", "question__number")
    )
    # (w, 3) id, arm and question number of all that wait, by arm and then in the arm's own order.
    table = np.array(list(waiting), np.int64).reshape(-1, 3)
    table = table[
        np.lexsort((question_order.shuffle_ranks(run.seed, table[:, 1], table[:, 2]), table[:, 1]))
    ]
    ids, owners = table[:, 0], table[:, 1]
    # (w,) 0 for an arm's first recorded answer, 1 for its second; as many are taken as it is dealt.
    turn = np.arange(owners.size) - np.searchsorted(owners, owners)
    taken = turn < np.bincount(arms, minlength=owners.max(initial=0) + 1)[owners]
    # The assignments stand arm by arm, so an arm's t-th is t behind its first.
    places = (np.searchsorted(arms, owners) + turn)[taken].tolist()
    records = RecordedAnswer.objects.select_related("question").in_bulk(ids[taken].tolist())
    return {i: records[key] for i, key in zip(places, ids[taken].tolist(), strict=True)}


def _question_ids(
    arrays: StepArrays, arms: Counts, positions: Counts, records: dict[int, RecordedAnswer]
) -> list[int]:
    """The id of the question of each assignment."""
    run = arrays.run
    given = _limited_questions(arrays, arms, records)
    rest = [i for i in range(arms.size) if i not in records and i not in given]
    fresh = np.array(rest, np.int64)
    numbers = _question_numbers(arrays, arms[fresh], positions[fresh])
    if run.has_recorded and fresh.size:
        numbers = _around_records(arrays, arms, positions, records, fresh, numbers)
    chosen = np.zeros(arms.size, np.int64)
    chosen[fresh] = _ids_of_numbers(arrays, arms[fresh], numbers)
    for i, record in records.items():
        chosen[i] = record.question_id
    for i, question in given.items():
        chosen[i] = question
    return chosen.tolist()


def _limited_questions(
    arrays: StepArrays, arms: Counts, records: dict[int, RecordedAnswer]
) -> dict[int, int]:
    """By index of assignment, the question that was set aside for it, where they are limited."""
    if arrays.rations is None:
        return {}
    own = {arm: iter(questions) for arm, questions in arrays.rations.given.items()}
    places = [(i, arm) for i, arm in enumerate(arms.tolist()) if i not in records and arm in own]
    return {i: next(own[arm]) for i, arm in places}


def _question_numbers(arrays: StepArrays, arms: Counts, positions: Counts) -> Counts:
    """The question numbers that the decks have at these positions of these arms."""
    numbers = np.zeros(arms.size, np.int64)
    for skill in arrays.run.skills:
        own = arrays.skill[arms] == skill.number
        size = skill.deck_size
        numbers[own] = question_order.questions_at(arrays.run.seed, arms[own], positions[own], size)
    return _past_met(arrays, arms, positions, numbers) if arrays.skipped[arms].any() else numbers


def _past_met(arrays: StepArrays, arms: Counts, positions: Counts, numbers: Counts) -> Counts:
    """For those who met some of the questions before: the same order without these."""
    own = np.unique(arms[arrays.skipped[arms] > 0]).tolist()
    rows = arrays.run.candidates.filter(arm__in=own).values_list("arm", "met")
    for arm, met in rows.order_by():
        size, mine = arrays.run.skills[arrays.skill[arm]].deck_size, arms == arm
        numbers[mine] = question_order.questions_without(
            arrays.run.seed, arm, positions[mine], size, met
        )
    return numbers


def _around_records(
    arrays: StepArrays,
    arms: Counts,
    positions: Counts,
    records: dict[int, RecordedAnswer],
    fresh: Counts,
    numbers: Counts,
) -> Counts:
    """Replace questions that a recorded answer used up before their turn.

    Where position p used question q out of turn, the question that the deck has at p takes q's
    turn: following these swaps always ends at a question not asked yet.
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


def _ids_of_numbers(arrays: StepArrays, arms: Counts, numbers: Counts) -> Counts:
    """The id of the question of each number, in the question set of its arm's skill."""
    ids = np.zeros(arms.size, np.int64)
    for skill in arrays.run.skills:
        own = arrays.skill[arms] == skill.number
        known = _ids_of(skill, np.unique(numbers[own]))
        ids[own] = [known[number] for number in numbers[own].tolist()]
    return ids


def _ids_of(skill: Skill, wanted: Counts) -> dict[int, int]:
    questions = Question.objects.filter(question_set=skill.question_set_id, number__among=wanted)
    return dict(questions.values_list("number", "id"))
