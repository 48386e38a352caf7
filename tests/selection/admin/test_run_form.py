"""A run's form: choices, stored settings, refusals."""

import re

import pytest

from selection.models import Run
from tests.pages import admin_url, run_form, text_of
from tests.worlds import make_pool, make_questions, make_run

pytestmark = pytest.mark.django_db


def test_form_creates_a_draft_and_shows_its_page(requester):
    pool, question_set = make_pool(5), make_questions(5)
    response = requester.post(admin_url("run_add"), run_form(pool, question_set), follow=True)
    run = Run.objects.get()
    assert response.request["PATH_INFO"] == admin_url("run_page", run.pk)
    assert (run.status, run.seed, run.budget) == ("draft", 11, None)
    assert "at most 20 points less accurate than the 2nd best" in text_of(response)


def test_form_offers_a_random_seed(requester):
    pages = [requester.get(admin_url("run_add"), {"full": 1}).content.decode() for _ in range(2)]
    seeds = [int(re.search(r'name="seed" value="(\d+)"', page)[1]) for page in pages]
    assert seeds[0] != seeds[1]
    assert max(seeds) < 2**31


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"k": 5}, "K must be at least 1 and less than the number of workers (5), but it is 5."),
        ({"k": 0}, "K must be at least 1 and less than the number of workers (5), but it is 0."),
        ({"k": -3}, "but it is -3."),
        ({"epsilon": 1}, "Epsilon must be at least 0 and below 1, but it is 1.0."),
        ({"epsilon": -0.1}, "Epsilon must be at least 0 and below 1, but it is -0.1."),
        ({"delta": 0}, "Delta must be above 0 and below 1, but it is 0.0."),
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
    response = requester.post(admin_url("run_add"), form)
    assert text_of(response).count(reason) == 2  # in the summary and at the field
    assert not Run.objects.exists()


@pytest.mark.parametrize("empty", [{}, {"met": "", "one_kind_each": ""}])
def test_absent_choices_take_the_defaults_of_the_column(requester, empty):
    form = run_form(make_pool(5), make_questions(5))
    for name in ("met", "one_kind_each"):
        form.pop(name, None)
    requester.post(admin_url("run_add"), form | empty)
    run = Run.objects.get()
    assert (run.met, run.one_kind_each) == (Run.Met.AGAIN, False)


def test_a_choice_that_is_made_is_kept(requester):
    form = run_form(make_pool(5), make_questions(5), one_kind_each="True", met="out")
    requester.post(admin_url("run_add"), form)
    run = Run.objects.get()
    assert (run.met, run.one_kind_each) == (Run.Met.OUT, True)


def test_form_names_the_faulty_settings_at_once(requester):
    form = run_form(make_pool(5), make_questions(5), k="", epsilon=5, delta="x")
    said = text_of(requester.post(admin_url("run_add"), form))
    assert "Epsilon must be at least 0 and below 1, but it is 5.0." in said
    assert "This field is required." in said
    assert "Enter a number." in said


def test_form_refuses_a_pool_of_one(requester):
    response = requester.post(admin_url("run_add"), run_form(make_pool(1), make_questions(5), k=1))
    assert "There must be at least 2 workers to choose from, not 1." in text_of(response)


def test_form_states_the_guarantee_for_its_numbers(requester):
    query = {"pool": make_pool(5).pk, "k": 3, "epsilon": 0.25, "delta": 0.2}
    answer = requester.get(admin_url("run_guarantees"), query).json()["html"]
    assert "With probability at least 80%" in answer
    assert "at most 25 points less accurate than the 3rd best" in answer
    refused = requester.get(admin_url("run_guarantees"), query | {"k": 9}).json()["html"]
    assert "K must be at least 1" in refused
    assert requester.get(admin_url("run_guarantees"), {"pool": "x"}).status_code == 200


def test_a_run_that_has_begun_cannot_be_changed(requester):
    run = make_run()
    form = run_form(run.pool, run.question_set, name="Other")
    response = requester.post(admin_url("run_change", run.pk), form, follow=True)
    assert "cannot be edited here" in text_of(response)
    run.refresh_from_db()
    assert (run.name != "Other", run.status) == (True, "running")


def test_a_refused_form_lists_its_faults_first_and_keeps_the_algorithm(requester):
    changes = {"enrolling": "on", "enrol_most": 1, "delta": 7, "algorithm": "universal"}
    form = run_form(make_pool(5), make_questions(5), **changes)
    page = requester.post(admin_url("run_add"), form).content.decode()
    summary = page[page.index("The run is not saved.") : page.index("The guided start")]
    for field, reason in [("enrol_most", "must hold more than"), ("delta", "below 1, but it is 7")]:
        assert re.search(rf'href="#id_{field}">[^<]*</a>: [^<]*{reason}', summary)
    assert "is violated" not in page
    assert 'data-chosen="true"' in page
    linked = requester.get(admin_url("run_add"), {"full": 1, "algorithm": "lucb"}).content.decode()
    assert re.search(r'<option value="lucb"\s+selected', linked)
    assert 'data-chosen="true"' in linked
    assert "data-chosen" not in requester.get(admin_url("run_add"), {"full": 1}).content.decode()
