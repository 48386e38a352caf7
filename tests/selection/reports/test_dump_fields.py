"""Completeness of the dump: every stored field of a run and of its question sets."""

import pytest

from selection.models import Question, QuestionSet, Run
from selection.reports.dump import LIFE, QUESTION, QUESTION_SET, RUN

# Ids, links and the state of webhooks: specific to this server.
OWN = {"id", "team", "pool", "question_set", "link_version", "alerts_sent"}
# In another part of the dump, under an earlier name, or computed from the answers.
ELSEWHERE = {
    Run: {"k", "deck_size", "options", "memory", "best_guarantee", "absence_since"},
    QuestionSet: {"name", "created"},
    Question: set(),
}
DUMPED = {Run: {*RUN, *LIFE}, QuestionSet: set(QUESTION_SET), Question: set(QUESTION)}


@pytest.mark.parametrize("model", DUMPED)
def test_dump_lists_the_fields_of_its_models(model):
    fields = {field.name for field in model._meta.concrete_fields}
    assert fields - OWN - ELSEWHERE[model] == DUMPED[model]
