"""Compilation with numba, cached on disk until a file of the functions' folder changes.

numba caches compiled code and recompiles if the function's own file changes; functions and
constants that it copies into it may be in other files. So compiled functions use those of their own
folder and of compiled.py only, and the name of the cache's folder has a hash of all these files: a
change in any of them begins a new folder. numba itself distinguishes its own version, Python's, and
the processor.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.extending import intrinsic

PREFIX = "compiled-"
SHARED = (Path(__file__).with_name("compiled.py"), Path(__file__))


@lru_cache
def _sources_hash(folder: Path) -> str:
    """Hash the names and contents of a folder's files, and of the two shared ones."""
    digest = hashlib.sha256()
    for path in [*sorted(folder.glob("*.py")), *SHARED]:
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


def _cache_locator(locator: type[Any]) -> type[Any]:
    """Append a folder of our own to one of numba's cache locators."""

    class Within(locator):  # type: ignore[misc]
        def get_cache_path(self) -> str:
            sources = Path(self._py_file).parent
            return os.path.join(super().get_cache_path(), PREFIX + _sources_hash(sources))

        def ensure_cache_path(self) -> None:
            """Make the folder, and delete those of earlier versions of the files."""
            path = Path(self.get_cache_path())
            if not path.exists():
                for old in path.parent.glob(f"{PREFIX}*"):
                    shutil.rmtree(old, ignore_errors=True)
            super().ensure_cache_path()

    return Within


class _Results(CompileResultCacheImpl):
    _locator_classes = [_cache_locator(place) for place in CompileResultCacheImpl._locator_classes]


class _Cache(FunctionCache):
    _impl_class = _Results


def compile_function(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Wrap a function in numba's dispatcher: it compiles for each set of types, or loads code.

    Dividing by zero gives infinity, as in numpy: a check would keep loops from vectorising.
    """
    dispatcher: Any = njit(error_model="numpy", **options)(function)
    cache: Any = _Cache
    dispatcher._cache = cache(function)  # as cache=True does, but with our folder
    return dispatcher


def compile_extreme(operation: str) -> Any:
    """Build the minimum (maximum) of two numbers that are not nan, as vectorisers recognise it."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double, double])
        function = builder.module.declare_intrinsic(f"llvm.{operation}", [double], kind)
        return builder.call(function, arguments, fastmath=("nnan", "nsz"))

    def typed(typing_context: Any, a: Any, b: Any) -> Any:
        return types.float64(types.float64, types.float64), build

    return intrinsic(typed)
