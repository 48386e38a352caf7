"""Pages that change a run show the effect before it is done."""

import pytest

from selection.models import Run, Worker
from selection.runs import lifecycle
from tests.pages import admin_url, confirm, press, run_form, save_run, text_of, upload
from tests.worlds import crowd, make_pool, make_questions, make_run, play

pytestmark = pytest.mark.django_db


def settings_of(run: Run, **changed: object) -> dict[str, object]:
    """Return the form's content as a browser sends it."""
    fields = ("name", "budget", "slots", "slots_per_worker", "minutes", "hours_to_come", "epsilon")
    fields += ("price", "currency")
    values = {name: getattr(run, name) for name in fields}
    return {name: "" if value is None else value for name, value in values.items()} | changed


def test_settings_are_changed_in_two_steps(requester):
    run = make_run(budget=100)
    url = admin_url("run_do_change", run.pk)
    assert "Preview" in text_of(requester.get(url))
    form = settings_of(run, budget=80, slots=5, why="cheaper")
    preview = requester.post(url, form)
    assert "The budget is 80 answers instead of 100" in text_of(preview)
    assert "The maximum number of open assignments is 5 instead of" in text_of(preview)
    run.refresh_from_db()
    assert run.budget == 100
    page = text_of(requester.post(url, form | {"confirm": "1"}, follow=True))
    run.refresh_from_db()
    assert (run.budget, run.slots) == (80, 5)
    assert "requester The budget is 80 answers instead of 100" in page
    assert "Reason: cheaper" in page


def test_the_preview_holds_all_that_the_second_step_needs(requester):
    run = make_run(budget=100)
    form = settings_of(run, budget=80, name="Other", why="so")
    page = requester.post(admin_url("run_do_change", run.pk), form).content.decode()
    for value in ('name="budget" value="80"', 'value="Other"', 'name="why" value="so"'):
        assert value in page
    assert page.count('type="hidden"') >= 8


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"budget": "0"}, "at least 1 answer"),
        ({"epsilon": "2"}, "below 1"),
        ({"minutes": "x"}, "Enter a whole number"),
        ({"name": ""}, "This field is required"),
    ],
)
def test_invalid_settings_are_refused_on_the_page(requester, changed, reason):
    run = make_run(budget=100)
    url = admin_url("run_do_change", run.pk)
    for step in ({}, {"confirm": "1"}):
        assert reason in text_of(requester.post(url, settings_of(run) | changed | step))
    assert not run.events.exclude(kind="start").exists()


def test_an_unchanged_form_is_reported(requester):
    run = make_run()
    page = requester.post(admin_url("run_do_change", run.pk), settings_of(run))
    assert "No setting differs" in text_of(page)


def test_the_roster_is_opened_and_closed_from_the_page(requester):
    run = make_run()
    url = admin_url("run_do_change", run.pk)
    assert "No worker is accepted or rejected" in text_of(requester.get(url))
    opened = text_of(requester.post(url, {"do": "open", "why": "more"}, follow=True))
    assert "The roster is open, with 6 workers now." in opened
    assert "http://127.0.0.1:8000/join/" in opened
    closed = text_of(requester.post(url, {"do": "close"}, follow=True))
    assert "The roster closed with 6 workers." in closed
    assert requester.post(url, {"do": "explode"}).status_code == 404


def test_a_draft_is_sent_to_its_form(requester):
    run = make_run(start=False)
    response = requester.get(admin_url("run_do_change", run.pk))
    assert response.url == admin_url("run_change", run.pk)


def test_a_worker_is_withdrawn_and_taken_back(requester):
    run = make_run()
    row = run.candidates.get(worker__key="w3")
    url = admin_url("run_worker_change", run.pk, row.pk)
    assert url in requester.get(admin_url("run_worker", run.pk, row.pk)).content.decode()
    assert "the best 2 of the other 5" in text_of(requester.get(url))
    page = text_of(requester.post(url, {"do": "withdraw", "why": "ill"}, follow=True))
    row.refresh_from_db()
    assert row.gone == "withdrawn"
    assert "Withdrawn: w3. Reason: ill" in page
    requester.post(url, {"do": "take-back"})
    row.refresh_from_db()
    assert row.gone == ""


