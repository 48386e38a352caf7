"""Eligibility of workers, and questions met before, which are not asked again by default."""

import unicodedata

import pytest
from django.test import Client

from selection import engine, reports
from selection.answers import presence
from selection.errors import Conflict, Refused
from selection.imports import validate_answers
from selection.imports.row_parsers import AnswerRow
from selection.models import (
    Assignment,
    Endpoint,
    ModelServer,
    Pool,
    Question,
    QuestionSet,
    Run,
    Team,
    Worker,
)
from selection.runs import lifecycle
from selection.runs.roster import eligibility, roster_opening
from selection.runs.settings import drafts, validation
from tests.pages import admin_url, run_form, save_run, text_of
from tests.worlds import answer_all, crowd, make_pool, make_questions, make_run, open_of, play

pytestmark = pytest.mark.django_db


def make_earlier_run(steps: int = 3, **fields) -> Run:
    """Return a run in which every worker met some questions."""
    run = make_run(n=4, questions=40, epsilon=0.01, **fields)
    for _ in range(steps):
        engine.advance(run.pk)
        for slip in open_of(run):
            presence.record_shown(run, [slip.pk])
        answer_all(run, crowd(3, good=2))
    return run


def make_second_run(run: Run, **fields) -> Run:
    """Return a second run of the same workers on the same questions."""
    same = {"pool": run.pool, "question_set": run.question_set, "epsilon": 0.01, "seed": 3}
    return make_run(**same | fields)


def questions_met(run: Run) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    rows = Assignment.objects.filter(candidate__run=run)
    for worker, question in rows.values_list("candidate__worker__key", "question__key"):
        found.setdefault(worker, set()).add(question)
    return found


def test_worker_meets_no_question_again_and_is_asked_the_rest():
    first = make_earlier_run()
    known = questions_met(first)
    assert all(known.values())
    second = play(make_second_run(first, met="skip"), crowd(5, good=2))
    for worker, questions in questions_met(second).items():
        assert not questions & known[worker]
    assert second.ending == "questions"
    last = max(second.candidates.all(), key=lambda one: one.asked)
    assert last.asked == 40 - last.skipped


def test_models_remember_no_question_and_are_asked_again():
    first = make_earlier_run()
    server = ModelServer.objects.create(name="here", url="https://example.org/v1")
    for worker in first.pool.workers.filter(key__in=["w0", "w1"]):
        Endpoint.objects.create(worker=worker, server=server, model="m")
    second = make_second_run(first, met="skip")
    skipped = dict(second.candidates.values_list("worker__key", "skipped"))
    assert skipped["w0"] == skipped["w1"] == 0
    assert skipped["w2"] > 0
    assert skipped["w3"] > 0


def test_order_of_questions_is_the_seeded_one_without_met_questions():
    first = make_earlier_run()
    plain, skipping = make_second_run(first), make_second_run(first, met="skip")
    worker = first.pool.workers.get(key="w0")
    for run in (plain, skipping):
        play(run, crowd(5, good=2))
    orders = [
        list(
            Assignment.objects.filter(candidate__run=run, candidate__worker=worker)
            .order_by("position")
            .values_list("question__number", flat=True)
        )
        for run in (plain, skipping)
    ]
    met = skipping.candidates.get(worker=worker).met
    left = [number for number in orders[0] if number not in met]
    common = min(len(left), len(orders[1]))
    assert common > 5
    assert orders[1][:common] == left[:common]


def test_questions_met_after_the_start_change_no_order():
    first = make_earlier_run(steps=1)
    second = make_second_run(first, met="skip")
    before = list(second.candidates.order_by("arm").values_list("met", flat=True))
    earlier_still = Run.objects.get(pk=first.pk)
    engine.advance(earlier_still.pk)
    for slip in open_of(earlier_still):
        presence.record_shown(earlier_still, [slip.pk])
    play(second, crowd(5, good=2), most=5)
    assert list(second.candidates.order_by("arm").values_list("met", flat=True)) == before


def test_question_never_shown_is_not_met():
    run = make_run(n=4, questions=40)
    engine.advance(run.pk)
    assert open_of(run)
    assert eligibility.count_affected(make_second_run(run, start=False)) == (0, 0)


