"""Accuracy may mean that on this very question set: then its size belongs to the promise."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from selection import reports
from selection.models import Run
from tests.worlds import crowd, make_pool, make_questions, make_run, play

pytestmark = pytest.mark.django_db

ACCURACY = "on this question set"


@pytest.fixture
def owner(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("owner"))
    return client


def form(pool, **changes: object) -> dict[str, object]:
    return {
        "name": "Spring",
        "pool": pool.pk,
        "k": 2,
        "algorithm": "certified",
        "option_accuracy": ACCURACY,
        "epsilon": 0.2,
        "delta": 0.1,
        "slots": 10,
        "slots_per_worker": 2,
        "minutes": 30,
        "seed": 11,
        "further-TOTAL_FORMS": 0,
        "further-INITIAL_FORMS": 0,
    } | changes


@pytest.mark.parametrize("questions", [0, 50])
def test_a_run_about_a_question_set_can_be_added(owner, questions):
    asked = make_questions(questions)
    owner.post(reverse("admin:selection_run_add"), form(make_pool(6), question_set=asked.pk))
    assert Run.objects.get().options == {"accuracy": ACCURACY}


def test_a_form_without_its_question_set_comes_back_with_the_reason(owner):
    page = owner.post(reverse("admin:selection_run_add"), form(make_pool(6)))
    assert b"This field is required" in page.content
    assert not Run.objects.exists()


def test_the_form_says_what_would_be_promised(owner):
    page = owner.get(reverse("admin:selection_run_promises"), form(make_pool(6)))
    assert "With probability at least 0.9" in page.json()["html"]


def test_the_page_of_a_draft_with_quotas_opens(owner):
    run = make_run(
        start=False,
        pool=make_pool(6, language=["English", "French"]),
        algorithm="certified",
        options={"accuracy": ACCURACY},
        quotas={"attribute": "language", "limits": {"English": [1, None]}},
    )
    page = owner.get(reverse("admin:selection_run_page", args=[run.pk]))
    assert "With probability at least 0.9" in page.content.decode()


def test_a_run_that_kept_its_promise_can_be_exported():
    run = play(make_run(algorithm="certified", options={"accuracy": ACCURACY}), crowd(1, 2))
    assert run.kept
    assert reports.export(run)["certified"] is True
