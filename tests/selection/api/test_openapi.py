"""The OpenAPI document is true: schemathesis tests all of it with valid and invalid requests.

It sends boundary values of each field, undocumented methods and random data, and checks every
reply: no 5xx, no undocumented status, header, type or field, no forbidden input accepted, and no
access without a token.
"""

import random
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as limits
from schemathesis.config import ChecksConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.config._checks import PositiveDataAcceptanceConfig
from schemathesis.core.failures import FailureGroup
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode

from selection.forecast import forecast_requests
from tests.selection.accounts.access.world import Camp, camp

pytestmark = pytest.mark.django_db

MODES = list(GenerationMode)
SIGNALS = (request_started, request_finished)
# Valid requests may still conflict with stored data: a name in use, a K beyond the pool.
REFUSED = ["2xx", "400", "404", "409", "422"]


@pytest.fixture
def theirs(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Camp]:
    """A team with an object of every kind; requests stay in the test's transaction."""
    settings.API_REQUESTS_PER_MINUTE = settings.API_FAILURES_PER_MINUTE = 0
    monkeypatch.setattr(forecast_requests, "FIRST", 0.0)
    for signal in SIGNALS:
        signal.disconnect(close_old_connections)
    yield camp("zebra")
    for signal in SIGNALS:
        signal.connect(close_old_connections)


def document() -> Any:
    checks = ChecksConfig(
        positive_data_acceptance=PositiveDataAcceptanceConfig(expected_statuses=REFUSED)
    )
    project = ProjectConfig(checks=checks)
    config = SchemathesisConfig(seed=1, projects=ProjectsConfig(default=project))
    return schemathesis.openapi.from_wsgi(
        "/api/openapi.json", get_wsgi_application(), config=config
    )


def operations(schema: Any) -> list[Any]:
    return [result.ok() for result in schema.get_all_operations()]


def ids(theirs: Camp) -> dict[str, object]:
    return {
        "run_id": theirs.run.pk,
        "pool_id": theirs.pool.pk,
        "server_id": theirs.model_server.pk,
        "set_id": theirs.question_set.pk,
        "question": "zebra-q1",
        "worker": "zebra-w1",
        "assignment_id": theirs.open.pk,
        "forecast_id": str(theirs.forecast.pk),
        "file_id": str(theirs.upload.pk),
        "replay_id": str(theirs.replay.pk),
        "practice_id": theirs.question_set.practice.get().pk,
        "name": "zebra.gif",
    }


def at_the_borders(operation: Any, most: int) -> list[Any]:
    """Return a sample of the boundary cases of each field, and every undocumented method."""
    generation = operation.schema.config.generation_for(operation=operation)
    cases = list(
        operation.schema.iter_coverage_cases(
            operation, generation_modes=MODES, generation_config=generation
        )
    )
    others = [case for case in cases if case.method != operation.method.upper()]
    own = [case for case in cases if case.method == operation.method.upper()]
    return others + random.Random(1).sample(own, min(most, len(own)))


def negated(case: Any, where: ParameterLocation) -> bool:
    component = case.meta.components.get(where)
    return component is not None and component.mode is GenerationMode.NEGATIVE


def made_up(operation: Any, most: int, own: dict[str, object] | None) -> list[Any]:
    """Return this number of random cases of each kind, the same in every run."""
    return [case for mode in MODES for case in _drawn(operation, mode, most, own)]


def _drawn(operation: Any, mode: Any, most: int, own: dict[str, object] | None) -> list[Any]:
    found: list[Any] = []

    @seed(1)
    @limits(
        max_examples=most,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode, path_parameters=own))
    def collect(case: Any) -> None:
        found.append(case)

    collect()
    return found


def knock(case: Any, secret: str) -> list[str]:
    """Return the faults of the reply to this case; its effects are rolled back."""
    # Cases about a missing token are sent without one.
    token = "" if negated(case, ParameterLocation.HEADER) else f"Bearer {secret}"
    headers = {"Authorization": token} if token else {}
    wrong = []
    with transaction.atomic():
        try:
            reply = case.call_and_validate(headers=headers)
        except FailureGroup as failures:
            wrong = [f"{case.operation.label}: {failure}" for failure in failures.exceptions]
        else:
            wrong = unsaid(case, reply)
        transaction.set_rollback(True)
    return wrong


def unsaid(case: Any, reply: Any) -> list[str]:
    """Return a field that matches the document but is refused: the document is incomplete."""
    if case.meta.generation.mode is GenerationMode.NEGATIVE or reply.status_code != 422:
        return []
    told = reply.json()
    return [f"{case.operation.label}: undocumented, {told}"] if "field" in told else []


def test_generated_requests_are_answered_as_documented(theirs, sample):
    secret, known, wrong = theirs.secret("manage"), ids(theirs), []
    for operation in operations(document()):
        names = {parameter.name for parameter in operation.path_parameters}
        own = {name: value for name, value in known.items() if name in names}
        cases = at_the_borders(operation, sample(12, 10_000))
        for case in cases:
            if own and not negated(case, ParameterLocation.PATH):
                case.path_parameters = {**case.path_parameters, **own}
        cases += made_up(operation, sample(4, 60), own or None)
        wrong += [why for case in cases for why in knock(case, secret)]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.any_database
def test_generated_requests_without_a_token_are_refused(theirs, sample):
    for operation in operations(document()):
        for case in made_up(operation, sample(2, 20), None):
            reply = case.call()  # 400: NUL in an address is checked first
            assert reply.status_code in (400, 401), operation.label
            assert set(reply.json()) == {"error"}
