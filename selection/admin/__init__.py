"""The requester's pages: Django's admin in django-unfold's layout, one file per subject."""

from . import pools, system
from .connectors import accounts as connections
from .model_workers import servers
from .questions import question_admin
from .run import run_admin
from .teams import accounts, audit, webhooks
from .watches import watch_admin