def test_a_verdict_by_hand_goes_to_the_page_and_the_files(requester):
    run = play(make_run(), crowd(3, good=2), most=1)
    row = run.candidates.get(worker__key="w4")
    url = admin_url("run_worker_change", run.pk, row.pk)
    refused = text_of(requester.post(url, {"do": "accept"}, follow=True))
    assert "Enter a reason" in refused
    page = text_of(requester.post(url, {"do": "accept", "why": "known"}, follow=True))
    assert "by hand: accepted" in page
    card = text_of(requester.get(admin_url("run_worker", run.pk, row.pk)))
    assert "By hand: accepted. known" in card
    assert "not about verdicts by hand" in page
    table = requester.get(admin_url("run_export", run.pk, "csv")).getvalue().decode()
    assert "hand" in next(line for line in table.splitlines() if ",w4," in line)
    requester.post(url, {"do": "no-verdict"})
    row.refresh_from_db()
    assert row.by_hand is None


def test_a_run_is_archived_and_taken_up_again(requester):
    run = make_run()
    press(requester, run, "stop")
    assert "archived" in press(requester, run, "archive")
    assert run.state == "archived"
    assert "Unarchive" in text_of(requester.get(admin_url("run_page", run.pk)))
    press(requester, run, "unarchive")
    assert run.state == "ready for review"
    assert [event.who for event in run.events.exclude(kind="start")] == ["requester"] * 3


def test_a_run_is_copied(requester):
    run = make_run()
    url = admin_url("run_copy", run.pk)
    assert f"{run.name}, copy" in requester.get(url).content.decode()
    assert "another run of the name" in text_of(requester.post(url, {"name": run.name}))
    page = requester.post(url, {"name": "Second", "same_seed": "on"}, follow=True)
    copied = Run.objects.get(name="Second")
    assert (copied.status, copied.seed) == ("draft", run.seed)
    assert page.request["PATH_INFO"] == admin_url("run_page", copied.pk)
    requester.post(url, {"name": "Third"})
    assert Run.objects.get(name="Third").seed != run.seed


def test_change_pages_require_permission_to_change(client, django_user_model):
    run = make_run()
    client.force_login(django_user_model.objects.create_user("reader", is_staff=True))
    for name in ("run_do_change", "run_copy"):
        assert client.get(admin_url(name, run.pk)).status_code == 403


# -- joining


def test_a_new_run_is_offered_with_two_days_to_come_and_may_begin_empty(requester):
    page = requester.get(admin_url("run_begin")).content.decode()
    assert 'name="hours_to_come" value="48"' in page
    form = run_form(make_pool(0), make_questions(5), enrolling="on", hours_to_come=48)
    save_run(requester, form)
    run = Run.objects.get()
    press(requester, run, "start")
    assert (run.state, run.hours_to_come) == ("enrolling", 48)
    page = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "No workers have joined; the roster can close when there are more than 2" in page
    refused = requester.post(admin_url("run_do_change", run.pk), {"do": "close"}, follow=True)
    assert refused.status_code == 200
    run.refresh_from_db()
    assert run.enrolling


def test_a_roster_too_small_for_its_k_is_refused_in_the_form(requester):
    form = run_form(make_pool(0), make_questions(5), enrolling="on", expected=2)
    page = save_run(requester, form)
    assert "more than the 2 wanted" in text_of(page)


def test_new_workers_of_a_pool_may_join_its_runs(requester):
    run = make_run()
    rounds = make_run(pool=run.pool, algorithm="adaptive-top-k")
    preview = upload(requester, admin_url("pool_import", run.pool_id), "worker\nnew1\nnew2")
    page = confirm(requester, preview)
    text = text_of(page)
    assert f"2 workers of this pool are not in the run “{run.name}”" in text
    assert admin_url("run_do_change", run.pk) in page.content.decode()
    assert f"not in the run “{rounds.name}”, which goes on: AdaptiveTopK plans with" in text
    requester.post(admin_url("run_do_change", run.pk), {"do": "join"})
    assert run.candidates.count() == 8
    form = {"pool": run.pool_id, "key": "by-hand", "name": "", "attributes": "{}"}
    added = requester.post(admin_url("worker_add"), form, follow=True)
    assert "1 worker of this pool is not in the run" in text_of(added)


def test_a_worker_in_a_run_is_not_deleted_and_the_page_names_the_run(requester):
    run = make_run()
    worker = Worker.objects.get(pool=run.pool, key="w1")
    url = admin_url("worker_delete", worker.pk)
    page = text_of(requester.get(url))
    assert f"“w1” is in the run “{run.name}”" in page
    assert "andidate" not in page
    requester.post(url, {"post": "yes"})
    assert Worker.objects.filter(pk=worker.pk).exists()
    lifecycle.stop_run(run)
    run.delete()
    requester.post(url, {"post": "yes"})
    assert not Worker.objects.filter(pk=worker.pk).exists()
