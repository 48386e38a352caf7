"""What templates put after a number is one noun, in the singular or the plural."""

import re
from pathlib import Path

from django.conf import settings

ENDING = re.compile(r"(\w+)\{\{[^}]*\|pluralize:[\"']([^\"']*)[\"']")


def test_no_plural_repeats_its_noun():
    templates = sorted((Path(settings.BASE_DIR) / "templates").rglob("*.html"))
    repeated = [
        f"{path.name}: {noun}{ending}"
        for path in templates
        for noun, endings in ENDING.findall(path.read_text())
        for ending in endings.split(",")
        if ending.strip().startswith(noun)
    ]
    assert templates
    assert not repeated
