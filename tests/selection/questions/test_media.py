"""Pictures, sounds and films: recognised by their content, irrespective of their names."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from selection.errors import Refused
from selection.models import MediaFile
from selection.questions import media
from selection.questions.sanitize import QuestionTexts
from tests.pages import admin_url, text_of
from tests.selection.imports.readers.files import said
from tests.worlds import make_questions, make_run

pytestmark = pytest.mark.django_db
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
TAKEN = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0" + bytes(20),
    "image/gif": b"GIF89a" + bytes(20),
    "image/webp": b"RIFF\x10\0\0\0WEBPVP8 ",
    "image/avif": b"\0\0\0\x20ftypavif\0\0\0\0",
    "audio/wav": b"RIFF\x10\0\0\0WAVEfmt ",
    "audio/mpeg": b"ID3\x04" + bytes(20),
    "audio/ogg": b"OggS" + bytes(24) + b"\x01\x1eOpusHead",
    "audio/flac": b"fLaC" + bytes(20),
    "audio/mp4": b"\0\0\0\x20ftypM4A \0\0\0\0",
    "video/mp4": b"\0\0\0\x20ftypisom\0\0\0\0",
    "video/webm": b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webmB",
}


@pytest.mark.parametrize("kind", TAKEN)
def test_file_type_is_read_from_the_content(kind):
    assert media.store_media(make_questions(1), "innocent.txt", TAKEN[kind]).type == kind


@pytest.mark.parametrize(
    "data", [b"", b"<svg xmlns=", b"<!DOCTYPE html><script>", b"%PDF-1.7", b"MZ", b"PK\x03\x04"]
)
def test_file_that_is_no_picture_sound_or_film_is_refused(data):
    with pytest.raises(Refused, match=r"x\.png is no picture, sound or film that is taken"):
        media.store_media(make_questions(1), "x.png", data)
    assert not MediaFile.objects.exists()


def test_large_file_is_refused_in_a_sentence():
    with pytest.raises(Refused, match=r"cat\.png is larger than 5 MB"):
        media.store_media(make_questions(1), "cat.png", PNG + bytes(5 * media.MB))


def test_a_name_has_no_folders_and_no_spaces_and_a_new_file_replaces_the_old():
    questions = make_questions(1)
    first = media.store_media(questions, "C:\\pictures\\my cat (1).png", PNG)
    assert first.name == "my-cat-1.png"
    again = media.store_media(questions, "/x/my cat (1).png", PNG + b"!")
    assert [file.size for file in questions.media.all()] == [len(PNG) + 1]
    assert again.token != first.token
    assert len(again.token) >= 32


def test_questions_file_adds_media_to_prompts():
    text = "question,prompt,answer,image,alt,audio\nq,Which?,a,cat.png,A cat,https://a.b/c.mp3\n"
    _, (row,) = said("questions", text)
    assert row.prompt == "Which?\n\n![A cat](<media:cat.png>)\n\n![A cat](<https://a.b/c.mp3>)"
    _, (row,) = said("questions", "question,prompt,answer,image\nq,,a,cat.png\n")
    assert row.prompt == "![](<media:cat.png>)"


@pytest.mark.parametrize(
    ("prompt", "missing"),
    [
        ("Is this a bird? media:gull.jpg.", ["gull.jpg"]),
        ("![A cat](<media:my cat (1).png>)", ["my-cat-1.png"]),
        ("Hear media:Möwe.mp3, and see https://a.b/media:x.png", ["Möwe.mp3"]),
        ("Which media: the press or social-media:x.y, or media:none?", []),
        ("media:there.png", []),
    ],
)
def test_missing_files_are_found_in_texts(prompt, missing):
    questions = make_questions(2)
    media.store_media(questions, "there.png", PNG)
    questions.questions.filter(number=0).update(prompt=prompt)
    assert media.missing_in_set(questions) == missing
    questions.questions.filter(number=0).update(prompt="Which?", choices=["media:a.png", prompt])
    assert media.missing_in_set(questions) == sorted(["a.png", *missing])


def test_missing_files_are_named_at_preview_draft_and_start(requester):
    run = make_run(start=False, n=3, questions=2)
    run.question_set.questions.filter(number=0).update(prompt="Which? media:gull.jpg")
    upload = SimpleUploadedFile("q.csv", b"question,prompt,answer,image\nq,Which?,a,tern.png\n")
    page = admin_url("questionset_import", run.question_set.pk)
    preview = requester.post(page, {"file": upload}, follow=True)
    assert "1 file that the questions show is missing: tern.png" in text_of(preview)
    draft = requester.get(admin_url("run_page", run.pk))
    assert "is missing: gull.jpg" in text_of(draft)
    started = requester.post(admin_url("run_verb", run.pk, "start"), follow=True)
    assert "lacks 1 media file: gull.jpg." in text_of(started)


@pytest.mark.parametrize("text", ["![A gull](<media:gull.jpg>)", "media:gull.jpg"])
def test_a_missing_file_is_named_to_the_worker(text):
    texts = QuestionTexts.load(make_questions(1), text)
    assert "The file \u2068gull.jpg\u2069 is missing here." in texts.html(text)


def test_a_file_is_shown_under_the_name_of_its_upload():
    questions = make_questions(1)
    file = media.store_media(questions, "my cat (1).png", PNG)
    text = "![](<media:my cat (1).png>)"
    assert file.token in QuestionTexts.load(questions, text).html(text)
