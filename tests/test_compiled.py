"""The decorator of loops: with and without numba, cached or not, from threads and processes."""

import importlib
import inspect
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mllib import compiled as about
from mllib.compiled import compiled, compiling, uncompiled

HAS_NUMBA = importlib.util.find_spec("numba") is not None
needs_numba = pytest.mark.skipif(not HAS_NUMBA, reason="compares with numba, which is absent")

STEP = 0.5


@compiled
def half(x):
    """Return x / 2."""
    return STEP * x


@compiled
def halves(x, start=0.0):
    """Return start + sum_i x_i / 2.

    >>> halves(np.array([1.0, 2.0]))
    1.5
    """
    total = start
    for i in range(len(x)):
        total += half(x[i])
    return total


@compiled
def walk(A, x, n):
    """Return A^n x and the path of its largest entry, by loops."""
    path = np.empty(n, dtype=np.int64)
    for t in range(n):
        y = np.zeros(len(x))
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                y[i] += A[i, j] * x[j]
        best = 0
        for i in range(1, len(y)):
            if y[i] > y[best]:
                best = i
        path[t] = best
        x = y
    return x, path


@compiled
def climb(n):
    """Return n (n + 1) / 2, by calling itself."""
    if n == 0:
        return 0
    return n + climb(n - 1)


