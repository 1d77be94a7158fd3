"""Fits to data that come in chunks: each chunk is reduced to a statistic, and statistics add up.

A model whose fit depends on the data only through an additive statistic needs one chunk in memory
at a time. A **chunk** is what the model's ``fit`` takes, with several arguments as a tuple such as
``(X, y)``, or a function without arguments that returns it, called by the worker that needs it.
"""

import operator
import traceback
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from mllib.core.arrays import as_array, check_array, check_sample_weight
from mllib.core.numerics import centred_columns
from mllib.core.parallel import stream_over
from mllib.core.tables import column_names

__all__ = [
    "ChunkError",
    "ColumnMoments",
    "Total",
    "as_passes",
    "chunk_parts",
    "column_moments",
    "in_places",
    "merge_labels",
    "reduce_chunks",
    "tree_sum",
    "weighted_rows_of",
]


# Records -------------------------------------------------------------------------------------


class Total(NamedTuple):
    """What the chunks have in common and what they add up to."""

    value: Any  #: the sum of the statistics of all chunks
    chunks: int  #: how many there were
    width: int | None  #: columns of every chunk; None if chunks have no columns
    names: np.ndarray | None = None  #: of these columns, if the chunks are tables


@dataclass(frozen=True)
class ColumnMoments:
    """Number, mean, spread and range of each column of a set of rows; ``+`` joins two sets."""

    n: int  #: rows, or the sum of their weights
    mean: np.ndarray  #: m, shape (d,)
    scatter: np.ndarray  #: sum_i (x_i - m)^2, shape (d,)
    low: np.ndarray  #: smallest entries, shape (d,)
    high: np.ndarray  #: largest entries, shape (d,)

    def __add__(self, other):
        """Return the moments of the rows of both (eq-scaling-out-merge)."""
        n = self.n + other.n
        gap = other.mean - self.mean
        mean = self.mean + other.n / (n or 1) * gap
        scatter = self.scatter + other.scatter + self.n * other.n / (n or 1) * gap**2
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return ColumnMoments(n, mean, scatter, low, high)

    @property
    def variance(self):
        """The variance of each column, divisor n, shape (d,): 0 if constant to rounding."""
        rounding = 1e-14 * np.maximum(np.abs(self.low), np.abs(self.high))
        return np.where(self.high - self.low > rounding, self.scatter / self.n, 0.0)


class ChunkError(ValueError):
    """Raised after all chunks are read if some of them could not be used.

    ``failures`` holds the error of each bad chunk by its number, counted from 0; where no worker
    lived to return one, its cause is the engine's. ``total`` is the Total of all others, to which
    the statistics of mended chunks may be added.
    """

    def __init__(self, message, failures=None, total=None):
        super().__init__(message)
        self.failures, self.total = failures, total


# Functions -----------------------------------------------------------------------------------


def tree_sum(values, merge=operator.add):
    """Return v_1 + ... + v_m, added in pairs like the carries of a binary counter; None for m = 0.

    Each value takes part in at most 1 + log2(m) additions, and at most 1 + log2(m) partial sums
    are held, however many values come. The order depends on m alone, not on who computed what.
    ``merge(a, b)`` is the sum of two. Book: scaling-out-tree.

    >>> tree_sum("abcde", lambda a, b: f"({a}{b})")
    '(((ab)(cd))e)'
    """
    partial = []  # pairs (height, sum), the heights decrease
    for value in values:
        height = 0
        while partial and partial[-1][0] == height:
            value, height = merge(partial.pop()[1], value), height + 1
        partial.append((height, value))
    total = partial.pop()[1] if partial else None
    while partial:
        total = merge(partial.pop()[1], total)
    return total


