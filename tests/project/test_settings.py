"""A setting that cannot be meant is told in a sentence at every start."""

import os
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from crowdselect.environment import Environment
from crowdselect.settings import BASE_DIR

SQLITE = "sqlite:///var/db"
ASKED = {
    "flag": lambda env: env.flag("IT"),
    "count": lambda env: env.number("IT", default=5),
    "seconds": lambda env: env.number("IT", default=30.0, least=1),
    "format": lambda env: env.choice("IT", ["plain", "json"]),
    "zone": lambda env: env.time_zone("IT", default="UTC"),
    "redis": lambda env: env.url_starting("IT", "", ["redis://", "unix://"]),
    "database": lambda env: env.database("IT", SQLITE)["ENGINE"].rpartition(".")[2],
    "pairs": lambda env: env.pairs("IT"),
    "choices": lambda env: env.choices("IT", ["mail", "watches"]),
}


@pytest.fixture
def value(monkeypatch):
    def parsed(kind: str, said: str | None) -> object:
        if said is not None:
            monkeypatch.setenv("IT", said)
        return ASKED[kind](Environment())

    return parsed


@pytest.mark.parametrize(
    ("kind", "said", "meant"),
    [
        ("flag", "Yes", True),
        ("flag", " off ", False),
        ("count", "0", 0),
        ("seconds", "1.5", 1.5),
        ("format", "JSON", "json"),
        ("zone", "Europe/Berlin", "Europe/Berlin"),
        ("redis", "unix:///run/redis", "unix:///run/redis"),
        ("database", "postgresql://her:word@host:5433/name", "postgresql"),
        ("choices", "watches, mail,", ["watches", "mail"]),
        ("pairs", "A=https://a.org/?b=1, B = x,", {"A": "https://a.org/?b=1", "B": "x"}),
    ],
)
def test_meaningful_value_is_read(value, kind, said, meant):
    assert value(kind, said) == meant


@pytest.mark.parametrize("said", ["", "  ", None])
def test_empty_value_gives_the_default(value, said):
    found = [value(kind, said) for kind in ASKED]
    assert found == [False, 5, 30.0, "plain", "UTC", "", "sqlite3", {}, []]


@pytest.mark.parametrize(
    ("kind", "said", "why"),
    [
        ("flag", "maybe", "IT is “maybe” and must be yes or no."),
        ("count", "many", "IT is “many” and must be a whole number of 0 or more."),
        ("count", "1.5", "IT is “1.5” and must be a whole number of 0 or more."),
        ("count", "-1", "IT is “-1” and must be a whole number of 0 or more."),
        ("seconds", "30s", "IT is “30s” and must be a number of 1 or more."),
        ("seconds", "nan", "IT is “nan” and must be a number of 1 or more."),
        ("seconds", "0", "IT is “0” and must be a number of 1 or more."),
        ("format", "xml", "IT is “xml” and must be one of plain, json."),
        ("zone", "Mars", "IT is “Mars” and must be a time zone as Europe/Berlin."),
        ("redis", "localhost:6379", "IT is “localhost:…” and must be an address that begins with"),
        ("database", "mysql://her:word@host/name", "IT is “mysql:…” and must be sqlite:///file or"),
        ("database", "postgresql://her:word@host:port/x", "IT is “postgresql:…” and must be"),
        ("pairs", "A=x,word", "IT must be NAME=value, further ones after commas."),
    ],
)
def test_meaningless_value_is_refused_without_showing_its_secrets(value, kind, said, why):
    with pytest.raises(ImproperlyConfigured) as refusal:
        value(kind, said)
    assert str(refusal.value).startswith(why)


@pytest.mark.parametrize(
    ("name", "said", "why", "code"),
    [
        (
            "LOG_LEVEL",
            "loud",
            "This setting will not do: LOG_LEVEL is “loud” and must be one of",
            1,
        ),
        ("DATABASE_URL", "sqlite://:memory:", "The database cannot be used (no such table: ", 2),
    ],
)
def test_a_command_that_cannot_begin_ends_in_a_sentence(name, said, why, code):
    command = [sys.executable, "manage.py", "recount"]
    told = subprocess.run(
        command, cwd=BASE_DIR, env=os.environ | {name: said}, capture_output=True, text=True
    )
    assert told.returncode == code
    assert told.stderr.splitlines()[-1].startswith(why)
    assert "Traceback" not in told.stderr
