"""The loops of the library as plain Python, for tests that compare both."""

import sys
from contextlib import contextmanager

import pytest


@contextmanager
def uncompiled():
    """Run the compiled loops of all loaded modules as Python inside a ``with`` block."""
    with pytest.MonkeyPatch.context() as patch:
        if "numba" in sys.modules:
            patch.setattr(sys.modules["numba"].config, "DISABLE_JIT", True)
        for module in [m for name, m in sys.modules.items() if name.startswith("mllib.")]:
            for name, value in list(vars(module).items()):
                if hasattr(value, "py_func"):
                    patch.setattr(module, name, value.py_func)
        yield
