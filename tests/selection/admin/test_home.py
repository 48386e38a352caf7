"""The first page, its permissions, and the list of every model."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from tests.pages import admin_url, text_of
from tests.worlds import crowd, make_run, play

pytestmark = pytest.mark.django_db


def test_it_tells_the_first_three_steps_when_there_is_nothing(requester):
    text = text_of(requester.get(reverse("admin:index")))
    assert "Create a pool and import your workers" in text
    assert "Create a question set and import gold questions" in text
    assert "Create a run and start it" in text


def test_it_shows_the_runs_that_go_on(requester):
    run = make_run()
    text = text_of(requester.get(reverse("admin:index")))
    assert run.name in text
    assert "6 not tested" in text
    assert "Three steps" not in text


def test_every_page_asks_for_a_login(client):
    run = make_run()
    for url in (reverse("admin:index"), admin_url("run_page", run.pk), admin_url("pool_import", 1)):
        response = client.get(url)
        assert response.status_code == 302
        assert response["Location"].startswith("/admin/login/")


def test_it_keeps_a_clerk_without_permission_out_of_runs(client):
    run = make_run()
    client.force_login(User.objects.create_user("clerk", is_staff=True))
    assert client.get(admin_url("run_page", run.pk)).status_code == 403
    assert client.post(admin_url("run_verb", run.pk, "stop")).status_code == 403
    assert client.get(admin_url("run_selected_csv", run.pk)).status_code == 403
    assert client.post(admin_url("run_import", run.pk), {"pasted": "x"}).status_code == 403


@pytest.mark.parametrize(
    "name", ["pool", "worker", "questionset", "question", "run", "answer", "apitoken"]
)
def test_every_list_opens(requester, name):
    play(make_run(), crowd(1, 2), most=2)
    assert requester.get(admin_url(f"{name}_changelist")).status_code == 200


def test_an_address_that_leads_nowhere_says_so(requester):
    for url in ("/nowhere/", admin_url("run_page", 999)):
        response = requester.get(url)
        assert response.status_code == 404
        assert "Page not found" in text_of(response)
