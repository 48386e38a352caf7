"""CONTRIBUTING.md and the docs tell of the project as it is."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.project.houses import HOUSES, TOP
from tests.project.test_recipes import BLOCK

NO_MODULES = {"__init__.py", "__main__.py", "reply_types.py"}
PAGES = [
    TOP / "README.md",
    TOP / "CONTRIBUTING.md",
    TOP / "CODE_OF_CONDUCT.md",
    TOP / "SECURITY.md",
    *sorted((TOP / "packages").glob("*/*.md")),
    *sorted((TOP / "docs").rglob("*.md")),
    *sorted((TOP / "packages").glob("*/docs/*.md")),
    *sorted((TOP / "research" / "docs").rglob("*.md")),
]


def named(house: str) -> list[str]:
    """What the first column of the house's table in CONTRIBUTING.md names."""
    text = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    place = HOUSES[house].relative_to(TOP)
    section = text.split(f"### `{place}/`")[1].split("\n#")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def there(house: str) -> set[str]:
    """Rooms and flat modules; what the interpreter or the build leaves behind is neither."""
    folder = HOUSES[house]
    rooms = {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
    return rooms | {path.name for path in folder.glob("*.py")} - NO_MODULES


@pytest.mark.parametrize("house", HOUSES)
def test_the_map_names_every_room_and_flat_module_once(house):
    assert sorted(named(house)) == sorted(there(house))


def test_the_map_names_every_house():
    """A folder of Python at the top is a house, or one of those that are none."""
    files = [*TOP.glob("*/__init__.py"), *TOP.glob("packages/*/*/__init__.py")]
    packages = {path.parent.name for path in files}
    assert packages - {"tests", "benchmarks"} == set(HOUSES)


def test_each_place_that_a_recipe_names_is_there_once():
    """The recipes themselves are followed with ``--full`` only."""
    for kind, path, how, where, _ in BLOCK.findall((TOP / "CONTRIBUTING.md").read_text("utf-8")):
        assert (TOP / path).exists() == (kind == "in"), path
        if where:
            lines = (TOP / path).read_text("utf-8").splitlines()
            assert lines.count(where) == 1, f"{path}, {how}: {where}"


# -- links


def headings(page: Path) -> set[str]:
    """The anchors that a page's headings have."""
    found = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in found]
    return {heading.replace(" ", "-") for heading in plain}


def broken(page: Path) -> list[str]:
    found = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    local = [link for link in found if "://" not in link and not link.startswith("mailto:")]
    return [link for link in local if not leads_somewhere(page, link)]


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = unquote(link).partition("#")
    target = page.parent / path if path else page
    if not target.exists():
        return False
    return not anchor or anchor in headings(target)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_local_links_lead_to_existing_files(page):
    assert broken(page) == []


def test_a_broken_link_would_be_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Here\n[a](b.md) [c](#here) [d](#there) [e](page.md#here)")
    assert broken(page) == ["b.md", "#there"]


def test_the_index_of_the_docs_has_every_page():
    index = TOP / "docs" / "README.md"
    linked = set(re.findall(r"\]\(([^)#]+)\)", index.read_text(encoding="utf-8")))
    pages = {str(page.relative_to(index.parent)) for page in index.parent.rglob("*.md")}
    assert pages - {"README.md"} <= linked


def test_the_docs_name_no_module_that_is_gone():
    """Paths of files in the text, written as code, exist."""
    for page in PAGES:
        text = re.sub(r"(?s)```.*?```", "", page.read_text(encoding="utf-8"))
        for path in re.findall(rf"`((?:{'|'.join(HOUSES)}|tests|packages)/[\w/.-]*)`", text):
            assert (TOP / path).exists(), f"{page.name} names {path}"


def test_no_text_installs_a_name_that_is_not_published():
    """Whoever registers one of the three names gets the keys of those who install it."""
    kinds = {".md", ".py", ".ipynb", ".yml", ".yaml", ".html"}
    bare = re.compile(
        r"pip install (?:-\S+ )*[\"']?(?:crowdselect|topk|crowdselect-client)(?![\w/.-])"
    )
    folders = [*HOUSES, "docs", "packages", "templates", ".github"]
    texts = [
        path for folder in folders for path in (TOP / folder).rglob("*") if path.suffix in kinds
    ]
    found = [path for path in (*texts, *TOP.glob("*.md")) if bare.search(path.read_text("utf-8"))]
    assert found == []
