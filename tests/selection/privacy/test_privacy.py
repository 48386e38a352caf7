"""A worker's data: exported completely, erased without a trace except the answers."""

import json
import unicodedata
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from selection import engine, privacy, reports, tasks
from selection.actor import acting_as_part
from selection.history import events
from selection.imports import commit, uploads
from selection.models import (
    DELETED,
    Answer,
    ApiToken,
    AuditEntry,
    Candidate,
    Delivery,
    Pool,
    Practice,
    PracticeAnswer,
    QuestionReport,
    RecordedAnswer,
    Run,
    Team,
    Webhook,
    Worker,
)
from selection.privacy.identity import same_people
from selection.questions import corrections
from selection.runs import consistency, lifecycle, manual_verdicts
from selection.runs.roster import membership, model_checks
from selection.worker import links
from tests.pages import admin_url, lines_of, text_of
from tests.worlds import crowd, make_pool, make_questions, make_run, play
from topk.verify import verify_dump

pytestmark = pytest.mark.django_db

KEY, NAME = "A1PERSON", "Grace Hopper"


def world(**fields: object) -> Run:
    """A run of six workers with one distinctive name."""
    pool = make_pool(6, country=["fr", "it"])
    worker = pool.workers.get(key="w0")
    worker.key, worker.name, worker.attributes = (
        KEY,
        NAME,
        {"country": "fr", "mail": f"{KEY}@x.org"},
    )
    worker.save()
    return make_run(pool=pool, **fields)


def answered(assignment: object) -> str:
    worker = assignment.candidate.worker.key
    return "yes" if worker in (KEY, "w1") or assignment.question.number % 3 == 0 else "no"


def people_of(run: Run, key: str = KEY) -> list[Worker]:
    return privacy.same_person(key, run.team)


def everything() -> str:
    """Return all rows of the app's tables as text."""
    tables = [name for name in connection.introspection.table_names() if "selection_" in name]
    with connection.cursor() as cursor:
        found = []
        for table in tables:
            cursor.execute(f"SELECT * FROM {table}")
            found += map(str, cursor.fetchall())
    return "\n".join(found)


def wrote(run: Run, client: Client) -> None:
    """Write the worker's name to every place that can hold it."""
    client.post(
        admin_url("worker_change", people_of(run)[0].pk),
        {"pool": run.pool_id, "key": KEY, "name": NAME, "attributes": '{"mail": "x"}'},
    )
    candidate = run.candidates.get(worker__key=KEY)
    manual_verdicts.override_verdict(candidate, 1, "ada", f"{NAME} is known to us.")
    asked = candidate.assignments.first()
    QuestionReport.objects.create(assignment=asked, text=f"{NAME} here: odd", at=timezone.now())
    practice = Practice.objects.create(question_set=run.question_set, prompt="Try this")
    tried = {"practice": practice, "response": "blue", "right": False, "done": True}
    PracticeAnswer.objects.create(candidate=candidate, at=timezone.now(), tries=1, **tried)
    manages = Client(headers={"authorization": f"Bearer {ApiToken.issue('w', run.team)}"})
    wanted = {"pool": run.pool_id, "question_set": run.question_set_id, "k": 1, "left_out": [KEY]}
    made = manages.post("/api/runs", wanted | {"name": "others"}, "application/json")
    assert made.status_code == 201, made.content
    hook = Webhook.objects.create(team=run.team, url="https://example.org", events=["run.ended"])
    body = json.dumps({"worker": KEY, "name": NAME})
    Delivery.objects.create(webhook=hook, kind="worker.accepted", body=body, made=timezone.now())
    for into in ("waits", "taken"):
        text = f"worker,name,mail\n{KEY},{NAME},x\n{into},y,\n"
        brought = uploads.create_upload("workers", run.pool, f"{into}.csv", text.encode())
        if into == "taken":
            commit.commit_import(brought.pk)


@pytest.fixture
def ada(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("ada"))
    return client


# -- given out


