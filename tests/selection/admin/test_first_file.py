"""A new pool or question set takes its first file in the same form."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from selection.models import Pool, QuestionSet
from tests.pages import admin_url, confirm, text_of
from tests.worlds import make_pool, make_questions

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

WORKERS = "worker,name\nada,Ada\ngrace,Grace"


def add(requester, model: str, **fields: object):
    form = {"name": "Spring", "tries": 3} | fields
    return requester.post(admin_url(f"{model}_add"), form, follow=True)


def test_a_new_pool_with_a_file_leads_to_its_preview(requester):
    preview = add(requester, "pool", file=SimpleUploadedFile("w.csv", WORKERS.encode()))
    assert "Import 2 workers" in text_of(preview)
    assert not Pool.objects.get().workers.exists()
    confirm(requester, preview)
    assert [worker.key for worker in Pool.objects.get().workers.order_by("pk")] == ["ada", "grace"]


def test_a_new_question_set_takes_pasted_lines(requester):
    lines = "question,prompt,answer\nq1,Bird?,yes"
    confirm(requester, add(requester, "questionset", pasted=lines))
    assert QuestionSet.objects.get().questions.get().key == "q1"


def test_new_pool_without_a_file_leads_to_the_import(requester):
    page = add(requester, "pool")
    assert page.request["PATH_INFO"] == admin_url("pool_import", Pool.objects.get().pk)


def test_a_file_that_cannot_be_read_is_named_on_the_import_page(requester):
    file = SimpleUploadedFile("w.csv", WORKERS.encode())
    page = add(requester, "pool", file=file, pasted=WORKERS)
    assert page.request["PATH_INFO"] == admin_url("pool_import", Pool.objects.get().pk)
    assert "Choose a file or paste its lines: one of the two." in text_of(page)


def test_an_existing_pool_has_no_field_for_a_first_file(requester):
    page = requester.get(admin_url("pool_change", make_pool(2).pk))
    assert 'name="file"' not in page.content.decode()


def test_the_guided_start_presets_the_only_pool_and_set(requester):
    pool, questions = make_pool(3), make_questions(3)
    form = requester.get(admin_url("run_begin")).context["form"]
    assert (form["pool"].value(), form["question_set"].value()) == (pool.pk, questions.pk)
    assert form["k"].field.widget.attrs["autofocus"]
    make_pool(3)
    form = requester.get(admin_url("run_begin")).context["form"]
    assert (form["pool"].value(), form["question_set"].value()) == (None, questions.pk)


@pytest.mark.parametrize(("model", "column"), [("pool", "email"), ("questionset", "tolerance")])
def test_the_page_of_a_new_one_explains_the_columns(requester, model, column):
    page = requester.get(admin_url(f"{model}_add"))
    assert "the first row names the columns" in text_of(page)
    assert f",{column}" in page.content.decode()
