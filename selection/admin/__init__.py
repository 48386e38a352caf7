"""The requester's pages: Django's admin in django-unfold's layout, one file per subject."""

from . import access, answers, audit, pools, practice, questions, runs, system, webhooks

__all__ = [
    "access",
    "answers",
    "audit",
    "pools",
    "practice",
    "questions",
    "runs",
    "system",
    "webhooks",
]
