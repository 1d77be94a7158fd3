"""Work that splits: over processes of this machine, or over any engine with a ``map``."""

import os
import signal
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice

from mllib.core.scalars import check_scalar

__all__ = ["check_workers", "map_over", "stream_over"]

_PROCESSES = 64  # on one machine, whatever number is asked for


def check_workers(workers):
    """Return a map-like callable as it is, and a number of processes as a positive int."""
    if callable(workers):
        return workers
    check_scalar(workers, "workers", low=-1, integer=True)
    if workers == 0:
        raise ValueError("workers must be -1, a positive integer or a map-like callable, got 0.")
    return (os.cpu_count() or 1) if workers == -1 else min(int(workers), _PROCESSES)


def map_over(function, items, workers=1):
    """Apply ``function`` to each item; ``workers`` has SciPy's meaning.

    An error of ``function`` arrives here with the traceback of the worker as its cause; it ends all
    processes, and so does an interrupt.

    Parameters
    ----------
    function : callable
        Picklable, unless ``workers`` is 1.
    items : iterable
    workers : int or map-like callable
        1 runs here; an int above 1 starts that many processes, though never more than 64; -1 one
        for each core; a callable such as ``pool.map`` or a distributed client's ``map``, whose
        futures are waited for, is used as it is.

    Returns
    -------
    list
        The results in the order of the items.
    """
    workers, items = check_workers(workers), list(items)
    if workers == 1:
        return [function(item) for item in items]
    if callable(workers):
        return list(_settled(workers, function, items))
    pool = _processes(workers)
    try:
        return list(pool.map(function, items, chunksize=max(1, len(items) // (4 * workers))))
    finally:
        _stop(pool)


def stream_over(function, items, workers=1, *, in_flight=None, lost=None):
    """Yield ``function(item)`` in the order of the items, which are read only as they are needed.

    Parameters
    ----------
    function, workers
        As in ``map_over``; what a killed process had to do is done again, the fourth time alone.
    items : iterable
        May be endless.
    in_flight : int, optional
        How many items are handed on and not yet yielded; by default the oldest and two for each
        worker behind it, so that one slow item keeps nobody waiting. A map-like callable
        gets the items in groups of this size; by default a list or tuple whole, since it is in
        memory anyway, and 32 items at a time of any other iterable.
    lost : callable, optional
        ``lost(error)`` is yielded for an item that kills its process even when it is tried alone,
        or whose future fails even then; by default the error is raised.

    Yields
    ------
    object
    """
    workers = check_workers(workers)
    whole = len(items) if isinstance(items, (list, tuple)) and items else 32
    at_most = whole if callable(workers) else 2 * workers + 1
    if in_flight is not None:
        at_most = check_scalar(in_flight, "in_flight", low=1, integer=True)
    items = iter(items)
    if callable(workers):
        while group := list(islice(items, at_most)):
            yield from _settled(workers, function, group, lost)
    elif workers == 1:
        yield from map(function, items)
    else:
        yield from _on_processes(function, items, workers, at_most, lost or _raised)


def _on_processes(function, items, workers, at_most, lost):
    """Yield the results of processes in order; where one is killed, new ones do its work again.

    All processes end with it, and nobody knows whose item it was: after three times without a
    result those at work are tried one at a time, and the item that kills its process then is lost.
    """
    pool, tasks, deaths, alone = _processes(workers), deque(), 0, 0  # tasks: [item, future]
    try:
        while True:
            for item in islice(items, at_most - len(tasks)):
                tasks.append([item, None])
            if not tasks:
                return
            try:
                for task in islice(tasks, 1 if alone else None):
                    task[1] = task[1] or pool.submit(function, task[0])
                result, deaths = tasks[0][1].result(), 0
            except BrokenProcessPool as error:
                pool, deaths = _processes(workers), deaths + 1
                for task in tasks:
                    task[1] = None
                if not alone:
                    alone = len(tasks) if deaths == 3 else 0
                    continue
                result, deaths, alone = lost(error), 0, 1
            tasks.popleft()
            alone = max(0, alone - 1)
            yield result
    finally:
        _stop(pool)


def _raised(error):
    raise error


def _settled(workers, function, items, lost=None):
    """Yield the results of a map-like callable; its futures, a list, are waited for."""
    answers = workers(function, items)
    for i, a in enumerate(answers):
        if not (callable(getattr(a, "result", None)) and callable(getattr(a, "done", None))):
            yield a
            continue
        try:
            result = a.result()
        except Exception:
            if lost is None:
                raise
            result = _alone(workers, function, items[i], answers, lost)
        yield result


def _alone(workers, function, item, answers, lost):
    """Return the result of an item, tried again when all others are done.

    A worker that dies takes with it what else it was given, so that the item may be innocent.
    """
    for other in answers if isinstance(answers, list) else ():
        other.exception()
    (again,) = workers(partial(function), [item])  # an engine that keeps answers has none to this
    try:
        return again.result()
    except Exception as error:
        return lost(error)


def _processes(workers):
    """Return a pool of processes that leave an interrupt to the one that started them."""
    return ProcessPoolExecutor(workers, initializer=_leave_interrupts)


def _leave_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _stop(pool):
    """End the processes of a pool, at work or not."""
    running = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in running:
        process.terminate()
    for process in running:
        process.join()
