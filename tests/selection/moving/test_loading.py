"""A run that is loaded from its dump is the same, and goes on as it would have there."""

import copy
import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

import topk
from selection import engine, intake, moving, reports
from selection.errors import Conflict, Refused
from selection.intake import media
from selection.intake.files import AnswerRow
from selection.models import (
    Assignment,
    AuditEntry,
    Complaint,
    Pool,
    Practice,
    PracticeAnswer,
    QuestionSet,
    Run,
    Skill,
    Team,
)
from selection.setup import recount, regrade, roster, runs
from tests.worlds import answer_all, crowd, make_questions, make_run, open_of, play
from topk.verify import digest_of

pytestmark = pytest.mark.django_db

GOOD = crowd(1, good=2)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


@pytest.fixture
def elsewhere() -> Team:
    """As another server: nothing of the first team is seen there."""
    return Team.objects.create(name="Elsewhere")


def written(run: Run, **how: bool) -> dict[str, Any]:
    return json.loads(json.dumps(reports.dump(Run.objects.get(pk=run.pk), **how)))


def same(one: Run, other: Run) -> bool:
    """But for the word that it was loaded."""
    return course(one) == course(other)


def course(run: Run) -> dict[str, Any]:
    document = written(run)
    told = {name: document[name] for name in ("result", "memory", "proof", "workers", "kinds")}
    steps = [{**step, "at": ""} for step in document["steps"]]
    rows = [{**row, "seen": "", "answers": bare(document, row)} for row in document["candidates"]]
    return told | {"steps": steps, "rows": rows}


def bare(document: dict[str, Any], row: dict[str, Any]) -> list[list[Any]]:
    """Answers without the hours at which they came."""
    hours = {"at", "shown", "due"}
    names = document["answer_columns"]
    return [
        [value for name, value in zip(names, answer, strict=True) if name not in hours]
        for answer in row["answers"]
    ]


@pytest.mark.parametrize("name", ["certified", "adaptive-top-k", "sar"])
def test_a_run_that_goes_on_comes_to_the_same_end_on_both_servers(name, elsewhere):
    budget = {"budget": 150} if name == "sar" else {}
    run = make_run(algorithm=name, epsilon=0.2, questions=3000, slots=30, **budget)
    play(run, GOOD, most=3)
    assert run.status == Run.Status.RUNNING
    loaded, fresh = moving.load(written(run), elsewhere)
    assert (fresh, loaded.status) == (True, Run.Status.PAUSED)
    assert same(run, loaded)
    runs.resume(loaded)
    for one in (run, loaded):
        play(one, GOOD, most=12)
    assert loaded.steps > 3
    assert same(run, loaded)
    assert recount.faults(loaded) == []
    assert reports.verify(written(loaded)).same


def test_one_that_has_ended_is_the_same_to_its_digest_and_loading_it_again_changes_nothing(
    elsewhere,
):
    run = play(make_run(algorithm="certified", price="0.0500"), GOOD)
    document = written(run)
    loaded, _ = moving.load(document, elsewhere)
    assert written(loaded)["digest"] == document["digest"]
    first, second = (reports.explain(one.candidates.get(arm=0)) for one in (run, loaded))
    assert list(first.parts()) == list(second.parts())
    assert moving.load(document, elsewhere) == (loaded, False)
    assert Run.objects.filter(team=elsewhere).count() == 1


