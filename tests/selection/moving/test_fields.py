"""What is stored of a run and its surroundings is dumped and loaded, to the last field."""

import pytest

from selection.models import (
    Answer,
    Assignment,
    Candidate,
    Question,
    QuestionSet,
    Run,
    Skill,
    Worker,
)
from selection.moving import rows
from selection.reports.dump import LIFE, QUESTION, QUESTION_SET, RUN

# What a copy has of its own: its place in the database, links, and what is told to webhooks.
OWN = {"id", "run", "team", "pool", "candidate", "assignment", "question_set", "links"}
# From another part of the dump, or worked out.
ELSEWHERE = {
    Run: {"k", "deck_size", "options", "memory", "proof", "told"},
    Candidate: {"worker", "skill"},
    QuestionSet: {"name", "created"},
    Question: set(),
    Assignment: {"question"},
    Answer: set(),
    Skill: {"number", "k", "deck_size"},
    Worker: {"key", "name", "attributes", "erased"},
}
LOADED = {
    Run: {*RUN, *LIFE},
    Candidate: set(rows.CANDIDATE),
    QuestionSet: set(QUESTION_SET),
    Question: set(QUESTION),
    Assignment: set(rows.DEALT.values()),
    Answer: set(rows.GIVEN.values()),
}


@pytest.mark.parametrize("model", ELSEWHERE)
def test_no_field_is_left_behind(model):
    """A field that is new must be dumped and loaded, or be of the copy's own."""
    fields = {field.name for field in model._meta.concrete_fields}
    assert fields - OWN - ELSEWHERE[model] == LOADED.get(model, set())
