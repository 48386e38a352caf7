"""``manage.py export``."""

import io
import json
import subprocess
import sys
from pathlib import Path

import openpyxl
import pytest
from django.core.management import CommandError, call_command

from selection import exports
from selection.exports import FORMATS
from selection.models import Pool, Team
from tests.worlds import crowd, make_run, play

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).parents[3]


def export(*given: object) -> str:
    said = io.StringIO()
    call_command("export", *map(str, given), stdout=said, stderr=io.StringIO())
    return said.getvalue()


def refused(*given: object) -> str:
    with pytest.raises(CommandError) as caught:
        export(*given)
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def run():
    return play(make_run(name="-dashed", questions=3000, price="0.10", currency="$"), crowd(1, 2))


def test_export_formats_equal_the_files_of_the_page(run, tmp_path):
    for name, each in FORMATS.items():
        out = tmp_path / f"{name}.{each.ending}"
        export("--format", name, "--out", out, "--", "-dashed")
        if each.ending not in ("xlsx", "html"):  # these hold the moment they were made in
            assert out.read_bytes() == b"".join(exports.make_file(run, name).pieces)
        assert out.stat().st_size
    assert {path.suffix for path in tmp_path.iterdir()} >= {".csv", ".json", ".xlsx", ".txt"}


def test_text_goes_to_standard_output_and_a_workbook_to_a_file(run, tmp_path, monkeypatch):
    assert json.loads(export(run.pk, "--format", "json"))["run"] == "-dashed"
    assert export(run.pk).startswith("\ufeffrank,worker,name")
    monkeypatch.chdir(tmp_path)
    assert export(run.pk, "--format", "xlsx") == ""
    assert openpyxl.load_workbook(tmp_path / "dashed-selected.xlsx").sheetnames[0] == "Selected"


def test_name_and_pay_can_be_said(run):
    assert "UPDATE--good" in export(run.pk, "--format=mturk", "--named=-good").splitlines()[0]
    lines = export(run.pk, "--format", "payment", "--pay", "2").splitlines()
    worker = dict(zip(lines[0].split(","), lines[1].split(","), strict=True))
    assert float(worker["due"]) == 2 * int(worker["answered"])


def test_impossible_export_is_refused_in_a_line(run, tmp_path):
    assert "no run “winter”" in refused("winter")
    assert "--pay must be an amount" in refused(run.pk, "--pay", "much")
    assert "--pay must be an amount" in refused(run.pk, "--pay", "nan")
    assert "there is no folder" in refused(run.pk, "--out", tmp_path / "nowhere" / "x.csv")
    draft = make_run(start=False)
    assert "nothing to download before" in refused(draft.name)


def test_a_run_of_one_name_in_two_teams_needs_the_team(run):
    other = Team.objects.create(name="others")
    theirs = make_run(name="-dashed", start=False, pool=Pool.objects.create(team=other, name="x"))
    assert "Several teams have a run “-dashed”" in refused("--", "-dashed")
    assert export("--team", run.team.name, "--", "-dashed")
    assert "nothing to download" in refused("--team", theirs.team.name, "--", "-dashed")


def test_export_help_lists_the_formats():
    command = [sys.executable, "manage.py", "export", "--help"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name, each in FORMATS.items():
        assert f"{name} " in said
        assert each.title in said
