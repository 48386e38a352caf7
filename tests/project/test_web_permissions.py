"""Permissions: staff see the pages of their permissions, and a link is a key."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from selection import engine
from selection.models import Run
from tests.pages import admin_url, confirm, text_of, upload
from tests.worlds import crowd, make_pool, make_questions, make_run, play

pytestmark = pytest.mark.django_db

VIEW = ("view_run",)
EXPORTS = {
    "run_links_csv": ("change_run",),
    "run_open_csv": ("view_question",),
    "run_dump_json": ("view_answer", "view_question", "view_worker"),
}


def staff(*permissions: str) -> Client:
    """A browser with a signed-in user of just these permissions."""
    user = User.objects.create_user(f"clerk {User.objects.count()}", is_staff=True)
    for codename in permissions:
        user.user_permissions.add(Permission.objects.get(codename=codename))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def run() -> Run:
    made = make_run(pool=make_pool(6, country=["Norway", "Peru"]), enrolling=True)
    engine.advance(made.pk)
    return made


@pytest.mark.parametrize("export", EXPORTS)
def test_exports_require_permission_to_view_their_content(run, export):
    address, also = admin_url(export, run.pk), EXPORTS[export]
    assert staff(*VIEW, *also).get(address).status_code == 200
    assert staff(*also).get(address).status_code == 403
    if also:
        assert staff(*VIEW).get(address).status_code == 403


def test_tested_exports_are_complete(run):
    names = [pattern.name for pattern in _run_patterns() if "." in str(pattern.pattern)]
    assert sorted(names) == sorted(f"selection_{name}" for name in EXPORTS)


def _run_patterns():

    return admin.site.get_model_admin(Run).get_urls()


def test_overview_hides_runs_from_staff_without_permission(run):
    words = text_of(staff("view_pool").get(reverse("admin:index")))
    assert "may not view runs" in words
    assert run.name not in words
    assert "undecided" not in words
    assert run.name in text_of(staff(*VIEW).get(reverse("admin:index")))


def test_viewer_gets_no_worker_link(run):
    card = admin_url("run_worker", run.pk, run.candidates.first().pk)
    for address in (admin_url("run_page", run.pk), admin_url("run_live", run.pk), card):
        page = staff(*VIEW, "view_answer").get(address).content.decode()
        assert "/work/" not in page
        assert "/join/" not in page
    manager = staff(*VIEW, "change_run")
    assert "/work/" in manager.get(card).content.decode()
    assert "/join/" in manager.get(admin_url("run_page", run.pk)).content.decode()


@pytest.mark.parametrize("status", Run.Status)
def test_viewer_is_offered_no_forbidden_action(run, status):
    Run.objects.filter(pk=run.pk).update(status=status)
    viewer = staff(*VIEW)
    pages = [
        admin_url("run_page", run.pk),
        admin_url("run_worker", run.pk, run.candidates.first().pk),
    ]
    for address in pages:
        page = viewer.get(address).content.decode()
        for link in _own_links(page):
            assert viewer.get(link).status_code != 403, link
        assert not re.search(r'<button class="cs-button[^>]*(type="submit"|formaction)', page)


def _own_links(page: str) -> set[str]:
    """The links of the page itself, without the menu around it."""

    body = page.split('class="cs"', 1)[-1]
    return set(re.findall(r'(?:href|formaction)="(/admin/selection/[^"]+)"', body))


def test_gold_health_requires_permission_to_view_questions(run):
    address = admin_url("questionset_gold", run.question_set_id)
    assert staff("view_questionset").get(address).status_code == 403
    seer = staff("view_questionset", "view_question")
    assert seer.get(address).status_code == 200
    assert run.name not in text_of(seer.get(address, {"run": run.pk}))
    runs_too = staff("view_questionset", "view_question", *VIEW)
    assert run.name in text_of(runs_too.get(address, {"run": run.pk}))


def test_copying_a_run_requires_permission_to_view_it(run):
    assert staff("add_run").get(admin_url("run_copy", run.pk)).status_code == 403
    assert staff("add_run", *VIEW).get(admin_url("run_copy", run.pk)).status_code == 200


def test_worker_import_hides_runs_from_staff_without_permission(run):
    address = admin_url("pool_import", run.pool_id)
    for may, told in ((("change_pool", "view_pool"), False), (("change_pool", "change_run"), True)):
        client = staff(*may, "view_pool")
        preview = upload(client, address, f"worker\nnew{told}")
        assert (run.name in text_of(confirm(client, preview))) is told


def test_lists_hide_pools_and_sets_from_staff_without_permission(run):
    make_questions(3)
    blind = staff(*VIEW)
    for name in ("pool", "worker", "questionset", "question", "answer", "apitoken"):
        assert blind.get(admin_url(f"{name}_changelist")).status_code == 403
    assert blind.get(reverse("admin:auth_user_changelist")).status_code == 403


def test_a_clerk_learns_no_name_from_the_search(run):
    play(run, crowd(1, 2), most=1)
    found = text_of(staff("view_pool").get(reverse("admin:search"), {"s": run.name}))
    assert run.name not in found
