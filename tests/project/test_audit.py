"""`make check` looks for known holes, and never fails for want of a network."""

import pytest

from tests import audit

KNOWN = {"name": "left-pad", "version": "1.0", "vulns": []}
HOLE = {"id": "CVE-2030-1", "fix_versions": ["1.1"]}
UNKNOWN = {"name": "ours", "skip_reason": "not there"}


def test_a_known_hole_fails_and_is_named(capsys):
    assert audit.verdict([KNOWN | {"vulns": [HOLE]}, UNKNOWN]) == 1
    said = capsys.readouterr().out
    assert "left-pad 1.0: CVE-2030-1, mended in 1.1" in said
    assert "Known holes in 1 packages (1 are not known there): 1" in said


def test_package_without_a_hole_is_well():
    assert audit.verdict([KNOWN]) == 0


def test_an_index_that_knows_nothing_is_said_and_fails_nothing(capsys):
    assert audit.verdict([UNKNOWN]) == 0
    assert capsys.readouterr().out.startswith("skipped: ")


@pytest.mark.parametrize("program", ["import time; time.sleep(9)", "raise SystemExit('no route')"])
def test_no_answer_is_said_and_fails_nothing(program, capsys, monkeypatch):
    monkeypatch.setattr(audit, "COMMAND", [audit.sys.executable, "-c", program])
    monkeypatch.setattr(audit, "SECONDS", 1)
    assert audit.main() == 0
    assert capsys.readouterr().out.startswith("skipped: ")
