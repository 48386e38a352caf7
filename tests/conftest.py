"""What every test has: a real Redis, empty. What many ask for: a token, a requester."""

import subprocess
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from hypothesis import HealthCheck, settings

import crowdselect.urls  # noqa: F401  (finds all pages, of which a test may ask for any)
from crowdselect.start.redis_server import redis_command
from selection import wakeups
from selection.imports import uploads
from selection.models import ApiToken
from tests.processes import wait_until
from tests.settings import REDIS_SOCKET


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full", action="store_true", help="Let statistical tests draw their full samples."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Random problems are the same in every run: a find is never lost."""
    settings.register_profile(
        "crowdselect",
        max_examples=100 if config.getoption("full") else 8,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("crowdselect")


@pytest.fixture
def sample(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """``sample(ordinary, full)``: how much a statistical test draws, the second with ``--full``."""
    return lambda ordinary, full: full if request.config.getoption("full") else ordinary


@pytest.fixture(scope="session", autouse=True)
def redis_server() -> Iterator[None]:
    server = subprocess.Popen(redis_command(REDIS_SOCKET), stdout=subprocess.DEVNULL)
    wait_until(REDIS_SOCKET.exists, "the Redis socket")
    yield
    server.terminate()
    server.wait()


@pytest.fixture(scope="session", autouse=True)
def no_haste() -> None:
    """A small file is sorted at once however busy the machine: no Celery would go on with it."""
    uploads.AT_ONCE = 60.0


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
