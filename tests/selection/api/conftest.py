"""A program that calls the API."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from selection.models import ApiToken


class Program:
    """A client with a token; bodies are sent as JSON, addresses begin after /api/."""

    def __init__(self, secret: str) -> None:
        self.client = Client(headers={"authorization": f"Bearer {secret}"})

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        content: dict[str, Any] = {}
        if body is not None:
            content = {"data": body, "content_type": "application/json"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return getattr(self.client, method)(f"/api/{path}", headers=named, **content)

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(f"/api/{path}", query)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self("post", path, {} if body is None else body, **headers)

    def put(self, path: str, body: Any) -> Any:
        return self("put", path, body)

    def patch(self, path: str, body: Any) -> Any:
        return self("patch", path, body)

    def delete(self, path: str) -> Any:
        return self("delete", path)


@pytest.fixture
def manager(db: None) -> Program:
    return Program(ApiToken.issue("manager"))


@pytest.fixture
def program(db: None) -> Callable[[str], Program]:
    """Return ``program(scope)``: a client with a token of that scope only."""
    return lambda scope: Program(ApiToken.issue(scope, scope=scope))
