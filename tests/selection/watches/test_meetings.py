"""No worker meets a question twice: not in a run and its watch, nor under another key."""

import pytest

from selection.imports import commit, staging, uploads
from selection.imports.row_parsers import AnswerRow
from selection.models import GoldAnswer, Question, Run, Upload, Watch
from selection.runs.roster import eligibility
from selection.watches import begin, gold, meetings, overview, steps
from tests.label_studio_world import MANUAL, add_project, join
from tests.pages import admin_url, text_of
from tests.selection.connectors.test_label_studio_gold import connection as connection
from tests.selection.connectors.test_label_studio_gold import inside as inside
from tests.selection.connectors.test_label_studio_gold import studio as studio
from tests.worlds import make_models, make_questions, make_run

from .test_api import ended_run
from .test_gold_page import answer, given, open_page, question_on
from .worlds import answers, make_watch, state_of

pytestmark = pytest.mark.django_db


def watch_of(run: Run, **settings: object) -> Watch:
    """Watch the workers of the run's pool by its own questions."""
    levels = dict.fromkeys(run.pool.workers.values_list("key", flat=True), 0.8)
    values = {"name": f"watch of {run}", "run": run} | settings
    return begin.create_watch(run.pool, [run.question_set], levels, **values)


def met_in(run: Run, worker: str) -> set[int]:
    candidate = run.candidates.get(worker__key=worker)
    return set(candidate.assignments.exclude(answer=None).values_list("question", flat=True))


@pytest.fixture
def run():
    return ended_run()


@pytest.fixture
def worker(run):
    candidates = run.candidates.select_related("worker")
    return max(candidates, key=lambda row: row.pulls).worker.key


def test_page_asks_nothing_that_the_run_asked(run, worker):
    watch = watch_of(run, pace=Watch.Pace.WEEK, every=10_000)
    met = met_in(run, worker)
    assert met
    left = run.question_set.questions.exclude(pk__in=met).count()
    assert meetings.unmet_questions(watch, [state_of(watch, worker)]) == sorted(
        run.question_set.questions.exclude(pk__in=met).values_list("pk", flat=True)
    )
    assert state_of(watch, worker).met_before == len(met)
    run.question_set.questions.exclude(pk__in=met).exclude(
        pk__in=run.question_set.questions.exclude(pk__in=met).values("pk")[:2]
    ).update(retired="2026-01-01T00:00Z")
    assert left > 2
    shown = [question_on(open_page(state_of(watch, worker)))]
    answer(state_of(watch, worker), "yes")
    shown.append(question_on(open_page(state_of(watch, worker))))
    last = answer(state_of(watch, worker), "yes")
    assert "there are no more questions" in last.content.decode()
    assert not met & set(shown)


def test_answers_to_the_questions_of_the_run_are_refused_by_api_and_file(run, worker):
    watch = watch_of(run)
    asked = Question.objects.get(pk=min(met_in(run, worker))).key
    unmet = Question.objects.get(
        pk=meetings.unmet_questions(watch, [state_of(watch, worker)])[0]
    ).key
    fates = gold.record_gold(
        watch, [gold.GivenGold(worker, key, "yes") for key in (asked, unmet, unmet)]
    )
    assert [one.result for one in fates] == ["refused", "added", "unchanged"]
    assert f"“{worker}” has met question “{asked}” before" in fates[0].why
    rows = [AnswerRow(1, worker, asked, "yes")]
    (staged,) = staging._stage_gold(Upload(team_id=watch.team_id), watch, rows)
    assert "has met question" in staged.why


def test_label_studio_gets_nothing_that_the_run_asked(run, studio, connection):
    studio.enterprise = True
    watch = watch_of(run, every=2)
    run.question_set.questions.update(choices=["yes", "no"])
    for one in watch.pool.workers.all():
        one.attributes = {"label_studio": f"{one.key}@example.org"}
        one.save()
    link = join(watch, connection, add_project(studio, 200, **MANUAL))
    tasks = list(link.gold_tasks.values_list("watched__worker__key", "question"))
    assert tasks
    assert not [key for key, question in tasks if question in met_in(run, key)]


def test_later_run_and_watch_ask_nothing_that_the_watch_asked():
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "yy"))
    questions = watch.question_sets.get()
    later = make_run(pool=watch.pool, question_set=questions, start=False, met=Run.Met.SKIP)
    assert eligibility.questions_met_before(later) == {"w0": {0: [0, 1]}}
    second = begin.create_watch(
        watch.pool, [questions], {"w0": None, "w1": None}, name="again", level=0.8
    )
    assert [state_of(second, one).met_before for one in ("w0", "w1")] == [2, 0]
    fates = gold.record_gold(second, answers("w0", "y") + answers("w1", "y"))
    assert [one.result for one in fates] == ["refused", "added"]


