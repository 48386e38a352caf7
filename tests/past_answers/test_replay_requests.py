"""Replays as jobs: from files, a run or a question set to a result, a pool and a draft."""

from datetime import timedelta

import pytest
from django.utils import timezone

from crowdselect.past_answers import keeping, plays, replay_requests, results
from crowdselect.past_answers.models import Replay
from crowdselect.past_answers.replay_requests import Source
from selection import engine, tasks
from selection.errors import Conflict, NotFound, Refused
from selection.imports.keyed_answers import File
from selection.models import (
    Answer,
    Pool,
    Question,
    QuestionSet,
    RecordedAnswer,
    Run,
    Skill,
    default_team,
)
from selection.outbox import jobs
from selection.privacy import erasure
from selection.runs import lifecycle
from tests.pasts import write_past
from tests.worlds import answer_all, make_questions, make_run

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

WANTED = {"k": 2, "epsilon": 0.2, "delta": 0.1}


@pytest.fixture(autouse=True)
def few_seeds(monkeypatch):
    monkeypatch.setattr(plays, "SEEDS", 3)


@pytest.fixture
def source(tmp_path) -> Source:
    answers, key = write_past(tmp_path, [0.95, 0.9, 0.5, 0.5, 0.4, 0.4], 60)
    return Source(File("past.csv", answers.read_bytes()), File("key.csv", key.read_bytes()))


def finish(replay: Replay) -> Replay:
    for _ in range(40):
        tasks.work_on_long_job(str(replay.pk))
        replay.refresh_from_db()
        if not replay.going:
            break
    return replay


def request(source: Source, **wanted: object) -> Replay:
    return replay_requests.request_replay(source, WANTED | wanted, default_team(), "ann")


def mean_accuracy(names: list[str], result: results.ReplayResult) -> float:
    return sum(row.accuracy for row in result.workers if row.worker in names) / len(names)


def test_a_replay_says_how_many_answers_would_have_been_enough(source):
    replay = finish(request(source, price=0.1))
    result = results.build_result(replay)
    assert replay.state == "done"
    assert replay.facts["answers"] == result.answers == 360
    assert result.cost == 36.0
    best = result.enough
    assert best is not None
    assert best.ours
    assert 0 < best.answers < 360
    assert result.headline == f"{best.answers} of 360 answers would have been enough"
    assert best.share == round(best.answers / 360, 4)
    assert best.cost == round(best.answers * 0.1, 2)
    assert len(best.selected) == 2
    top = [row.worker for row in result.workers if row.best]
    lost = mean_accuracy(top, result) - mean_accuracy(best.selected, result)
    assert best.loss == pytest.approx(lost, abs=2e-4)
    assert [row.algorithm for row in result.methods] == list(plays.METHODS)
    assert {row.runs for row in result.methods} == {3}


def test_the_reach_is_the_precision_that_all_answers_buy(source):
    credible = results.build_result(finish(request(source))).methods[0]
    assert credible.answers < credible.reach_answers <= 360
    assert credible.reach is not None
    assert credible.reach < 0.2


def test_a_budget_limits_every_play(source):
    result = results.build_result(finish(request(source, budget=50, epsilon=0.05)))
    assert {row.answers for row in result.methods} == {50}
    assert result.enough is None
    assert result.headline == "All 360 answers were not enough"


def test_numbers_appear_before_the_last_play(source, monkeypatch):
    monkeypatch.setattr(replay_requests, "A_TURN", -1.0)  # a play
    replay = request(source)
    tasks.work_on_long_job(str(replay.pk))
    replay.refresh_from_db()
    result = results.build_result(replay)
    assert [row.algorithm for row in result.methods] == ["credible"]
    assert 0 < replay.progress < 1


def test_a_large_file_is_read_by_the_task_and_its_faults_are_stored(source, monkeypatch):
    monkeypatch.setattr(replay_requests, "SMALL", 10)
    replay = request(source)
    assert (replay.state, replay.facts) == ("waiting", {})
    finish(replay)
    assert (replay.state, replay.facts["answers"]) == ("done", 360)
    bad = finish(request(Source(File("bad.csv", b"worker,task,label\na,q,1\n"), source.key)))
    assert bad.state == "failed"
    assert bad.error.startswith("bad.csv has no answer to a question of key.csv")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("w1,t0,1\nw1,t1,1\n", "past.csv has answers of one worker only"),
        ("w1,t0,1\nw2,t1,1\n", "K"),
    ],
)
def test_too_few_workers_are_refused_in_the_request(source, content, sentence):
    answers = File("past.csv", f"worker,task,label\n{content}".encode())
    with pytest.raises(Refused, match=sentence):
        request(Source(answers, source.key))
    assert not Replay.objects.exists()


def test_too_many_answers_are_refused_with_the_limit(source, monkeypatch):
    monkeypatch.setattr(replay_requests.records, "MOST_REPLAYED", 100)
    with pytest.raises(Refused, match=r"past.csv has 360 answers, and at most 100 can be tried"):
        request(source)


@pytest.mark.parametrize("given", [{}, {"key": File("k.csv", b"x")}])
def test_an_impossible_source_is_refused(given):
    with pytest.raises(Refused):
        request(Source(**given))


