"""Connectors: annotation tools and marketplaces that a run works with, without files."""

from .accounts import (
    FieldRefused,
    check_account,
    create_connection,
    delete_connection,
    pause_connection,
    save_connection,
)
from .calls import repeat_call
from .exchange import exchange, request_exchanges, sweep_connections
from .intake import take_news
from .links import connect_run, disconnect_run, write_back
from .registry import CONNECTORS, connector_of, find_connector

__all__ = [
    "CONNECTORS",
    "FieldRefused",
    "check_account",
    "connect_run",
    "connector_of",
    "create_connection",
    "delete_connection",
    "disconnect_run",
    "exchange",
    "find_connector",
    "pause_connection",
    "repeat_call",
    "request_exchanges",
    "save_connection",
    "sweep_connections",
    "take_news",
    "write_back",
]
