"""Compiled loops whose code has been changed in this process: as plain Python, or compiled anew.

What ``mllib.core.compiled`` keeps on disk and in memory knows files and no change in memory. Here a
changed loop, and the loops that call it, are taken from there; the others stay compiled.
"""

import signal
import time
from functools import partial
from types import FunctionType

from mllib import compiled


def all_of(files):
    """Return the loops that stand in some files."""
    names = {str(file) for file in files}
    kept = [loop for _, loops in compiled._modules.values() for loop in loops.values()]
    return [loop for loop in kept if loop.function.__code__.co_filename in names]


def calling(function):
    """Return the loop that a function is, and those of its module that call it; or nothing."""
    loops = compiled._modules.get(id(function.__globals__), (None, {}))[1]
    found = [name for name, loop in loops.items() if loop.function is function]
    for callee in found:
        found += [
            name
            for name, loop in loops.items()
            if name not in found and callee in loop.function.__code__.co_names
        ]
    return [loops[name] for name in found]


def called_by(loop):
    """Return the functions that a loop consists of: its own and the loops of its module in it."""
    loops = compiled._modules[id(loop.function.__globals__)][1]
    found = [loop]
    for caller in found:
        named = (loops[name] for name in caller.function.__code__.co_names if name in loops)
        found += [callee for callee in named if callee not in found]
    return [one.function for one in found]


def run_plainly(loops):
    """Let loops run as the Python that they are."""
    for loop in loops:
        loop._call = lambda args, loop=loop: loop.function(*args)


class PlainlyAtFirst:
    """Lets each loop run as the Python that it is for some seconds, and compiled from then on.

    Parameters
    ----------
    seconds : float
    beyond : callable
        Told, at each compiled call, the functions that this call may run.
    """

    def __init__(self, seconds, beyond):
        self.seconds, self.beyond, self.left = seconds, beyond, {}

    def take(self, loops):
        """Let these loops run so; those that did already go on."""
        for loop in loops:
            if loop not in self.left:
                self.left[loop] = self.seconds
                loop._call = partial(self.call, loop)

    def call(self, loop, args):
        if self.left[loop] <= 0:
            self.beyond(called_by(loop))
            return type(loop)._call(loop, args)
        start = time.process_time()
        try:
            return loop.function(*args)
        finally:
            self.left[loop] -= time.process_time() - start


def compile_anew(loops, limit):
    """Compile changed loops, with their bounds checked, when they are called.

    The timer that ``limit(seconds)`` sets stands still meanwhile. Return a function that says
    whether some loop could not be compiled: it runs as plain Python.
    """
    if not compiled.compiling():
        run_plainly(loops)
        return lambda: True
    loops[0]._compile()  # the others of its file
    numba, (scope, known) = compiled._numba, compiled._modules[id(loops[0].function.__globals__)]
    scope = scope | {name: loop.fast for name, loop in known.items()}
    for loop in loops:
        f = loop.function
        twin = FunctionType(f.__code__, scope, f.__name__, f.__defaults__)
        scope[f.__name__] = loop.fast = numba.njit(twin, nogil=True, boundscheck=True)
    pause = _pause(numba, limit)
    numba.core.event.register("numba:compile", pause)
    return lambda: pause.failed


def _pause(numba, limit):
    """Return what stops the timer while numba compiles, and hears whether it fails."""

    class Pause(numba.core.event.Listener):
        depth, left, failed = 0, 0.0, False

        def on_start(self, event):
            if self.depth == 0:
                self.left = signal.getitimer(signal.ITIMER_PROF)[0]
                limit(self.left + 120)
            self.depth += 1

        def on_end(self, event):
            self.depth -= 1
            self.failed |= event._exc_details is not None
            if self.depth == 0:
                limit(max(0.01, self.left))

    return Pause()
