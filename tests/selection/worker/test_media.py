"""Media files of questions: served by secret address, without active content."""

import pytest
from django.test import Client
from django.urls import reverse

from selection import engine
from selection.models import MediaFile
from selection.questions import media
from selection.worker import links
from selection.worker import media as serving
from tests.worlds import make_questions, make_run, open_of

pytestmark = pytest.mark.django_db
DATA = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40


@pytest.fixture
def file() -> MediaFile:
    return media.store_media(make_questions(1), "cat “1”.png", DATA)


def get(file: MediaFile, **headers: str):
    return Client().get(reverse("media", args=[file.token]), headers=headers)


def body(response) -> bytes:
    return b"".join(response)


def test_a_file_comes_whole_and_can_do_nothing(file, monkeypatch):
    monkeypatch.setattr(serving, "PIECE", 1000)
    response = get(file)
    assert body(response) == DATA
    assert response["Content-Type"] == "image/png"
    assert response["Content-Length"] == str(len(DATA))
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'; sandbox" in response["Content-Security-Policy"]
    assert response["Content-Disposition"].startswith("inline; filename")
    assert response["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert not response.cookies


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [("bytes=0-9", 0, 9), ("bytes=5-", 5, len(DATA) - 1), ("bytes=-7", len(DATA) - 7, None)],
)
def test_players_get_the_range_that_they_ask_for(file, asked, first, last):
    response = get(file, range=asked)
    end = len(DATA) - 1 if last is None else last
    assert response.status_code == 206
    assert response["Content-Range"] == f"bytes {first}-{end}/{len(DATA)}"
    assert body(response) == DATA[first : end + 1]


@pytest.mark.parametrize("asked", ["bytes=99999999-", "bytes=-0", "bytes=9-3"])
def test_a_range_that_is_not_there_is_said_so(file, asked):
    response = get(file, range=asked)
    assert response.status_code == 416
    assert response["Content-Range"] == f"bytes */{len(DATA)}"


@pytest.mark.parametrize("asked", ["bytes=-", "lines=1-2", "bytes=1-2,5-6", "bytes=x-y"])
def test_an_odd_range_gets_the_whole(file, asked):
    assert body(get(file, range=asked)) == DATA


def test_unknown_media_address_is_not_found(file):
    assert Client().get(reverse("media", args=["x" * 32])).status_code == 404
    assert Client().post(reverse("media", args=[file.token])).status_code == 405


def test_question_shows_the_media_of_its_set(client):
    run = make_run()
    file = media.store_media(run.question_set, "cat.png", DATA)
    run.question_set.questions.update(
        prompt="What is it?\n\n![A cat](media:cat.png)", choices=["media:cat.png", "dog"]
    )
    engine.advance(run.pk)
    url = reverse("work", args=[links.worker_token(open_of(run)[0].candidate_id)]) + "?go"
    response = client.get(url)
    address = reverse("media", args=[file.token])
    shown = response.content.decode()
    assert shown.count(f'<img src="{address}"') == 2
    assert 'value="media:cat.png"' in shown
    policy = response["Content-Security-Policy"].split("; ")  # in any order
    assert "img-src 'self' https:" in policy
    assert "media-src 'self' https:" in policy
    assert "script-src 'none'" in policy
