"""The draft study of a run."""

from typing import Any

from django.utils.crypto import salted_hmac

from selection.errors import Refused
from selection.models import RunConnection
from selection.runs import worker_texts

from . import groups
from .session import Session

DEVICES = ["desktop", "tablet", "mobile"]
LONGEST_NAME = 120


def check_settings(link: RunConnection) -> None:
    """Raise Refused for settings that no study can have."""
    values = link.settings
    for name, least, unit in (
        ("places", 1, "Places: enter how many participants you want, at least 1."),
        ("reward", 1, "Reward: enter it in pence or cents, at least 1."),
        ("minutes", 1, "Estimated time: enter the minutes, at least 1."),
    ):
        if not isinstance(values.get(name), int) or values[name] < least:
            raise Refused(unit)


def create_study(session: Session, url: str) -> str:
    """Create the draft study once; return a sentence. It is looked for before it is made."""
    if number := session.memory.get("study"):
        return f"The study {number} exists already."
    block = [groups.find_group(session, "block")] if session.link.settings["block"] else []
    marker = marker_of(session.link)
    project = session.link.settings["project"]
    path = f"projects/{project}/studies/" if project else "studies/"
    drafts = [one for one in session.list(path) if one.get("internal_name") == marker]
    study = drafts[0] if drafts else session.write("POST", "studies/", payload(session, url, block))
    session.note(study=study["id"])
    return f"The draft study {study['id']} is on Prolific: look at it, and publish it there."


def marker_of(link: RunConnection) -> str:
    """Choose a name that no other study has, so that a lost reply makes no second one."""
    sign = salted_hmac("selection.prolific", f"{link.pk}").hexdigest()[:8]
    return f"CrowdSelect run {link.run_id}, {sign}"


def payload(session: Session, url: str, block: list[str]) -> dict[str, Any]:
    """Build the body of *Create a draft study*. Every code leads to a review."""
    link = session.link
    run, values = link.run, link.settings
    filters = [{"filter_id": "participant_group_blocklist", "selected_values": block}]
    body = {
        "name": (values["title"] or run.name)[:LONGEST_NAME],
        "internal_name": marker_of(link),
        "description": values["description"] or values["title"] or run.name,
        "external_study_url": url,
        "prolific_id_option": "url_parameters",
        "completion_codes": [
            {
                "code": worker_texts.completion_code(run, outcome),
                "code_type": "COMPLETED" if outcome == "done" else "OTHER",
                "actions": [{"action": "MANUALLY_REVIEW"}],
            }
            for outcome in worker_texts.OUTCOMES
        ],
        "total_available_places": values["places"],
        "estimated_completion_time": values["minutes"],
        "reward": values["reward"],
        "device_compatibility": DEVICES,
        "peripheral_requirements": [],
        "submissions_config": {"max_submissions_per_participant": 1},
        "filters": filters if block else [],
    }
    return body | ({"project": values["project"]} if values["project"] else {})
