"""The OpenAPI document: names of operations, and defaults that are allowed."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from selection.api import api, base

pytestmark = pytest.mark.any_database


def parts(document: Any) -> Iterator[dict[str, Any]]:
    """Yield every object in the document."""
    if isinstance(document, dict):
        yield document
    for part in document.values() if isinstance(document, dict) else document:
        if isinstance(part, dict | list):
            yield from parts(part)


def test_operation_ids_are_a_verb_and_its_object_and_differ():
    names = [
        part["operationId"] for part in parts(api.get_openapi_schema()) if "operationId" in part
    ]
    assert len(names) == len(set(names)) > 100
    assert [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)+", name)] == []
    files = {path.stem for path in Path(base.__file__).parent.rglob("*.py")}
    assert [name for name in names if name.startswith(tuple(f"{file}_" for file in files))] == []


def test_no_text_is_empty_by_default_if_it_needs_a_character():
    texts = [part for part in parts(api.get_openapi_schema()) if part.get("default") == ""]
    assert texts
    assert [text for text in texts if any(part.get("minLength") for part in parts(text))] == []
