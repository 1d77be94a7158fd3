"""Fits from pieces: what a model must remember of its data, and what more workers can gain.

Chapter: Practice, *Scaling out*. Main references: Chan, Golub and LeVeque (1983), Graham (1969),
Dean and Ghemawat (2004).
"""

import heapq
import math
import os
import signal
import sys
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from mllib.core.arrays import check_array, check_sample_weight, check_vector
from mllib.core.chunks import as_passes, chunk_parts, reduce_chunks
from mllib.core.scalars import check_callable, check_scalar

__all__ = [
    "ChunkedObjective",
    "CountingWorkers",
    "LossSums",
    "Needs",
    "RawSums",
    "Schedule",
    "SimulatedChunk",
    "States",
    "best_workers",
    "greedy_schedule",
    "logistic_sums",
    "merge_error_bound",
    "needs",
    "raw_sums",
    "reduction_work",
    "run_limited",
    "states",
]

_U = 2.0**-53  # the unit roundoff


# Records -------------------------------------------------------------------------------------


class States(NamedTuple):
    """Data sets sorted by what a fit has to remember of them."""

    state: tuple  #: number of the state of each data set, in the order of first occurrence
    answers: tuple  #: one tuple of fits for each state, the fit with each addition


@dataclass(frozen=True)
class LossSums:
    """What a set of examples adds to an objective at one w; ``+`` joins two sets."""

    n: float  #: examples, or the sum of their weights
    value: float  #: sum of their losses
    gradient: np.ndarray  #: sum of the gradients of these, shape (d,)
    hessian: np.ndarray  #: sum of their Hessians, shape (d, d)

    def __add__(self, other):
        """Return the sums over the examples of both."""
        return LossSums(
            self.n + other.n,
            self.value + other.value,
            self.gradient + other.gradient,
            self.hessian + other.hessian,
        )


class RawSums(NamedTuple):
    """n, sum x and sum x^2 of the columns: additive, and unsafe far from zero."""

    n: int  #: rows
    total: np.ndarray  #: sum_i x_i, shape (d,)
    squares: np.ndarray  #: sum_i x_i^2, shape (d,)

    @property
    def scatter(self):
        """sum_i x_i^2 - (sum_i x_i)^2 / n, shape (d,); rounding may leave no digit of it."""
        return self.squares - self.total**2 / self.n


class Schedule(NamedTuple):
    """Who does which task, and until when."""

    worker: np.ndarray  #: the worker of each task, shape (m,)
    loads: np.ndarray  #: work of each worker, shape (p,)
    makespan: float  #: the largest load: when the last worker is done


class Needs(NamedTuple):
    """What a fit from chunks moves and holds, in bytes of 64-bit numbers."""

    statistic: int  #: the statistic of one chunk
    chunk: int  #: one chunk of data
    data: int  #: all data
    per_machine: int  #: the data of one machine
    chunks: int  #: how many chunks there are
    rounds: int  #: merges on the longest way from a machine to the total, in pairs
    moved: int  #: statistics sent between machines in one pass, one for each machine but one
    unmerged: int  #: statistics sent in one pass if there is one for each chunk


# Functions: what must be remembered ----------------------------------------------------------


def states(fit, data_sets, additions):
    """Sort data sets into states: two share one if the fit agrees after every addition.

    Data sets that differ in ``fit(A + C)`` for one addition C must be told apart by everything
    that is kept of them in place of the rows. ``fit`` takes a tuple of examples and returns a
    hashable value; among the additions, tuples too, is the empty one. Book: scaling-out-states.

    >>> states(max, [(1,), (2,), (1, 2), (2, 2)], [(), (1,), (2,)]).state
    (0, 1, 1, 1)
    """
    if not data_sets or not additions:
        raise ValueError("data_sets and additions must each hold at least one tuple.")
    number, found = {}, []
    for A in data_sets:
        answers = tuple(fit(A + C) for C in additions)
        found.append(number.setdefault(answers, len(number)))
    return States(tuple(found), tuple(number))


# Functions: objectives that are sums ---------------------------------------------------------


