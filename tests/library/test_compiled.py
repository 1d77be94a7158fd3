"""The decorator of loops: the same result compiled and plain, with numba and without."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from uncompiled import uncompiled

from mllib.core.compiled import compiled, compiling

STEP = 0.5


@compiled
def half(x):
    """Return x / 2."""
    return STEP * x


@compiled
def halves(x, start=0.0):
    """Return start + sum_i x_i / 2."""
    total = start
    for i in range(len(x)):
        total += half(x[i])
    return total


def test_compiled_and_plain_agree_for_every_layout():
    A = np.arange(12.0).reshape(3, 4) / 7
    frozen = A[0].copy()
    frozen.flags.writeable = False
    for x in (A[0], A[:, 1], A[0, ::2], frozen, np.empty(0)):
        with uncompiled():
            plain = halves(x)
            assert not compiling()
        assert halves(x) == plain
    assert halves(2 * A[0], start=1.0) == pytest.approx(2 * halves(A[0]) + 1.0)


def test_a_loop_keeps_its_name_and_documentation_and_is_pickled():
    assert (halves.__name__, halves.__doc__) == ("halves", "Return start + sum_i x_i / 2.")
    assert pickle.loads(pickle.dumps(halves))(np.ones(3)) == 1.5


@pytest.mark.parametrize(
    "begin",
    ["import sys; sys.modules['numba'] = None", "import os; os.environ['NUMBA_DISABLE_JIT'] = '1'"],
)
def test_without_numba_the_same_functions_run(begin):
    code = f"""{begin}
from mllib.core.compiled import compiling
from mllib.perceptron import Perceptron
print(compiling(), Perceptron().fit([[-1.0], [1.0]], [-1, 1]).predict([[3.0]]))
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.stdout.split() == ["False", "[1]"], done.stderr