def test_models_remember_nothing():
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "yy"))
    make_models(watch.pool)
    later = make_run(pool=watch.pool, question_set=watch.question_sets.get(), start=False)
    assert eligibility.questions_met_before(later) == {}


@pytest.mark.parametrize("models", [False, True])
def test_question_under_two_keys_or_in_two_sets_is_asked_once(models):
    """Each question twice, back to back, would pass a mark at .05 in .167 of the tests."""
    watch = make_watch(questions=3)
    if models:
        make_models(watch.pool)
    questions = watch.question_sets.get()
    Question.objects.filter(key="q1").update(prompt=" Say yes  to 0.")
    other = make_questions(4)
    other.questions.filter(key="q3").update(key="other", prompt="Say yes to 2.")
    other.questions.exclude(key="other").delete()
    begin.change_watch(watch, [questions, other])
    unmet = meetings.unmet_questions(watch, [state_of(watch)])
    keys = Question.objects.filter(pk__in=unmet).values_list("key", flat=True)
    assert sorted(keys) == ["q0", "q2"]
    pairs = [gold.GivenGold("w0", key, "yes") for key in ("q1", "q0", "other", "q2")]
    fates = gold.record_gold(watch, pairs[:3])
    assert [one.result for one in fates] == ["added", "refused", "added"]
    assert [one.result for one in gold.record_gold(watch, pairs)] == [
        *("unchanged", "refused", "unchanged", "refused"),
    ]
    assert meetings.unmet_questions(watch, [state_of(watch)]) == []


def test_the_watch_s_page_lists_questions_that_are_there_twice(requester):
    watch = make_watch(questions=3)
    address = admin_url("watch_page", watch.pk)
    assert "more than once" not in text_of(requester.get(address))
    Question.objects.exclude(key="q2").update(prompt="Say yes.")
    page = text_of(requester.get(address))
    assert "1 question in these sets more than once" in page
    assert [[one.key for one in group] for group in meetings.list_twins(watch)] == [["q0", "q1"]]
    Question.objects.filter(key="q0").update(retired="2026-01-01T00:00Z")
    assert meetings.list_twins(watch) == []


def test_a_question_under_another_key_in_an_earlier_piece_of_a_file_is_listed(monkeypatch):
    monkeypatch.setattr(staging, "PIECE", 1)
    watch = make_watch(questions=3)
    Question.objects.filter(key="q1").update(prompt="Say yes to 0.")
    raw = b"worker,question,response\nw0,q0,yes\nw0,q1,yes\nw0,q2,yes\n"
    upload = uploads.create_upload(Upload.Kind.GOLD, watch, "f.csv", raw, at_once=False)
    uploads.go_on(upload, float("inf"))
    assert [row.line for row in upload.rows.exclude(why="")] == [3]
    assert "has met question “q1” before" in upload.rows.get(line=3).why
    assert commit.commit_import(upload.pk)
    assert GoldAnswer.objects.exclude(response="").count() == upload.accepted_rows == 2


def test_page_asks_the_other_of_two_questions_alike_if_one_is_retired():
    watch = make_watch(questions=2)
    Question.objects.update(prompt="Say yes.")
    Question.objects.filter(key="q0").update(retired="2026-01-01T00:00Z")
    answer(state_of(watch), "yes")
    assert [one.question.key for one in given()] == ["q1"]


def test_one_text_with_several_right_answers_is_an_instruction():
    watch = make_watch(questions=3)
    Question.objects.update(prompt="Is there a bird?")
    Question.objects.filter(key="q0").update(accepted=["no"])
    assert meetings.find_twins(watch) == {}
    assert len(meetings.unmet_questions(watch, [state_of(watch)])) == 3


def test_gold_that_everybody_met_runs_out_now():
    watch = make_watch(questions=3)
    gold.record_gold(watch, answers("w0", "yyy"))
    steps.advance_watch(watch.pk)
    questions = watch.question_sets.get()
    second = begin.create_watch(watch.pool, [questions], {"w0": None}, name="again", level=0.8)
    assert "The gold runs out: 1 worker" in overview.summarise(second).gold.words
    assert GoldAnswer.objects.count() == 3