def test_export_of_a_worker_holds_the_stored_personal_data(ada):
    run = play(world(), answered)
    wrote(run, ada)
    document = json.loads(json.dumps(privacy.export_worker(people_of(run))))
    assert document["worker"] == KEY
    assert document["pools"] == [{"pool": str(run.pool), "name": NAME, "attributes": {"mail": "x"}}]
    (own,) = document["runs"]
    candidate = run.candidates.get(worker__key=KEY)
    counted = [one for one in own["answers"] if one["response"]]
    assert len(counted) >= candidate.pulls > 0
    assert counted[0]["right"] is True
    assert own["practice"][0]["response"] == "blue"
    assert own["answers"][0]["complaint"] == f"{NAME} here: odd"
    assert own["verdict"] == candidate.get_verdict_display()
    assert own["by_hand_because"] == f"{NAME} is known to us."
    assert any(NAME in one["why"] for one in document["history"])
    assert any(one["to"] == "worker" for one in document["audit_log"])
    assert "accepted_answers" not in json.dumps(document)
    assert "w1" not in json.dumps(document)


def test_the_page_the_command_and_the_api_give_the_same(ada):
    run = play(world(), answered)
    worker = people_of(run)[0]
    page = json.loads(ada.get(admin_url("worker_data", worker.pk)).getvalue())
    out = StringIO()
    call_command("worker_data", KEY, stdout=out)
    api = Client(headers={"authorization": f"Bearer {ApiToken.issue('r', scope='read')}"})
    replies = [page, json.loads(out.getvalue()), api.get(f"/api/workers/{KEY}/data").json()]
    for reply in replies:
        reply.pop("exported")
    assert replies[0] == replies[1] == replies[2]
    assert api.get("/api/workers/nobody/data").status_code == 404
    assert api.delete(f"/api/workers/{KEY}/data").status_code == 403
    with pytest.raises(CommandError, match="no worker “nobody”"):
        call_command("worker_data", "nobody")
    with pytest.raises(CommandError, match="no team “Bees”"):
        call_command("worker_data", KEY, team="Bees")


# -- erased


def test_erasure_leaves_only_the_answers_of_a_worker(ada):
    run = play(world(), answered)
    wrote(run, ada)
    assert NAME in everything()
    before = reports.dump_run(Run.objects.get(pk=run.pk), anonymous=True)
    done = privacy.erase_worker(people_of(run), "ada", "asked to")
    left = everything()
    for word in (KEY, NAME, "Hopper", "mail"):
        assert word not in left
    assert done.runs == [run.name]
    after = reports.dump_run(Run.objects.get(pk=run.pk), anonymous=True)
    assert {**after, "events": 0, "digest": 0} == {**before, "events": 0, "digest": 0}
    assert verify_dump(after).same
    assert done.pseudonym in {line.worker for line in reports.worker_standings(run)}
    assert privacy.same_person(KEY, run.team) == []


@pytest.mark.parametrize("key", ["Grünwald", 'Ann "Ace" Öz', "a\\b"])
def test_messages_that_name_them_are_found_however_they_are_escaped(key):
    pool = make_pool(3)
    pool.workers.filter(key="w0").update(key=key)
    hook = Webhook.objects.create(team=pool.team, url="https://example.org", events=["run.ended"])
    for ascii_only in (True, False):
        body = json.dumps({"data": [{"worker": key}]}, ensure_ascii=ascii_only)
        about = {"webhook": hook, "kind": "worker.accepted", "made": timezone.now()}
        Delivery.objects.create(body=body, said=f"thanks for {key}", **about)
    other = Delivery.objects.create(body='{"worker": "w1"}', said="thanks", **about)
    done = privacy.erase_worker(privacy.same_person(key, pool.team), "ada")
    mine = Delivery.objects.exclude(pk=other.pk)
    assert [json.loads(one.body)["data"][0]["worker"] for one in mine] == [done.pseudonym] * 2
    assert {one.said for one in mine} == {""}
    other.refresh_from_db()
    assert (other.body, other.said) == ('{"worker": "w1"}', "thanks")


def test_audit_log_forgets_the_worker_and_names_the_eraser(ada):
    run = play(world(), answered)
    wrote(run, ada)
    done = privacy.erase_worker(people_of(run), "ada", "asked to")
    entry = AuditEntry.objects.get(kind="erased")
    assert (entry.who, entry.why, entry.name) == ("ada", "asked to", done.pseudonym)
    changed = AuditEntry.objects.get(model="worker", kind="changed")
    assert (changed.name, changed.after["attributes"]) == (done.pseudonym, {})


