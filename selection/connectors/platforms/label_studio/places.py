"""The project of each worker, and the person who answers there."""

import re
from collections.abc import Sequence
from contextlib import suppress

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from selection.connectors import call_queue
from selection.connectors.faults import Missing, Rejected
from selection.errors import Refused
from selection.models import OutsideWorker, RunConnection, Worker

from . import reading, task_data
from .client import Client, NoMembers

CHUNK = 1000
LONGEST_TITLE = 50
_OWN = re.compile(r"\[cs-[0-9a-f]+-\d+-\d+\]")
OPEN = "project.open"  # kind of a call
ACTIONS = ["ANNOTATION_CREATED", "ANNOTATION_UPDATED"]
NO_WEBHOOK = (
    "Label Studio refuses to send messages to this server: answers are fetched every 30 seconds. "
    "See docs/label-studio.md."
)
UNKNOWN = (
    "Nobody in Label Studio is {}. Invite them in Label Studio, or give the worker the attribute "
    "label_studio with their number or address there."
)


def find_or_create(
    link: RunConnection, worker: Worker, client: Client, again: bool
) -> OutsideWorker:
    """Find the worker's place, with a project.

    again  True to look for a project of an earlier attempt
    """
    places = link.workers.exclude(outside_id="").filter(worker=worker)
    if not places.exists():
        _note_accounts(link, client)
    place = places.first()
    if place is None:
        raise Rejected(UNKNOWN.format(f"“{worker}”"))
    if not place.place:
        mark = _mark(link, worker)
        hits = client.list_projects(mark) if again else []
        place.place = str(hits[0]["id"]) if hits else _create_project(link, worker, client, mark)
        _store_project(link, place)
    return place


@transaction.atomic
def _store_project(link: RunConnection, place: OutsideWorker) -> None:
    """Store the place; the rest follows in a call behind the tasks that wait already."""
    place.save(update_fields=["place"])
    call_queue.queue_call(link.connection, OPEN, {"worker": place.worker_id}, link)


def _create_project(link: RunConnection, worker: Worker, client: Client, mark: str) -> str:
    run = link.run
    room = LONGEST_TITLE - len(mark) - 1
    instructions = run.question_set.instructions
    return client.create_project(
        {
            "title": f"{worker}: {run}"[:room].rstrip() + f" {mark}",
            "description": f"Questions of the run “{run}” for “{worker}”, by CrowdSelect.",
            "label_config": link.memory[task_data.INTERFACE],
            "expert_instruction": instructions,
            "show_instruction": bool(instructions),
            "maximum_annotations": 1,
            "enable_empty_annotation": False,
            "skip_queue": "IGNORE_SKIPPED",
            "sampling": "Sequential sampling",
            "show_collab_predictions": False,
        }
    )


def _mark(link: RunConnection, worker: Worker) -> str:
    """Mark the title, so that an earlier attempt is found."""
    return f"[cs-{link.connection.salt[:6]}-{link.pk}-{worker.pk}]"


def is_own(title: str) -> bool:
    return bool(_OWN.search(title))


def forget(place: OutsideWorker) -> None:
    place.place, place.notes = "", {}
    place.save(update_fields=["place", "notes"])


def open_project(link: RunConnection, place: OutsideWorker, client: Client) -> str:
    """Register the project's webhook, and let its worker see it; return a sentence."""
    note = _register_webhook(link, place, client)
    with suppress(NoMembers):
        client.add_member(place.place, int(place.outside_id))
    return note


def _register_webhook(link: RunConnection, place: OutsideWorker, client: Client) -> str:
    """Let Label Studio tell of annotations in this project, if it can; return a sentence.

    Polls find them anyway.
    """
    path = reverse("receive_message", args=[link.connection_id])
    url = f"{settings.PUBLIC_URL}{path}"
    try:
        if not any(hook.get("url") == url for hook in client.list_webhooks(place.place)):
            client.create_webhook(place.place, _webhook_fields(link, url))
        note = "on"
    except (Rejected, Missing):
        note = NO_WEBHOOK
    place.notes = {**place.notes, "webhook": note}
    place.save(update_fields=["notes"])
    return "Label Studio sends messages." if note == "on" else note


def _webhook_fields(link: RunConnection, url: str) -> dict[str, object]:
    return {
        "url": url,
        "headers": {"X-CrowdSelect-Secret": link.connection.secret},
        "send_payload": True,
        "send_for_all_actions": False,
        "actions": ACTIONS,
        "is_active": True,
    }


# -- people


def _note_accounts(link: RunConnection, client: Client) -> None:
    """Store who all workers of the run are there: one request, instead of one for each."""
    accounts = reading.accounts_by_name(client.list_users())
    workers = link.run.pool.workers.filter(endpoint=None)
    places = link.workers.exclude(outside_id="").values("worker")
    rows = [
        OutsideWorker(link=link, worker=worker, outside_id=account)
        for worker in workers.exclude(pk__in=places)
        if (account := reading.account_of(names_of(worker), accounts))
    ]
    OutsideWorker.objects.bulk_create(
        rows,
        CHUNK,
        update_conflicts=True,
        update_fields=["outside_id"],
        unique_fields=["link", "worker"],
    )


def names_of(worker: Worker) -> list[str]:
    """Read the attribute that identifies the worker there; without it their other names."""
    attribute = str(worker.attributes.get(reading.ATTRIBUTE, "")).strip()
    return [attribute] if attribute else [worker.key, worker.mail_address]


def refuse_strangers(link: RunConnection, client: Client) -> None:
    """Raise Refused if no worker of the run is known there: their names must be of another kind."""
    accounts = reading.accounts_by_name(client.list_users())
    workers = list(link.run.pool.workers.filter(endpoint=None))
    if workers and not any(reading.account_of(names_of(one), accounts) for one in workers):
        raise Refused(UNKNOWN.format(f"“{workers[0]}”, or any other worker"))


def accounts_of(link: RunConnection, workers: Sequence[str], client: Client) -> list[str]:
    """Look up the ids of these workers there. Raises Rejected for an unknown one."""
    accounts = reading.accounts_by_name(client.list_users())
    rows = link.run.pool.workers.filter(key__in=workers)
    ids = {one.key: reading.account_of(names_of(one), accounts) for one in rows}
    for name in workers:
        if not ids.get(name):
            raise Rejected(UNKNOWN.format(f"“{name}”"))
    return [ids[name] for name in workers]
