"""The tables. Each query set method names a read that more than one module needs."""

from selection.db import lookups as lookups  # registers the lookup
from selection.grading.keys import find_invisible, map_to_stored, plain_key, stored_spellings
from selection.grading.rules import normalise_text

from . import exposure
from .answers import DELETED, Answer, Assignment, Candidate, RecordedAnswer
from .attributes import Attributes, read_attributes
from .audit import AuditEntry
from .forecasts import Planning, PlanningPart
from .heartbeats import Pulse
from .history import Event, Step
from .idempotency_keys import Creation
from .mail import Follower, Mail, MailSettings, OptOut, recipient_digest
from .media import MediaFile
from .pools import Pool, Worker
from .practice import Complaint, Practice, PracticeAnswer
from .questions import Question, QuestionSet
from .running_forecasts import Outlook
from .runs import SAMPLE_RUN, Run
from .skills import Skill
from .status import NOT_TESTED, status_counts, status_of
from .teams import Membership, Team, default_team
from .tokens import ApiToken
from .uploads import ColumnNames, Upload, UploadedRow
from .webhooks import Delivery, Webhook

__all__ = [
    "DELETED",
    "NOT_TESTED",
    "SAMPLE_RUN",
    "Answer",
    "ApiToken",
    "Assignment",
    "Attributes",
    "AuditEntry",
    "Candidate",
    "ColumnNames",
    "Complaint",
    "Creation",
    "Delivery",
    "Event",
    "Follower",
    "Mail",
    "MailSettings",
    "MediaFile",
    "Membership",
    "OptOut",
    "Outlook",
    "Planning",
    "PlanningPart",
    "Pool",
    "Practice",
    "PracticeAnswer",
    "Pulse",
    "Question",
    "QuestionSet",
    "RecordedAnswer",
    "Run",
    "Skill",
    "Step",
    "Team",
    "Upload",
    "UploadedRow",
    "Webhook",
    "Worker",
    "default_team",
    "exposure",
    "find_invisible",
    "map_to_stored",
    "normalise_text",
    "plain_key",
    "read_attributes",
    "recipient_digest",
    "status_counts",
    "status_of",
    "stored_spellings",
]
