"""Platforms that send people by link: the worker's id in it, and the way back at the end.

docs/platforms.md has a section for each.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from selection.models import Candidate, Completion, Platform, Run

from . import enrolment

PLACEHOLDERS = ("{worker}", "{task}", "{code}")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_PARAMETER = re.compile(r"[A-Za-z0-9_.-]+")
RESERVED = ("language",)  # of our own pages


@dataclass(frozen=True)
class JoinPlatform:
    """How a platform sends workers to the join link, and takes them back.

    worker  the parameter with the worker's id; empty if each run names its own
    task    the parameter with their task there; empty if there is none
    query   text to append to the join link on the platform; empty if the platform does it
    back    the address that takes workers back; empty if each project has its own
    needs   text that a project's own address must contain
    guide   its place in the documentation
    steps   of the requester there, as sentences
    """

    worker: str = ""
    task: str = ""
    query: str = ""
    back: str = ""
    needs: str = ""
    guide: str = "platforms#a-platform-of-your-own"
    steps: tuple[str, ...] = ("Send people to the join link, with the parameter and their id.",)


CODES = "Use the run’s completion codes there, or enter the platform’s codes in the run’s messages."
JOIN_PLATFORMS = {
    Platform.PROLIFIC: JoinPlatform(
        "PROLIFIC_PID",
        "SESSION_ID",
        "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        "https://app.prolific.com/submissions/complete?cc={code}",
        guide="prolific",
        steps=(
            "Create a study on Prolific, and enter the join link as its address.",
            "Choose “I’ll use URL parameters”.",
            CODES,
            "Publish the study.",
        ),
    ),
    Platform.CONNECT: JoinPlatform(
        "participantId",
        "assignmentId",
        guide="platforms#connect",
        steps=("Enter the join link as the project’s address. Connect adds the ids.", CODES),
    ),
    Platform.BESAMPLE: JoinPlatform(
        "response_id",
        guide="platforms#besample",
        steps=(
            "Enter the join link in the project, with ?response_id= and Besample’s placeholder for "
            "the id.",
            "Open the link once as a test participant: the worker appears below.",
        ),
    ),
    Platform.SONA: JoinPlatform(
        "id",
        query="id=%SURVEY_CODE%",
        needs="{worker}",
        guide="platforms#sona",
        steps=("Enter the join link as the study’s URL.",),
    ),
    Platform.MTURK: JoinPlatform(
        "workerId",
        "assignmentId",
        guide="platforms#amazon-mechanical-turk",
        steps=(
            "Create a HIT with an ExternalQuestion, and enter the MTurk link as its ExternalURL. "
            "Workers answer and submit there.",
            "Or create a HIT with a survey link: let it add ?workerId= and the worker’s id to the "
            "join link. Workers hand in a code.",
        ),
    ),
    Platform.CUSTOM: JoinPlatform(),
}
# The parameters of a run without a platform, in order.
ANY_PLATFORM = {"worker": "", "workerId": Platform.MTURK, "PROLIFIC_PID": Platform.PROLIFIC}


def worker_parameters(run: Run) -> tuple[str, ...]:
    """List the parameters in which the run's join link takes the worker's id."""
    if not run.platform:
        return tuple(ANY_PLATFORM)
    return (run.worker_parameter or JOIN_PLATFORMS[Platform(run.platform)].worker,)


def read_worker(run: Run, params: Mapping[str, str]) -> str:
    """Read the worker's id in the link; empty if the platform put none there."""
    values = (params.get(name, "").strip() for name in worker_parameters(run))
    return next((key for key in values if key and not enrolment.is_placeholder(key)), "")


def names_worker(params: Mapping[str, str], run: Run) -> bool:
    """Tell if the link has a parameter for the worker's id, even a useless one."""
    return any(name in params for name in (*worker_parameters(run), *ANY_PLATFORM))


def find_source(run: Run, params: Mapping[str, str]) -> enrolment.EnrolmentSource:
    """Recognise the platform and the task by the parameters of the link."""
    names = [name for name in worker_parameters(run) if name in params]
    platforms = [run.platform or ANY_PLATFORM[name] for name in names]
    platform = platforms[-1] if platforms else ""
    if not platform:
        return enrolment.NO_SOURCE
    return enrolment.EnrolmentSource(
        platform, params.get(JOIN_PLATFORMS[Platform(platform)].task, "")
    )


