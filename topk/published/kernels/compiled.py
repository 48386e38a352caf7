"""Compilation of the kernels, cached on disk until one of their files changes.

numba caches compiled code in a folder and recompiles if the function's own file changes; functions
that it calls, and copies into it, may be in other files. So the folder name has a hash of all files
of this package, and a change in any of them begins a new folder. numba itself distinguishes its own
version, Python's, and the processor.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.extending import intrinsic

PREFIX = "kernels-"


def _sources_hash() -> str:
    """Return a hash of the names and contents of all files of this package."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


FOLDER = PREFIX + _sources_hash()


def _cache_locator(locator: type[Any]) -> type[Any]:
    """Return one of numba's cache locators, with our folder appended."""

    class Within(locator):  # type: ignore[misc]
        def get_cache_path(self) -> str:
            return os.path.join(super().get_cache_path(), FOLDER)

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


def compiled(function: Callable[..., Any]) -> Any:
    """Compile at the first call, for each set of types, or load the cached code.

    Dividing by zero gives infinity, as in numpy: a check would keep loops from vectorising.
    """
    dispatcher: Any = njit(error_model="numpy")(function)
    cache: Any = _Cache
    dispatcher._cache = cache(function)  # as cache=True does, but with our folder
    return dispatcher


def _extreme(operation: str) -> Any:
    """Return the minimum (maximum) of two numbers that are not nan, in a form the vectoriser
    recognises.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double, double])
        function = builder.module.declare_intrinsic(f"llvm.{operation}", [double], kind)
        return builder.call(function, arguments, fastmath=("nnan", "nsz"))

    def typed(typing_context: Any, a: Any, b: Any) -> Any:
        return types.float64(types.float64, types.float64), build

    return intrinsic(typed)


smaller = _extreme("minnum")
larger = _extreme("maxnum")
