"""Migration of an installation from before there were teams."""

import pytest
from django.db import connection
from django.test import Client

from selection.management.commands.migrate import RecordingExecutor
from selection.models import ApiToken, Pool, Run, Team

BEFORE = ("selection", "0007_gold")


@pytest.fixture
def old():
    """Provide the tables and models of that time; restore today's afterwards."""
    executor = RecordingExecutor(connection, squashed=False)
    latest = [node for node in executor.loader.graph.leaf_nodes() if node[0] == "selection"]
    executor.migrate([BEFORE])
    yield executor.loader.project_state([BEFORE]).apps
    executor = RecordingExecutor(connection, squashed=False)
    executor.migrate(latest)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_existing_rows_move_to_the_first_team_and_tokens_keep_managing(old):
    secret = "cs_of_before"
    pool = old.get_model("selection", "Pool").objects.create(name="Crowd")
    worker = old.get_model("selection", "Worker").objects.create(pool=pool, key="w0")
    questions = old.get_model("selection", "QuestionSet").objects.create(name="Gold")
    run = old.get_model("selection", "Run").objects.create(
        name="Spring", pool=pool, question_set=questions, k=1
    )
    old.get_model("selection", "Candidate").objects.create(run=run, worker=worker, arm=0)
    digest = ApiToken.digest_of(secret)
    old.get_model("selection", "ApiToken").objects.create(name="robot", digest=digest)

    executor = RecordingExecutor(connection, squashed=False)
    executor.migrate([node for node in executor.loader.graph.leaf_nodes() if node[0] == BEFORE[0]])

    team = Team.objects.get()
    assert Run.objects.get().team == Pool.objects.get().team == team
    assert Run.objects.get().candidates.get().link_version == 0
    token = ApiToken.objects.get()
    assert (token.team, token.scope, token.expires, token.revoked) == (team, "manage", None, None)
    api = Client(headers={"authorization": f"Bearer {secret}"})
    assert api.get(f"/api/runs/{run.pk}").status_code == 200
