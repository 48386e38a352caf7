"""The three wheels: what they hold, what they need, and that they work from an empty folder."""

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from email.message import Message
from email.parser import Parser
from importlib.metadata import packages_distributions
from pathlib import Path

import httpx
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import client_types
from tests.platforms import PYTHONS, UNREACHABLE
from tests.processes import free_port, wait_until
from tests.project.houses import APPLICATION, HOUSES, TOP

FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")
SOURCES = (*APPLICATION, "docs", "packages", "static", "templates")
# What each distribution holds, and where it is made.
HELD = {
    "crowdselect": (APPLICATION, TOP),
    "crowdselect-client": (("crowdselect_client",), TOP / "packages" / "crowdselect-client"),
    "topk": (("topk",), TOP / "packages" / "topk"),
}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Built from a copy, because setuptools leaves folders behind; without any network."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheels")
    ignored = shutil.ignore_patterns("__pycache__", "tests", "*.egg-info", "build")
    for name in SOURCES:
        shutil.copytree(TOP / name, copy / name, ignore=ignored)
    for name in FILES:
        shutil.copy(TOP / name, copy)
    types = copy / client_types.MADE.relative_to(TOP)
    types.write_text(client_types.generated())  # as `make wheel` does
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation"]
    made = [copy / place.relative_to(TOP) for _, place in HELD.values()]
    subprocess.run([*command, "--no-deps", "--wheel-dir", out, *made], check=True)
    names = {path.name.split("-")[0].replace("_", "-"): path for path in out.glob("*.whl")}
    assert names.keys() == HELD.keys()
    return names


@pytest.fixture(scope="module")
def unpacked(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {name: tmp_path_factory.mktemp(name) for name in wheels}
    for name, wheel in wheels.items():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folders[name])
    return folders


@pytest.fixture(scope="module")
def metadata(unpacked: dict[str, Path]) -> dict[str, Message]:
    paths = {name: next(folder.glob("*.dist-info")) for name, folder in unpacked.items()}
    return {
        name: Parser().parsestr((path / "METADATA").read_text(encoding="utf-8"))
        for name, path in paths.items()
    }


def files(folder: Path, *patterns: str) -> set[str]:
    found = {path for pattern in patterns for path in folder.rglob(pattern) if path.is_file()}
    return {str(path.relative_to(folder)) for path in found if "__pycache__" not in path.parts}


@pytest.mark.parametrize("name", HELD)
def test_wheel_holds_every_module_of_its_packages_and_nothing_else(unpacked, name):
    packages, _ = HELD[name]
    made = {client_types.MADE.name} if name == "crowdselect-client" else set()
    for package in packages:
        assert files(unpacked[name] / package, "*.py") == files(HOUSES[package], "*.py") | made
        assert files(unpacked[name] / package, "py.typed") == files(HOUSES[package], "py.typed")
    tops = {path.name for path in unpacked[name].iterdir() if path.suffix != ".dist-info"}
    assert tops == set(packages)


def test_application_holds_pages_styles_and_documentation(unpacked):
    for name, pattern in (("templates", "*"), ("static", "*")):
        inside = files(unpacked["crowdselect"] / "crowdselect" / name, pattern)
        assert inside == files(TOP / name, pattern)
    inside = files(unpacked["crowdselect"] / "crowdselect" / "docs", "*")
    assert inside == {path.name for path in (TOP / "docs").glob("*.md")}


def test_application_holds_the_texts_of_the_worker_s_page_in_other_languages(unpacked):
    kept = files(unpacked["crowdselect"] / "selection", "*.po", "*.mo")
    assert kept == files(TOP / "selection", "*.po", "*.mo") != set()


@pytest.mark.parametrize("name", HELD)
def test_wheel_states_its_version_and_licence(metadata, name):
    changes = (HELD[name][1] / "CHANGELOG.md").read_text(encoding="utf-8")
    assert metadata[name]["Name"] == name
    assert re.findall(r"(?m)^## (.+)$", changes)[0] == metadata[name]["Version"]
    assert metadata[name]["License-Expression"] == "MIT"


