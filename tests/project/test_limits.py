"""The limits that docs/operations.md tells are those of the code."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from selection.api import fields
from selection.intake import answers, complaints, files, media
from selection.reading import limits
from selection.webhooks import addresses, hooks

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"
MB = 1024 * 1024
LIMITS = {
    "a file that is brought in, with its form": settings.MOST_UPLOADED // MB,
    "a request to the API": settings.DATA_UPLOAD_MAX_MEMORY_SIZE // MB,
    "a request of somebody not signed in": settings.MOST_FROM_STRANGERS // MB,
    "rows of a file": limits.MOST_ROWS,
    "columns of a file": limits.MOST_COLUMNS,
    "characters of a cell": limits.LONGEST_CELL,
    "workers or questions of one request": fields.MOST_ROWS,
    "characters of a response": answers.LONGEST,
    "characters of a complaint": complaints.LONGEST,
    "characters of an id": files.LONGEST_KEY,
    "files of a question set": media.MOST_FILES,
    "webhooks of a team": hooks.MOST,
    "characters of a webhook's address": addresses.LONGEST,
}


@pytest.fixture(scope="module")
def told() -> dict[str, str]:
    section = PAGE.read_text(encoding="utf-8").split("## Limits")[1]
    return dict(re.findall(r"(?m)^\| (.+?) \| (.+?) \|$", section))


def test_every_row_is_a_limit_of_the_code(told):
    rest = set(told) - set(LIMITS) - {"of what"}
    assert rest == {"a picture, a sound, a film"}
    assert told[rest.pop()] == ", ".join(str(most // MB) for most in media.MOST.values()) + " MB"


@pytest.mark.parametrize("name", LIMITS)
def test_each_limit_is_told_as_it_is(told, name):
    assert told[name].removesuffix(" MB") == f"{LIMITS[name]:,}"
