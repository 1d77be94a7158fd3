"""Run the tests of the modules that have compiled loops, with the loops as plain Python.

The files take turns, test by test, until the time is over. A test that takes longer than PATIENCE
seconds of processor time in this way is broken off and counted; the library's own gate runs it with
the loops compiled.
"""

import argparse
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 3.0


def modules():
    """Return the names of the modules that have compiled loops."""
    paths = sorted((ROOT / "mllib").glob("*.py"))
    return [p.stem for p in paths if "\n@compiled" in p.read_text("utf-8") and p.stem != "compiled"]


class TooLong(BaseException):
    """Raised inside a test when its time is over; no test catches it by mistake."""


class Turns:
    """A plugin of pytest that lets the files take turns and keeps to the time."""

    def __init__(self, seconds):
        self.seconds, self.start = seconds, time.process_time()
        self.done, self.long, self.left = 0, [], 0

    def pytest_collection_modifyitems(self, items):
        """Order the tests: the first of each file, then the second of each, and so on."""
        seen, turn = Counter(), {}
        for item in items:
            turn[item] = seen[item.path]
            seen[item.path] += 1
        items.sort(key=turn.get)

    def pytest_runtest_protocol(self, item, nextitem):
        """Leave the rest out when the time is over."""
        over = time.process_time() - self.start > self.seconds
        self.left += over
        return over or None

    def pytest_pyfunc_call(self, pyfuncitem):
        """Call a test, but not for longer than PATIENCE."""
        names = pyfuncitem._fixtureinfo.argnames
        arguments = {name: pyfuncitem.funcargs[name] for name in names}
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)
        try:
            pyfuncitem.obj(**arguments)
            self.done += 1
        except TooLong:
            self.long.append(pyfuncitem.nodeid)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return True

    def pytest_terminal_summary(self, terminalreporter):
        """Say how many tests ran."""
        terminalreporter.write_line(
            f"{self.done} tests passed with plain loops, {len(self.long)} take longer than "
            f"{PATIENCE:g} s so, {self.left} were not reached in {self.seconds:g} s"
        )


def main(seconds):
    """Run the tests; return the exit status of pytest."""
    os.environ["MLLIB_COMPILE"] = "0"
    import pytest

    def over(*_):
        raise TooLong

    signal.signal(signal.SIGPROF, over)
    files = [str(ROOT / "tests" / f"test_{name}.py") for name in modules()]
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:nbval", "-p", "no:xdist"]
    return pytest.main([*options, *files], plugins=[Turns(seconds)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=50.0)
    sys.exit(main(parser.parse_args().seconds))