def test_erased_worker_s_links_stop_and_runs_continue_without_them():
    run = world(epsilon=0.05)
    engine.advance(run.pk)
    candidate = run.candidates.get(worker__key=KEY)
    link = f"/work/{links.worker_token(candidate.pk, candidate.link_version)}/"
    assert Client().get(link).status_code == 200
    done = privacy.erase_worker(people_of(run), "ada")
    assert done.withdrawn == [run.name]
    assert Client().get(link).status_code == 404
    candidate.refresh_from_db()
    assert candidate.gone == Candidate.Gone.WITHDRAWN
    said = run.events.order_by("id").last().what
    assert said == f"Withdrawn: {done.pseudonym}."


def test_no_pool_counts_them_and_no_later_run_asks_them(ada):
    run = play(world(), answered)
    privacy.erase_worker(people_of(run), "ada")
    assert run.pool.workers.count() == 5
    later = make_run(pool=run.pool)
    assert later.candidates.count() == 5
    page = text_of(ada.get(admin_url("pool_changelist")))
    assert " 5 " in page
    assert "erased" not in text_of(ada.get(admin_url("worker_changelist")))
    assert ada.get(admin_url("run_page", run.pk)).status_code == 200
    ada.post(admin_url("pool_delete", later.pool_id), {"post": "yes"})
    assert Pool.objects.filter(pk=run.pool_id).exists()  # runs need it


def test_the_same_id_is_one_person_in_all_pools_of_a_team_and_another_in_another(ada):
    run = play(world(), answered)
    second = Pool.objects.create(name="second")
    second.workers.create(key=KEY, name="G. Hopper")
    bees = Team.objects.create(name="Bees")
    theirs = Pool.objects.create(name="theirs", team=bees)
    theirs.workers.create(key=KEY, name="Somebody else")
    privacy.erase_worker(people_of(run), "ada")
    assert second.workers.count() == 0
    assert theirs.workers.get().key == KEY


@pytest.mark.parametrize("key", ["w1", "3", "ann", "x@y.z", "a.b*c", "“"])
def test_names_are_replaced_as_whole_words_with_any_characters(key):
    run = make_run(pool=make_pool(4))
    first = run.pool.workers.get(key="w0")
    Worker.objects.filter(key=key).exclude(pk=first.pk).delete() if key != "w1" else None
    if key != "w1":
        Worker.objects.filter(pk=first.pk).update(key=key)
    others = run.pool.workers.create(key="w11")
    membership.withdraw_workers(run, [key], "ada", f"{key} asked to, w11 did not")
    done = privacy.erase_worker(privacy.same_person(key, run.team), "ada")
    event = run.events.get(kind="withdraw")
    assert event.what == f"Withdrawn: {done.pseudonym}."
    assert event.why == f"{done.pseudonym} asked to, w11 did not"
    assert Worker.objects.filter(pk=others.pk, key="w11").exists()


@pytest.mark.parametrize("kind", ["withdraw", Run.REPLACED, "pause", "unreadable"])
def test_every_kind_of_event_that_names_a_worker_is_erased(kind):
    run = make_run(pool=make_pool(4))
    with acting_as_part("engine"):
        events.write_event(run, kind, "About: “w0”, w1.")
    done = privacy.erase_worker(privacy.same_person("w0", run.team), "ada")
    texts = list(run.events.filter(kind=kind).values_list("what", flat=True))
    assert f"About: “{done.pseudonym}”, w1." in texts
    assert "w0" not in everything()


def test_a_worker_left_out_of_a_draft_is_erased_there():
    run = make_run(pool=make_pool(4), start=False)
    with acting_as_part("engine"):
        model_checks.leave_out(run, ["w0"], "ada")
    done = privacy.erase_worker(privacy.same_person("w0", run.team), "ada")
    assert run.events.get(kind="draft").what.endswith(f": {done.pseudonym}.")
    assert "w0" not in everything()