def entry_query(run: Run) -> str:
    """Build the text to append to the run's join link; empty if the platform appends it."""
    if not run.platform:
        return ""
    query = JOIN_PLATFORMS[Platform(run.platform)].query
    if not run.worker_parameter:
        return query
    usual = JOIN_PLATFORMS[Platform(run.platform)].worker
    return query.replace(f"{usual}=", f"{run.worker_parameter}=", 1)


def prolific_query(run: Run) -> str:
    """Build the text that Prolific appends to join links, under the run's parameter for ids."""
    if run.platform == Platform.PROLIFIC:
        return entry_query(run)
    return JOIN_PLATFORMS[Platform.PROLIFIC].query


# -- the way back


@dataclass(frozen=True)
class Visit:
    """A worker's visit from a platform: what its address back may contain."""

    platform: str
    worker: str
    task: str

    @classmethod
    def from_candidate(cls, candidate: Candidate) -> "Visit":
        worker = candidate.worker.key if candidate.platform else ""  # spares a query
        return cls(candidate.platform, worker, candidate.task)


def return_address(run: Run, visit: Visit, code: str, done: bool) -> str:
    """Build the address that takes the worker back to the platform; empty if there is none.

    done  True if the worker has finished: an address without the code itself says that they have,
          so nobody else gets it
    """
    if run.completion == Completion.CODE or not visit.platform:
        return ""
    template = _find_own_address(run, visit.platform)
    if not done and "{code}" not in template:
        return ""
    values = {"{worker}": visit.worker, "{task}": visit.task, "{code}": code}
    return _PLACEHOLDER.sub(lambda found: quote(values.get(found[0], ""), safe=""), template)


def _find_own_address(run: Run, platform: str) -> str:
    own = run.completion_url if platform == run.platform else ""
    return own or JOIN_PLATFORMS[Platform(platform)].back


# -- validation


def validate_platform(run: Run) -> dict[str, str]:
    faults = _validate_parameter(run) | _validate_address(run)
    if not run.platform and (settings := {"worker_parameter", "completion_url"} - faults.keys()):
        sentence = "Choose the platform first; *another platform* fits any that is not listed."
        faults |= {name: sentence for name in sorted(settings) if getattr(run, name)}
    return faults


def _validate_parameter(run: Run) -> dict[str, str]:
    name = run.worker_parameter
    if name and (not _PARAMETER.fullmatch(name) or name in RESERVED):
        return {
            "worker_parameter": f"“{name}” cannot be the parameter: use letters, digits, and . _ -,"
            f" and not {RESERVED[0]}."
        }
    if run.platform == Platform.CUSTOM and not name:
        return {
            "worker_parameter": "Enter the name before the worker’s id in the platform’s link, for "
            "example participant."
        }
    return {}


def _validate_address(run: Run) -> dict[str, str]:
    address = run.completion_url
    if not address:
        return {}
    if run.completion == Completion.CODE:
        return {"completion_url": "Workers hand in a code and get no link: remove the address."}
    unknown = [name for name in _PLACEHOLDER.findall(address) if name not in PLACEHOLDERS]
    if unknown:
        names = ", ".join(PLACEHOLDERS)
        return {"completion_url": f"{unknown[0]} is not a placeholder; there are {names}."}
    if not _is_web_address(address):
        return {
            "completion_url": "Enter a whole address without spaces, for example "
            "https://example.org/done?id={worker}."
        }
    needed = JOIN_PLATFORMS[Platform(run.platform)].needs if run.platform else ""
    if needed not in address:
        return {
            "completion_url": f"Put {needed} into the address in place of the worker’s id: the "
            "platform credits this id."
        }
    return {}


def _is_web_address(address: str) -> bool:
    if not address.isascii() or not address.isprintable() or " " in address:
        return False
    try:
        parts = urlsplit(_PLACEHOLDER.sub("x", address))
        return parts.scheme in ("https", "http") and bool(parts.hostname)
    except ValueError:
        return False


def validate_way_back(run: Run) -> dict[str, str]:
    """Find the fault of a run that leads workers back, but not to an address, by field.

    MTurk needs none: the page in its frame submits the HIT, and others show a code.
    """
    if run.platform in ("", Platform.MTURK) or run.completion == Completion.CODE:
        return {}
    if _find_own_address(run, run.platform):
        return {}
    platform = Platform(run.platform).label
    return {
        "completion_url": f"For {platform} the link back needs an address: enter the completion "
        "address of your project, or let workers hand in a code."
    }
