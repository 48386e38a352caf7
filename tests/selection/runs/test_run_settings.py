"""Declarations of a run's settings agree with its columns, and each way to a draft with them."""

import pytest
from django.db.models import NOT_PROVIDED

from selection.api.run.drafts import RunIn
from selection.errors import Refused
from selection.models import Run
from selection.runs.settings import drafts
from selection.runs.settings.run_settings import NAMES, RUN_SETTINGS
from tests.worlds import make_pool, make_questions

pytestmark = pytest.mark.django_db


def test_editable_columns_are_declared():
    editable = {column.name for column in Run._meta.fields if column.editable}
    assert set(NAMES) == editable - {"id"}


def test_a_draft_and_the_api_have_the_declared_defaults():
    given = {"name": "Few words", "pool": make_pool(3), "question_set": make_questions(5), "k": 1}
    draft = drafts.create_draft(given)
    checked = []
    for setting in RUN_SETTINGS:
        if setting.name in given or setting.worked_out:
            continue
        default = setting.default() if setting.default is list else setting.default
        stored = None if default is NOT_PROVIDED else default
        assert getattr(draft, setting.name) == stored, setting.name
        assert RunIn.model_fields[setting.name].default == stored, setting.name
        checked.append(setting.name)
    assert {"hours_to_come", "met", "only", "enrolling", "budget"} <= {*checked}


def test_titles_keep_greek_letters_and_capitals():
    titles = {setting.name: setting.title for setting in RUN_SETTINGS}
    assert (titles["epsilon"], titles["delta"], titles["k"]) == ("Accuracy ε", "Risk δ", "K")
    assert titles["slots_per_worker"] == "Max. open assignments per worker"


def test_a_draft_names_the_setting_that_is_wrong():
    given = {"name": "Few words", "pool": make_pool(3), "question_set": make_questions(5), "k": 1}
    with pytest.raises(Refused, match=r"Max\. open assignments: This field cannot be null"):
        drafts.create_draft(given | {"slots": None})


def test_the_currency_of_a_draft_is_that_of_the_team_s_last_run():
    pool, gold = make_pool(3), make_questions(5)
    given = {"pool": pool, "question_set": gold, "k": 1}
    drafts.create_draft(given | {"name": "First", "currency": "USD"})
    assert drafts.create_draft(given | {"name": "Second"}).currency == "USD"


def test_a_draft_has_an_entry_in_its_history_if_one_is_given():
    given = {"pool": make_pool(3), "question_set": make_questions(5), "k": 1}
    silent = drafts.create_draft(given | {"name": "Silent"})
    assert not silent.events.exists()
    said = drafts.create_draft(given | {"name": "Said"}, said="Made here.", who="ann")
    entry = said.events.get()
    assert (entry.kind, entry.what, entry.who) == ("create", "Made here.", "ann")
