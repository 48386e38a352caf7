"""A gold question is given to no more workers than its set allows, however runs deal."""

import json
import threading
from collections import Counter

import pytest
from django.db import connection

from selection import engine, reports
from selection.answers import presence, recording
from selection.imports import catalog, validate_answers
from selection.imports.row_parsers import AnswerRow, QuestionRow
from selection.models import Assignment, Candidate, QuestionSet, RecordedAnswer, Run, exposure
from selection.questions import corrections
from selection.runs import lifecycle
from selection.runs.roster import membership
from selection.worker import page
from tests.worlds import answer_all, crowd, make_pool, make_questions, make_run, open_of, play
from topk.verify import verify_dump

pytestmark = pytest.mark.django_db


def limited(size: int, most: int | None) -> QuestionSet:
    questions = make_questions(size)
    questions.most_workers = most
    questions.save()
    return questions


def given(*runs: Run) -> Counter[str]:
    """Return the number of workers that got each question."""
    rows = Assignment.objects.filter(candidate__run__in=runs).order_by()
    pairs = rows.values_list("question__key", "candidate__worker").distinct()
    return Counter(key for key, _ in pairs)


def test_no_question_is_given_to_more_workers_than_it_may_be():
    run = play(make_run(n=8, question_set=limited(30, 3), slots=100), crowd(1, 2))
    assert max(given(run).values()) == 3
    assert sum(given(run).values()) == 90
    assert run.ending == Run.Ending.QUESTIONS


def test_worker_skips_an_exhausted_question_in_their_own_order():
    free = make_run(n=5, questions=20, slots=100, slots_per_worker=20)
    engine.advance(free.pk)
    asked = limited(20, 2)
    run = make_run(n=5, question_set=asked, slots=100, slots_per_worker=20)
    engine.advance(run.pk)
    left, orders = Counter(dict.fromkeys(given(free), 2)), {}
    for slip in open_of(free):
        orders.setdefault(slip.candidate.arm, []).append((slip.position, slip.question.key))
    expected = {}
    for arm in sorted(orders):
        for _, key in sorted(orders[arm]):
            if left[key]:
                left[key] -= 1
                expected.setdefault(arm, []).append(key)
    found = {}
    for slip in sorted(open_of(run), key=lambda slip: slip.position):
        found.setdefault(slip.candidate.arm, []).append(slip.question.key)
    assert found == expected


def test_the_dump_of_a_limited_run_is_found_in_order():
    asked = limited(12, 2)
    run = play(make_run(n=6, question_set=asked, k=2), crowd(1, 2))
    assert run.rationed
    asked.most_workers = None
    asked.save()
    run.refresh_from_db()
    assert not verify_dump(json.loads(json.dumps(reports.dump_run(run), default=str))).findings


def test_a_limit_that_is_far_off_changes_nothing():
    plain = play(make_run(n=6, questions=40), crowd(1, 2), most=12)
    wide = play(make_run(n=6, question_set=limited(40, 100)), crowd(1, 2), most=12)

    def dealt(run):
        rows = Assignment.objects.filter(candidate__run=run).order_by("candidate__arm", "position")
        return list(rows.values_list("candidate__arm", "position", "question__number", "step"))

    assert dealt(plain) == dealt(wide)


def test_two_runs_of_the_same_history_deal_the_same():
    def dealt():
        asked = limited(25, 3)
        pool = make_pool(6)
        one, two = (make_run(pool=pool, question_set=asked, seed=seed) for seed in (3, 4))
        for _ in range(6):
            for run in (one, two):
                engine.advance(run.pk)
                answer_all(run, crowd(2, 2))
        rows = Assignment.objects.filter(candidate__run__in=[one, two])
        return sorted(
            rows.values_list("candidate__run__seed", "candidate__arm", "position", "question__key")
        )

    assert dealt() == dealt()


def test_exposure_in_other_runs_counts_once_per_worker():
    asked, pool = limited(12, 2), make_pool(4)
    first = play(make_run(pool=pool, question_set=asked, k=1), crowd(1, 2))
    assert set(given(first).values()) == {2}
    second = make_run(pool=pool, question_set=make_questions(3), k=1, start=False)
    assert exposure.count_askable(asked) == 0
    assert exposure.count_met([asked.pk]) == {q.pk: 2 for q in asked.questions.all()}
    assert exposure.count_met([second.question_set_id]) == {}


def test_a_question_set_of_another_run_s_second_skill_is_limited_too():
    asked = limited(10, 2)
    run = make_run(n=5, questions=40, algorithm="clucb-pac", start=False)
    run.further.create(number=1, question_set=asked, k=1)
    run.save()
    from_start = Run.objects.get(pk=run.pk)
    lifecycle.start_run(from_start)
    play(from_start, crowd(1, 2), most=40)
    assert max(count for key, count in _of(asked, from_start).items()) == 2


def _of(question_set, run):
    rows = Assignment.objects.filter(candidate__run=run, question__question_set=question_set)
    return Counter(rows.values_list("question__key", flat=True))


