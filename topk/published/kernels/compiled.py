"""How the kernels are compiled, and kept on disk until one of their files changes.

numba keeps what it compiled in a folder, and compiles anew when the function's own file changes;
what the function calls, and has copied into itself, may be in other files. So the folder bears a
hash of all files of this package, and a change in any of them begins a new folder. Versions of
numba and of Python, and the processor, numba tells apart by itself.
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
    """A hash of the names and contents of all files of this package."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        content = path.read_bytes()
        found.update(f"{path.name} {len(content)} ".encode() + content)
    return found.hexdigest()[:16]


FOLDER = PREFIX + _sources_hash()


def _cache_locator(locator: type[Any]) -> type[Any]:
    """One of numba's places to keep a function, with our folder in it."""

    class Within(locator):  # type: ignore[misc]
        def get_cache_path(self) -> str:
            return os.path.join(super().get_cache_path(), FOLDER)

        def ensure_cache_path(self) -> None:
            """Make the folder; what was compiled from other files is of no use any more."""
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
    """Compile at the first call, for each set of types, or fetch what was compiled before.

    Dividing by zero gives infinity, as in numpy: a check would keep loops from vectorising.
    """
    dispatcher: Any = njit(error_model="numpy")(function)
    cache: Any = _Cache
    dispatcher._cache = cache(function)  # what cache=True does, with a cache of numba's own
    return dispatcher


def _extreme(operation: str) -> Any:
    """The smaller (larger) of two numbers that are not nan, in a form the vectoriser knows."""

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