def logistic_sums(chunk, w):
    """Return the cross-entropy of a chunk at w, its gradient and its Hessian: LossSums.

    A chunk is (X, y) or (X, y, sample_weight), X of shape (n, d) with a column of ones for an
    offset, labels 0 and 1; w has shape (d,). Book: scaling-out-gradient, logistic-regression-irls.

    >>> logistic_sums(([[1.0], [1.0]], [1, 1]), [0.0]).gradient
    array([-1.])
    """
    X, y, s = chunk_parts(chunk, ("X", "y", "sample_weight"), 2)
    X = check_array(X)
    y = check_vector(y, "y", length=len(X))
    if not ((y == 0) | (y == 1)).all():
        raise ValueError("y must hold only 0 and 1: turn labels -1 and +1 into (y + 1)/2.")
    w = check_vector(w, "w", length=X.shape[1])
    s = check_sample_weight(s, len(X), ones=True, chunk=True)
    sign = 1 - 2 * y
    a = sign * (X @ w)
    q = expit(a)  # the probability of the other label
    B = np.sqrt(s * q * expit(-a))[:, None] * X
    return LossSums(float(s.sum()), float(s @ np.logaddexp(0, a)), X.T @ (s * sign * q), B.T @ B)


class ChunkedObjective:
    """F(w) = sum of the losses of all examples + sum_j lam_j w_j^2 / 2, from passes over chunks.

    Its methods ``value``, ``gradient`` and ``hessian`` take a w of shape (d,), and serve any method
    that asks for nothing else, such as ``mllib.optimization.newton``. Each point costs one pass;
    the sums of the last one are kept.

    Book: scaling-out-gradient.

    Parameters
    ----------
    sums : callable
        ``sums(chunk, w)`` returns the LossSums of a chunk, as `logistic_sums` does; picklable if
        ``workers`` is an int above 1.
    chunks : sequence of chunks, or function that returns an iterator over them
    lam : float or array of shape (d,); penalty of each weight, at least 0; give the offset a 0
    workers : see ``mllib.core``

    Attributes
    ----------
    passes : int; how often the chunks have been read

    Examples
    --------
    >>> F = ChunkedObjective(logistic_sums, [([[1.0]], [0]), ([[1.0], [1.0]], [1, 1])])
    >>> F.gradient([0.0]), F.hessian([0.0]), F.passes
    (array([-0.5]), array([[0.75]]), 1)
    """

    def __init__(self, sums, chunks, *, lam=0.0, workers=1):
        self.sums, self.again = check_callable(sums, "sums"), as_passes(chunks)
        self.lam, self.workers = check_vector(np.atleast_1d(lam), "lam"), workers
        if (self.lam < 0).any():
            raise ValueError("lam must be at least 0, for each weight.")
        self.passes, self._last = 0, (None, None)

    def at(self, w):
        """Return the LossSums of all chunks at w: one pass, unless w was asked for last."""
        w = check_vector(w, "w")
        if self._last[0] != w.tobytes():
            total = reduce_chunks(partial(self.sums, w=w), self.again(), self.workers)
            self._last, self.passes = (w.tobytes(), total.value), self.passes + 1
        return self._last[1]

    def value(self, w):
        """Return F(w)."""
        return self.at(w).value + float(np.sum(self.lam * np.square(w))) / 2

    def gradient(self, w):
        """Return grad F(w), shape (d,)."""
        return self.at(w).gradient + self.lam * np.asarray(w)

    def hessian(self, w):
        """Return the Hessian of F at w, shape (d, d)."""
        return self.at(w).hessian + np.diag(self.lam * np.ones(len(w)))


# Functions: sums and their rounding ----------------------------------------------------------


def raw_sums(X):
    """Return n, sum x and sum x^2 of the columns of X, as they come: RawSums.

    The book (scaling-out-merge-error) says why to use ``mllib.core.chunks.column_moments``.

    >>> raw_sums([[1.0, 5.0], [3.0, 5.0]]).scatter, raw_sums([[1e8], [1e8 + 1]]).scatter
    (array([2., 0.]), array([0.]))
    """
    X = check_array(X)
    return RawSums(len(X), X.sum(axis=0), (X * X).sum(axis=0))


def merge_error_bound(height, largest, span, deviation, *, means=0.0, spread=0.0):
    """Return a bound of |s/sigma - 1| for a standard deviation that is merged along a tree.

    (1 + (h + 4) v)(1 + spread + sqrt(h) (means + (h - 1) v (M + 3 R)) / sigma) - 1, v = 1.01 2^-53
    (scaling-out-merge-error).

    Parameters
    ----------
    height : int
        h, merges on the longest way from a leaf to the root; from 1 to 10^6.
    largest, span : float
        M = max |x_i| and R = max x_i - min x_i.
    deviation : float
        sigma, the standard deviation of all rows, above 0.
    means, spread : float
        Errors of the leaves: of their means, absolute and at most M / 2000, and of their standard
        deviations, relative. Both are 0 for leaves of one row.

    Examples
    --------
    >>> merge_error_bound(1, 1e8, 2.0, 1.0) < 1e-15, merge_error_bound(10, 1e8, 2.0, 1.0) < 1e-6
    (True, True)
    """
    h = check_scalar(height, "height", low=1, high=10**6, integer=True)
    M = float(check_scalar(largest, "largest", low=0))
    R = float(check_scalar(span, "span", low=0))
    sigma = float(check_scalar(deviation, "deviation", low=0, open_low=True))
    check_scalar(means, "means", low=0, high=M / 2000)
    check_scalar(spread, "spread", low=0)
    v = 1.01 * _U
    drift = math.sqrt(h) * (means + (h - 1) * v * (M + 3 * R)) / sigma
    a, b = (h + 4) * v, spread + drift
    return a + b + a * b  # (1 + a)(1 + b) - 1, which would cancel


