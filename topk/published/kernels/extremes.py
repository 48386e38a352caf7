"""Minimum and maximum in a form that numba's vectoriser recognises."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _extreme(operation: str) -> Any:
    """Return the minimum (maximum) of two numbers that are not nan."""

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
