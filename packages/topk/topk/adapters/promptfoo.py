"""promptfoo: an evaluation of several providers that asks only what the selection needs.

Each batch of the study is one ``promptfoo eval`` of the tests that are asked next, each with its
providers only. It needs promptfoo 0.119 or newer on the path, and PyYAML.
"""

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import yaml

from topk.problem import ProblemError
from topk.study import Selected, Study
from topk.study.settings import StudySettings

ERROR = 2  # promptfoo's reason of a failure that is no assertion's
ENDINGS = (0, 100)  # of promptfoo: all passed, some failed
Config = dict[str, Any]
Pair = tuple[str, int]  # provider and number of the test


def select_providers(
    config: str | Path,
    *,
    command: Sequence[str] = ("promptfoo",),
    batch: int = 128,
    **settings: Unpack[StudySettings],
) -> Selected:
    """Evaluate the providers of a configuration until the k best are known.

    config    promptfooconfig.yaml or .json, with one prompt and its tests listed in it
    command   that starts promptfoo, for example ("npx", "promptfoo")
    batch     most results that one start of promptfoo gives
    settings  of ``Study``: k at least. With a path, no test is repeated after an interruption

    A test that passes is right; an error has no result. Raises ProblemError for a configuration
    that cannot be used, and RuntimeError with promptfoo's message if it fails.
    """
    file = Path(config)
    whole = _read_config(file)
    names, tests = [_name_provider(each) for each in whole["providers"]], whole["tests"]
    with Study(names, range(len(tests)), batch=batch, **settings) as study:
        for pairs in study:
            study.tell(_evaluate_pairs(file, whole, pairs, command))
        return study.best


def _read_config(file: Path) -> Config:
    whole = yaml.safe_load(file.read_text(encoding="utf-8"))
    for field in ("providers", "tests"):
        if not isinstance(whole, dict) or not isinstance(whole.get(field), list):
            raise ProblemError(f"{file.name} must have “{field}” as a list.")
    if len(whole.get("prompts") or []) != 1:
        raise ProblemError(f"{file.name} must have one prompt: the selection is among providers.")
    return dict(whole)


def _name_provider(provider: Any) -> str:
    if isinstance(provider, str):
        return provider
    return str(provider.get("label") or provider.get("id") or next(iter(provider)))


def _evaluate_pairs(
    file: Path, whole: Config, pairs: list[Pair], command: Sequence[str]
) -> list[tuple[Pair, Any]]:
    providers: dict[int, list[str]] = {}
    for name, number in pairs:
        providers.setdefault(number, []).append(name)
    tests = [whole["tests"][number] | {"providers": names} for number, names in providers.items()]
    # Beside the configuration, because the paths in it are relative to its folder.
    with tempfile.TemporaryDirectory(prefix=".topk-", dir=file.parent) as folder:
        out = Path(folder, "out.json")
        part = Path(f"{folder}.json")
        try:
            part.write_text(json.dumps(whole | {"tests": tests}), encoding="utf-8")
            _run(command, part, out)
            rows = json.loads(out.read_text(encoding="utf-8"))["results"]["results"]
        finally:
            part.unlink(missing_ok=True)
    numbers = list(providers)
    read = {(_name_of(row), numbers[row["testIdx"]]): _read_row(row) for row in rows}
    missing = RuntimeError("promptfoo gave no result")
    return [(pair, read.get(pair, missing)) for pair in pairs]


def _run(command: Sequence[str], part: Path, out: Path) -> None:
    words = [*command, "eval", "-c", str(part), "-o", str(out), "--no-table", "--no-progress-bar"]
    # The words are the user's own command.
    process = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603
    if process.returncode not in ENDINGS or not out.exists():
        raise RuntimeError(f"promptfoo failed: {(process.stderr or process.stdout).strip()[-500:]}")


def _name_of(row: Config) -> str:
    return str(row["provider"].get("label") or row["provider"]["id"])


def _read_row(row: Config) -> Any:
    failed = row.get("failureReason") == ERROR
    return RuntimeError(row.get("error") or "error") if failed else bool(row["success"])
