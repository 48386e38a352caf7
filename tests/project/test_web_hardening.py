"""Logins, passwords, settings and headers of a server in the open."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.test import Client
from django.urls import reverse

from crowdselect.start import local_defaults
from selection import engine
from selection.checks import check_settings
from selection.worker import links
from tests.pages import admin_url
from tests.worlds import make_run

LOGIN = "/admin/login/"
RIGHT = "a long and right one"

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


# -- logins


def sign_in(password: str, address: str = "10.0.0.1", name: str = "boss") -> int:
    """The status of the answer: 302 after a login, 200 for the form again."""
    form = {"username": name, "password": password}
    return Client(REMOTE_ADDR=address).post(LOGIN, form).status_code


@pytest.fixture
def boss() -> User:
    return User.objects.create_superuser("boss", password=RIGHT)


def test_login_with_the_right_password_is_refused_after_ten_failures(boss):
    tried = [sign_in(f"wrong {i}") for i in range(settings.AXES_FAILURE_LIMIT)]
    assert tried[0] == 200
    assert sign_in(RIGHT) == 429
    assert (
        "Wait 15 minutes"
        in Client(REMOTE_ADDR="10.0.0.1")
        .post(LOGIN, {"username": "boss", "password": RIGHT})
        .content.decode()
    )


def test_lockout_spares_other_names_and_addresses(boss):
    User.objects.create_superuser("colleague", password=RIGHT)
    for i in range(settings.AXES_FAILURE_LIMIT + 1):
        sign_in(f"wrong {i}")
    assert sign_in(RIGHT, name="colleague") == 302
    assert sign_in(RIGHT, address="10.0.0.2") == 302


def test_failures_before_a_right_password_are_forgotten(boss):
    for _ in range(3):
        for i in range(settings.AXES_FAILURE_LIMIT - 1):
            assert sign_in(f"wrong {i}") == 200
        assert sign_in(RIGHT) == 302


def test_failures_are_counted_where_redis_is_away(boss, settings):
    nowhere = "unix:///nowhere/redis.sock"
    settings.CACHES = {"default": settings.CACHES["default"] | {"LOCATION": nowhere}}
    for i in range(settings.AXES_FAILURE_LIMIT):
        sign_in(f"wrong {i}")
    assert sign_in(RIGHT) == 429


@pytest.mark.parametrize("password", ["84719563", "super0xx", "8471956384719563", "password1234"])
def test_a_password_that_is_soon_guessed_is_refused(password):
    with pytest.raises(ValidationError):
        validate_password(password)


def test_a_password_like_the_name_is_refused():
    with pytest.raises(ValidationError):
        validate_password("margarethe1", User(username="margarethe"))
    validate_password(RIGHT, User(username="margarethe"))


# -- settings


@pytest.mark.parametrize(
    ("name", "value", "number"),
    [
        ("SECRET_KEY", "short", "crowdselect.E005"),
        ("SECRET_KEY", "a" * 60, "crowdselect.E005"),
        ("SECRET_KEY", "django-insecure-" + RIGHT * 3, "crowdselect.E005"),
        ("ALLOWED_HOSTS", ["crowd.example.org", "*"], "crowdselect.E006"),
        ("TRUSTED_PROXIES", ["proxy.example.org"], "crowdselect.E007"),
        ("TRUSTED_PROXIES", ["0.0.0.0/0"], "crowdselect.E007"),
    ],
)
def test_server_refuses_to_start_with_a_weak_setting(settings, name, value, number):
    settings.DEBUG = False
    setattr(settings, name, value)
    assert [message.id for message in check_settings(None)] == [number]
    with pytest.raises(SystemCheckError):
        call_command("check")


def test_weak_settings_pass_with_debug(settings):
    settings.DEBUG, settings.SECRET_KEY, settings.ALLOWED_HOSTS = True, "short", ["*"]
    assert check_settings(None) == []


def started(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {"DJANGO_SETTINGS_MODULE": "crowdselect.settings", "LOG_LEVEL": "WARNING"}
    return subprocess.run(
        [sys.executable, *command],
        env=os.environ | own | environment,
        capture_output=True,
        timeout=120,
        text=True,
    )


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "crowdselect.start.web_server", "127.0.0.1:0"],
        ["-m", "celery", "-A", "crowdselect", "worker"],
        ["manage.py", "migrate"],
    ],
    ids=["web", "worker", "command"],
)
def test_no_process_starts_with_a_weak_secret(command):
    done = started(*command, SECRET_KEY="short")
    assert done.returncode != 0
    assert "SECRET_KEY can be guessed" in done.stderr


PRODUCTION = {
    "SECRET_KEY": "x3Jd8-kq0ZPf7mW2vRbT5yLnC9hGsE1uAoI4wQpV6tXeKjMzYr",
    "PUBLIC_URL": "https://crowd.example.org",
    "ALLOWED_HOSTS": "crowd.example.org",
    "TRUSTED_PROXIES": "10.0.0.1",
}


@pytest.mark.parametrize("proxies", ["10.0.0.1", ""])
def test_djangos_check_for_deployment_finds_nothing(proxies):
    own = PRODUCTION | {"TRUSTED_PROXIES": proxies}
    done = started("manage.py", "check", "--deploy", "--fail-level", "INFO", **own)
    assert (done.returncode, done.stderr) == (0, "")


def test_deploy_check_finds_a_plain_http_address(tmp_path):
    plain = PRODUCTION | {"PUBLIC_URL": "http://crowd.example.org"}
    done = started("manage.py", "check", "--deploy", "--fail-level", "INFO", **plain)
    assert done.returncode == 1


def test_database_file_is_unreadable_to_other_users(tmp_path):
    new, old = tmp_path / "new.sqlite3", tmp_path / "old.sqlite3"
    old.touch(mode=0o644)
    wal = Path(f"{old}-wal")
    wal.touch(mode=0o644)
    for path in (new, old):
        local_defaults.keep_private(str(path))
    assert {stat.S_IMODE(path.stat().st_mode) for path in (new, old, wal)} == {0o600}
    local_defaults.keep_private(":memory:")
    local_defaults.keep_private(str(tmp_path / "nowhere" / "x.sqlite3"))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        path.name for path in (new, old, wal)
    )


def test_a_server_keeps_its_database_to_itself(tmp_path):
    database = tmp_path / "own.sqlite3"
    done = started("manage.py", "migrate", DATABASE_URL=f"sqlite:///{database}", **PRODUCTION)
    assert done.returncode == 0
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {0o600}


# -- headers


def policy(response) -> dict[str, str]:
    parts = response["Content-Security-Policy"].split("; ")
    return dict(part.split(" ", 1) for part in parts)


def test_worker_page_runs_no_script_and_leaks_no_address(client):
    run = make_run(enrolling=True)
    engine.advance(run.pk)
    work = reverse("work", args=[links.worker_token(run.candidates.first().pk)])
    join = links.join_address(run).removeprefix(settings.PUBLIC_URL)
    for address in (work, join, "/work/lost/"):
        page = client.get(address)
        assert policy(page)["script-src"] == "'none'"
        assert policy(page)["frame-ancestors"] == "'none'"
        assert page["Referrer-Policy"] == "no-referrer"
        assert b"<script" not in page.content


def test_pages_of_the_admin_run_scripts_of_this_server_only(requester):
    run = make_run()
    for address in (reverse("admin:index"), admin_url("run_page", run.pk), "/api/docs"):
        page = requester.get(address)
        assert policy(page)["script-src"] == "'self' 'unsafe-eval'"
        assert policy(page)["default-src"] == "'none'"
        assert page["Referrer-Policy"] == "same-origin"
        assert page["X-Content-Type-Options"] == "nosniff"
        inline = re.findall(rb"<script(?![^>]*(?:src=|application/json))", page.content)
        assert inline == []
        assert not re.search(rb"\son\w+=", re.sub(rb"(?s)<script.*?</script>", b"", page.content))


@pytest.mark.parametrize(
    "address", ["/", "/nowhere", "/api/openapi.json", "/admin/?x=%00", "/admin/login/"]
)
def test_responses_carry_security_headers(client, address):
    answer = client.get(address)
    assert policy(answer)["default-src"] == "'none'"
    assert "camera=()" in answer["Permissions-Policy"]
    assert answer["X-Frame-Options"] == "DENY"


def test_cookies_are_out_of_reach_of_scripts_and_of_other_sites(client):
    User.objects.create_superuser("boss", password=RIGHT)
    client.get(LOGIN)
    client.post(LOGIN, {"username": "boss", "password": RIGHT})
    assert set(client.cookies) == {"csrftoken", "sessionid"}
    for cookie in client.cookies.values():
        assert cookie["httponly"]
        assert cookie["samesite"] == "Lax"
