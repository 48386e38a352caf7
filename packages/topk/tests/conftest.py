"""How much the tests draw, and which are left out. The application's tests share these hooks."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, settings


def pytest_addoption(parser: pytest.Parser) -> None:
    with suppress(ValueError):  # the application's conftest.py has added it
        parser.addoption(
            "--full", action="store_true", help="Run slow tests, too, and draw full samples."
        )


def pytest_configure(config: pytest.Config) -> None:
    """Random problems are the same in every run: a find is never lost."""
    config.addinivalue_line("markers", "slow: only `--full` runs it")
    settings.register_profile(
        "seeded",
        max_examples=100 if config.getoption("full") else 5,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("seeded")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave slow tests out, unless all are wanted."""
    if not config.getoption("full"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]


@pytest.fixture
def sample(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """``sample(ordinary, full)``: how much a statistical test draws, the second with ``--full``."""
    return lambda ordinary, full: full if request.config.getoption("full") else ordinary