def reduce_chunks(statistic, chunks, workers=1, *, merge=operator.add, in_flight=None):
    """Return the sum of ``statistic(chunk)`` over all chunks.

    The chunks are read one after the other as workers become free. A chunk that cannot be used, or
    that kills every worker which reads it, does not end the work: the others are summed, and a
    ChunkError names it. (With ``workers=1`` the reader is this process, and a pool's own ``map``
    ends with its first dead worker.)

    Parameters
    ----------
    statistic : callable
        Of one chunk; picklable if ``workers`` is an int above 1.
    chunks : iterable
        Of chunks, or of functions that return one.
    workers : see ``mllib.core``
    merge : callable
        How two statistics are added.
    in_flight : int, optional
        Chunks at work at a time; by default one for each worker.

    Returns
    -------
    Total

    References
    ----------
    Book: scaling-out-additive.

    Examples
    --------
    >>> reduce_chunks(len, [np.ones((2, 3)), np.ones((4, 3))])
    Total(value=6, chunks=2, width=3, names=None)
    """
    failures, seen, first = {}, [0], []

    def good(outcomes):
        for i, outcome in enumerate(outcomes):
            seen[0] = i + 1
            if outcome.error is None and not first:
                first.extend((i, outcome))
            if outcome.error is None:
                outcome = outcome._replace(error=_other_columns(outcome, *first))
            if outcome.error is None:
                yield outcome.value
            else:
                failures[i] = outcome.error

    if not hasattr(chunks, "__iter__"):
        raise ValueError(f"chunks must be an iterable of chunks, got {type(chunks).__name__}.")
    task = _Statistic(statistic)
    outcomes = stream_over(task, chunks, workers, in_flight=in_flight, lost=_lost)
    with _one_thread():
        value = tree_sum(good(outcomes), merge)
    columns = (first[1].width, first[1].names) if first else (None, None)
    total = Total(value, seen[0] - len(failures), *columns)
    if failures:
        raise ChunkError(_told(failures, total), failures, total) from next(iter(failures.values()))
    if not seen[0]:
        raise ChunkError("chunks must hold at least one chunk: the iterator was empty.")
    return total


def _told(failures, total):
    named = [f"chunk {i}: {str(error).rstrip('.')}" for i, error in list(failures.items())[:3]]
    more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
    return (
        f"{'; '.join(named)}{more}. The other {total.chunks} are summed in the error's `total`: "
        f"mend these, and add their statistics to it."
    )


class _Outcome(NamedTuple):
    """The statistic of a chunk, or why there is none."""

    value: Any
    width: int | None
    names: np.ndarray | None
    error: Exception | None


def _lost(error):
    """Return the outcome of a chunk from which no worker came back; the error says how."""
    reason = RuntimeError(f"no worker returned its statistic ({type(error).__name__})")
    reason.__cause__ = error
    return _Outcome(None, None, None, reason)


