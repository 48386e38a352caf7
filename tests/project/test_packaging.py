"""The wheel: its files, its requirements, and the core working from it alone."""

import ast
import os
import re
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
HOUSES = ["topk", "selection", "research", "crowdselect", "crowdselect_client"]
SOURCES = [*HOUSES, "templates", "static"]

# Refuses every package that is not named, as an environment without them would.
ALONE = """
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"django", "celery", "redis", "environs", "ninja", "tqdm"}:
            raise ImportError(f"{name} is not there")

sys.meta_path.insert(0, Nothing())
import topk
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, because setuptools leaves folders behind; without any network."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation"]
    subprocess.run([*command, "--no-deps", "--wheel-dir", out, copy], check=True)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def metadata(unpacked: Path) -> Message:
    path = next(unpacked.glob("*.dist-info")) / "METADATA"
    return Parser().parsestr(path.read_text(encoding="utf-8"))


def files(folder: Path, *patterns: str) -> set[str]:
    found = {path for pattern in patterns for path in folder.rglob(pattern) if path.is_file()}
    return {str(path.relative_to(folder)) for path in found if "__pycache__" not in path.parts}


def test_wheel_holds_the_modules_and_no_other_file_of_the_project(wheel, unpacked):
    for house in HOUSES:
        assert files(unpacked / house, "*.py") == files(ROOT / house, "*.py")
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in tops if not name.endswith(".dist-info")} == set(HOUSES)


def test_wheel_holds_the_pages_and_their_styles(unpacked):
    for name in ("templates", "static"):
        assert files(unpacked / "crowdselect" / name, "*") == files(ROOT / name, "*")


def test_wheel_holds_the_translations_of_the_worker_page(unpacked):
    kept = files(unpacked / "selection", "*.po", "*.mo")
    assert kept == files(ROOT / "selection", "*.po", "*.mo") != set()


def test_wheel_states_its_version_and_licence(metadata):
    assert metadata["Name"] == "crowdselect"
    assert f"## {metadata['Version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert metadata["License-Expression"] == "MIT"


# -- requirements


def needed(metadata: Message, extra: str = "") -> dict[str, Requirement]:
    """The requirements of this extra and of its base, by name."""
    found = {}
    for text in metadata.get_all("Requires-Dist", []):
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            found[canonicalize_name(requirement.name)] = requirement
    if "crowdselect" in found:
        for deeper in found.pop("crowdselect").extras:
            found |= needed(metadata, deeper)
    return found


def imported(house: str) -> set[str]:
    """The distributions that a house's modules import."""
    names = set()
    for path in (ROOT / house).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names.add(node.module.split(".")[0])
    known = packages_distributions()
    return {
        canonicalize_name(distribution)
        for name in names - set(sys.stdlib_module_names) - set(HOUSES) - {"_typeshed"}
        for distribution in known[name]
    }


def test_the_core_needs_three_packages(metadata):
    assert set(needed(metadata)) == {"numba", "numpy", "scipy"}
    # llvmlite is a part of numba, in the one version that fits.
    assert imported("topk") - {"llvmlite"} == set(needed(metadata))


@pytest.mark.parametrize(
    ("house", "extra"),
    [
        ("selection", "app"),
        ("crowdselect", "app"),
        ("crowdselect_client", "client"),
        ("research", "research"),
    ],
)
def test_imports_of_a_package_are_requirements_of_its_extra(metadata, house, extra):
    files_of_models = set(needed(metadata, "parquet")) | {"arro3-core"}  # a part of arro3-io
    assert imported(house) <= set(needed(metadata, extra)) | files_of_models


def test_versions_that_tests_are_run_with_are_within_the_ranges(metadata):
    texts = [(ROOT / f"requirements{part}.txt").read_text() for part in ("", "-dev")]
    pins = re.findall(r"(?m)^([\w-]+)(?:\[[\w,]+\])?==(\S+)$", "\n".join(texts))
    pinned = {canonicalize_name(name): version for name, version in pins}
    ranges = needed(metadata, "research")
    assert set(ranges) - set(pinned) == {"pillow"}, "which comes with matplotlib"
    for name in set(ranges) & set(pinned):
        assert ranges[name].specifier.contains(pinned[name]), name


# -- use of the wheel


def run(code: str, unpacked: Path, tmp_path: Path, **environment: str) -> str:
    """The output of a new process with the project in the wheel only."""
    place = {"PYTHONPATH": str(unpacked), "NUMBA_CACHE_DIR": str(tmp_path)}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DJANGO_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=kept | place | environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_core_chooses_where_there_is_no_django(unpacked, tmp_path):
    code = (
        f"{ALONE}\n"
        "s = topk.SELECTORS['lucb'](topk.Problem(n=3, k=1, epsilon=0.1))\n"
        "s.tell([0, 1, 2], [400, 100, 50], 500)\n"
        "print(topk.__file__, *s.selection(), *s.stop(), 'django' in sys.modules)"
    )
    found = run(code, unpacked, tmp_path).split()
    assert found == [str(unpacked / "topk" / "__init__.py"), "0", "promise", "False"]


def test_the_app_finds_its_pages_in_the_wheel(unpacked, tmp_path):
    code = (
        "import django; django.setup()\n"
        "from django.contrib.staticfiles import finders\n"
        "from django.template.loader import get_template\n"
        "print(get_template('admin/index.html').origin.name)\n"
        "print(finders.find('selection/work.css'))"
    )
    settings = {"DJANGO_SETTINGS_MODULE": "crowdselect.settings", "SECRET_KEY": "wheel"}
    found = run(code, unpacked, tmp_path, **settings).splitlines()
    inside = unpacked / "crowdselect"
    assert found == [
        str(inside / "templates" / "admin" / "index.html"),
        str(inside / "static" / "selection" / "work.css"),
    ]