@compiled
def double_in_place(x):
    """Double each entry of a matrix."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] *= 2


@compiled(also=("uint8",))
def look_up(table, places):
    """Return the sum of table entries at small places."""
    total = 0.0
    for i in range(len(places)):
        total += table[int(places[i])]
    return total


@compiled
def beyond_numba(x):
    """Return the length of x in a way that numba does not know."""
    return eval("len(x)")


def fresh(code, tmp_path, **environment):
    """Run code in a new process next to a module ``loops`` and return what it prints."""
    path = tmp_path / "loops.py"
    if not path.exists():
        path.write_text(LOOPS)
    environment = {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "", **environment}
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | environment,
        timeout=300,
    )


LOOPS = '''
from mllib.compiled import compiled

@compiled
def square(x):
    return x * x

@compiled
def squares(x):
    """Return sum_i x_i^2."""
    total = 0.0
    for i in range(len(x)):
        total += square(x[i])
    return total
'''

SUM = "import numpy as np, loops; print(loops.squares(np.array([3.0, 4.0])))"


# The same function, both ways -----------------------------------------------------------------


def test_both_ways_give_the_same_bits():
    rng = np.random.default_rng(0)
    A, x = rng.standard_normal((6, 6)), rng.standard_normal(6)
    fast = walk(A, x, 9), halves(x), climb(10)
    with uncompiled():
        slow = walk(A, x, 9), halves(x), climb(10)
    assert np.array_equal(fast[0][0], slow[0][0])
    assert np.array_equal(fast[0][1], slow[0][1])
    assert fast[1:] == slow[1:]
    assert climb(10) == 55


@needs_numba
def test_the_loop_really_is_compiled_and_loops_call_loops():
    assert compiling()
    halves(np.ones(3))
    names, loops = about._modules[id(globals())]
    assert names is globals()
    assert loops["halves"].fast.signatures
    assert loops["halves"].fast.py_func.__globals__["half"] is loops["half"].fast


def test_uncompiled_is_a_switch_that_goes_back():
    before = compiling()
    with pytest.raises(ZeroDivisionError), uncompiled():
        assert not compiling()
        with uncompiled():
            pass
        assert not compiling()
        raise ZeroDivisionError
    assert compiling() == before


@pytest.mark.parametrize("on", [True, False], ids=["compiled", "plain"])
def test_every_kind_of_array_is_taken(on):
    A = np.arange(12.0).reshape(3, 4)[:, :3] / 7
    frozen = A.copy()
    frozen.flags.writeable = False
    kinds = [A, np.asfortranarray(A), A.copy(), frozen, np.repeat(A, 2, axis=1)[:, ::2]]
    with uncompiled() if not on else pytest.MonkeyPatch.context():
        results = [walk(a, np.ones(6)[::2], 4)[0] for a in kinds]
        assert halves(np.empty(0)) == 0.0
        assert walk(np.empty((0, 0)), np.empty(0), 0)[1].shape == (0,)
    for result in results:
        assert np.array_equal(result, results[0])
    assert np.allclose(results[0], np.linalg.matrix_power(A, 4) @ np.ones(3), rtol=1e-12)


@pytest.mark.parametrize("on", [True, False], ids=["compiled", "plain"])
def test_what_a_loop_writes_into_an_array_that_is_not_contiguous_arrives(on):
    with uncompiled() if not on else pytest.MonkeyPatch.context():
        for x in (np.ones((3, 4)), np.ones((3, 4), order="F"), np.ones((3, 8))[:, ::2]):
            assert double_in_place(x) is None
            assert (x == 2).all()


def test_a_read_only_array_is_never_written():
    x = np.ones((2, 2))
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        double_in_place(x)
    assert (x == 1).all()


@pytest.mark.parametrize("on", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("kind", ["float32", "uint8", "int32", "complex128", ">f8", "U3", "O"])
def test_arrays_of_other_kinds_are_refused(kind, on):
    with uncompiled() if not on else pytest.MonkeyPatch.context():
        with pytest.raises(
            TypeError, match=r"halves takes arrays of .*float64.*; x is an array of"
        ):
            halves(np.ones(3).astype(kind))


def test_further_kinds_are_named_where_they_are_wanted():
    places = np.array([0, 255, 1], dtype=np.uint8)
    table = np.arange(256.0)
    assert look_up(table, places) == 256.0
    with uncompiled():
        assert look_up(table, places) == 256.0
    with pytest.raises(TypeError, match="int16"):
        look_up(table, places.astype(np.int16))


def test_defaults_and_names_work_as_for_any_function():
    x = np.array([1.0, 2.0])
    for value in (halves(x), halves(x=x), halves(x, 0.0), halves(start=0.0, x=x)):
        assert value == 1.5
    assert halves(x, start=1.0) == 2.5
    for wrong in [lambda: halves(), lambda: halves(x, 0.0, 1), lambda: halves(x, stop=1)]:
        with pytest.raises(TypeError, match="argument"):
            wrong()


def test_a_function_inside_a_function_is_refused():
    base = 2.0
    with pytest.raises(TypeError, match="inner uses names of the function around it"):

        @compiled
        def inner(x):
            return base * x


# What readers and tools see -------------------------------------------------------------------


def test_source_signature_and_documentation_are_those_of_the_loop():
    assert inspect.isfunction(halves)
    assert inspect.getdoc(halves).startswith("Return start + sum_i x_i / 2.")
    assert inspect.getsource(halves).startswith("@compiled\ndef halves(x, start=0.0):")
    assert str(inspect.signature(halves)) == "(x, start=0.0)"
    assert (halves.__name__, halves.__module__) == ("halves", __name__)
    assert halves.__globals__ is globals()


def test_a_loop_is_pickled_by_its_name_before_and_after_it_is_compiled():
    assert pickle.loads(pickle.dumps(halves)) is halves
    halves(np.ones(2))
    assert pickle.loads(pickle.dumps(halves)) is halves


def test_its_examples_are_found_and_run():
    import doctest

    found = doctest.DocTestFinder().find(importlib.import_module(__name__), __name__)
    examples = {test.name.rpartition(".")[2]: test for test in found}
    assert len(examples["halves"].examples) == 1


def test_names_imported_before_the_first_call_keep_working(tmp_path):
    code = """
        import numpy as np
        from loops import squares as early
        import loops
        x = np.array([3.0, 4.0])
        print(early(x), loops.squares(x), early(x), early is loops.squares)
    """
    assert fresh(code, tmp_path).stdout == "25.0 25.0 25.0 True\n"


def test_a_loop_defined_again_is_seen_by_its_callers(tmp_path):
    code = """
        import numpy as np, loops
        x = np.array([3.0, 4.0])
        print(loops.squares(x))
        source = open("loops.py").read().replace("x * x", "x * x * x")
        open("loops.py", "w").write(source)
        import importlib, os, time
        os.utime("loops.py", (time.time() + 9, time.time() + 9))
        importlib.reload(loops)
        print(loops.squares(x))
    """
    done = fresh(code, tmp_path)
    assert done.stdout == "25.0\n91.0\n", done.stderr


def test_an_edited_callee_in_the_same_file_is_compiled_again(tmp_path):
    assert fresh(SUM, tmp_path).stdout == "25.0\n"
    path = tmp_path / "loops.py"
    path.write_text(LOOPS.replace("x * x", "x + x + x"))
    assert fresh(SUM, tmp_path).stdout == "21.0\n"


# With numba absent, broken, old ---------------------------------------------------------------


def test_loading_a_module_with_loops_loads_no_numba(tmp_path):
    code = "import sys, loops, mllib.compiled; print('numba' in sys.modules)"
    assert fresh(code, tmp_path).stdout == "False\n"


def test_without_numba_the_same_function_runs_silently(tmp_path):
    done = fresh("import sys; sys.modules['numba'] = None\n" + SUM, tmp_path)
    assert (done.stdout, done.stderr) == ("25.0\n", "")


def test_the_environment_turns_compilation_off(tmp_path):
    code = SUM + "\nimport sys; print('numba' in sys.modules)"
    done = fresh(code, tmp_path, MLLIB_COMPILE="0")
    assert (done.stdout, done.stderr) == ("25.0\nFalse\n", "")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise ImportError('Numba needs NumPy 1.2 or less')", "Numba needs NumPy 1.2 or less"),
        ("import llvmlite_that_is_lost", "No module named 'llvmlite_that_is_lost'"),
        ("__version__ = '0.50.1'", "version 0.50.1 is older than 0.61"),
        ("__version__ = '0.99.0'", "module 'numba' has no attribute 'njit'"),
        ("raise OSError('libLLVM.so: cannot open')", "libLLVM.so: cannot open"),
    ],
)
def test_a_numba_that_cannot_be_used_is_said_once(tmp_path, code, reason):
    (tmp_path / "numba.py").write_text(code)
    done = fresh(SUM + ";" + SUM, tmp_path)
    assert done.stdout == "25.0\n25.0\n"
    assert done.stderr.count("RuntimeWarning") == 1
    assert f"numba is installed but cannot be used ({reason})" in done.stderr
    assert "pip install 'mllib[fast]'" in done.stderr


@needs_numba
def test_what_numba_cannot_translate_runs_as_it_is_and_says_so():
    with pytest.warns(RuntimeWarning, match="numba cannot compile beyond_numba"):
        assert beyond_numba(np.ones(3)) == 3


# The cache, threads, processes, interruptions -------------------------------------------------


@needs_numba
def test_the_result_of_compilation_is_kept_beside_the_source(tmp_path):
    assert fresh(SUM, tmp_path).stdout == "25.0\n"
    kept = {path.suffix for path in (tmp_path / "__pycache__").glob("loops.squares*")}
    assert kept == {".nbi", ".nbc"}
    code = f"""
        {SUM}
        from mllib.compiled import _modules
        print(_modules[id(loops.__dict__)][1]["squares"].fast.stats.cache_hits.total())
    """
    done = fresh(code, tmp_path)
    assert done.stdout == "25.0\n1\n", done.stderr


@needs_numba
def test_without_a_place_for_the_cache_each_process_compiles(tmp_path):
    # A file stands where the folders of the cache would be: nobody, not even root, can write there.
    (tmp_path / "__pycache__").write_text("")
    (tmp_path / "home").write_text("")
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"), str(tmp_path / "home/x"))
    done = fresh(SUM, tmp_path, **places)
    assert (done.stdout, done.stderr) == ("25.0\n", "")


@needs_numba
def test_a_cache_that_fails_later_is_given_up(tmp_path):
    code = """
        import numpy as np, loops
        from numba.core import caching
        def full(*args): raise OSError(28, "No space left on device")
        caching.IndexDataCacheFile.save = full
        print(loops.squares(np.array([3.0, 4.0])))
    """
    done = fresh(code, tmp_path)
    assert (done.stdout, done.stderr) == ("25.0\n", "")


@needs_numba
def test_a_damaged_cache_is_given_up(tmp_path):
    assert fresh(SUM, tmp_path).stdout == "25.0\n"
    for path in (tmp_path / "__pycache__").glob("*.nbc"):
        path.write_bytes(b"")
    done = fresh(SUM, tmp_path)
    assert (done.stdout, done.stderr) == ("25.0\n", "")


@needs_numba
def test_a_cache_made_under_another_name_is_given_up(tmp_path):
    code = """
        import importlib.util, sys
        import numpy as np
        spec = importlib.util.find_spec("loops")
        spec = importlib.util.spec_from_file_location("elsewhere", spec.origin)
        sys.modules["elsewhere"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        print(module.squares(np.array([3.0, 4.0])))
    """
    assert fresh(code, tmp_path).stdout == "25.0\n"
    done = fresh(SUM, tmp_path)
    assert (done.stdout, done.stderr) == ("25.0\n", "")


def test_four_threads_begin_at_once(tmp_path):
    code = """
        import numpy as np, threading, loops
        from concurrent.futures import ThreadPoolExecutor
        gate = threading.Barrier(4)
        def run(i):
            gate.wait()
            return [loops.squares(np.arange(1000.0) + i) for _ in range(50)]
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(run, range(4)))
        expected = [float(((np.arange(1000) + i) ** 2).sum()) for i in range(4)]
        print([set(r) for r in results] == [{e} for e in expected])
    """
    done = fresh(code, tmp_path)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_threads_share_one_compiled_function():
    data = [np.random.default_rng(seed).standard_normal((40, 40)) / 9 for seed in range(4)]
    alone = [walk(A, np.ones(40), 50)[0] for A in data]
    gate = threading.Barrier(4)

    def run(A):
        gate.wait()
        return [walk(A, np.ones(40), 50)[0] for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        for results, expected in zip(pool.map(run, data), alone):
            assert all(np.array_equal(result, expected) for result in results)


def test_two_processes_begin_at_once(tmp_path):
    (tmp_path / "loops.py").write_text(LOOPS)
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda _: fresh(SUM, tmp_path), range(2)))
    assert [(run.stdout, run.stderr) for run in runs] == [("25.0\n", "")] * 2


@needs_numba
def test_an_interrupted_compilation_can_be_tried_again(tmp_path):
    code = """
        import numpy as np, loops
        from numba.core import compiler
        real, x = compiler.compile_extra, np.array([3.0, 4.0])
        def interrupted(*args, **named): raise KeyboardInterrupt
        compiler.compile_extra = interrupted
        try:
            loops.squares(x)
        except KeyboardInterrupt:
            print("interrupted")
        from mllib.compiled import uncompiled
        with uncompiled():
            print(loops.squares(x))
        compiler.compile_extra = real
        print(loops.squares(x))
    """
    done = fresh(code, tmp_path)
    assert (done.stdout, done.stderr) == ("interrupted\n25.0\n25.0\n", "")
