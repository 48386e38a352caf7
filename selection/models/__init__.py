"""The tables. Each query set method names a read that more than one module needs."""

from selection.db import lookups as lookups  # registers the lookup
from selection.grading.keys import find_invisible, plain_key
from selection.grading.rules import normalise_text
from selection.models.tokens import IdempotencyKey

from . import exposure
from .answers import DELETED, Answer, Assignment, Candidate, RecordedAnswer, UncountedAnswer
from .attributes import Attributes, read_attributes
from .audit import AuditEntry
from .candidate_arrays import CandidateArrays, CandidateChange, restore_triggers
from .connectors import Connection, ConnectorCall, OutsideTask, OutsideWorker, RunConnection
from .forecasts import ForecastFigures, ForecastRequest, RunForecast
from .gold_tasks import GoldTask, WatchConnection, WatchedMember
from .heartbeats import Heartbeat
from .history import Event, Step
from .jobs import Job, JobsOfKind, Kept
from .media import MediaFile
from .model_workers import Endpoint, ModelCall, ModelServer, ModelSpending
from .platforms import Completion, Platform
from .pools import Pool, Worker
from .practice import Practice, PracticeAnswer, QuestionReport
from .questions import Question, QuestionSet
from .runs import SAMPLE_RUN, Run
from .skills import Skill
from .status import NOT_TESTED, status_counts, status_of
from .teams import Membership, Team, default_team, make_first_team
from .tokens import ApiToken
from .uploads import ColumnNames, Upload, UploadedRow
from .watches import GoldAnswer, GoldAnswerQuerySet, Watch, WatchedWorker
from .webhooks import Delivery, Webhook