def ended_run() -> Run:
    run = make_run(n=5, questions=12, k=2, algorithm="lucb", epsilon=0.3)
    from_ids = {"w0", "w1"}
    for _ in range(40):
        answer_all(run, lambda one: "yes" if one.candidate.worker.key in from_ids else "no")
        if not advance_run(run):
            break
    run.refresh_from_db()
    return run


def advance_run(run: Run) -> bool:
    engine.advance(run.pk)
    run.refresh_from_db()
    return run.status == Run.Status.RUNNING


def test_a_run_is_replayed_and_makes_a_draft_over_its_own_pool():
    run = ended_run()
    replay = finish(request(Source(run=run)))
    assert (replay.state, replay.facts["workers"]) == ("done", 5)
    draft = keeping.create_draft(replay, "credible", "ann")
    assert (draft.pool, draft.question_set) == (run.pool, run.question_set)


def test_a_question_set_is_replayed_with_the_answers_of_its_runs():
    run = ended_run()
    replay = finish(request(Source(question_set=run.question_set)))
    assert replay.facts["answers"] == run.answers.filter(void=False).count()


def test_erased_workers_are_not_replayed():
    run = ended_run()
    erased = run.pool.workers.get(key="w3")
    RecordedAnswer.objects.create(
        candidate=run.candidates.get(worker=erased),
        question=run.question_set.questions.first(),
        response="yes",
    )
    erasure.erase_worker([erased], "ann", "on request")
    replay = request(Source(question_set=run.question_set))
    pool = keeping.create_pool(replay)
    assert replay.facts["workers"] == 4
    assert set(pool.workers.values_list("key", flat=True)) == {"w0", "w1", "w2", "w4"}


def test_a_question_set_is_replayed_with_runs_that_use_it_as_a_further_skill():
    question_set = make_questions(6)
    run = make_run(n=4, algorithm="clucb-pac", start=False)
    Skill.objects.create(run=run, number=1, question_set=question_set, k=2)
    lifecycle.start_run(run)
    advance_run(run)
    answer_all(run, lambda _: "yes")
    replay = request(Source(question_set=question_set))
    given = Answer.objects.filter(assignment__question__question_set=question_set)
    assert replay.facts["answers"] == given.count() > 0


def test_answers_to_retired_questions_do_not_count_against_the_limit(monkeypatch):
    run = ended_run()
    answers = Answer.objects.filter(run=run, void=False).order_by("pk")
    first = answers.values_list("assignment__question", flat=True)[0]
    kept = answers.exclude(assignment__question=first).count()
    Question.objects.filter(pk=first).update(retired=timezone.now())
    monkeypatch.setattr(replay_requests.records, "MOST_REPLAYED", kept)
    assert request(Source(question_set=run.question_set)).facts["answers"] == kept
    monkeypatch.setattr(replay_requests.records, "MOST_REPLAYED", kept - 1)
    with pytest.raises(Refused, match=f"has more than {kept - 1} answers, and at most"):
        request(Source(question_set=run.question_set))


def test_a_run_without_answers_is_refused():
    with pytest.raises(Refused, match="has no answers yet"):
        request(Source(run=make_run(start=False)))


def test_pool_keeps_the_past_accuracy_of_its_workers(source):
    pool = keeping.create_pool(finish(request(source)))
    worker = pool.workers.get(key="w1")
    assert pool.name == "Workers of past.csv"
    assert worker.attributes["past answers"] == 60
    assert worker.attributes["past accuracy"] > 0.8


def test_a_second_pool_gets_a_number(source):
    replay = request(source)
    names = [keeping.create_pool(replay).name for _ in range(3)]
    assert names == [f"Workers of past.csv{number}" for number in ("", ", 2", ", 3")]


def test_result_and_pool_need_no_record(source):
    replay = finish(request(source))
    workers = results.build_result(replay).workers
    Replay.objects.update(content=b"")
    replay = jobs.find_job(replay.pk, Replay.objects.all())
    assert results.build_result(replay).workers == workers
    assert keeping.create_pool(replay).workers.count() == 6


def test_a_draft_expects_workers_as_in_the_past_answers(source):
    draft = keeping.create_draft(finish(request(source, budget=200, price=0.1)), "credible", "ann")
    assert (draft.status, draft.k, draft.budget, float(draft.price)) == ("draft", 2, 200, 0.1)
    assert len(draft.belief["answers"]) == 6
    assert draft.question_set.questions.count() == 60
    assert draft.pool.workers.count() == 6


def test_only_the_replay_is_stored_and_expires(source):
    replay = finish(request(source))
    assert not any(model.objects.exists() for model in (Pool, QuestionSet, Run))
    assert replay.expires > timezone.now() + timedelta(hours=23)
    Replay.objects.update(expires=timezone.now() - timedelta(minutes=1))
    jobs.sweep_jobs()
    with pytest.raises(NotFound, match="has expired"):
        jobs.find_job(replay.pk, Replay.objects.all())


def test_unread_answers_cannot_become_a_pool(source, monkeypatch):
    monkeypatch.setattr(replay_requests, "SMALL", 10)
    with pytest.raises(Conflict, match="still being read"):
        keeping.create_pool(request(source))