def test_everything_around_it_comes_as_well(elsewhere):
    """Several kinds, practice, a complaint, a file, corrected gold, who left, answers that wait."""
    run = make_run(start=False, algorithm="clucb-pac", epsilon=0.2, slots=20, k=1, met="skip")
    run.page = {"pay": "0.10"}
    run.left_out = ["w99"]
    run.save()
    own, second = run.question_set, make_questions(50)
    Skill.objects.create(run=run, number=1, question_set=second, k=1)
    practice = Practice.objects.create(question_set=second, prompt="1 + 1", accepted=["2"])
    media.take(own, "bird.png", PNG)
    runs.start(run)
    run = Run.objects.get(pk=run.pk)
    rows = [AnswerRow(1, "w1", "q7", "yes", str(own))]
    intake.take(run, intake.sort(run, rows))
    play(run, GOOD, most=2)
    engine.advance(run.pk)
    run.candidates.filter(arm=0).update(platform="mturk", task="A1")
    row = run.candidates.get(arm=0)
    PracticeAnswer.objects.create(
        candidate=row, practice=practice, response="3", right=False, done=False, at=timezone.now()
    )
    Complaint.objects.create(assignment=open_of(run)[0], text="there is no bird", at=timezone.now())
    regrade.retire(
        own.questions.get(number=Assignment.objects.first().question.number), "ada", "blurred"
    )
    roster.leave(run, run.candidates.filter(worker__key="w5").first().worker_id)
    runs.pause(run)
    with pytest.raises(Refused, match="dump with --media"):
        moving.load(written(run), elsewhere)
    assert not Pool.objects.filter(team=elsewhere).exists()
    document = written(run, media=True)
    loaded, _ = moving.load(document, elsewhere)
    assert written(loaded, media=True) == document
    assert document["practised"]
    assert document["complaints"]
    assert bytes(loaded.question_set.media.get().data) == PNG
    assert loaded.question_set.media.get().token != own.media.get().token


def test_time_on_the_way_counts_against_nobody(elsewhere):
    run = make_run(minutes=5)
    engine.advance(run.pk)
    now = timezone.now()
    long_ago = now - timezone.timedelta(days=3)
    run.history.update(at=long_ago)
    run.events.update(at=long_ago)
    Run.objects.filter(pk=run.pk).update(started=long_ago, called=long_ago)
    five = timezone.timedelta(minutes=5)
    Assignment.objects.filter(candidate__run=run).update(shown=long_ago, due=long_ago + five)
    run.candidates.update(seen=long_ago)
    loaded, _ = moving.load(written(run), elsewhere)
    runs.resume(loaded)
    due = Assignment.objects.filter(candidate__run=loaded).values_list("due", flat=True)
    assert all(now + five <= one for one in due)
    intake.expire()
    assert not loaded.answers.exists()


def test_a_second_run_of_the_same_pool_and_questions_shares_them(elsewhere):
    first = play(make_run(), GOOD)
    second = play(make_run(pool=first.pool, question_set=first.question_set, seed=3), GOOD)
    for run in (first, second):
        moving.load(written(run), elsewhere)
    assert Pool.objects.filter(team=elsewhere).count() == 1
    assert QuestionSet.objects.filter(team=elsewhere).count() == 1


@pytest.mark.parametrize("what", ["run", "pool", "question set", "worker"])
def test_it_is_refused_where_something_of_that_name_differs(what, elsewhere):
    run = play(make_run(), GOOD)
    document = written(run)
    if what == "run":
        moving.load(document, elsewhere)
        Run.objects.filter(team=elsewhere).update(delta=0.2)
    elif what == "question set":
        QuestionSet.objects.create(team=elsewhere, name=run.question_set.name)
    else:
        pool = Pool.objects.create(team=elsewhere, name=run.pool.name)
        pool.workers.create(key="w1" if what == "worker" else "stranger", name="Somebody else")
    before = Run.objects.count()
    with pytest.raises(Conflict, match="already"):
        moving.load(document, elsewhere)
    assert Run.objects.count() == before


def test_a_dump_that_was_changed_or_says_too_little_is_refused(elsewhere):
    run = play(make_run(), GOOD, most=3)
    whole = written(run)
    for spoil, told in (
        (lambda one: one["run"].update(seed=8), "its digest"),
        (lambda one: one.update(digest=0), "its digest"),
        (lambda one: one.update(format="x"), "no dump"),
    ):
        changed = copy.deepcopy(whole)
        spoil(changed)
        with pytest.raises(Refused, match=told):
            moving.load(changed, elsewhere)
    with pytest.raises(Refused, match="anonymous"):
        moving.load(written(run, anonymous=True), elsewhere)


