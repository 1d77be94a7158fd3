"""Settings that every test run shares."""

import multiprocessing
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "tools"))
if os.environ.get("BARE") and hasattr(os, "fork"):  # tools/anywhere.py: as where Windows is
    del os.fork, os.forkpty, signal.SIGALRM
    with suppress(ModuleNotFoundError):
        import psutil  # noqa: F401  (on Linux it needs that itself)
    sys.modules["resource"] = None
    multiprocessing.set_start_method("forkserver")  # a process that knows nothing of this one
    multiprocessing.set_forkserver_preload(["mllib.model_selection"])
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn's checks ask for it; set before scipy

from compare import compare_by_meaning


def pytest_collectstart(collector):
    """Let nbval compare pictures too, which it skips by default, and start a kernel once more."""
    if hasattr(collector, "skip_compare"):
        start_kernels_again()
        pictures = ("image/png", "image/jpeg")
        collector.skip_compare = tuple(key for key in collector.skip_compare if key not in pictures)


def start_kernels_again():
    """Let nbval try twice: a kernel whose port another process took meanwhile never answers."""
    from nbval import kernel

    once = kernel.start_new_kernel
    if once.__module__ != kernel.__name__:
        return

    def start_new_kernel(*args, **named):
        try:
            return once(*args, **named)
        except RuntimeError:
            return once(*args, **named)

    kernel.start_new_kernel = start_new_kernel


def pytest_itemcollected(item):
    """Let nbval compare outputs by meaning: strict about words, blind to rounding."""
    if hasattr(item, "compare_outputs"):
        compare_by_meaning(item)
