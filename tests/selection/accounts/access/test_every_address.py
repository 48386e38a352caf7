"""Every address and operation, tried by every kind of visitor."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import URLResolver, get_resolver

from packages.topk.tests.parameters import mostly_slow
from selection.accounts import path_of
from selection.api import api
from selection.models import ApiToken, Heartbeat, Membership, Team

from .table import (
    BODIES,
    FILE,
    LINK,
    MANAGER,
    NEW,
    NOBODY,
    OPEN,
    OPERATIONS,
    OWNER,
    PAGES,
    SIGNED_IN,
    SUPERUSER,
    VIEWER,
)
from .world import Camp, member

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

OF_NO_TEAM = {Heartbeat}  # system status

RANKS = [OPEN, LINK, SIGNED_IN, VIEWER, MANAGER, OWNER, SUPERUSER, NOBODY]
SHOWN = "zebra"  # part of all names of this team, and of no others
# A redirect home from one of these pages is a refusal.
AWAY = ("/admin/selection/", "/admin/auth/", "/admin/logout/")
ACTORS = ["nobody", "a token", "a bare login", VIEWER, MANAGER, OWNER, SUPERUSER]


def routes(patterns, before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        else:
            yield route


def operations() -> set[tuple[str, str]]:
    paths = api.get_openapi_schema()["paths"].items()
    return {(method, path) for path, methods in paths for method in methods}


def tables() -> list[Any]:
    return [one for one in apps.get_app_config("selection").get_models() if one not in OF_NO_TEAM]


def of_api(route: str) -> bool:
    return route.startswith("api/") and route not in PAGES


def test_page_table_matches_the_addresses():
    there = {route for route in routes(get_resolver().url_patterns) if not of_api(route)}
    assert there == set(PAGES)


def test_operation_table_matches_the_api():
    assert operations() == set(OPERATIONS)


def test_tables_belong_to_a_team():
    for model in tables():
        assert path_of(model)


# -- pages


def filled(route: str, theirs: Camp) -> str:
    """Return the address with the camp's own objects."""
    model = re.match(r"admin/(?:selection|auth)/(\w+)/", route)
    run = theirs.run
    own = {
        "pool": theirs.pool.pk,
        "worker": theirs.pool.workers.first().pk,
        "questionset": theirs.question_set.pk,
        "question": theirs.question_set.questions.first().pk,
        "practice": theirs.question_set.practice.get().pk,
        "run": run.pk,
        "answer": theirs.answer.pk,
        "apitoken": theirs.token.pk,
        "webhook": theirs.delivery.webhook_id,
        "connection": theirs.call.connection_id,
        "modelserver": theirs.model_server.pk,
        "watch": theirs.watch.pk,
        "team": theirs.team.pk,
        "user": theirs.user.pk,
        "group": theirs.group.pk,
        "auditentry": theirs.entry.pk,
    }
    pk = own.get(model[1], 1) if model else 1
    started = "run/<path:object_id>/" not in route and not route.endswith("run/<int:pk>/change/")
    if not started and "history" not in route:
        pk = theirs.draft.pk  # a started run can be neither changed nor deleted
    if "/forecast/" in route:
        pk = theirs.forecast.pk
    values = {
        "<path:object_id>": pk,
        "<int:pk>": pk,
        "<uuid:pk>": pk,
        "<id>": pk,
        "<int:candidate>": run.candidates.first().pk,
        "<slug:verb>": "stop",
        "<slug:format>": "json" if model and model[1] == "watch" else "all-csv",
        "<slug:name>": "README",
        "<slug:provider_id>": "nowhere",
        "<slug:uidb64>": "MQ",
        "<slug:token>": "forged",
        "<uuid:upload>": theirs.upload.pk if model and model[1] == "run" else uuid4(),
        "<uuid:replay>": theirs.replay.pk,
        "<path:content_type_id>": 1,
        "(?P<app_label>selection|auth)": "selection",
        "(?P<url>.*)": "no/such/page",
        "<str:token>": theirs.link,
    }
    for name, value in values.items():
        route = route.replace(name, str(value))
    return "/" + route.replace("^", "").replace("$", "")


def browser(actor: str, team: Team) -> Client:
    if actor == "nobody":
        return Client()
    if actor == "a token":
        return with_token(ApiToken.issue("knocks at pages", team))
    role = actor if actor in Membership.Role.values else ""
    client = Client()
    client.force_login(member(team, role, is_superuser=actor == SUPERUSER))
    return client