def test_answers_made_elsewhere_were_met():
    run = make_run(n=4, questions=40)
    engine.advance(run.pk)
    slip = open_of(run)[0]
    row = AnswerRow(1, slip.candidate.worker.key, slip.question.key, "yes")
    validate_answers.record_valid_answers(run, validate_answers.validate_answers(run, [row]))
    assert eligibility.count_affected(make_second_run(run, start=False)) == (1, 1)


def test_the_same_worker_and_question_count_in_other_pools_and_sets_of_the_team():
    first = make_earlier_run()
    pool, questions = make_pool(4), make_questions(60)
    second = make_run(pool=pool, question_set=questions, met="skip", start=False)
    known = questions_met(first)
    found = eligibility.questions_met_before(second)
    assert {key: len(each[0]) for key, each in found.items()} == {
        key: len(own) for key, own in known.items()
    }
    questions.questions.update(prompt="Something else?")
    assert eligibility.questions_met_before(Run.objects.get(pk=second.pk)) == {}


def test_a_question_is_the_same_however_its_accents_and_blanks_are_written():
    questions, others = make_questions(40), make_questions(40)
    for number in range(40):
        key, prompt = f"Tür {number}", f"Größe?\n{number}"
        questions.questions.filter(number=number).update(key=key, prompt=prompt)
        apart = unicodedata.normalize("NFD", key)
        prompt = unicodedata.normalize("NFD", prompt).replace("\n", " \r\n")
        others.questions.filter(number=number).update(key=apart, prompt=prompt)
    for mine, theirs in ((questions, others), (others, questions)):
        first = make_earlier_run(question_set=mine)
        second = make_run(n=4, question_set=theirs, met="skip", start=False)
        known = {key: len(own) for key, own in questions_met(first).items()}
        assert (
            {key: len(own[0]) for key, own in eligibility.questions_met_before(second).items()}
            == known
            != {}
        )
        first.delete()


def test_runs_of_another_team_count_no_met_questions():
    team = Team.objects.create(name="others")
    pool = Pool.objects.create(team=team, name="p")
    Worker.objects.bulk_create(Worker(pool=pool, key=f"w{i}") for i in range(4))
    questions = QuestionSet.objects.create(team=team, name="q")
    texts = [(f"q{i}", f"Say yes to {i}.") for i in range(40)]
    Question.objects.bulk_create(
        Question(question_set=questions, number=i, key=key, prompt=text, accepted=["yes"])
        for i, (key, text) in enumerate(texts)
    )
    first = make_earlier_run()
    theirs = make_run(pool=pool, question_set=questions, met="skip", start=False)
    assert eligibility.count_affected(make_second_run(first, start=False)).workers == 4
    assert eligibility.questions_met_before(theirs) == {}


def test_workers_who_met_questions_can_be_excluded():
    first = make_earlier_run()
    Worker.objects.bulk_create(Worker(pool=first.pool, key=f"new{i}") for i in range(3))
    second = make_second_run(first, met="out")
    keys = set(second.candidates.values_list("worker__key", flat=True))
    assert keys == {"new0", "new1", "new2"}


def test_start_computes_eligible_workers_once_before_the_lock_and_once_under_it(monkeypatch):
    fields = {"met": "out", "quotas": {"attribute": "country", "limits": {"A": [0, 2]}}}
    pool, read, computed = make_pool(6, country=["A", "B"]), eligibility.questions_met_before, []
    run = make_run(pool=pool, algorithm="clucb-pac", start=False, **fields)

    def count(run, keys=None):
        computed.append(run.pk)
        return read(run, keys)

    monkeypatch.setattr(eligibility, "questions_met_before", count)
    lifecycle.start_run(run)
    assert computed == [run.pk] * 2
    assert "eligible" not in vars(run)


def test_lists_of_workers_set_the_roster():
    run = make_run(n=8, only=[f"w{i}" for i in range(6)], left_out=["w5", "nobody"])
    keys = set(run.candidates.values_list("worker__key", flat=True))
    assert keys == {f"w{i}" for i in range(5)}


def test_quotas_cover_only_the_roster():
    pool = make_pool(8, country=["A", "B"])
    quota = {"attribute": "country", "limits": {"A": [1, 2]}}
    run = make_run(pool=pool, algorithm="clucb-pac", quotas=quota, left_out=["w0", "w1"])
    assert len(run.options["quotas"]["groups"]) == run.candidates.count() == 6
    play(run, crowd(3, good=4), most=3)
    for row in run.candidates.select_related("worker"):
        group = run.options["quotas"]["groups"][row.arm]
        assert run.options["quotas"]["names"][group] == row.worker.attributes["country"]