# Functions: who does what --------------------------------------------------------------------


def greedy_schedule(costs, workers):
    """Give each task, in order, to the worker who is free first; the lowest number at a tie.

    ``costs``, shape (m,), are the work of each task, at least 0. The makespan is at most
    sum(costs)/p + (1 - 1/p) max(costs). Book: scaling-out-greedy. Graham (1969), theorem 1.

    >>> greedy_schedule([1.0, 1.0, 2.0], 2)
    Schedule(worker=array([0, 1, 0]), loads=array([3., 1.]), makespan=3.0)
    """
    costs = check_vector(costs, "costs")
    if len(costs) == 0 or (costs < 0).any():
        raise ValueError("costs must hold at least one task, and none below 0.")
    p = check_scalar(workers, "workers", low=1, integer=True)
    free, worker, loads = [(0.0, j) for j in range(p)], [], np.zeros(p)
    for cost in costs:
        load, j = heapq.heappop(free)
        worker.append(j)
        loads[j] = load + cost
        heapq.heappush(free, (loads[j], j))
    return Schedule(np.array(worker), loads, float(loads.max()))


def reduction_work(n, workers, *, row=1.0, merge=1.0, serial=0.0, tree=True):
    """Return T(p) = row n / p + merge r(p) + serial, with r = ceil(log2 p), or p - 1 in a line.

    Book: scaling-out-speed-up.

    Parameters
    ----------
    n, workers : int
    row, merge, serial : float
        The work of a row, of adding two statistics, and of what only one can do.
    tree : bool
        Whether the sums of the p workers are added in pairs.

    Examples
    --------
    >>> reduction_work(1000, 1), reduction_work(1000, 8), reduction_work(1000, 8, tree=False)
    (1000.0, 128.0, 132.0)
    """
    check_scalar(n, "n", low=0)
    p = check_scalar(workers, "workers", low=1, integer=True)
    for name, value in (("row", row), ("merge", merge), ("serial", serial)):
        check_scalar(value, name, low=0)
    rounds = (int(p) - 1).bit_length() if tree else p - 1
    return row * n / p + merge * rounds + serial


def best_workers(n, *, row=1.0, merge=1.0, serial=0.0):
    """Return the p with the least T(p) when p sums are added in a line, and T(1) / T(p).

    T(p) = row n / p + merge (p - 1) + serial is smallest next to p = sqrt(row n / merge). Book:
    scaling-out-speed-up.

    Parameters
    ----------
    n, row, merge, serial
        As for `reduction_work`.

    Examples
    --------
    >>> p, gain = best_workers(10_000)
    >>> p, round(gain, 2)
    (100, 50.25)
    """
    check_scalar(row, "row", low=0, open_low=True)
    check_scalar(merge, "merge", low=0, open_low=True)
    work = {"row": row, "merge": merge, "serial": serial, "tree": False}
    root = math.sqrt(row * check_scalar(n, "n", low=0, open_low=True) / merge)
    T = {p: reduction_work(n, p, **work) for p in (1, max(1, int(root)), max(1, math.ceil(root)))}
    p = min(T, key=T.get)
    return p, T[1] / T[p]


class CountingWorkers:
    """A map-like callable that plays p workers and counts what each of them would do.

    Pass it as ``workers=``. The results are computed here; each item goes to the worker who would
    be free first if nobody waited for an earlier chunk (``greedy_schedule``). ``cost`` gives the
    work of an item, for instance its number of rows; ``costs`` lists that of each item so far.

    >>> team = CountingWorkers(2, len)
    >>> list(team(sum, [(1, 2), (3,), (4,)])), team.schedule.loads
    ([3, 3, 4], array([2., 2.]))
    """

    def __init__(self, workers, cost):
        self.p, self.cost, self.costs = workers, cost, []

    def __call__(self, function, items):
        """Yield the results in order, and count."""
        for item in items:
            self.costs.append(float(self.cost(item)))
            yield function(item)

    @property
    def schedule(self):
        """The Schedule of all items so far."""
        return greedy_schedule(self.costs, self.p)


