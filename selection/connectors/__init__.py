"""Connectors: annotation tools and marketplaces that a run works with, without files."""

from .accounts import (
    FieldRefused,
    check_account,
    create_connection,
    delete_connection,
    pause_connection,
    save_connection,
)
from .background import request_call, request_dry_run, request_save
from .calls import repeat_call
from .connector import Incoming
from .exchange import exchange, request_exchanges, sweep_connections
from .faults import NotAuthentic
from .intake import receive_message, take_news
from .links import (
    connect_run,
    disconnect_run,
    dismiss_problem,
    list_links,
    with_tools,
    write_back,
)
from .reading import (
    create_pool,
    create_question_set,
    fetch_past,
    import_gold,
    import_workers,
    list_sources,
)
from .registry import CONNECTORS, connector_of, find_connector
from .watch_links import connect_watch, disconnect_watch, list_by_hand