def test_roster_too_small_is_refused():
    run = make_run(n=6, only=["w1"], start=False)
    with pytest.raises(Refused):
        lifecycle.start_run(run)


def test_accuracy_on_this_set_is_refused_where_questions_would_be_passed_over():
    first = make_earlier_run()
    options = {"accuracy": "on this question set"}
    second = make_second_run(first, algorithm="certified", options=options, met="skip", start=False)
    assert "4 workers have seen questions" in validation.validate_stored_run(second, 4)["met"]
    with pytest.raises(Refused, match="exclude these workers"):
        lifecycle.start_run(second)
    Run.objects.filter(pk=second.pk).update(met="again")
    lifecycle.start_run(Run.objects.get(pk=second.pk))


def test_joining_worker_is_checked_like_initial_ones():
    first = make_earlier_run()
    fields = {"n": 0, "enrolling": True, "question_set": first.question_set}
    for met, algorithm in (("out", "lucb"), ("skip", "certified")):
        options = {"accuracy": "on this question set"} if met == "skip" else {}
        run = make_run(met=met, algorithm=algorithm, options=options, **fields)
        worker = Worker.objects.create(pool=run.pool, key="w0")
        with pytest.raises(Conflict, match="seen questions of this run before"):
            roster_opening.join_roster(run, worker)
        assert (
            roster_opening.join_roster(run, Worker.objects.create(pool=run.pool, key="new")).skipped
            == 0
        )
    skipping = make_run(met="skip", left_out=["w1"], **fields)
    joined = roster_opening.join_roster(
        skipping, Worker.objects.create(pool=skipping.pool, key="w0")
    )
    assert joined.skipped == len(questions_met(first)["w0"])
    with pytest.raises(Conflict, match="is excluded from"):
        roster_opening.join_roster(skipping, Worker.objects.create(pool=skipping.pool, key="w1"))


def test_a_copy_asks_the_same():
    run = make_run(met="skip", only=[f"w{i}" for i in range(5)], left_out=["w4"])
    copied = drafts.copy_run(run, "again")
    assert (copied.met, copied.only, copied.left_out) == (run.met, run.only, run.left_out)


def test_form_offers_exclusion_and_draft_names_affected_workers(requester):
    first = make_earlier_run()
    lifecycle.stop_run(first)
    page = requester.get(admin_url("run_begin")).content.decode()
    assert '<option value="skip" selected>' in page
    selected = {line.worker for line in reports.run_standings(first).lines if line.selected}
    form = run_form(first.pool, first.question_set, met="skip", k=1, only_from=first.pk)
    save_run(requester, form)
    run = Run.objects.get(name="Spring")
    assert (run.met, set(run.only)) == ("skip", selected)
    draft = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "2 of the pool’s workers are not in this run." in draft
    assert "The run is for certain workers only." in draft
    assert "4 workers have seen some of these questions before" in draft
    assert "These workers get other questions." in draft


def test_api_shows_the_roster_settings(token):
    run = make_run(met="skip", left_out=["w4"])
    api = Client(headers={"authorization": f"Bearer {token}"})
    shown = api.get(f"/api/runs/{run.pk}").json()
    assert (shown["met"], shown["only"], shown["left_out"]) == ("skip", [], ["w4"])


def test_draft_names_unknown_worker_ids(requester):
    run = make_run(n=4, questions=40, start=False, left_out=["w1", "w17"], only=["w0", "w1", "w2"])
    page = admin_url("run_page", run.pk)
    assert eligibility.unknown_worker_keys(run) == ["w17"]
    assert (
        "The run names the id “w17”, but the pool has no worker with this id. "
        "Unknown ids have no effect." in text_of(requester.get(page))
    )
    run.left_out = [f"typo-{i}" for i in range(7)]
    run.save()
    said = text_of(requester.get(page))
    assert "names the ids “typo-0”, “typo-1”, “typo-2”, “typo-3”, “typo-4” and 2 more, but" in said
    assert "no worker with these ids." in said
    run.left_out = ["w1"]
    run.save()
    assert "Unknown ids" not in text_of(requester.get(page))
