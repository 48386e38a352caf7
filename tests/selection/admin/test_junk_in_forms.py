"""Junk in any form field of the admin is refused and never a server error."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.urls import reverse

from selection.models import Heartbeat
from tests.selection.accounts.access.world import camp

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
JUNK = [
    "abc",
    "-1",
    "1.5",
    "9" * 25,
    "9" * 5000,
    "nan",
    "null",
    "[1, 2]",
    '{"a": NaN}',
    "\ud7ff",
    " ",
]


@pytest.fixture
def world(db):
    """A superuser's browser, and a team with at least one object of most kinds."""
    made = camp("okapi")
    camp("zebra")  # so that forms ask for a team
    return made


@pytest.fixture
def browser(world, client):
    client.force_login(User.objects.create_superuser("root"))
    return client


def kinds():
    """Return all models except Heartbeat, which has a page of its own and no form."""
    return sorted(set(admin.site._registry) - {Heartbeat}, key=lambda model: model._meta.label)


def url(model, page, *args):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def fields(browser, address):
    """Return the names that the page's form sends; empty if there is no such page."""
    page = browser.get(address)
    form = page.context and page.context.get("adminform")
    if page.status_code != 200 or not form:
        return set()
    sets = [one.formset for one in page.context.get("inline_admin_formsets", [])]
    forms = [form.form, *(sets_form for one in sets for sets_form in (one.management_form, *one))]
    return {one.add_prefix(name) for one in forms for name in one.fields}


def in_turn(names, junk):
    """Return a value of junk for each field; over all turns each field gets each value."""
    return {name: JUNK[(place + junk) % len(JUNK)] for place, name in enumerate(sorted(names))}


def management(names):
    """Return the management data of one more form in each formset of the page."""
    return {name: "1" if "TOTAL" in name else "0" for name in names if name.endswith("_FORMS")}


@pytest.mark.parametrize("model", kinds(), ids=lambda model: model._meta.label)
def test_add_forms_take_junk_in_every_field(browser, model):
    address = url(model, "add")
    names = fields(browser, address) | {field.name for field in model._meta.fields}
    sent = {name for name in names if not name.endswith("_FORMS")}
    for turn in range(len(JUNK)):
        assert browser.get(address, in_turn(names, turn)).status_code < 500
        assert browser.post(address, in_turn(sent, turn) | management(names)).status_code < 500


@pytest.mark.parametrize("model", kinds(), ids=lambda model: model._meta.label)
def test_change_forms_and_lists_take_junk_in_every_field(browser, model):
    for field in model._meta.fields:
        lookup = "__id__exact" if field.is_relation else "__exact"
        for junk in ["abc", "9" * 25]:
            response = browser.get(url(model, "changelist"), {field.name + lookup: junk})
            assert response.status_code < 500
    item = model._default_manager.order_by("pk").first()
    if item is None:
        return
    address = url(model, "change", item.pk)
    names = fields(browser, address)
    for turn in range(len(JUNK)):
        sent = in_turn(names, turn) | management(names)
        assert browser.get(address, in_turn(names, turn)).status_code < 500
        assert browser.post(address, sent).status_code < 500
