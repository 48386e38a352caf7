"""All connectors by name: one for each module or package in ``platforms``."""

from importlib import import_module
from pkgutil import iter_modules

from selection.errors import Refused
from selection.models import Connection

from . import platforms
from .connector import Connector


def _find_connectors() -> dict[str, Connector]:
    modules = [
        import_module(f"{platforms.__name__}.{info.name}")
        for info in iter_modules(platforms.__path__)
    ]
    return {module.CONNECTOR.name: module.CONNECTOR for module in modules}


CONNECTORS: dict[str, Connector] = _find_connectors()


def find_connector(name: str) -> Connector:
    """Raise Refused for an unknown name."""
    if name not in CONNECTORS:
        names = ", ".join(sorted(CONNECTORS)) or "none"
        raise Refused(f"There is no connector “{name}”; there are: {names}.")
    return CONNECTORS[name]


def connector_of(connection: Connection) -> Connector:
    return find_connector(connection.kind)