def rank(actor: str) -> int:
    as_good_as = {"nobody": OPEN, "a token": OPEN, "a bare login": SIGNED_IN}
    return RANKS.index(as_good_as.get(actor, actor))


def turned_away(response) -> bool:
    """Return True for a redirect to the login, a 403 or 404, or a redirect home with a message."""
    if response.status_code == 302:
        where, asked = response["Location"], response.request["PATH_INFO"]
        home = where == "/admin/" and asked.startswith(AWAY)
        return home or where.startswith("/admin/login/")
    return response.status_code in {401, 403, 404, 405}


def body(response) -> str:
    content = b"".join(response) if response.streaming else response.content
    return content.decode(errors="replace").casefold()


def rows_of(team: Team) -> dict[str, list[object]]:
    """Return all stored rows of a team, without the times that reading leaves behind."""
    stored = {}
    for model in tables():
        rows = model.objects.filter(**{path_of(model): team.pk}).order_by("pk").values()
        stored[model.__name__] = [
            {name: value for name, value in row.items() if name not in ("handed", "expires")}
            for row in rows
        ]
    return stored


@pytest.mark.parametrize("actor", mostly_slow(ACTORS, ["nobody", VIEWER, MANAGER]))
def test_role_gets_exactly_its_pages_in_its_team(actor, zebras, request):
    """Without ``--full`` the refusals alone: whole pages take a minute."""
    client, wrong = browser(actor, zebras.team), []
    full = request.config.getoption("full")
    before = rows_of(zebras.team)
    for route, (look, do) in PAGES.items():
        for method, least in (("get", look), ("post", do)):
            may = least not in (LINK, NOBODY) and rank(actor) >= RANKS.index(least)
            if least == LINK or (may and (method == "post" or not full)):
                continue  # the effects for permitted users have tests of their own
            response = getattr(client, method)(filled(route, zebras))
            if turned_away(response) == may:
                wrong.append((method, route, response.status_code, least))
            if not may and SHOWN in body(response):
                wrong.append((method, route, "shows what is theirs"))
    assert not wrong, "\n".join(map(str, wrong))
    assert rows_of(zebras.team) == before


@pytest.mark.parametrize("actor", mostly_slow([OWNER, MANAGER, "a bare login"], [OWNER]))
def test_foreign_team_sees_and_changes_nothing(actor, zebras, okapis, request):
    """Without ``--full`` the addresses of objects alone."""
    client, wrong = browser(actor, okapis.team), []
    full = request.config.getoption("full")
    before = rows_of(zebras.team)
    for route, (look, do) in PAGES.items():
        if look == LINK:
            continue
        for method, least in (("get", look), ("post", do)):
            own = "<" not in route.replace("(?P<", "") or least in (OPEN, SIGNED_IN)
            if own and not full:
                continue
            response = getattr(client, method)(filled(route, zebras), {"post": "yes"})
            if SHOWN in body(response):
                wrong.append((method, route, "shows what is theirs"))
            if not own and not turned_away(response):
                wrong.append((method, route, response.status_code))
    assert not wrong, "\n".join(map(str, wrong))
    assert rows_of(zebras.team) == before


def test_a_login_of_no_team_gets_nothing(zebras, okapis, django_user_model):
    client, wrong = Client(), []
    client.force_login(django_user_model.objects.create_user("stranger", is_staff=True))
    for route, (look, _) in PAGES.items():
        if look in (LINK, OPEN, SIGNED_IN):
            continue
        response = client.get(filled(route, zebras))
        if not turned_away(response) or SHOWN in body(response):
            wrong.append((route, response.status_code))
    assert not wrong, "\n".join(map(str, wrong))


def test_worker_link_opens_exactly_one_page(zebras, settings):
    settings.API_FAILURES_PER_MINUTE = 0  # there are more operations than failures allowed
    for route, (look, _) in PAGES.items():
        if "<str:token>" not in route:
            continue
        assert look == LINK
    assert Client().get(f"/work/{zebras.link}/").status_code == 200
    assert Client().get(f"/join/{zebras.link}/").status_code == 404
    knocking = Client(headers={"authorization": f"Bearer {zebras.link}"})
    for method, path in OPERATIONS:
        assert send(knocking, method, path, zebras).status_code == 401


# -- the API


def named(path: str) -> str:
    """Return the key in BODIES: the address's last word, or the type of its id."""
    if path == "/api/runs/{run_id}/answers":
        return "runs/answers"
    words = [word for word in path.split("/") if word]
    if words[-1] == "{question}":
        return "question"
    return words[-2] if words[-1].startswith("{") else words[-1]


