"""Do the tests bite? ``python -m tests.mutants [ROOM...] [--each 12] [--seed 1] [--only KIND]``.

One mistake at a time goes into a copy of the code, and the tests of the room that run the line must
fail. Places are drawn by the seed. A survivor is a test to write, or stands in EQUIVALENT with the
reason why nobody could tell the difference. Dropped locks matter on PostgreSQL alone:
``python -m tests.postgres --for-tests python -m tests.mutants engine --only lock``.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from coverage import CoverageData

TOP = Path(__file__).parents[1]
TOPK = "packages/topk/"
# The rooms on which guarantees, rights and money rest, and the tests of each.
ROOMS = {
    name: (f"{TOPK}topk/{name}", f"{TOPK}tests/{name}")
    for name in ("certified", "each", "universal", "same_questions", "good", "drift")
} | {
    "pass_mark": (f"{TOPK}topk/pass_mark.py", f"{TOPK}tests/test_pass_mark.py"),
    **{
        name: (f"selection/{name}", f"tests/selection/{name}")
        for name in ("engine", "answers", "watches", "grading", "outbox", "model_workers")
    },
}
# Mistakes that no test could notice: by the reason, parts of "path: before → after".
EQUIVALENT = {
    "two sums of logarithms are never equal": (
        "pass_mark.py: evidence[start:] >= needed",
        "pass_mark.py: _log_evidence(accuracy * counts, (1 - accuracy) * counts, mark) >= log",
        "pass_mark.py: excess >= others",
        "mark_test.py: rises[decided[0]] >= needed",
    ),
    "a shorter way to the same result": (
        "pass_mark.py: accuracy <= mark →",
        "pass_mark.py: if accuracy <= mark:",
        "pass_mark.py: mark >= 1 →",
        "pass_mark.py: if mark >= 1:",
        "pass_mark.py: if not above.size:",
    ),
}
# Decorators without which a module breaks, or runs slower.
NEEDED = {"property", "cached_property", "staticmethod", "classmethod", "dataclass"}
NEEDED |= {"compiled", "lru_cache", "cache"}
FILTERS = {"filter", "get", "exclude", "get_or_create", "update_or_create"}
LONGEST = 300  # seconds of one mistake's tests: what hangs is noticed too


# -- mistakes: each changes a node in place, or returns None if it does not fit


def change_comparison(node: ast.AST) -> str | None:
    others = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
    others |= {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In}
    if not isinstance(node, ast.Compare) or type(node.ops[0]) not in others:
        return None
    node.ops[0] = others[type(node.ops[0])]()
    return "comparison"


def change_by_one(node: ast.AST) -> str | None:
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)):
        return None
    if not (isinstance(node.right, ast.Constant) and node.right.value == 1):
        return None
    node.right = ast.Constant(0)
    return "off by one"


def drop_divisor(node: ast.AST) -> str | None:
    """δ in place of δ/2, or of a share of it."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
        return None
    node.right = ast.Constant(1)
    return "share"


def swap_connective(node: ast.AST) -> str | None:
    if not isinstance(node, ast.BoolOp):
        return None
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return "and/or"


