"""The subscription to Prolific's messages about submissions."""

from selection.connectors.secret_store import read_secrets, store_secrets
from selection.models import Connection

from .session import Session

EVENT = "submission.status.change"
CONFIRMATION = "x-hook-secret"


def subscribe(session: Session, url: str) -> str:
    """Let Prolific send its messages to this address; return a sentence.

    A workspace has one secret, and a new one would end the subscriptions of other programs: an
    existing one is used.
    """
    workspace = session.link.connection.settings["workspace"]
    _keep_secret(session, workspace)
    rows = session.list("hooks/subscriptions/", workspace_id=workspace, is_enabled="true")
    if any((one["event_type"], one["target_url"]) == (EVENT, url) for one in rows):
        return "The subscription exists already."
    body = {"workspace_id": workspace, "event_type": EVENT, "target_url": url}
    reply, headers = session.write_with_headers("POST", "hooks/subscriptions/", body)
    path = f"hooks/subscriptions/{reply['id']}/"
    session.write("POST", path, {"secret": headers.get(CONFIRMATION, "")})
    return "Prolific sends messages about submissions."


def _keep_secret(session: Session, workspace: str) -> None:
    connection = Connection.objects.get(pk=session.link.connection_id)
    if read_secrets(connection).get("hook_secret"):
        return
    keys = session.get("hooks/secrets/", workspace_id=workspace)["results"]
    secret = (
        keys[0] if keys else session.write("POST", "hooks/secrets/", {"workspace_id": workspace})
    )
    store_secrets(connection, {"hook_secret": secret["value"]})
    connection.save(update_fields=["secrets_encrypted"])
