"""Commands find runs by name or number."""

import io
from pathlib import Path

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


@pytest.fixture
def namesake(run: Run) -> Run:
    """Of the same name in another team, and a draft."""
    team = Team.objects.create(name="others")
    pool, asked = (model.objects.create(team=team, name="x") for model in (Pool, QuestionSet))
    return Run.objects.create(
        name=run.name, team=team, pool=pool, question_set=asked, k=1, algorithm="lucb", seed=1
    )


def commands(named: object, folder: Path) -> list[tuple[str, ...]]:
    return [
        ("dump_run", "--out", str(folder / "dump.json"), "--", str(named)),
        ("recount", "--", str(named)),
        ("explain", "--", str(named), "w0"),
    ]


def said(*given: str) -> str:
    out = io.StringIO()
    call_command(*given, stdout=out)
    return out.getvalue()


def refused(*given: str) -> str:
    with pytest.raises(CommandError) as caught:
        said(*given)
    assert caught.value.returncode == 2
    return str(caught.value)


def test_a_run_is_named_or_given_by_its_number(run, tmp_path):
    for by_name, by_number in zip(
        commands(run.name, tmp_path), commands(run.pk, tmp_path), strict=True
    ):
        assert run.name in said(*by_name)
        assert said(*by_name) == said(*by_number)


def test_a_run_of_several_teams_is_told_by_its_team(run, namesake, tmp_path):
    for name, *rest in commands(run.name, tmp_path):
        assert "say which with --team" in refused(name, *rest)
        assert run.name in said(name, "--team", run.team.name, *rest)
    assert "has not begun" in refused("recount", "--team", "others", run.name)
    assert said("recount", "--team", "others") == ""
    assert "no team “other”" in refused("recount", "--team", "other")
    assert said("recount", "--team", run.team.name).count("all holds") == 1


def test_unknown_run_worker_or_folder_is_refused_in_a_sentence(run, tmp_path):
    for unknown in ("no such run", 10**6):
        for each in commands(unknown, tmp_path):
            assert refused(*each) == f"There is no run “{unknown}”."
    assert f"no worker “nobody” in the run “{run}”" in refused("explain", run.name, "nobody")
    nowhere = refused("dump_run", run.name, "--out", str(tmp_path / "no" / "dump.json"))
    assert "no such file or directory" in nowhere
