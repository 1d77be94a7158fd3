"""Plain loops at the speed of compiled code: numba's ``njit`` where numba is installed.

Some algorithms are loops, and numpy cannot express them. They are written as the textbook has them,
and ``@compiled`` lets numba translate them (``pip install 'ml-you-can-check[fast]'``). Without
numba, or with ``NUMBA_DISABLE_JIT=1`` in the environment, the same Python function runs: slower,
with the same result. Reference: Lam, Pitrou and Seibert (2015), LLVM-HPC '15, article 7.

What a loop has to keep to, so that both ways agree:

- Every check stands before the loop: inside, a read past the end of an array is not noticed, whole
  numbers wrap around, and a division by zero raises.
- It calls only compiled functions and constants of its own file: numba's cache notices an edit of
  that file and of no other.
- It sums by loops: ``x.sum()`` adds in an order of its own, and the last digit may differ.
- The innermost index runs over the last axis, along which neighbours lie side by side.
"""

try:
    from numba import config, njit
except ImportError:
    njit = None

__all__ = ["compiled", "compiling"]


def compiled(function):
    """Return the loop compiled, its machine code kept on disk; without numba, as it is.

    The loop as Python stays at hand as its attribute ``py_func``.
    """
    if njit is None:
        return function
    try:
        return njit(function, cache=True, nogil=True)
    except RuntimeError:  # no place for a cache can be written
        return njit(function, nogil=True)


def compiling():
    """Return whether compiled functions are compiled here: numba is there and not turned off."""
    return njit is not None and not config.DISABLE_JIT
