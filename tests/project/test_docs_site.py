"""The documentation builds as a site, without broken links and with every page in its menu."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]

# Words that people search for, and the page that answers.
SEARCHED = {
    "pause a run": "changing-a-run.html",
    "password": "signing-in.html",
    "cheating": "collusion.html",
    "sprache": "email.html",
}

pytestmark = pytest.mark.any_database


def test_the_site_is_built_without_a_warning(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path],
        cwd=TOP,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "index.html").exists()
    index = json.loads((tmp_path / "search" / "search_index.json").read_text(encoding="utf-8"))
    for word, page in SEARCHED.items():
        assert any(
            word in f"{entry['title']} {entry['text']}".casefold()
            for entry in index["docs"]
            if entry["location"].startswith(page)
        ), word


def test_docs_menu_lists_the_pages():
    menu = (TOP / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [path.relative_to(TOP / "docs") for path in (TOP / "docs").rglob("*.md")]
    assert [str(page) for page in pages if f": {page}\n" not in menu] == []