def test_one_of_another_version_is_taken_where_its_format_is_the_same(tmp_path, elsewhere):
    run, path, out = play(make_run(), GOOD), tmp_path / "run.json", StringIO()
    document = written(run) | {"software": "9.1"}
    path.write_text(json.dumps(document | {"digest": digest_of(document)}))
    call_command("load_run", path, team="Elsewhere", stdout=out)
    assert "written by CrowdSelect 9.1; this is" in out.getvalue()
    assert same(run, Run.objects.get(team=elsewhere))
    document |= {"version": 2}
    path.write_text(json.dumps(document | {"digest": digest_of(document)}))
    with pytest.raises(CommandError, match=r"by CrowdSelect 9\.1 in version 2 of its format"):
        call_command("load_run", path, team="Elsewhere", stdout=out)


SPOILT = [
    (lambda one: one["candidates"][0].update(pulls=99), "figures|together"),
    (lambda one: one["run"].update(status="over"), "none of those"),
    (lambda one: one["run"].update(started="yesterday"), "cannot be taken"),
    (lambda one: one["run"].update(epsilon="much"), "cannot be (read|taken)"),
    (lambda one: one["run"].pop("page"), "lacks “page”"),
    (lambda one: one["candidates"][0]["answers"][0].pop(), "cannot be (read|taken)"),
    (lambda one: one["candidates"][0]["answers"][0].__setitem__(0, 10**6), "cannot be taken"),
    (lambda one: one["workers"][0].update(worker="x" * 300), "cannot be taken"),
    (lambda one: one["steps"].pop(), "figures"),
    (lambda one: one["kinds"][0]["questions"].clear(), "cannot be taken"),
    (lambda one: one["candidates"][0].update(worker=1), "cannot be taken"),
]


def test_one_that_does_not_hold_is_refused_in_a_sentence_and_leaves_nothing(elsewhere):
    """Also where whoever changed it renewed its digest."""
    whole = written(play(make_run(), GOOD, most=3))
    for spoil, told in SPOILT:
        document = copy.deepcopy(whole)
        spoil(document)
        document["digest"] = digest_of(document)
        with pytest.raises(Refused, match=told):
            moving.load(document, elsewhere)
    assert not Run.objects.filter(team=elsewhere).exists()
    assert not Pool.objects.filter(team=elsewhere).exists()


def test_the_command_loads_it_and_says_what_comes_next(tmp_path, elsewhere):
    run, out, path = make_run(), StringIO(), tmp_path / "run.json"
    engine.advance(run.pk)
    answer_all(run, GOOD)
    call_command("dump_run", run.pk, out=path, media=True, stdout=out)
    with pytest.raises(CommandError, match="say which with --team"):
        call_command("load_run", path, stdout=out)
    call_command("load_run", path, team="Elsewhere", stdout=out)
    loaded = Run.objects.get(team=elsewhere)
    version = f"CrowdSelect {topk.__version__}"
    assert f"It was written by {version}; this is {version}." in out.getvalue()
    assert f"manage.py run resume {loaded.pk}" in out.getvalue()
    with pytest.raises(CommandError, match="no team"):
        call_command("load_run", path, team="Nobody")
    path.write_text("no")
    with pytest.raises(CommandError, match="no JSON"):
        call_command("load_run", path, team="Elsewhere")
    with pytest.raises(CommandError, match="no such file"):
        call_command("load_run", tmp_path / "none", team="Elsewhere")
    run = play(make_run(), GOOD)
    call_command("dump_run", run.pk, out=path, stdout=out)
    for word in ("answers", "there already"):
        call_command("load_run", path, team="Elsewhere", stdout=out)
        assert word in out.getvalue()
    assert not AuditEntry.objects.filter(kind="loaded").exists()  # a test is nobody's command