@cache
def _threads():
    """Return what sets the number of threads in products, where threadpoolctl is installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


def _one_thread():
    """Return a context in which products have one thread.

    The order of a sum depends on their number, and Dask's workers have one, a notebook several.
    """
    return _threads().limit(limits=1, user_api="blas") if _threads() else nullcontext()


class _Statistic:
    """A statistic that loads its chunk and returns its error; picklable if the statistic is."""

    def __init__(self, statistic):
        self.statistic = statistic

    def __call__(self, chunk):
        try:
            chunk = chunk() if callable(chunk) else chunk
            rows = chunk[0] if isinstance(chunk, tuple) else chunk
            shape, names = np.shape(rows), column_names(rows)
            width = shape[1] if len(shape) == 2 else None
            with _one_thread():
                return _Outcome(self.statistic(chunk), width, names, None)
        except Exception as error:
            error.add_note("In the worker:\n" + traceback.format_exc())
            return _Outcome(None, None, None, error)


def chunk_parts(chunk, names, required):
    """Return the parts of a chunk, None for those that may be missing.

    ``names`` says what the parts are, and ``required`` how many of them each chunk must have.

    >>> chunk_parts(([[1.0]], [2.0]), ("X", "y", "sample_weight"), 2)
    ([[1.0]], [2.0], None)
    """
    if not isinstance(chunk, tuple):
        chunk = (chunk,)
    if not required <= len(chunk) <= len(names):
        raise ValueError(
            f"each chunk must be a tuple ({', '.join(names[:required])}), got one of {len(chunk)}"
        )
    return chunk + (None,) * (len(names) - len(chunk))


def weighted_rows_of(chunk):
    """Return the rows of positive weight of a chunk and their weights; None if none are given.

    A chunk is X, (X, y) or (X, y, sample_weight); y is ignored, all weights may be 0.

    >>> weighted_rows_of(([[1.0], [2.0]], None, [0.0, 3.0]))
    (array([[2.]]), array([3.]))
    """
    X, _, s = chunk_parts(chunk, ("X", "y", "sample_weight"), 1)
    X = check_array(X)
    s = check_sample_weight(s, len(X), chunk=True)
    return (X, None) if s is None else (X[s > 0], s[s > 0])


def _other_columns(outcome, i, first):
    """Return an error if a chunk has other columns than the first usable one, which is number i."""
    if outcome.width != first.width:
        return ValueError(f"it has {outcome.width} columns, but chunk {i} has {first.width}")
    if outcome.names is None or first.names is None:
        return None
    names, expected = list(outcome.names), list(first.names)
    if names == expected:
        return None
    return ValueError(f"its columns are {names}, but those of chunk {i} are {expected}")


def as_passes(chunks):
    """Return a function that gives the chunks from the first on, as often as it is called.

    ``chunks`` is a sequence, or a function that returns an iterator; an iterator, which can be read
    only once, is refused.
    """
    if callable(chunks):
        return chunks
    if isinstance(chunks, (list, tuple)):
        return lambda: chunks
    if not hasattr(chunks, "__iter__") or iter(chunks) is chunks:
        raise ValueError(
            "chunks must be a list of chunks, or a function that returns an iterator over them: "
            "this model reads them once per iteration."
        )
    return lambda: iter(chunks)


def in_places(a, places, size):
    """Return an array of ``size`` rows that holds the rows of ``a`` in their places, else zeros.

    >>> in_places(np.array([5, 7]), np.array([0, 2]), 3)
    array([5, 0, 7])
    """
    if len(a) == size:
        return a
    wide = np.zeros((size, *a.shape[1:]), dtype=a.dtype)
    wide[places] = a
    return wide


def column_moments(X, weights=None):
    """Return the number of rows, the mean, the scatter and the range of each column of X.

    ``weights``, shape (n,), says how often each row counts.

    >>> whole = column_moments([[1.0], [3.0]]) + column_moments([[5.0]])
    >>> whole.mean, whole.scatter, whole.low, whole.high
    (array([3.]), array([8.]), array([1.]), array([5.]))
    """
    X = check_array(X)
    if weights is not None:
        s = check_sample_weight(weights, len(X), "weights", chunk=True)
        X, s = X[s > 0], s[s > 0]
        n = float(s.sum())
        mean = s @ X / (n or 1)
        low, high = X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf)
        return ColumnMoments(n, mean, s @ (X - mean) ** 2, low, high)
    Z, mean = centred_columns(X)
    scatter = np.einsum("ij,ij->j", Z, Z)
    return ColumnMoments(len(X), mean, scatter, X.min(axis=0), X.max(axis=0))


def merge_labels(first, second):
    """Return the union of two sorted arrays of labels, and the places of each in it.

    A class may appear first in a later chunk; the statistics of both are then put in these places.

    >>> union, places = merge_labels(np.array(["a", "c"]), np.array(["b", "c"]))
    >>> union.tolist(), places[0].tolist(), places[1].tolist()
    (['a', 'b', 'c'], [0, 2], [1, 2])
    """
    first, second = as_array(first, "labels"), as_array(second, "labels")
    if (first.dtype.kind in "US") != (second.dtype.kind in "US"):
        raise ValueError("labels are text in some chunks and not in others: use one type.")
    if len(first) == len(second) and (first == second).all():
        here = np.arange(len(first))
        return first, (here, here)
    try:
        union = np.unique(np.concatenate([first, second]))
    except TypeError as error:
        raise ValueError(
            f"labels of different types cannot be sorted ({error}): convert them to one type."
        ) from error
    return union, (np.searchsorted(union, first), np.searchsorted(union, second))