def test_unseen_assignment_returns_to_the_pool():
    asked = limited(6, 2)
    run = make_run(n=4, question_set=asked, k=1, slots=8, slots_per_worker=3)
    engine.advance(run.pk)
    holder = open_of(run)[0].candidate
    before = exposure.count_met([asked.pk])
    membership.withdraw_workers(run, [holder.worker.key], "me", "left the crowd")
    engine.advance(run.pk)
    assert not Assignment.objects.filter(candidate=holder).exists()
    assert max(exposure.count_met([asked.pk]).values()) <= 2
    assert sum(before.values()) >= 8


def test_positions_have_no_gap_and_no_worker_sees_a_question_twice():
    run = play(make_run(n=7, question_set=limited(15, 3), slots=100), crowd(1, 2))
    for candidate in run.candidates.all():
        rows = list(candidate.assignments.order_by("position").values_list("position", "question"))
        assert [position for position, _ in rows] == list(range(candidate.asked))
        assert len({question for _, question in rows}) == len(rows)


def test_a_limit_that_is_raised_lets_the_questions_be_asked_again():
    asked = limited(8, 2)
    run = make_run(n=6, question_set=asked, k=2, epsilon=0.01)
    for _ in range(8):
        engine.advance(run.pk)
        slips = open_of(run)
        recording.record_many(run, [(slip, "yes") for slip in slips[:-1]])
    assert sum(given(run).values()) == 16
    QuestionSet.objects.filter(pk=asked.pk).update(most_workers=4)
    for _ in range(4):
        engine.advance(run.pk)
        answer_all(run, crowd(1, 2))
    assert max(given(run).values()) > 2


def test_recorded_answers_ignore_the_limit_and_count_as_met():
    asked = limited(10, 2)
    run = make_run(n=4, question_set=asked, k=1, slots=100)
    rows = [AnswerRow(i, f"w{i}", "q3", "yes") for i in range(4)]
    validate_answers.record_valid_answers(run, validate_answers.validate_answers(run, rows))
    assert RecordedAnswer.objects.filter(candidate__run=run).count() == 4
    play(run, crowd(1, 2))
    assert given(run)["q3"] == 4
    assert max(count for key, count in given(run).items() if key != "q3") == 2


def test_retired_question_is_skipped_and_counts_for_no_worker():
    asked = limited(10, 3)
    retired = asked.questions.get(key="q4")
    corrections.retire_question(retired, "me", "wrong")
    run = play(make_run(n=4, question_set=asked, k=1), crowd(1, 2))
    assert retired.pk not in exposure.count_met([asked.pk])
    assert exposure.count_askable(asked) == 0
    assert Candidate.objects.filter(run=run, void__gt=0).exists()


def test_questions_that_come_into_the_set_later_are_no_part_of_a_run_s_deck():
    asked = limited(6, 2)
    run = make_run(n=5, question_set=asked, k=1)
    catalog.take_questions(asked, [QuestionRow(9, "late", "Say yes.", ["yes"], [])])
    play(run, crowd(1, 2))
    assert "late" not in given(run)
    assert exposure.count_askable(asked) == 1


@pytest.mark.django_db(transaction=True)
def test_runs_that_deal_at_once_keep_to_the_limit():
    asked, pool = limited(20, 3), make_pool(8)
    begun = [make_run(pool=pool, question_set=asked, slots=40, seed=seed) for seed in (1, 2, 3)]
    ready = threading.Barrier(len(begun))
    failed = []

    def deal(run):
        try:
            ready.wait()
            for _ in range(5):
                engine.advance(run.pk)
                answer_all(run, crowd(1, 2))
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=deal, args=(run,)) for run in begun]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert max(given(*begun).values()) == 3


def test_exhausted_and_previously_met_questions_are_skipped_once():
    asked = limited(30, 5)
    first = make_run(n=7, question_set=asked, epsilon=0.01, slots_per_worker=4, slots=100)
    for _ in range(3):
        engine.advance(first.pk)
        for slip in open_of(first):
            presence.record_shown(first, [slip.pk])
        answer_all(first, crowd(3, good=2))
    lifecycle.stop_run(first)
    same = {"pool": first.pool, "question_set": asked, "epsilon": 0.01, "met": "skip", "seed": 3}
    second = play(make_run(**same, slots=100), crowd(5, good=2))
    assert second.ending == Run.Ending.QUESTIONS
    many = given(first, second)
    assert max(many.values()) == 5
    for one in second.candidates.select_related("worker"):
        own = Assignment.objects.filter(candidate__worker=one.worker)
        pairs = list(own.values_list("candidate__run", "question__key"))
        before = {key for run, key in pairs if run == first.pk}
        now = {key for run, key in pairs if run == second.pk}
        assert before
        assert now
        assert not before & now
        rest = set(asked.questions.values_list("key", flat=True)) - before - now
        assert all(many[key] == 5 for key in rest)


def test_worker_with_only_exhausted_questions_left_is_done():
    asked = limited(4, 2)
    run = make_run(n=4, question_set=asked, k=1, epsilon=0.01, slots_per_worker=4)
    for _ in range(6):
        engine.advance(run.pk)
        answer_all(run, crowd(1, 2))
        left = [one for one in run.candidates.all() if 0 < one.asked < 4]
        out = {slip.candidate_id for slip in open_of(run)}
        if left and not out:
            break
    run.refresh_from_db()
    assert left
    assert {page.idle_state(run, [one]) for one in left} == {"done"}
    QuestionSet.objects.update(most_workers=3)
    assert {page.idle_state(run, [one]) for one in left} == {"wait"}
