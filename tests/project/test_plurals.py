"""The noun after a number is in the singular or the plural, from ``selection.texts``."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template import Context, Template

from selection import viewer_locale
from selection.texts import count_noun, counted, plural

TOP = Path(settings.BASE_DIR)
NOUNS = (
    "answers|assignments|calls|cells|columns|files|groups|labels|links|members|messages|minutes|"
    "models|places|pools|questions|replies|responses|rows|runs|signs|simulations|skills|steps|"
    "submissions|tasks|times|tokens|values|workers"
)
# A value, perhaps emphasised or with an adjective, and a plural. A constant (LONGEST) is never 1.
IN_CODE = re.compile(
    rf"\{{(?!(?:\w+\.)*[A-Z_]+[:}}])[^{{}}]+\}} (?:(?:more|gold|open|other|new) )?(?:{NOUNS})\b"
)
IN_TEMPLATES = re.compile(
    rf"\{{\{{ [^}}]*\}}\}}(?:</\w+>)? (?:(?:more|gold|open|other|new) )?(?:{NOUNS})\b"
)
SUFFIX = re.compile(r"[\w}]\{\{[^}]*\|pluralize|'s' if |else 's'\}|'' if [^}]* else 's'")
ALLOWED = {
    "{{ original.endpoint }} answers",  # a verb
    "{user} signs",
    "{{ no_shows.row.answers }} answers",  # a number in words
    "{run} links",  # names of files
    "{run} open questions",
    "{MOST_PAGES * PAGE:,} tasks",  # large numbers
    "{most_rows:,} rows",
    "{row.median / best.median:.1f} times",
    "{calls:>6} calls",  # columns, and a bar of another library
    "{total_fmt} calls",
}


def hand_written(pattern: re.Pattern[str], ending: str, *folders: str) -> list[str]:
    """Return the places in these folders that match, with the text."""
    paths = [path for folder in folders for path in sorted((TOP / folder).rglob(f"*.{ending}"))]
    assert paths
    return [
        f"{path.relative_to(TOP)}: {found[0]}"
        for path in paths
        if "migrations" not in path.parts
        for found in pattern.finditer(path.read_text(encoding="utf-8"))
        if found[0] not in ALLOWED
    ]


def test_templates_write_no_plural_by_hand():
    assert hand_written(IN_TEMPLATES, "html", "templates/selection") == []
    assert hand_written(SUFFIX, "html", "templates") == []


def test_code_writes_no_plural_by_hand():
    assert hand_written(IN_CODE, "py", "selection") == []


@pytest.mark.parametrize(
    ("count", "noun", "verb", "text"),
    [
        (0, "worker", "", "0 workers"),
        (1, "worker", "", "1 worker"),
        (1200, "worker", "are", "1,200 workers are"),
        (1, "imported answer", "belong", "1 imported answer belongs"),
        (1, "entry", "have", "1 entry has"),
        (2, "entry", "have", "2 entries have"),
    ],
)
def test_a_number_has_its_noun(count, noun, verb, text):
    assert counted(count, noun, verb) == count_noun(count, noun, verb) == text


def test_numbers_of_pages_are_in_the_viewer_s_locale():
    with viewer_locale.formatting_for(viewer_locale.accepted_locale("de")):
        assert (count_noun(1200, "row"), counted(1200, "row")) == ("1.200 rows", "1,200 rows")
        template = Template('{{ n|count:"row" }} {{ 1|noun:"run" }} {{ n|noun:"run" }}')
        assert template.render(Context({"n": 1200})) == "1.200 rows run runs"
    assert plural("person", 2) == "people"
