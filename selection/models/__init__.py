"""The tables. Each query set method names a read that more than one module needs."""

from .answers import Answer, Assignment, Candidate, Recorded
from .crowd import Pool, Worker
from .edges import ApiToken, Upload
from .questions import Question, QuestionSet, plain
from .runs import Run, Skill, Step

__all__ = [
    "Answer",
    "ApiToken",
    "Assignment",
    "Candidate",
    "Pool",
    "Question",
    "QuestionSet",
    "Recorded",
    "Run",
    "Skill",
    "Step",
    "Upload",
    "Worker",
    "plain",
]
