"""The first page, its permissions, and the list of every model."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from crowdselect.menu import UNFOLD
from selection.models import SAMPLE_RUN, Pool, QuestionSet, Run
from selection.runs import lifecycle
from tests.pages import admin_url, text_of
from tests.worlds import crowd, make_pool, make_questions, make_run, play

pytestmark = pytest.mark.django_db


OVERVIEW = reverse("admin:index")


def entries(requester, section: str) -> dict[str, str]:
    """Return the status word of each run in this part of the overview, by name."""
    return {entry.run.name: entry.word for entry in requester.get(OVERVIEW).context[section]}


def test_an_empty_database_has_three_steps_and_a_sample_to_try(requester):
    text = text_of(requester.get(OVERVIEW))
    steps = ["Next steps", "Add a pool", "Add gold questions", "Create a run"]
    places = [text.index(step) for step in steps]
    assert places == sorted(places)
    assert "create the sample run: manage.py sample" in text
    assert " done " not in text


def test_steps_are_ticked_as_they_are_done(requester):
    make_pool(0)
    assert text_of(requester.get(OVERVIEW)).count(" done ") == 0
    make_pool(3)
    assert text_of(requester.get(OVERVIEW)).count(" done ") == 1
    make_questions(3)
    assert text_of(requester.get(OVERVIEW)).count(" done ") == 2
    draft = make_run(start=False)
    text = text_of(requester.get(OVERVIEW))
    assert "in three steps" in text
    assert entries(requester, "drafts") == {draft.name: "Draft"}
    lifecycle.start_run(draft)
    assert "in three steps" not in text_of(requester.get(OVERVIEW))


def test_the_sample_run_is_offered_and_is_no_step_of_the_user(requester):
    run = make_run(name=SAMPLE_RUN)
    page = requester.get(OVERVIEW)
    assert "in three steps" in text_of(page)
    assert "watch the sample run" in text_of(page)
    assert admin_url("run_page", run.pk) in page.content.decode()


def test_the_sample_s_pool_and_questions_are_no_steps_of_the_user(requester):
    Pool.objects.filter(pk=make_pool(3).pk).update(name="Sample pool")
    QuestionSet.objects.filter(pk=make_questions(3).pk).update(name="Sample sums")
    page = requester.get(OVERVIEW)
    assert " done " not in text_of(page)
    assert f'href="{admin_url("pool_add")}"' in page.content.decode()


def test_after_each_import_the_next_step_is_a_button(requester):
    pool = make_pool(3)
    page = admin_url("pool_change", pool.pk)
    assert f'href="{admin_url("questionset_add")}"' in requester.get(page).content.decode()
    questions = make_questions(3)
    begin = admin_url("run_begin")
    assert f'href="{begin}?pool={pool.pk}"' in requester.get(page).content.decode()
    page = requester.get(admin_url("questionset_change", questions.pk)).content.decode()
    assert f'href="{begin}?question_set={questions.pk}"' in page
    assert "_addanother" not in page


def test_runs_are_listed_by_the_states_that_their_pages_name(requester):
    over, put_away = make_run(name="over"), make_run(name="put away")
    for run in (over, put_away):
        lifecycle.stop_run(run)
    lifecycle.archive_run(put_away)
    for state, names in {"review": {"over"}, "archived": {"put away"}, "draft": set()}.items():
        rows = (
            requester.get(admin_url("run_changelist"), {"state": state}).context["cl"].result_list
        )
        assert {run.name for run in rows} == names
    put_away.refresh_from_db()
    assert put_away.state == "archived"


def test_what_only_programmers_need_is_in_one_folder_of_the_menu():
    *others, last = UNFOLD["SIDEBAR"]["navigation"]
    assert last["collapsible"]
    titles = {item["title"] for item in last["items"]}
    assert titles >= {"Workers", "Answers", "API tokens", "Webhooks", "API reference"}
    assert not titles & {item["title"] for group in others for item in group["items"]}


def test_home_shows_running_runs_with_their_counts(requester):
    run = make_run()
    text = text_of(requester.get(OVERVIEW))
    assert f"{run.name} best 2 of 6 in “{run.pool}”" in text
    assert "6 not tested" in text
    assert entries(requester, "running") == {run.name: "Running"}


def test_runs_that_need_attention_come_first_with_a_status_in_one_word(requester):
    stuck, over = make_run(recorded_only=True), make_run()
    paused, fine = make_run(), make_run()
    Run.objects.filter(pk=paused.pk).update(
        status="paused", paused=timezone.now() - timedelta(hours=30)
    )
    lifecycle.stop_run(over)
    words = entries(requester, "attention")
    assert words == {over.name: "Review", stuck.name: "Stuck", paused.name: "Paused"}
    assert entries(requester, "running") == {fine.name: "Running"}
    text = text_of(requester.get(OVERVIEW))
    assert text.index("Needs attention") < text.index(stuck.name) < text.index(fine.name)
    lifecycle.archive_run(over)
    assert entries(requester, "archived") == {over.name: "Archived"}


def test_long_lists_say_how_many_runs_they_leave_out(requester):
    for _ in range(8):
        make_run(n=3, k=1)
    for run in [make_run(n=3, k=1) for _ in range(7)]:
        lifecycle.stop_run(run)
    text = text_of(requester.get(OVERVIEW))
    assert "View 2 more" in text
    assert "View 1 more to review" in text


def test_pages_require_a_login(client):
    run = make_run()
    for url in (OVERVIEW, admin_url("run_page", run.pk), admin_url("pool_import", 1)):
        response = client.get(url)
        assert response.status_code == 302
        assert response["Location"].startswith("/admin/login/")


def test_clerk_without_permission_cannot_open_runs(client):
    run = make_run()
    client.force_login(User.objects.create_user("clerk", is_staff=True))
    assert client.get(admin_url("run_page", run.pk)).status_code == 403
    assert client.post(admin_url("run_verb", run.pk, "stop")).status_code == 403
    assert client.get(admin_url("run_export", run.pk, "csv")).status_code == 403
    assert client.post(admin_url("run_import", run.pk), {"pasted": "x"}).status_code == 403


@pytest.mark.parametrize(
    "name", ["pool", "worker", "questionset", "question", "run", "answer", "apitoken"]
)
def test_lists_open(requester, name):
    play(make_run(), crowd(1, 2), most=2)
    assert requester.get(admin_url(f"{name}_changelist")).status_code == 200


def test_an_address_that_leads_nowhere_says_so(requester):
    for url in ("/nowhere/", admin_url("run_page", 999)):
        response = requester.get(url)
        assert response.status_code == 404
        assert "Page not found" in text_of(response)
