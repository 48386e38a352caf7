from collections.abc import Iterator

import pytest

from selection import connectors, engine
from selection.connectors import CONNECTORS
from selection.connectors.platforms import prolific
from selection.models import Connection, Run, RunConnection
from selection.runs.roster import roster_opening
from selection.runs.roster.enrolment import EnrolmentSource, enrol_worker
from tests.connector_stub import Stub
from tests.prolific_stub import TOKEN, WORKSPACE, ProlificStub, serve_prolific
from tests.prolific_world import HOOK, SETTINGS, URL, WORKERS, exchange
from tests.worlds import make_run


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Stub:
    one = Stub()
    monkeypatch.setitem(CONNECTORS, Stub.name, one)
    return one


@pytest.fixture
def there(settings) -> Iterator[ProlificStub]:
    settings.CONNECTORS_INSIDE = True
    with serve_prolific() as stub:
        yield stub


@pytest.fixture
def lab(there: ProlificStub) -> Connection:
    return connectors.create_connection(
        team=1,
        kind="prolific",
        name="Lab",
        address=there.url,
        secrets={"token": TOKEN, "hook_secret": HOOK},
        settings={"workspace": WORKSPACE},
    )


@pytest.fixture
def prolific_run() -> Run:
    run = make_run(n=0, k=2, enrolling=True, platform="prolific", epsilon=0.4, slots=60)
    for number, worker in enumerate(WORKERS):
        enrol_worker(run, worker, source=EnrolmentSource("prolific", f"s{number}"))
    roster_opening.close_roster(run)
    run.refresh_from_db()
    engine.advance(run.pk)
    return run


@pytest.fixture
def prolific_link(prolific_run: Run, lab: Connection) -> RunConnection:
    return connectors.connect_run(prolific_run, lab, SETTINGS)


@pytest.fixture
def study(prolific_link: RunConnection) -> RunConnection:
    prolific.request_study(prolific_link, URL)
    exchange(prolific_link)
    return prolific_link


@pytest.fixture
def payable(study: RunConnection, there: ProlificStub) -> RunConnection:
    for worker in WORKERS[:2]:
        there.submit(worker, "APPROVED")
    exchange(study)
    return study
