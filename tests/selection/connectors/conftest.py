import pytest

from selection.connectors import CONNECTORS
from tests.connector_stub import Stub


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    one = Stub()
    monkeypatch.setitem(CONNECTORS, Stub.name, one)
    return one
