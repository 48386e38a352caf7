"""Prolific: draft studies, participant groups, submissions, approvals and bonuses.

Built from the reference at docs.prolific.com/api-reference: *Create a draft study*, *Participant
groups*, *List submissions*, *Submission object*, *Approve or reject a submission*, *Set up
bonuses*, *Pay bonuses*, *Webhooks: receiving, verifying*, and *Managing high loads*.
No call rejects a submission.
"""

from .bonuses import Batch, confirm_bonuses, list_batches, propose_bonuses, settle_bonuses
from .connector import (
    CONNECTOR,
    count_submissions,
    dry_run,
    find_link,
    request_messages,
    request_study,
)
from .session import PlannedCall
