"""How inner loops outside the kernels are compiled, and kept on disk until their own file changes.

What a loop calls is copied into it, from whatever file: so the one that is shared is here, and as
short as can be.
"""

from numba import njit

# Dividing by zero gives infinity, as in numpy.
compiled = njit(cache=True, error_model="numpy")
# A sum may be added up in any order, which the compiler turns into vector instructions.
compiled_sums = njit(cache=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})


@compiled_sums
def dot_product(one, other):  # type: ignore[no-untyped-def]
    """The sum of the products of two rows."""
    total = 0.0
    for i in range(one.size):
        total += one[i] * other[i]
    return total