def test_citation_states_the_version_of_the_application(metadata):
    citation = yaml.safe_load((TOP / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(citation["version"]) == metadata["crowdselect"]["Version"]


def test_outside_recipe_runs_the_tests_on_every_python():
    jobs = yaml.safe_load((TOP / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"] == list(PYTHONS)
    assert {"run": ".ci/run"} in jobs["test"]["steps"]


# -- what they need


def needed(metadata: Message, extra: str = "") -> dict[str, Requirement]:
    """The requirements, with those of this extra, by name."""
    found = {}
    for text in metadata.get_all("Requires-Dist", []):
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            found[canonicalize_name(requirement.name)] = requirement
    return found


def imported(*houses: str, without: str = "tests") -> set[str]:
    """The distributions that modules of these packages import, but for those of one room."""
    names = set()
    paths = (path for house in houses for path in HOUSES[house].rglob("*.py"))
    for path in (path for path in paths if without not in path.parts):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names.add(node.module.split(".")[0])
    known = packages_distributions() | {
        "crowdselect_client": ["crowdselect-client"],
        "topk": ["topk"],
    }
    return {
        canonicalize_name(distribution)
        for name in names - set(sys.stdlib_module_names) - set(houses) - {"_typeshed"}
        for distribution in known[name]
    }


def test_algorithms_need_three_packages_and_the_client_one(metadata):
    # llvmlite is a part of numba, in the one version that fits.
    assert imported("topk", without="adapters") - {"llvmlite"} == set(needed(metadata["topk"]))
    assert set(needed(metadata["topk"])) == {"numba", "numpy", "scipy"}
    assert (
        imported("crowdselect_client") == {"httpx"} == set(needed(metadata["crowdselect-client"]))
    )


def test_application_needs_the_packages_that_it_imports(metadata):
    files_of_models = set(needed(metadata["crowdselect"], "parquet")) | {
        "arro3-core"
    }  # of arro3-io
    assert imported(*APPLICATION) <= set(needed(metadata["crowdselect"])) | files_of_models


def test_ranges_have_the_versions_that_tests_are_run_with(metadata):
    texts = [(TOP / f"requirements{part}.txt").read_text() for part in ("", "-dev")]
    pins = re.findall(r"(?m)^([\w-]+)(?:\[[\w,]+\])?==(\S+)$", "\n".join(texts))
    pinned = {canonicalize_name(name): version for name, version in pins}
    pinned |= {name: metadata[name]["Version"] for name in HELD}
    ranges = [pair for each in metadata.values() for pair in needed(each).items()]
    for name, requirement in ranges:
        assert requirement.specifier.contains(pinned[name]), name


# -- what works from them: an environment without a compiler, in a folder without the project


@pytest.fixture(scope="module")
def installed(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment with the three wheels and what they need."""
    folder = tmp_path_factory.mktemp("installed")
    uv, programs = [sys.executable, "-m", "uv"], folder / "venv" / "bin"
    subprocess.run(
        [*uv, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True
    )
    command = [*uv, "pip", "install", "--quiet", "--only-binary", ":all:"]
    done = subprocess.run(
        [*command, "--python", programs / "python", *wheels.values()],
        env=os.environ | {"PATH": str(programs)},
        capture_output=True,
        text=True,
    )
    if any(sign in done.stderr for sign in UNREACHABLE):
        pytest.skip("The package index cannot be asked.")
    assert done.returncode == 0, done.stderr
    return programs


def environment(programs: Path, folder: Path) -> dict[str, str]:
    """Nothing of this process: no path of the checkout, no compiler, an own home folder."""
    return {"PATH": str(programs), "HOME": str(folder)}


@pytest.fixture
def said(installed: Path, tmp_path: Path) -> Callable[..., str]:
    """A function that runs a program of the environment and returns its output."""

    def run(program: str, *words: str) -> str:
        done = subprocess.run(
            [installed / program, *words],
            env=environment(installed, tmp_path),
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_algorithms_select_from_a_table_without_the_application(said):
    code = (
        "import sys, topk\n"
        "table = [[1] * 400, [0, 1] * 200, [0] * 400]\n"
        "print(*topk.select(table, k=1, epsilon=0.1).workers, 'django' in sys.modules)\n"
        "print(topk.__file__)"
    )
    chosen, place = said("python", "-c", code).splitlines()
    assert chosen == "0 False"
    assert "/venv/" in place


def test_command_evaluate_is_there(said):
    assert "usage: crowdselect evaluate" in said("crowdselect", "evaluate", "--help")


@pytest.fixture
def port(installed: Path, tmp_path: Path) -> Iterator[int]:
    """The port of the application, started as a newcomer starts it."""
    port, folder = free_port(), tmp_path / "data"
    command = [installed / "crowdselect", "run", "--data", folder, "--port", str(port)]
    with (tmp_path / "said").open("w") as output:
        running = subprocess.Popen(
            command, cwd=tmp_path, env=environment(installed, tmp_path), stdout=output
        )
        try:
            wait_until(lambda: "Sign in as" in (tmp_path / "said").read_text(), "the address")
            yield port
        finally:
            running.send_signal(signal.SIGINT)
            assert running.wait(120) == 0
    assert (folder / "secret-key").exists()


def test_application_answers_in_a_data_folder(port, said):
    address = f"http://127.0.0.1:{port}"
    assert "CrowdSelect" in httpx.get(f"{address}/admin/login/").text
    code = (
        "from crowdselect_client import ApiError, Client\n"
        f"try: list(Client({address!r}, 'cs_unknown').pools())\n"
        "except ApiError as error: print(error.status)"
    )
    assert said("python", "-c", code) == "401\n"