def drop_filter(node: ast.AST) -> str | None:
    """The filter of a team, a state, a run."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return None
    if node.func.attr not in FILTERS or len(node.keywords) + len(node.args) < 2:
        return None
    del node.keywords[-1:]
    return "filter"


def drop_lock(node: ast.AST) -> str | None:
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call)):
        return None
    call = node.value.func
    if not (isinstance(call, ast.Attribute) and call.attr == "select_for_update"):
        return None
    node.value = call.value
    return "lock"


def drop_decorator(node: ast.AST) -> str | None:
    """A transaction, a permission."""
    if not isinstance(node, ast.FunctionDef) or not node.decorator_list:
        return None
    names = {each.id for each in ast.walk(node.decorator_list[0]) if isinstance(each, ast.Name)}
    if names & NEEDED or any("setter" in ast.unparse(d) for d in node.decorator_list):
        return None
    del node.decorator_list[0]
    return "decorator"


def drop_early_end(node: ast.AST) -> str | None:
    """A refusal, the return of a call that came before."""
    if not isinstance(node, ast.If) or node.orelse or len(node.body) != 1:
        return None
    if not isinstance(node.body[0], ast.Raise | ast.Return | ast.Continue):
        return None
    node.test = ast.Constant(False)
    return "early end"


MISTAKES: tuple[Callable[[ast.AST], str | None], ...] = (
    *(change_comparison, change_by_one, drop_divisor, swap_connective),
    *(drop_filter, drop_lock, drop_decorator, drop_early_end),
)


class Mutant(NamedTuple):
    path: str
    line: int
    kind: str
    text: str  # "before → after"
    source: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} ({self.kind}) {self.text}"


def list_mutants(room: str) -> Iterator[Mutant]:
    place = TOP / ROOMS[room][0]
    for path in [place] if place.suffix else sorted(place.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for number, node in enumerate(ast.walk(tree)):
            for change in MISTAKES:
                if change(copy.deepcopy(node)):
                    yield _make_mutant(path, tree, number, change)


def is_equivalent(mutant: Mutant) -> bool:
    known = [part for parts in EQUIVALENT.values() for part in parts]
    return any(part in f"{mutant.path}: {mutant.text}" for part in known)


def _make_mutant(path: Path, tree: ast.Module, number: int, change: Callable) -> Mutant:
    changed = copy.deepcopy(tree)
    node = list(ast.walk(changed))[number]
    before = _first_line(node)
    kind = change(node)
    text = f"{before} → {_first_line(node)}"
    name = path.relative_to(TOP).as_posix()
    return Mutant(name, node.lineno, kind, text, ast.unparse(ast.fix_missing_locations(changed)))


def _first_line(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split("\n")[0][:80]


# -- tests


class Copies:
    """Copies of the code, one for each process."""

    def __init__(self, folder: str, count: int) -> None:
        self._free: SimpleQueue[Path] = SimpleQueue()
        files = subprocess.check_output(["git", "ls-files"], cwd=TOP, text=True).split("\n")
        for number in range(count):
            top = Path(folder, str(number))
            for name in filter(None, files):
                (top / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(TOP / name, top / name)
            self._free.put(top)

    def run_tests(self, tests: list[str], options: list[str], mutant: Mutant | None = None) -> bool:
        """True if the tests pass, in a copy with the mistake."""
        top = self._free.get()
        try:
            if mutant:
                (top / mutant.path).write_text(mutant.source, encoding="utf-8")
            return self._run(top, tests, options)
        finally:
            if mutant:
                shutil.copy2(TOP / mutant.path, top / mutant.path)
            self._free.put(top)

    def _run(self, top: Path, tests: list[str], options: list[str]) -> bool:
        words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:randomly", *options]
        paths = [str(top), str(top / "packages/topk"), str(top / "packages/crowdselect-client")]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        try:
            done = subprocess.run(
                [*words, *tests], cwd=top, env=environment, capture_output=True, timeout=LONGEST
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


def find_tests(data: CoverageData, top_of_data: Path, mutant: Mutant, room: str) -> list[str]:
    """List the tests that run the line; all of the room's if it is compiled, or run at import."""
    contexts = data.contexts_by_lineno(str(top_of_data / mutant.path)).get(mutant.line, [])
    tests = sorted({context.split("|")[0] for context in contexts if context})
    return tests if 0 < len(tests) <= 200 else [ROOMS[room][1]]


def try_room(room: str, chosen: list[Mutant], folder: str, processes: int) -> list[Mutant]:
    """List the mistakes that no test noticed."""
    copies, measured = Copies(folder, processes), Path(folder, "0")
    place, tests = ROOMS[room]
    folder_of_code = os.path.dirname(place) if place.endswith(".py") else place
    options = ["--cov", folder_of_code, "--cov-context", "test", "--cov-report", ""]
    if not copies.run_tests([tests], options):
        sys.exit(f"The tests of {room} fail without a mistake.")
    data = CoverageData(str(measured / ".coverage"))
    data.read()
    with ThreadPoolExecutor(processes) as pool:
        passed = pool.map(
            lambda each: copies.run_tests(find_tests(data, measured, each, room), [], each), chosen
        )
        return [each for each, survives in zip(chosen, passed, strict=True) if survives]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"of {', '.join(ROOMS)}")
    parser.add_argument("--each", type=int, default=12, help="mistakes in each room")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="kind of mistakes, such as lock")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    for room in asked.rooms or ROOMS:
        mutants = [each for each in list_mutants(room) if asked.only in each.kind]
        mutants = [each for each in mutants if not is_equivalent(each)]
        random.Random(asked.seed).shuffle(mutants)
        chosen = mutants[: asked.each]
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            survivors = try_room(room, chosen, folder, asked.processes)
        print(f"{room}: {len(chosen) - len(survivors)} of {len(chosen)} noticed", flush=True)
        for each in survivors:
            print(f"    {each}", flush=True)


if __name__ == "__main__":
    main()
