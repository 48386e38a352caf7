"""Runs with one order of questions for all models: the algorithm same-questions, to the result."""

import numpy as np
import pytest

from selection import engine, forecast, reports
from selection.answers import recording
from selection.errors import Conflict, Refused
from selection.exports.context import ExportContext
from selection.exports.methods_paragraph import methods_paragraph
from selection.imports import validate_answers
from selection.imports.row_parsers import AnswerRow
from selection.models import Assignment, Endpoint, Question, Run, Worker
from selection.questions import corrections
from selection.runs import changes, consistency, lifecycle, replacement
from selection.runs.roster import membership, roster_opening
from selection.runs.settings import drafts, validation
from tests.pages import admin_url, text_of
from tests.selection.model_workers.conftest import make_model_run
from tests.worlds import answer_all, open_of, play
from topk import expand_memory
from topk.verify import verify_dump

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

NAME, ON_SET = "same-questions", {"accuracy": "on this question set"}
LEVELS = (0.95, 0.9, 0.5, 0.45, 0.4, 0.3)


def alike(assignment: Assignment) -> str:
    """Answer as models that fail on the same questions: hard ones are hard for all."""
    hardness = np.random.default_rng([5, assignment.question.number]).random()
    return "yes" if hardness < LEVELS[int(assignment.candidate.worker.key[1:])] else "no"


def make_run(start: bool = True, **fields: object) -> Run:
    values = {"algorithm": NAME, "k": 2, "epsilon": 0.2, "slots": 40, "slots_per_worker": 10}
    return make_model_run("http://127.0.0.1:9/v1", start=start, **values | fields)


def questions_by_worker(run: Run) -> list[list[int]]:
    rows = Assignment.objects.filter(candidate__run=run).order_by("candidate__arm", "position")
    table: dict[int, list[int]] = {}
    for arm, number in rows.values_list("candidate__arm", "question__number"):
        table.setdefault(arm, []).append(number)
    return list(table.values())


def retire(run: Run, number: int) -> Question:
    question = run.question_set.questions.get(number=number)
    corrections.retire_question(question, "ada", "ambiguous")
    run.refresh_from_db()
    return question


def assert_verified(run: Run) -> None:
    run.refresh_from_db()
    verification = verify_dump(reports.dump_run(run))
    assert [str(finding) for finding in verification.findings] == []


def selected(run: Run) -> list[str]:
    return sorted(line.worker for line in reports.worker_standings(run) if line.selected)


@pytest.mark.parametrize("options", [{}, ON_SET])
def test_models_meet_one_order_and_the_best_are_selected(options, requester):
    run = play(make_run(options=options), alike)
    assert run.ending == Run.Ending.GUARANTEE
    assert selected(run) == ["w0", "w1"]
    decks = questions_by_worker(run)
    longest = max(decks, key=len)
    assert all(deck == longest[: len(deck)] for deck in decks)
    assert_verified(run)
    document = reports.export_run(run)
    measure = ", in accuracy on this set of 200 questions" if options else ""
    assert f"at most 20 points less accurate than the 2nd best{measure}" in str(document)
    assert not document["warnings"]
    words = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "each selected worker is at most 20 points less accurate than the 2nd best" in words
    methods = methods_paragraph(ExportContext(run))
    assert "All models met the same questions in one random order" in methods
    assert "does not depend on when it is asked" in methods
    assert document["mean_at_least"] is None  # several of one order: no evidence is multiplied


def test_answers_out_of_order_wait_and_late_workers_hold_up_no_other():
    run = make_run(slots=30)
    engine.advance(run.pk)
    first, *later = [row for row in open_of(run) if row.candidate.worker.key == "w0"]
    recording.record_many(run, [(row, alike(row)) for row in reversed(later)])
    others = [row for row in open_of(run) if row.candidate.worker.key != "w0"]
    recording.record_many(run, [(row, alike(row)) for row in others])
    engine.advance(run.pk)
    run.refresh_from_db()
    met = expand_memory(run.memory)["met"].tolist()
    assert met[first.candidate.arm] == 0
    assert sorted(met)[1] > 0
    recording.record_many(run, [(first, alike(first))])
    engine.advance(run.pk)
    run.refresh_from_db()
    memory = expand_memory(run.memory)
    start = int(memory["met"][: first.candidate.arm].sum())
    told = memory["answers"][start : start + 1 + len(later)].tolist()
    assert told == [float(alike(row) == "yes") for row in [first, *later]]
    assert_verified(run)