def test_erasure_works_on_page_api_and_command(ada):
    run = play(world(), answered)
    worker = people_of(run)[0]
    assert "Erase identity…" in text_of(ada.get(admin_url("worker_change", worker.pk)))
    url = admin_url("worker_erase", worker.pk)
    page = text_of(ada.get(url))
    assert "This cannot be undone" in page
    assert run.name in page
    assert people_of(run)
    done = text_of(ada.post(url, {"why": "asked to"}, follow=True))
    assert "Erased. In their runs they are erased-" in done
    api = Client(headers={"authorization": f"Bearer {ApiToken.issue('m')}"})
    reply = api.delete("/api/workers/w1/data").json()
    assert (reply["pseudonym"][:7], reply["runs"]) == ("erased-", [run.name])
    assert AuditEntry.objects.filter(kind="erased", who="token m").exists()
    out = StringIO()
    call_command("worker_data", "w2", erase=True, why="asked to", stdout=out)
    assert "from now on, in 1 run" in out.getvalue()
    assert people_of(run, "w2") == []


def test_erased_worker_is_a_pseudonym_in_exports(ada):
    run = play(world(), answered)
    done = privacy.erase_worker(people_of(run), "ada")
    lines = "\n".join(lines_of(ada.get(admin_url("run_export", run.pk, "all-csv"))))
    assert done.pseudonym in lines
    assert KEY not in lines


# -- kept for so long


@pytest.fixture
def days(settings):
    def said(**values: int) -> None:
        for name, value in values.items():
            setattr(settings, name, value)

    return said


def ended(run: Run, days_ago: int) -> None:
    Run.objects.filter(pk=run.pk).update(
        status="ended", ended=timezone.now() - timedelta(days=days_ago)
    )


def test_unset_retention_deletes_no_data():
    run = play(world(), answered)
    ended(run, 4000)
    tasks.retain()
    assert people_of(run)
    assert Answer.objects.exclude(response="").exists()


def test_workers_go_when_all_their_runs_ended_long_enough_ago(days):
    run = play(world(), answered)
    ended(run, 31)
    later = make_run(pool=run.pool, start=False)
    Candidate.objects.create(run=later, worker=run.pool.workers.get(key="w1"), arm=0)
    run.pool.workers.create(key="in no run")
    days(PERSONAL_DATA_DAYS=32)
    assert privacy.count_due().workers == 0
    days(PERSONAL_DATA_DAYS=30)
    assert privacy.count_due().workers == 5
    tasks.retain()
    left = set(run.pool.workers.values_list("key", flat=True))
    assert left == {"w1", "in no run"}
    assert {one.who for one in AuditEntry.objects.filter(kind="erased")} == {"retention"}
    assert privacy.count_due().workers == 0


def test_number_of_due_people_does_not_change_the_number_of_queries(
    django_assert_max_num_queries,
):
    run = make_run(n=20, start=False)
    run.pool.workers.filter(key="w1").update(key=unicodedata.normalize("NFD", "Zoë"))
    second = Pool.objects.create(name="second")
    for key in ("w0", "Zoë", "not asked"):
        second.workers.create(key=key)
    with CaptureQueriesContext(connection) as few:
        found = same_people([(key, run.team_id) for key in ("Zoë", "w0", "nobody")])
    assert [[row.pool for row in rows] for rows in found] == 2 * [[run.pool, second]]
    with django_assert_max_num_queries(len(few)):
        assert len(same_people([(f"w{i}", run.team_id) for i in range(20)])) == 19


def test_worker_still_active_elsewhere_in_the_team_is_not_erased(days):
    run = play(world(), answered)
    ended(run, 31)
    second = Pool.objects.create(name="second")
    second.workers.create(key=KEY)
    make_run(pool=second, start=False, k=1)
    going = make_run(pool=make_pool(3), k=1)
    Candidate.objects.create(run=going, worker=second.workers.get(), arm=9)
    days(PERSONAL_DATA_DAYS=30)
    tasks.retain()
    assert len(people_of(run)) == 2
    assert people_of(run, "w5") == []


