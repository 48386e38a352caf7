"""The import rules, whose table is in pyproject.toml, and where the tests of a room are."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.houses import HOUSES, TESTS


def rooms(house: str) -> set[str]:
    """The folders of a house that hold Python, but for the migrations."""
    return {file.parent.name for file in HOUSES[house].glob("*/*.py")} - {"migrations"}


def test_imports_go_one_way():
    tool = Path(sys.executable).with_name("lint-imports")
    checked = subprocess.run([tool], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("house", ["topk", "selection", "research"])
def test_rooms_have_a_test_folder_of_the_same_name(house):
    folder = TESTS[house]
    files = (file.relative_to(folder) for file in folder.rglob("test_*.py"))
    tested = {file.parts[0] for file in files if len(file.parts) > 1}
    assert tested == rooms(house) != set()


def test_tests_of_topk_import_nothing_of_the_application():
    foreign = re.compile(r"(?m)^ *(?:from|import) (?:tests|crowdselect|selection|research)\b")
    texts = {path: path.read_text() for path in TESTS["topk"].rglob("*.py")}
    assert [path for path, text in texts.items() if foreign.search(text)] == []