# -- changes on the way


@pytest.mark.parametrize("options", [{}, ON_SET])
def test_retired_corrected_and_absent_leave_a_run_that_is_verified(options):
    run = make_run(options=options, epsilon=0.12, slots=24)
    play(run, alike, most=3)
    met = questions_by_worker(run)
    first, unseen = met[0][0], min(set(range(200)) - set().union(*met))
    retire(run, first)
    steps = run.steps
    retire(run, unseen)
    assert (run.steps > steps) is bool(options)  # the number of questions is part of the evidence
    other = run.question_set.questions.get(number=met[0][1])
    gold = corrections.Gold(other.prompt, ["no"], [], {})
    corrections.correct_question(other, gold, "ada", "the key was wrong")
    membership.withdraw_workers(run, ["w5"], "ada")
    assert_verified(run)
    run = play(Run.objects.get(pk=run.pk), alike)
    assert run.ending == Run.Ending.GUARANTEE
    assert selected(run) == ["w0", "w1"]
    assert_verified(run)
    if options:
        assert "on this set of 198 questions" in reports.guarantee_of_run(run).text
    assert {weakening.code for weakening in reports.guarantee_of_run(run).weakenings} == {"regrade"}
    assert all(deck == max(questions_by_worker(run), key=len)[: len(deck)] for deck in met)


def test_retired_question_keeps_its_place_among_the_answers():
    run = make_run(slots=12)
    play(run, alike, most=3)
    retire(run, questions_by_worker(run)[0][1])
    pulls = [row.pulls for row in run.candidates.order_by("arm")]
    met, answers = np.array(run.memory["met"]), run.memory["answers"]
    assert (met - pulls).tolist() == [1] * 6
    assert [answers[start + 1] for start in np.cumsum(met) - met] == [-1] * 6
    assert_verified(play(run, alike, most=2))


def test_question_that_models_passed_over_stays_retired_on_the_set():
    run = make_run(options=ON_SET, slots=12)
    engine.advance(run.pk)
    waiting = retire(run, open_of(run)[0].question.number)
    with pytest.raises(Conflict, match=f"Models of the run “{run}” passed “{waiting}” over"):
        corrections.restore_question(waiting, "ada", "it was right")
    unseen = retire(run, min(set(range(200)) - set().union(*questions_by_worker(run))))
    corrections.restore_question(unseen, "ada", "it was right")
    run.refresh_from_db()
    assert run.effective_options()["questions"] == 199
    assert_verified(play(run, alike))


def test_model_that_was_set_aside_comes_back_with_its_answers():
    run = make_run(epsilon=0.12, slots=24)
    play(run, alike, most=3)
    membership.withdraw_workers(run, ["w0"], "ada")
    answer_all(run, alike)
    engine.advance(run.pk)
    assert_verified(run)
    membership.take_back(run, ["w0"], "ada")
    assert_verified(run)
    run = play(Run.objects.get(pk=run.pk), alike)
    assert selected(run) == ["w0", "w1"]
    assert reports.guarantee_of_run(run).weakenings == ()
    assert_verified(run)


def test_run_that_lost_its_guarantee_by_a_correction_goes_on():
    run = play(make_run(), alike)
    wrong = run.question_set.questions.filter(number__in=questions_by_worker(run)[0][:30])
    wrong.update(accepted=["maybe"])
    consistency.repair_run(run)
    run.refresh_from_db()
    assert run.ending == Run.Ending.REGRADED
    assert_verified(run)
    lifecycle.reopen_run(run, "ada")
    run = play(Run.objects.get(pk=run.pk), alike)
    assert run.ending == Run.Ending.GUARANTEE
    assert_verified(run)


def test_replaced_model_gives_its_place_to_the_next_best():
    run = play(make_run(epsilon=0.12), alike)
    replacement.replace_workers(run, ["w0"], [], "ada")
    run.refresh_from_db()
    assert "w1" in selected(run)
    assert_verified(run)