def test_an_id_is_in_use_elsewhere_however_its_accents_are_written(days):
    first, second = make_run(n=3, k=1), make_run(n=3, k=1)
    first.pool.workers.filter(key="w1").update(key=unicodedata.normalize("NFC", "Zoë"))
    second.pool.workers.filter(key="w2").update(key=unicodedata.normalize("NFD", "Zoë"))
    elsewhere = Pool.objects.create(name="in no run")
    elsewhere.workers.create(key=unicodedata.normalize("NFD", "Zoë"))
    for run in (first, second):
        lifecycle.stop_run(run)
    ended(first, 31)
    days(PERSONAL_DATA_DAYS=30)
    tasks.retain()
    left = set(first.pool.workers.values_list("key", flat=True))
    assert left == {"w0", unicodedata.normalize("NFC", "Zoë")}
    ended(second, 31)
    tasks.retain()
    assert not Worker.objects.exists()
    mine = Worker.with_erased.filter(pool__in=[first.pool, second.pool, elsewhere])
    assert mine.count() == 7
    assert mine.values("key").distinct().count() == 4


def test_addresses_leave_the_audit_log_in_time(days):
    for age, address in ((100, "192.0.2.1"), (10, "192.0.2.2")):
        AuditEntry.objects.create(
            at=timezone.now() - timedelta(days=age),
            who="ada",
            address=address,
            kind="changed",
            model="pool",
            name="x",
        )
    days(AUDIT_ADDRESS_DAYS=30)
    assert privacy.count_due().addresses == 1
    tasks.retain()
    found = AuditEntry.objects.filter(model="pool").order_by("id")
    assert [one.address for one in found] == ["", "192.0.2.2"]


def test_responses_go_and_grades_and_guarantees_stay(days):
    run = play(world(), answered)
    waiting = run.candidates.first()
    question = run.question_set.questions.last()
    RecordedAnswer.objects.create(candidate=waiting, question=question, response="kept apart")
    before = reports.dump_run(run, anonymous=True)["result"]
    asked = waiting.assignments.first()
    QuestionReport.objects.create(assignment=asked, text="odd", at=timezone.now())
    ended(run, 31)
    days(RESPONSES_DAYS=30)
    tasks.retain()
    assert not Answer.objects.exclude(response="").exclude(response=DELETED).exists()
    assert not RecordedAnswer.objects.exists()
    assert not QuestionReport.objects.exists()
    run.refresh_from_db()
    after = reports.dump_run(run, anonymous=True)
    assert (after["result"], verify_dump(after).same) == (before, True)
    assert "responses were deleted, 30 days after the end" in run.events.first().what
    assert consistency.find_faults(run) == consistency.repair_run(run) == []
    tasks.retain()
    assert run.events.filter(kind="retention").count() == 1


def test_a_payment_list_is_the_same_after_responses_went(days):
    run = play(world(), answered)
    asked = Answer.objects.earliest("pk").assignment.question
    corrections.retire_question(asked, "ada", "ambiguous")
    spent, given = run.count_spent(), reports.count_given(run)
    assert run.answers.responded().filter(void=True).exists()
    ended(run, 31)
    days(RESPONSES_DAYS=30)
    tasks.retain()
    assert not run.answers.responded().exists()
    assert (run.count_spent(), reports.count_given(run)) == (spent, given)
    void = run.answers.filter(void=True).count()
    corrections.restore_question(asked, "ada", "it was fine")
    corrections.retire_question(asked, "ada", "or not")
    assert run.answers.filter(void=True).count() == void  # grades are unchanged
    assert (run.count_spent(), reports.count_given(run)) == (spent, given)


def test_a_run_that_goes_on_keeps_its_responses(days):
    run = play(make_run(epsilon=0.05, question_set=make_questions(30)), crowd(1, 2), most=2)
    days(RESPONSES_DAYS=1, PERSONAL_DATA_DAYS=1)
    assert (privacy.count_due().runs, privacy.count_due().workers) == (0, 0)
    lifecycle.stop_run(run)
    assert privacy.count_due().runs == 0


def test_retention_command_previews_and_applies(days, tmp_path: Path):
    run = play(world(), answered)
    ended(run, 31)
    days(PERSONAL_DATA_DAYS=30, RESPONSES_DAYS=30)
    out = StringIO()
    call_command("retention", stdout=out)
    assert "To be taken away:" in out.getvalue()
    assert "who 6 workers of finished runs are (PERSONAL_DATA_DAYS: 30 days)" in out.getvalue()
    assert "(AUDIT_ADDRESS_DAYS: kept for good)" in out.getvalue()
    assert people_of(run)
    call_command("retention", apply=True, stdout=out)
    assert "Taken away:" in out.getvalue()
    assert not people_of(run)
