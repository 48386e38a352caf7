"""Models as workers: their servers, the models of a pool, test calls."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack
from urllib.parse import quote

from .connection import Connection
from .replies import (
    ListedModels,
    Model,
    ModelChanges,
    ModelServer,
    ModelServerChanges,
    ModelServerIn,
    ModelsStored,
    ModelTest,
)


class Models:
    """The team's model servers, and the models of its pools. Every method may raise ApiError."""

    def __init__(self, connection: Connection) -> None:
        self._to = connection

    def create_server(self, **server: Unpack[ModelServerIn]) -> ModelServer:
        """Create a model server; its ``key`` is never returned."""
        return self._to.ask(ModelServer, "POST", "model-servers", harmless=False, json=server)

    def servers(self) -> list[ModelServer]:
        return self._to.ask(list[ModelServer], "GET", "model-servers")

    def change_server(self, number: int, **changes: Unpack[ModelServerChanges]) -> ModelServer:
        return self._to.ask(ModelServer, "PATCH", f"model-servers/{number}", json=changes)

    def delete_server(self, number: int) -> None:
        self._to.send("DELETE", f"model-servers/{number}", harmless=False)

    def names(self, server: int) -> list[str]:
        path = f"model-servers/{server}/models"
        return self._to.ask_later(ListedModels, "GET", path)["models"]

    def add(self, pool: int, models: str | Sequence[Mapping[str, Any]]) -> ModelsStored:
        """Add models to a pool, all or none: the text of a YAML file, or its entries."""
        body = {"yaml": models} if isinstance(models, str) else {"models": list(models)}
        return self._to.ask(ModelsStored, "POST", f"pools/{pool}/models", json=body)

    def of_pool(self, pool: int) -> Iterator[Model]:
        return self._to.pages(Model, f"pools/{pool}/models", {})

    def show(self, pool: int, worker: str) -> Model:
        return self._to.ask(Model, "GET", _path(pool, worker))

    def change(self, pool: int, worker: str, **changes: Unpack[ModelChanges]) -> Model:
        """Change the settings of a worker's model; omitted ones stay."""
        return self._to.ask(Model, "PATCH", _path(pool, worker), json=changes)

    def delete(self, pool: int, worker: str) -> None:
        """Take the model from a worker, who stays in the pool."""
        self._to.send("DELETE", _path(pool, worker), harmless=False)

    def test(
        self, pool: int, worker: str, question_set: int, question: str | None = None
    ) -> ModelTest:
        """Ask a model a question now, and return the reply; ``question`` None: the first one."""
        body = {"worker": worker, "question_set": question_set, "question": question}
        return self._to.ask_later(ModelTest, "POST", f"pools/{pool}/test-calls", json=body)


def _path(pool: int, worker: str) -> str:
    return f"pools/{pool}/models/{quote(worker, safe='')}"
