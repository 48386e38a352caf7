"""Compilers of inner loops outside the kernels; code is cached on disk until its own file changes.

numba copies the functions that a loop calls into it, whatever their file, and does not notice a
change there: so the one shared function is here, and as short as possible.
"""

from numba import njit

# Dividing by zero gives infinity, as in numpy.
compiled = njit(cache=True, error_model="numpy")
# A sum may be added up in any order, so the compiler can use vector instructions.
compiled_sums = njit(cache=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})


@compiled_sums
def dot_product(left, right):  # type: ignore[no-untyped-def]
    """Return the sum of the products of two rows."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total
