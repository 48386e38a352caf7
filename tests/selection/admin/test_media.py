"""A question set's files, on the requester's page."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from selection.models import AuditEntry
from tests.pages import admin_url, text_of
from tests.worlds import make_questions

pytestmark = pytest.mark.django_db
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def test_files_are_uploaded_named_and_deleted(requester):
    questions = make_questions(1)
    url = admin_url("questionset_media", questions.pk)
    sent = [SimpleUploadedFile("a.png", PNG), SimpleUploadedFile("b.svg", b"<svg/>")]
    text = text_of(requester.post(url, {"uploads": sent}, follow=True))
    assert "1 file uploaded" in text
    assert "b.svg is no picture, sound or film" in text
    assert "media:a.png" in text
    file = questions.media.get()
    assert "a.png deleted" in text_of(requester.post(url, {"delete": file.pk}, follow=True))
    assert not questions.media.exists()
    kinds = set(AuditEntry.objects.filter(model="questionset").values_list("kind", flat=True))
    assert {"upload", "delete"} <= kinds


def test_an_upload_without_a_file_is_refused(requester):
    url = admin_url("questionset_media", make_questions(1).pk)
    assert "Choose at least one file." in text_of(requester.post(url, {}))


def test_a_file_of_another_set_is_not_deleted(requester):
    other = make_questions(1).media.create(name="a", type="image/png", size=1, data=b"x")
    url = admin_url("questionset_media", make_questions(1).pk)
    for odd in (other.pk, "x", "9" * 30):
        requester.post(url, {"delete": odd}, follow=True)
    other.refresh_from_db()


def test_a_question_is_shown_as_workers_see_it_and_nothing_can_be_sent(requester):
    question = make_questions(1).questions.get()
    question.prompt, question.choices = "**Which** one?", ["a", "b"]
    question.accepted = ["a"]
    question.save()
    url = admin_url("question_preview", question.pk)
    response = requester.get(url)
    page = response.content.decode()
    assert "<strong>Which</strong> one?" in page
    assert page.count('type="radio"') == 2
    assert "form-action 'none'" in response["Content-Security-Policy"]
    assert requester.post(url).status_code == 405
