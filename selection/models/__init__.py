"""The tables. Each query set method names a read that more than one module needs."""

from . import among as among  # registers the lookup
from . import exposure
from .answers import DELETED, Answer, Assignment, Candidate, RecordedAnswer
from .attributes import Attributes, read_attributes
from .audit import AuditEntry
from .creations import Creation
from .crowd import Pool, Worker
from .grading import plain
from .history import Event, Step
from .media import MediaFile
from .outlook import Outlook
from .planning import Planning, PlanningPart
from .pulses import Pulse
from .questions import Question, QuestionSet
from .runs import SAMPLE_RUN, Run
from .skills import Skill
from .spelling import as_stored, plain_key, spellings, unseen
from .status import NOT_TESTED, status_counts, status_of
from .teams import Membership, Team, default_team
from .tokens import ApiToken
from .uploads import ColumnNames, Upload, UploadedRow
from .visits import Complaint, Practice, PracticeAnswer
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
    "MediaFile",
    "Membership",
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
    "as_stored",
    "default_team",
    "exposure",
    "plain",
    "plain_key",
    "read_attributes",
    "spellings",
    "status_counts",
    "status_of",
    "unseen",
]
