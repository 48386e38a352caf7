"""Languages of the worker's page."""

import re
from datetime import timedelta

import polib
import pytest
from django.urls import reverse
from django.utils import timezone

from selection import engine
from selection.models import Assignment
from selection.worker import links
from tests import translations
from tests.worlds import make_run, open_of

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def url() -> str:
    run = make_run()
    engine.advance(run.pk)
    return reverse("work", args=[links.worker_token(open_of(run)[0].candidate_id)]) + "?go"


@pytest.mark.parametrize(
    ("asked", "got"),
    [
        ("de-AT,de;q=0.9", '<html lang="de" dir="ltr">'),
        ("ar-EG", '<html lang="ar" dir="rtl">'),
        ("fr", '<html lang="en" dir="ltr">'),
        ("", '<html lang="en" dir="ltr">'),
    ],
)
def test_page_follows_the_language_of_the_browser(client, url, asked, got):
    response = client.get(url, headers={"accept-language": asked})
    assert got in response.content.decode()
    assert "Accept-Language" in response["Vary"]
    assert not response.cookies


def test_a_language_can_be_chosen_and_stays(client, url):
    response = client.get(url, {"language": "ar", "still": ""})
    assert response["Location"] == f"{url.removesuffix('?go')}?still="
    assert client.get(url).content.decode().count('dir="rtl"') == 1
    assert client.cookies["django_language"]["httponly"]
    assert client.get(url, {"language": "xx"}).status_code == 200


# -- the translations themselves


@pytest.mark.parametrize("path", translations.files(), ids=lambda path: path.parts[-3])
def test_sentences_of_the_page_are_translated_and_compiled(path):
    catalogue = polib.pofile(str(path))
    there = {(entry.msgid, entry.msgid_plural) for entry in catalogue}
    assert there == set(translations.said()), "run python -m tests.translations"
    assert not catalogue.untranslated_entries()
    compiled = polib.mofile(str(path.with_suffix(".mo")))
    assert {(one.msgid, one.msgstr, str(one.msgstr_plural)) for one in compiled} == {
        (one.msgid, one.msgstr, str(one.msgstr_plural)) for one in catalogue
    }


@pytest.mark.parametrize("path", translations.files(), ids=lambda path: path.parts[-3])
def test_translations_keep_their_placeholders(path):
    for entry in polib.pofile(str(path)):
        wanted = sorted(re.findall(r"%\(\w+\)[sd]", entry.msgid))
        for said in [entry.msgstr] if entry.msgstr else entry.msgstr_plural.values():
            assert sorted(re.findall(r"%\(\w+\)[sd]", said)) == wanted
            assert "<" not in said


def test_counts_follow_the_plural_forms_of_the_language(client, url):
    assert "Noch 59 Minuten Zeit zu antworten" in in_language(client, url, "de")
    assert "بقيت 59 دقيقة للإجابة" in in_language(client, url, "ar")
    Assignment.objects.update(due=timezone.now() + timedelta(minutes=5, seconds=30))
    assert "بقيت 5 دقائق للإجابة" in in_language(client, url, "ar")


def in_language(client, url: str, language: str) -> str:
    return client.get(url, headers={"accept-language": language}).content.decode()


def test_the_requester_s_pages_stay_in_english(requester):
    shown = requester.get("/admin/", headers={"accept-language": "de"}).content.decode()
    assert 'lang="en-us"' in shown
    assert "Overview" in shown