def send(client: Client, method: str, path: str, theirs: Camp):
    values = {
        "{run_id}": theirs.run.pk,
        "{assignment_id}": theirs.open.pk,
        "{transition}": "resume",
        "{forecast_id}": theirs.forecast.pk,
        "{server_id}": theirs.model_server.pk,
        "{watch_id}": theirs.watch.pk,
        "{webhook_id}": theirs.delivery.webhook_id,
        "{connection_id}": theirs.call.connection_id,
        "{call_id}": theirs.call.pk,
        "{batch}": "none",
        "{delivery_id}": theirs.delivery.pk,
        "{worker}": theirs.pool.workers.first().key,
        "{pool_id}": theirs.pool.pk,
        "{set_id}": theirs.question_set.pk,
        "{file_id}": theirs.upload.pk,
        "{replay_id}": theirs.replay.pk,
        "{job_id}": theirs.job.pk,
        "{practice_id}": theirs.question_set.practice.get().pk,
        "{name}": theirs.question_set.media.get().name,
        "{question}": theirs.question_set.questions.first().key,
    }
    content = BODIES.get(f"{method} {named(path)}", {})
    if (method, path) == ("post", "/api/watches"):
        content = content | {"run": theirs.run.pk}
    if method != "patch" and path in ("/api/runs", "/api/runs/{run_id}"):
        content = content | {"pool": theirs.pool.pk, "question_set": theirs.question_set.pk}
    for name, value in values.items():
        path = path.replace(name, str(value))
    ask = getattr(client, method)
    if FILE in content.values():
        fields = {name: value for name, value in content.items() if value is not FILE}
        text = (
            b"worker\nsomebody\n" if not fields else b"worker,task,label,gold\na,q,1,1\nb,q,0,1\n"
        )
        return ask(path, fields | {"file": SimpleUploadedFile("f.csv", text)})
    return (
        ask(path)
        if method in ("get", "delete")
        else ask(path, content, content_type="application/json")
    )


def with_token(secret: str) -> Client:
    return Client(headers={"authorization": f"Bearer {secret}"})


@contextmanager
def undone() -> Iterator[None]:
    """Roll back all effects, so that each operation finds the same state."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.mark.slow
def test_scope_allows_its_operations(zebras):
    secrets, wrong = {scope: zebras.secret(scope) for scope in ApiToken.Scope.values}, []
    for operation, scopes in OPERATIONS.items():
        for scope in scopes | {"manage"}:
            with undone():
                reply = send(with_token(secrets[scope]), *operation, zebras)
            if reply.status_code not in {
                200,
                201,
                202,
                204,
                409,
                422,
            }:  # or refused for its content
                wrong.append((operation, scope, reply.status_code))
    assert not wrong, "\n".join(map(str, wrong))


def test_scope_forbids_operations_beyond_its_own(zebras):
    secrets = {scope: zebras.secret(scope) for scope in ("read", "answer")}
    before = rows_of(zebras.team)
    for operation, scopes in OPERATIONS.items():
        for scope in secrets.keys() - scopes:
            refused = send(with_token(secrets[scope]), *operation, zebras)
            assert refused.status_code == 403, operation
            assert "may only" in refused.json()["error"]
    assert {**rows_of(zebras.team), "ApiToken": []} == {**before, "ApiToken": []}


def test_a_token_of_another_team_finds_nothing(zebras, okapis):
    before, wrong = rows_of(zebras.team), []
    for scope in ApiToken.Scope.values:
        knocking = with_token(okapis.secret(scope))
        for operation, scopes in OPERATIONS.items():
            reply = send(knocking, *operation, zebras)
            found = NEW.get(operation, 404) if scope in scopes | {"manage"} else 403
            if reply.status_code != found or SHOWN in body(reply):
                wrong.append((scope, operation, reply.status_code, found))
    assert not wrong, "\n".join(map(str, wrong))
    assert rows_of(zebras.team) == before


def test_request_without_a_valid_token_is_told_nothing(zebras, settings):
    settings.API_FAILURES_PER_MINUTE = 0  # rate limits are tested elsewhere
    before, client = rows_of(zebras.team), Client()
    client.force_login(member(zebras.team, OWNER))  # a session is not a token
    for knocking in (Client(), with_token("wrong"), client):
        for operation in OPERATIONS:
            reply = send(knocking, *operation, zebras)
            assert reply.status_code == 401, operation
            assert SHOWN not in body(reply)
    assert {**rows_of(zebras.team), "Membership": []} == {**before, "Membership": []}
