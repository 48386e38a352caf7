"""Parameters of tests of which `make test` runs a part, and `make test-all` all."""

from collections.abc import Container, Iterable
from typing import Any

import pytest


def mostly_slow(values: Iterable[Any], ordinary: Container[Any]) -> list[Any]:
    """Return the values as parameters; those that are not ordinary are slow."""
    return [
        value if value in ordinary else pytest.param(value, marks=pytest.mark.slow)
        for value in values
    ]
