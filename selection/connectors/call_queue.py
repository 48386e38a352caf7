"""The queue of a connection's calls; ``calls`` makes them."""

import json
from collections.abc import Mapping
from typing import Any

from selection import db_clock
from selection.models import Connection, ConnectorCall, RunConnection

from . import health


def queue_call(
    connection: Connection,
    kind: str,
    data: Mapping[str, Any],
    link: RunConnection | None = None,
    tries: int = 0,
) -> ConnectorCall:
    """Store a call in the current transaction, and request that it is made.

    tries  1 if it may have arrived already
    """
    now = db_clock.database_now()
    call = ConnectorCall.objects.create(
        connection=connection,
        link=link,
        kind=kind,
        body=json.dumps(data),
        made=now,
        due=now,
        tries=tries,
    )
    health.request_exchange(connection.pk)
    return call
