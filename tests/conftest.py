"""Fixtures of every test: a real, empty Redis. Fixtures on request: a token, a requester."""

import gc
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connections
from django.test import Client

import crowdselect.urls  # noqa: F401  (finds all pages, of which a test may ask for any)
from crowdselect.settings import APPS_LEFT_OUT
from crowdselect.start.redis_server import redis_command
from packages.topk.tests import conftest as sampling
from selection import wakeups
from selection.forecast import candidates
from selection.imports import uploads
from selection.models import ApiToken
from tests import migrated
from tests.processes import import_path, wait_until
from tests.settings import REDIS_SOCKET, SQLITE

TESTS = Path(__file__).parent
DATABASE = connections["default"].settings_dict
os.environ["PYTHONPATH"] = import_path(TESTS.parent)  # of the processes that tests start
# The tests of topk run without an application too, so that these are there.
pytest_addoption, pytest_configure = sampling.pytest_addoption, sampling.pytest_configure
sample = sampling.sample
# Tests of what databases differ in: locks and other processes, constraints, triggers, bulk
# statements, the order of rows, text, JSON and times. `make test` runs these on both databases.
BOTH_DATABASES = (
    "project/test_migrations",
    "project/test_models_killed.py",
    "project/test_web_read_only.py",
    "selection/answers/test_outages.py",
    "selection/answers/test_recording.py",
    "selection/db/",
    "selection/engine/test_concurrency.py",
    "selection/engine/test_exposure_limits.py",
    "selection/engine/test_held.py",
    "selection/engine/test_late_regrades.py",
    "selection/engine/test_packed.py",
    "selection/engine/test_resumption.py",
    "selection/engine/test_step.py",
    "selection/engine/test_withdrawal.py",
    "selection/imports/test_uploads.py",
    "mail/test_delivery.py",
    "selection/model_workers/test_concurrency.py",
    "selection/model_workers/test_threads.py",
    "selection/models/test_attributes.py",
    "selection/transfer/",
    "selection/webhooks/test_sending.py",
)
# Long tests, which `make test-all` adds, as it does single tests marked slow. Of those in a browser
# `make test` has the walk from an empty database to a running run.
SLOW = (
    "faults/",
    "project/test_api_docs.py",
    "project/test_browser_",
    "project/test_deploy.py",
    "project/test_hosts.py",
    "project/test_hostile_logs.py",
    "project/test_life.py",
    "project/test_migrations_killed.py",
    "project/test_models_killed.py",
    "project/test_overload.py",
    "project/test_packaging.py",
    "project/test_recipes.py",
    "project/test_strangers.py",
    "project/test_supervision.py",
    "project/test_web_browser.py",
    "project/test_web_hardening.py",
    "project/test_web_hostile.py",
    "project/test_web_uploads.py",
    "research/papers/",
    "research/validation/",
    "selection/accounts/access/test_offers.py",
    "selection/admin/test_junk_in_forms.py",
    "selection/api/test_openapi.py",
    "selection/engine/test_resumption.py",
    "mail/test_killed.py",
    "selection/transfer/",
)
# Tests of the whole: they run if no app is left out.
OF_THE_WHOLE = (
    "project/",
    "research/",
    "selection/accounts/access/",
    "selection/accounts/signin/test_hostile.py",
    "selection/admin/test_junk_in_forms.py",
    "selection/api/test_openapi.py",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave other files unread: reading all takes a fifth of the time of these tests."""
    if APPS_LEFT_OUT:
        place = collection_path.relative_to(TESTS).as_posix()
        return f"{place}/".startswith((*OF_THE_WHOLE, *APPS_LEFT_OUT)) or None
    if config.getoption("markexpr") != "both_databases" or collection_path.suffix != ".py":
        return None
    place = collection_path.relative_to(TESTS).as_posix()
    if place.startswith(BOTH_DATABASES) or b"both_databases" in collection_path.read_bytes():
        return None
    return True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by their room; without ``--full`` leave the slow ones out."""
    for item in items:
        place = os.path.relpath(item.path, TESTS)
        if place.startswith(BOTH_DATABASES) and not item.get_closest_marker("any_database"):
            item.add_marker("both_databases")
        if place.startswith(SLOW):
            item.add_marker("slow")
    sampling.pytest_collection_modifyitems(config, items)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exempt all imported modules from garbage collection: a tenth of the tests' CPU time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(scope="session", autouse=True)
def redis_server() -> Iterator[None]:
    server = subprocess.Popen(redis_command(REDIS_SOCKET), stdout=subprocess.DEVNULL)
    wait_until(REDIS_SOCKET.exists, "the Redis socket")
    yield
    server.terminate()
    server.wait()


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings: None) -> bool:
    """Keep the database if it is a copy of a migrated one."""
    return SQLITE and migrated.copy_template(Path(DATABASE["TEST"]["NAME"]))


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_keepdb: bool) -> None:
    """Keep a database that had to be migrated, for other processes and for the next tests."""
    if SQLITE and not django_db_keepdb:
        migrated.keep_template(Path(DATABASE["TEST"]["NAME"]))


@pytest.fixture(scope="session", autouse=True)
def no_haste() -> None:
    """A small file is sorted at once however busy the machine: no Celery would go on with it."""
    uploads.AT_ONCE = 60.0


@pytest.fixture(scope="session", autouse=True)
def no_dear_rule(request: pytest.FixtureRequest) -> None:
    """Leave a rule that takes seconds for each simulated run out of forecasts."""
    names = [name for name in candidates.algorithms_for_one_skill() if name != "each-good"]
    if not request.config.getoption("full"):
        candidates.algorithms_for_one_skill = lambda: names


@pytest.fixture(autouse=True)
def empty_redis(redis_server: None) -> None:
    cache.clear()
    wakeups._rests_until = 0.0


@pytest.fixture
def token(db: None) -> str:
    return ApiToken.issue("test")


@pytest.fixture
def requester(client: Client) -> Client:
    """A browser in which a superuser is signed in."""
    client.force_login(User.objects.create_superuser("requester"))
    return client