def test_stopped_run_states_the_least_epsilon_of_its_pairs():
    run = play(make_run(epsilon=0.02, slots=60), alike, most=12)
    lifecycle.stop_run(run)
    run.refresh_from_db()
    status = reports.guarantee_of_run(run)
    assert selected(run) == ["w0", "w1"]
    assert 0.02 < status.epsilon < 1
    assert f"at most {100 * status.epsilon:g} points less accurate than the 2nd best" in status.text
    assert_verified(run)


def test_copy_has_an_order_of_its_own_or_the_same():
    run = make_run()
    engine.advance(run.pk)
    for same in (True, False):
        copied = drafts.copy_run(run, f"Copy {same}", same_seed=same)
        lifecycle.start_run(copied)
        engine.advance(copied.pk)
        assert (questions_by_worker(copied)[0][:4] == questions_by_worker(run)[0][:4]) is same


def test_dump_in_another_order_is_refuted():
    run = play(make_run(), alike, most=3)
    document = reports.dump_run(run)
    column = document["answer_columns"].index("question")
    rows = document["candidates"][0]["answers"]
    rows[0][column], rows[1][column] = rows[1][column], rows[0][column]
    findings = " ".join(map(str, verify_dump(document).findings))
    assert "the questions did not come in the order that the seed gives" in findings


def test_verdicts_are_explained_by_answers_in_the_common_order():
    run = play(make_run(), alike)
    candidate = run.candidates.get(worker__key="w0")
    explanation = reports.explain_candidate(candidate)
    assert "decides about all workers at the end" in explanation.how[0]


def test_new_draft_of_models_is_about_their_question_set():
    run = make_run(start=False)
    settings = {"name": "Draft", "pool": run.pool, "question_set": run.question_set}
    settings |= {"k": 1, "algorithm": NAME, "epsilon": 0.1, "delta": 0.1}
    assert drafts.create_draft(drafts.default_for_models(settings)).options == ON_SET


# -- refusals


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        (
            {"enrolling": True},
            "algorithm",
            "for models alone, and the roster is open",
        ),
        ({"recorded_only": True}, "recorded_only", "and imported answers have another"),
        ({"pass_mark": 0.8}, "pass_mark", "a pass mark needs an order of each worker’s own"),
    ],
)
def test_settings_that_do_not_go_with_one_order_are_refused(fields, field, words):
    run = make_run(start=False, **fields)
    assert words in validation.validate_stored_run(run, 6)[field]


def test_people_are_refused_and_may_be_left_out():
    run = make_run(start=False, k=1)
    Endpoint.objects.filter(worker__key__in=("w4", "w5")).delete()
    with pytest.raises(Refused, match=r"could share the answers.* 2 workers are people: leave"):
        lifecycle.start_run(run)
    run.left_out = ["w4", "w5"]
    run.save()
    lifecycle.start_run(run)


def test_joining_and_waiting_answers_are_refused_after_the_start():
    run = make_run()
    engine.advance(run.pk)
    Worker.objects.create(pool=run.pool, key="late")
    with pytest.raises(Conflict, match="a worker cannot join it while it runs"):
        roster_opening.join_others(run)
    with pytest.raises(Refused, match="only answers to questions already asked"):
        changes.use_recorded_only(run)
    unseen = min(set(range(200)) - set().union(*questions_by_worker(run)))
    rows = [AnswerRow(2, "w0", f"q{unseen}", "yes"), AnswerRow(3, "w0", "q1", "yes")]
    result = validate_answers.validate_answers(run, rows[:1])
    assert "only answers to questions already asked" in result.problems[0].why


def test_limited_questions_are_refused_before_and_after_the_start():
    run = make_run(start=False)
    run.question_set.most_workers = 4
    run.question_set.save()
    with pytest.raises(Refused, match=r"asks every model each question, but .* at most 4"):
        lifecycle.start_run(run)
    run.question_set.most_workers = None
    run.question_set.save()
    lifecycle.start_run(run)
    assert "needs all questions" in validation.refuse_limit(run.question_set, 4)


def test_forecasts_say_that_there_is_none(requester):
    run = make_run(start=False)
    words = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "There is no forecast for Same questions" in words
    with pytest.raises(Refused, match="There is no forecast for Same questions"):
        forecast.draft_forecast.request_draft_forecast(run)
    lifecycle.start_run(run)
    play(run, alike, most=3)
    assert "how alike the models err" in forecast.running_forecast.make_forecast(run).why
