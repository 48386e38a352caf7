"""The limits that docs/operations.md tells are those of the code, and of the API's document."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from selection import limits
from selection.api import api

TOP = Path(__file__).parents[2]
MB = limits.MB
BYTES = {
    "a file that is brought in": [limits.MOST_FILE],
    "a request with such a file in its form": [settings.MOST_UPLOADED],
    "a request to the API": [settings.DATA_UPLOAD_MAX_MEMORY_SIZE],
    "a request without sign-in": [settings.MOST_FROM_STRANGERS],
    "a picture, a sound, a film": list(limits.MOST_MEDIA.values()),
}
COUNTS = {
    "rows of a file": limits.MOST_ROWS,
    "columns of a file": limits.MOST_COLUMNS,
    "requests to other machines of a team at once": limits.MOST_JOBS,
    "characters of a cell": limits.LONGEST_CELL,
    "characters of a row": limits.LONGEST_ROW,
    "answers of the past that are replayed": limits.MOST_OF_THE_PAST,
    "past answers tried on a page or by the API": limits.MOST_REPLAYED,
    "workers of past answers tried there": limits.MOST_REPLAYED_WORKERS,
    "workers, questions or submissions of one request": limits.MOST_ENTRIES,
    "standings, or workers of a run, of a page": limits.MOST_ENTRIES,
    "answers to assignments of one request": limits.MOST_ANSWERS,
    "answers made elsewhere, or workers of a list, of one request": limits.MOST_IMPORTED,
    "workers who claim questions in one request": limits.MOST_PRESENT,
    "rows of a page of a list": limits.MOST_PAGE,
    "characters of a response": limits.LONGEST_RESPONSE,
    "characters of a problem report": limits.LONGEST_REPORT,
    "characters of an id or a name": limits.LONGEST_KEY,
    "characters of a reason": limits.LONGEST_WHY,
    "characters of instructions or an explanation": limits.LONGEST_TEXT,
    "files of a question set": limits.MOST_MEDIA_FILES,
    "webhooks of a team": limits.MOST_WEBHOOKS,
    "characters of a webhook's address": limits.LONGEST_ADDRESS,
}
IN_BYTES = {
    name: f"{', '.join(str(most // MB) for most in given)} MB" for name, given in BYTES.items()
}
LIMITS = {name: f"{most:,}" for name, most in COUNTS.items()} | IN_BYTES
FEW = 10  # things of a kind that are counted on fingers: the two ends of a range


@pytest.fixture(scope="module")
def told() -> dict[str, tuple[str, str]]:
    """The subject of each limit, its amount, and its setting."""
    section = (TOP / "docs" / "operations.md").read_text(encoding="utf-8").split("## Limits")[1]
    rows = re.findall(r"(?m)^\| (.+?) \| (.+?) \|(?: (.+?))? \|$", section)
    return {name: (most, by) for name, most, by in rows if name != "of what"}


def test_documented_limits_are_the_limits_of_the_code(told):
    assert set(told) == set(LIMITS)


@pytest.mark.parametrize("name", LIMITS)
def test_documented_limit_has_the_value_of_the_code(told, name):
    assert told[name][0] == LIMITS[name]


def test_limits_of_list_lengths_in_the_api_are_documented():
    said = set(_values(api.get_openapi_schema(path_prefix="/"), "maxItems"))
    of_kinds = {50}  # kinds of tasks of a run
    assert {most for most in said if most > FEW} - of_kinds <= set(COUNTS.values())


def _values(node: Any, name: str) -> Iterator[int]:
    if isinstance(node, dict):
        if isinstance(node.get(name), int):
            yield node[name]
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from _values(each, name)


def test_environment_sets_the_limits_with_a_setting(told):
    named = re.findall("`(\\w+)`", " ".join(by for _, by in told.values()))
    assert sorted(named) == ["MOST_FILE_MB", "MOST_FILE_ROWS", "MOST_REQUEST_MB"]
    code = (
        "import django; django.setup()\n"
        "from django.conf import settings; from selection import limits\n"
        "print(limits.MOST_FILE, settings.MOST_UPLOADED, limits.MOST_ROWS,"
        " settings.DATA_UPLOAD_MAX_MEMORY_SIZE)"
    )
    given = dict.fromkeys(named, "7") | {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    told_so = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | given,
        cwd=TOP,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told_so.stdout.split() == [str(7 * MB), str(8 * MB), "7", str(7 * MB)]