class SimulatedChunk:
    """Chunk ``number`` of a data set that is made when it is read: y = X w + noise, X ~ N(0, I).

    A chunk as ``mllib.core.chunks`` takes it, a function without arguments; it can travel to other
    processes and machines, where the rows are made. ``number`` and ``seed`` decide all rows,
    ``noise`` is a standard deviation. A ``fault`` kills the process that reads, to see what an
    engine does about it: every such process if it is True, the first if it is a path, where a file
    is left.

    >>> X, y = SimulatedChunk(0, 5, [1.0, 2.0], noise=0.0)()
    >>> X.shape, bool(np.allclose(y, X @ [1.0, 2.0]))
    ((5, 2), True)
    """

    def __init__(self, number, rows, w, *, noise=1.0, seed=0, fault=None):
        self.number, self.rows, self.w = number, rows, np.asarray(w, dtype=float)
        self.noise, self.seed, self.fault = noise, seed, fault

    def __call__(self):
        """Return X of shape (rows, d) and y of shape (rows,)."""
        always = self.fault is True
        if always or (self.fault is not None and not os.path.exists(self.fault)):
            if not always:
                open(self.fault, "x").close()
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))  # not on Windows
        # its own bits, so that every process makes the same rows, whoever moves default_rng
        rng = np.random.Generator(np.random.PCG64([self.seed, self.number]))
        X = rng.standard_normal((self.rows, len(self.w)))
        return X, X @ self.w + self.noise * rng.standard_normal(self.rows)


def run_limited(function, extra):
    """Return ``function()`` from a process that may hold ``extra`` bytes more than it starts with.

    The limit is the operating system's, for all data of the process; only Linux keeps it, others
    raise an OSError. A function that asks for more raises a MemoryError.
    """
    check_scalar(extra, "extra", low=1, integer=True)
    if sys.platform != "linux" or not hasattr(os, "fork"):
        raise OSError("run_limited needs Linux, which keeps such limits: run it there.")
    from multiprocessing import get_context

    context = get_context("fork")  # the child has the function already: it need not travel
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_answer, args=(function, extra, there))
    child.start()
    there.close()
    try:
        result, error = here.recv()
    except EOFError:
        result, error = None, MemoryError("the process was ended: its memory was full.")
    child.join()
    if error is not None:
        raise error
    return result


def _products(rows):
    """Let both BLAS, NumPy's and SciPy's, take their memory; SciPy's never returns without it."""
    from scipy.linalg.blas import dgemm

    np.linalg.qr(rows, mode="r"), rows.T @ rows, dgemm(1.0, rows, rows, trans_a=True)
    return 0


def _answer(function, extra, there):
    """Send back what ``function()`` returns or raises under the limit."""
    import resource

    reduce_chunks(_products, [np.ones((4096, 32))])  # what BLAS needs for itself is not counted
    with open("/proc/self/status", encoding="ascii") as status:
        held = next(int(line.split()[1]) for line in status if line.startswith("VmData"))
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (1024 * held + extra, hard))
    try:
        answer = (function(), None)
    except MemoryError as error:
        answer = (None, MemoryError(str(error)))
    except Exception as error:
        answer = (None, error)
    there.send(answer)


def needs(n, columns, numbers, *, machines, chunk_rows, size=8):
    """Return what one pass over n rows on several machines holds and sends.

    Parameters
    ----------
    n, columns : int
        Rows, and numbers in a row.
    numbers : int
        Numbers in the statistic.
    machines, chunk_rows : int
        How many machines, and rows of a chunk.
    size : int
        Bytes of a number.

    Returns
    -------
    Needs
        ``moved`` if every machine adds up its own chunks and all but one send one statistic,
        ``unmerged`` if the statistic of each chunk is sent, as a cluster's ``map`` does it
        (scaling-out-plan).

    Examples
    --------
    >>> needs(10**6, 10, 66, machines=4, chunk_rows=10**5).moved
    1584
    """
    given = {"n": n, "columns": columns, "numbers": numbers, "machines": machines}
    for name, value in (given | {"chunk_rows": chunk_rows, "size": size}).items():
        check_scalar(value, name, low=1, integer=True)
    chunks = -(-n // chunk_rows)
    return Needs(
        size * numbers,
        size * columns * min(chunk_rows, n),
        size * columns * n,
        size * columns * -(-n // machines),
        chunks,
        (int(machines) - 1).bit_length(),
        size * numbers * (machines - 1),
        size * numbers * chunks,
    )
