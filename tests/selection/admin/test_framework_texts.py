"""No text of Django, django-unfold, pydantic or ninja reaches a user."""

from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.contrib import admin
from django.test import Client
from django.urls import NoReverseMatch, reverse

from tests.pages import text_of
from tests.worlds import make_pool, make_questions, make_run

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

PHRASES = (
    " to change",
    " to view",
    "Are you sure",
    "successfully",
    "take me back",
    "related items",
    "protected related objects",
    "Please correct",
    "Ensure this value",
    "is not one of the available choices",
    "already exists",
    "_id:",
    "Selection ›",
    "administration",
)
MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
NAMES = [model._meta.label for model in MODELS]
CATALOG = Path(settings.LOCALE_PATHS[0]) / "en" / "LC_MESSAGES" / "django.po"


def framework_phrases(response) -> list[str]:
    text = text_of(response)
    assert response.status_code == 200, response.status_code
    return [phrase for phrase in PHRASES if phrase in text]


def address(model, page: str, *args: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


@pytest.fixture
def world():
    make_run()


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_list_names_its_objects(admin_client, world, model):
    response = admin_client.get(address(model, "changelist"), follow=True)
    assert framework_phrases(response) == []


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_a_form_to_add_and_its_errors_are_in_plain_words(admin_client, world, model):
    try:
        place = address(model, "add")
    except NoReverseMatch:
        pytest.skip("nothing to add")
    response = admin_client.get(place, follow=True)
    if response.status_code == 403:
        pytest.skip("nothing to add")
    assert framework_phrases(response) == []
    refused = admin_client.post(place, {}, follow=True)
    assert framework_phrases(refused) == []


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_a_deletion_is_confirmed_in_plain_words(admin_client, world, model):
    item = model._default_manager.first()
    if item is None:
        pytest.skip("none of it")
    response = admin_client.get(address(model, "delete", item.pk), follow=True)
    if response.status_code == 403:
        pytest.skip("never deleted")
    assert framework_phrases(response) == []


def test_a_change_and_a_deletion_are_reported_in_plain_words(admin_client):
    pool = make_pool(1)
    changed = admin_client.post(address(type(pool), "change", pool.pk), {"name": "B"}, follow=True)
    assert "was changed." in text_of(changed)
    assert framework_phrases(changed) == []
    gone = admin_client.post(address(type(pool), "delete", pool.pk), {"post": "yes"}, follow=True)
    assert "“B” was deleted." in text_of(gone)
    assert framework_phrases(gone) == []


def test_the_page_of_an_object_has_no_crumb_of_the_app(admin_client):
    question = make_questions(1).questions.first()
    page = admin_client.get(address(type(question), "change", question.pk)).content.decode()
    assert 'href="/admin/selection/"' not in page


def test_the_compiled_catalog_is_the_written_one():
    written = {(entry.msgid, entry.msgstr) for entry in polib.pofile(str(CATALOG))}
    compiled = {
        (entry.msgid, entry.msgstr) for entry in polib.mofile(str(CATALOG.with_suffix(".mo")))
    }
    assert written == compiled


BAD_REQUESTS = [
    ("post", "pools", {}, "name is missing."),
    ("post", "pools", {"name": 3}, "name must be text."),
    ("post", "pools", {"name": ""}, "name must have 1 or more characters."),
    ("post", "pools", [], None),
    (
        "patch",
        "runs/{run}",
        {"k": 3},
        "k cannot change after the run started. Copy the run instead.",
    ),
    (
        "patch",
        "runs/{run}",
        {"quotas": None},
        "quotas cannot change after the run started. Copy the run instead.",
    ),
    ("patch", "runs/{run}", {"budget": "many"}, "budget must be a whole number."),
    ("patch", "runs/{run}", {"budget": 1.5}, "budget must be a whole number."),
    ("patch", "runs/{run}", {"nonsense": 1}, "nonsense is not a field of this request."),
    ("post", "runs", {"name": "A"}, None),
    ("post", "runs/{run}/transitions/fly", {}, None),
    ("get", "runs?limit=x", None, "limit must be a whole number."),
    ("post", "webhooks", {"url": 1}, None),
    ("post", "replays", {"k": "x"}, None),
]
PYDANTIC = ("Input should", "Field required", "Extra inputs", "Value error", "unable to parse")


@pytest.mark.parametrize(("method", "path", "body", "error"), BAD_REQUESTS)
def test_api_explains_an_invalid_field(token, method, path, body, error):
    run = make_run()
    client = Client(headers={"authorization": f"Bearer {token}"})
    more = {} if body is None else {"data": body, "content_type": "application/json"}
    reply = getattr(client, method)("/api/" + path.format(run=run.pk), **more)
    assert reply.status_code in (400, 404, 422)
    said = reply.json()["error"]
    assert not any(phrase in said for phrase in PYDANTIC), said
    assert error in (None, said)
