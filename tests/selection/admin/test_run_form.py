"""The form of a draft: choices, stored settings, refusals."""

import re

import pytest

from selection.models import Run
from tests.pages import admin_url, run_form, save_run, text_of
from tests.worlds import make_pool, make_questions, make_run

pytestmark = pytest.mark.django_db


def test_form_creates_a_draft_and_shows_its_page(requester):
    pool, question_set = make_pool(5), make_questions(5)
    response = save_run(requester, run_form(pool, question_set), follow=True)
    run = Run.objects.get()
    assert response.request["PATH_INFO"] == admin_url("run_page", run.pk)
    assert (run.status, run.seed, run.budget) == ("draft", 11, None)
    assert "at most 20 points less accurate than the 2nd best" in text_of(response)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"k": 5}, "K must be at least 1 and less than the number of workers (5), but it is 5."),
        ({"k": 0}, "K must be at least 1 and less than the number of workers (5), but it is 0."),
        ({"k": -3}, "but it is -3."),
        ({"epsilon": 1}, "Epsilon must be at least 0 and below 1, but it is 1.0."),
        ({"epsilon": -0.1}, "Epsilon must be at least 0 and below 1, but it is -0.1."),
        ({"delta": 1}, "Delta must be above 0 and below 1, but it is 1.0."),
        ({"delta": "nan"}, "Enter a number."),
        ({"budget": 0}, "The budget must be at least 1 answer, but it is 0."),
        ({"slots": 0}, "Enter 1 or more"),
        ({"by_price": "on"}, "does not spend by price; Universal can."),
        ({"by_price": "on", "algorithm": "universal"}, "“w0” has no price, or the price 0."),
    ],
)
def test_form_refuses_a_bad_setting_in_one_sentence(requester, changes, reason):
    pool, question_set = make_pool(5), make_questions(5)
    form = run_form(pool, question_set, **changes)
    response = save_run(requester, form)
    assert text_of(response).count(reason) == 2  # in the summary and at the field
    assert not Run.objects.exists()


def test_a_choice_that_is_made_is_kept(requester):
    form = run_form(make_pool(5), make_questions(5), one_kind_each="True", met="out")
    save_run(requester, form)
    run = Run.objects.get()
    assert (run.met, run.one_kind_each) == (Run.Met.OUT, True)


def test_form_refuses_a_pool_of_one(requester):
    response = save_run(requester, run_form(make_pool(1), make_questions(5), k=1))
    assert "There must be at least 2 workers to choose from, not 1." in text_of(response)


def test_a_run_that_has_begun_cannot_be_changed(requester):
    run = make_run()
    form = run_form(run.pool, run.question_set, name="Other")
    response = requester.post(admin_url("run_change", run.pk), form, follow=True)
    assert "cannot be edited here" in text_of(response)
    run.refresh_from_db()
    assert (run.name != "Other", run.status) == (True, "running")


def test_a_refused_form_lists_its_faults_first_and_keeps_the_algorithm(requester):
    changes = {"enrolling": "on", "expected": 2, "epsilon": 1.5, "algorithm": "universal"}
    form = run_form(make_pool(5), make_questions(5), **changes)
    page = save_run(requester, form).content.decode()
    summary = page[page.index("Please fix the fields") : page.index("Workers and gold questions")]
    for field, reason in [("expected", "more than the 2"), ("precise_own", "below 1, but it is 1")]:
        assert re.search(rf'href="#id_{field}">[^<]*</a>: [^<]*{reason}', summary)
    assert "is violated" not in page
    assert re.search(r'<option value="universal"\s+selected', page)


def test_an_unchanged_form_keeps_the_draft(requester):
    made = run_form(make_pool(5), make_questions(5), option_c_round="0.5", met="out", budget=900)
    made |= {"algorithm": "adaptive-top-k", "enrolling": "on", "expected": 40, "left_out": "w3"}
    save_run(requester, made)
    before = Run.objects.values().get()
    page = requester.get(admin_url("run_change", before["id"]))
    shown = {field.name: field.value() for field in page.context["form"]}
    sent = {name: value for name, value in shown.items() if value not in (None, False)}
    requester.post(admin_url("run_change", before["id"]), sent)
    assert Run.objects.values().get() == before
    assert (before["enrol_most"], before["delta"], before["budget"]) == (40, 0.1, 900)
