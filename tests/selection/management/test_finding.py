"""Commands find runs by name or number."""

import io

import pytest
from django.core.management import CommandError, call_command

from selection import engine
from selection.models import Pool, QuestionSet, Run, Team
from tests.worlds import answer_all, crowd, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    made = make_run(name="Müllers best 2")
    engine.advance(made.pk)
    answer_all(made, crowd(1, 2))
    engine.advance(made.pk)
    return made


def recount(*given: object) -> str:
    out = io.StringIO()
    call_command("recount", *map(str, given), stdout=out)
    return out.getvalue()


def refused(*given: object) -> str:
    with pytest.raises(CommandError) as caught:
        recount(*given)
    assert caught.value.returncode == 2
    return str(caught.value)


def test_a_run_is_named_or_given_by_its_number(run):
    assert run.name in recount("--", run.name)
    assert recount("--", run.name) == recount("--", run.pk)


def test_a_run_of_several_teams_is_told_by_its_team(run):
    team = Team.objects.create(name="others")
    pool, asked = (model.objects.create(team=team, name="x") for model in (Pool, QuestionSet))
    Run.objects.create(
        name=run.name, team=team, pool=pool, question_set=asked, k=1, algorithm="lucb", seed=1
    )
    assert "say which with --team" in refused(run.name)
    assert run.name in recount("--team", run.team.name, run.name)
    assert "has not begun" in refused("--team", "others", run.name)
    assert recount("--team", "others") == ""
    assert "no team “other”" in refused("--team", "other")
    assert recount("--team", run.team.name).count("all holds") == 1


def test_unknown_run_is_refused_in_a_sentence(run):
    for unknown in ("no such run", 10**6):
        assert refused(unknown) == f"There is no run “{unknown}”."
