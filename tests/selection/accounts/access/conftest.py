"""Two teams of the same kind, so that everything can be mistaken for the other's."""

import pytest

from .world import Camp, camp


@pytest.fixture
def zebras(db) -> Camp:
    return camp("zebra")


@pytest.fixture
def okapis(zebras: Camp) -> Camp:
    return camp("okapi")
