"""The gate of changes: each way a change can end occurs in a small chapter, and nothing is left."""

import ast
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import mutants
import mutations
import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent

MODULE = '''
"""A small module."""

import os
from typing import NamedTuple

import numpy as np

from mllib.core.compiled import compiled


class Word(NamedTuple):
    text: str


def area(a, b):
    """Return a times b."""
    return a * b


def half(x):
    return x / 2


def ratio(x):
    return 6 // (x - 2)


def countdown(n):
    while n > 0:
        n -= 1
    return n


def shade(x):
    return x + 1


def idle(x):
    y = x * 1
    return max(y, -100)


def crash(n):
    if n > 3:
        os.kill(os.getpid(), 11)
    return n


def greedy(n):
    return len(bytearray(n * 1)) >= 0 if n < 5 else len(bytearray(n << 33))


def never(x):
    return x - 1


def scaled(x, factor=1):
    return factor * x


def word(text):
    return Word(text)


@compiled
def total(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    return s


@compiled
def mean(x):
    return total(x) / len(x)


def middle(x):
    return mean(np.array(x))
'''

CHAPTER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  name: python3
---

# Toy

```{literalinclude} ../../toys/toy.py
:pyobject: area
```

```{literalinclude} ../../toys/toy.py
:pyobject: never
```

```{code-cell} ipython3
from mllib.course import claim
from toys.toy import area, countdown, crash, greedy, half, idle, middle, ratio, scaled, shade, word
```

```{code-cell} ipython3
with claim("toy-area") as c:
    c.holds("a rectangle", area(2, 5) == 10, area(2, 5) <= 11)
    c.tight("of its bound", area(2, 5) / 11, at_least=0.9)
```

```{code-cell} ipython3
assert half(4) == 2
```

```{code-cell} ipython3
_ = ratio(3)
```

```{code-cell} ipython3
_ = countdown(3), idle(3), crash(3), greedy(4)
```

```{code-cell} ipython3
assert middle([1.0, 3.0]) == 2
```

```{code-cell} ipython3
word("this")
print(shade(3), scaled(2, factor=3))
```
"""


def made(folder, chapter=CHAPTER):
    """Write the chapter and its module; return the folder."""
    (folder / "toys").mkdir()
    (folder / "toys" / "toy.py").write_text(MODULE, "utf-8")
    (folder / "chapters" / "part").mkdir(parents=True)
    (folder / "chapters" / "part" / "toy.md").write_text(chapter, "utf-8")
    return folder


def command(folder, *more):
    """Return the command that breaks the small chapter."""
    runner = str(ROOT / "tests" / "mutants.py")
    return [sys.executable, runner, "toy", "--root", str(folder), "--package", "toys", *more]


def run(folder, *more):
    return subprocess.run(command(folder, *more), capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Break the small chapter once; return its folder and what was said."""
    folder = made(tmp_path_factory.mktemp("book"))
    before = {p: p.read_bytes() for p in folder.rglob("*.*") if p.is_file()}
    result = run(folder)
    assert result.returncode == 0, result.stdout + result.stderr
    assert all(p.read_bytes() == data for p, data in before.items())
    return folder, result.stdout


def ends(text, function):
    """Return the row of a function in the table as ``{outcome: number}``."""
    names = ("claim", "assert", "error", "time", "output only", "alive", "reason")
    row = next(line for line in text.splitlines() if line.split()[:1] == [function])
    cells = [row[42 + 12 * k : 54 + 12 * k].strip() for k in range(len(names))]
    return {name: int(cell) for name, cell in zip(names, cells) if cell}


def test_a_change_is_noticed_by_a_claim_an_assert_or_an_error(done):
    _, text = done
    assert set(ends(text, "area")) == {"claim"}
    assert set(ends(text, "half")) == {"assert"}
    assert "error" in ends(text, "ratio")


def test_loops_crashes_and_greed_are_contained(done):
    _, text = done
    assert ends(text, "countdown")["time"] >= 1  # n -= 1 became n += 1
    assert ends(text, "crash")["error"] >= 1  # a signal ended the process
    assert ends(text, "greedy")["error"] >= 1  # 32 GB were asked for


def test_what_only_the_output_shows_is_told_apart_from_what_nothing_shows(done):
    _, text = done
    assert ends(text, "shade") == {"output only": 4}
    assert "alive" in ends(text, "idle")
    assert "output only toy:36  shade  x + 1  ->  x - 1" in text
    assert "toy:40  idle  x * 1  ->  x / 1" in text


def test_what_is_printed_and_never_run_is_a_survivor(done):
    _, text = done
    assert set(ends(text, "never")) == {"alive"}
    assert "no cell runs it" in text


def test_an_argument_that_is_ignored_is_seen_where_it_is_passed(done):
    _, text = done
    assert "scaled  factor ignored  ->  factor = 1" in text


def test_a_compiled_loop_is_broken_for_all_that_call_it(done, tmp_path):
    (tmp_path / "one").mkdir()
    anew = run(made(tmp_path), "--patience", "0").stdout
    untraced = run(made(tmp_path / "one"), "--followed", "0").stdout
    for text in (done[1], anew, untraced):
        assert ends(text, "total") == {"assert": 3}
        assert ends(text, "mean") == ends(done[1], "mean")
        assert not {"alive", "output only"} & set(ends(text, "mean"))


def test_a_text_has_no_zero(done):
    assert "zero(text)" in {c.text for c in mutations.changes(ast.parse(MODULE), {"word"})}.pop()
    assert "word  Word" not in done[1]


def test_the_score_is_published(done):
    folder, _ = done
    block = yaml.safe_load((folder / "chapters" / "mutants.yml").read_text("utf-8"))["toy"]
    assert block["claims"] == {"toy-area": block["printed"]["claim"]}
    assert block["tried"] == block["made"] > 20
    assert block["statements"]["direction"] == {"sharp": 2, "blunt": 0}
    assert block["statements"]["size"]["sharp"] >= 2


def test_a_score_is_out_of_date_when_code_changes_and_not_when_words_do(tmp_path):
    def print_of(number, chapter=CHAPTER, module=MODULE):
        (tmp_path / number).mkdir()
        folder = made(tmp_path / number, chapter)
        (folder / "toys" / "toy.py").write_text(module, "utf-8")
        return mutants.Chapter(folder / "chapters/part/toy.md", folder, "toys").fingerprint()

    first = print_of("one")
    assert print_of("two", CHAPTER.replace("# Toy", "# Toys")) == first
    assert print_of("three", module=MODULE.replace("Return a times b", "Return the area")) == first
    assert print_of("four", CHAPTER.replace("half(4) == 2", "half(6) == 3")) != first
    assert print_of("five", CHAPTER.replace(":pyobject: never", ":pyobject: half")) != first
    assert print_of("six", module=MODULE.replace("x / 2", "0.5 * x")) != first


def test_a_sample_is_the_same_each_time(tmp_path):
    folder = made(tmp_path)
    one, two = (run(folder, "--sample", "6").stdout.splitlines()[2:] for _ in range(2))
    assert one == two
    assert "6 of" in run(folder, "--sample", "6").stdout


def test_the_sample_of_the_gate_is_a_part_of_the_one_that_is_scored():
    toy = SimpleNamespace(slug="toy", is_printed=lambda file, function: function == "shown")
    changes = [
        ("toy.py", SimpleNamespace(function=name), k)
        for k, name in enumerate(("shown", "hidden", "hidden") * 100)
    ]
    scored = mutants.drawn(toy, changes, mutants.SCORED, ())
    gate = mutants.drawn(toy, changes, 12, ())
    assert (len(scored), len(gate)) == (mutants.SCORED, 12)
    assert {k for *_, k in gate} < {k for *_, k in scored}
    assert sum(change.function == "shown" for _, change, _ in gate) == 6


def test_the_register_of_survivors_gives_reasons_and_may_not_be_stale(tmp_path):
    folder = made(tmp_path)
    entry = {"chapter": "toy", "function": "toy.idle", "reason": "times 1"}
    lives = entry | {"line": "y = x * 1", "change": "x * 1  ->  x / 1"}
    path = folder / "chapters" / "survivors.yml"
    path.write_text(yaml.safe_dump([lives]), "utf-8")
    good = run(folder, "--function", "idle")
    assert good.returncode == 0
    assert ends(good.stdout, "idle")["reason"] == 1
    gone = entry | {"line": "y = x * 3", "change": "x * 3  ->  x / 3"}
    dies = entry | {"function": "toy.half", "line": "return x / 2", "change": "x / 2  ->  x * 2"}
    for row, said in ((gone, "no such change"), (dies, "noticed now")):
        path.write_text(yaml.safe_dump([row]), "utf-8")
        bad = run(folder, "--function", "half")
        assert bad.returncode == 1
        assert said in bad.stdout


def test_the_gate_takes_a_sample_and_holds_a_chapter_to_having_no_survivors(tmp_path):
    folder = made(tmp_path)
    score, register = (folder / "chapters" / f"{name}.yml" for name in ("mutants", "survivors"))
    score.write_text(yaml.safe_dump({"toy": {"all": {"claim": 9, "alive": 1}}}), "utf-8")
    before = score.read_text("utf-8")
    gate = ("--sample", "12", "--seconds", "60")
    assert run(folder, *gate).returncode == 0
    assert score.read_text("utf-8") == before
    score.write_text(yaml.safe_dump({"toy": {"all": {"claim": 9}}}), "utf-8")
    bad = run(folder, *gate)
    assert bad.returncode == 1
    assert "survives: " in bad.stdout
    score.write_text(before, "utf-8")
    row = {"chapter": "toy", "function": "toy.half", "line": "gone", "change": "", "reason": ""}
    register.write_text(yaml.safe_dump([row]), "utf-8")
    assert "no such change any more" in run(folder, *gate).stdout


def test_a_chapter_that_fails_as_it_is_gets_named_before_anything_is_changed(tmp_path):
    folder = made(tmp_path, CHAPTER.replace("half(4) == 2", "half(4) == 3"))
    result = run(folder)
    assert result.returncode == 1
    assert "toy fails as it is" in result.stderr
    assert "cell 2: AssertionError" in result.stderr
    assert not (folder / "chapters" / "mutants.yml").exists()


def alive_in(folder):
    """Return the processes whose command names a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [entry] if str(folder).encode() in entry.read_bytes() else []
        except OSError:
            continue
    return found


def heed_ctrl_c():
    """Undo that the children of a job in the background ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("one", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_child_and_no_change(tmp_path, one):
    slow = "import time\n_ = countdown(3), time.sleep(30), "
    folder = made(tmp_path, CHAPTER.replace("_ = countdown(3), ", slow))
    process = subprocess.Popen(command(folder), start_new_session=True, preexec_fn=heed_ctrl_c)
    time.sleep(8)
    assert process.poll() is None
    (os.killpg if one == signal.SIGINT else os.kill)(process.pid, one)  # Ctrl-C reaches the group
    assert process.wait(20) in (130, 143)
    time.sleep(0.5)
    assert alive_in(folder) == []
    assert (folder / "toys" / "toy.py").read_text("utf-8") == MODULE


CHANGED = textwrap.dedent("""
    class Run(NamedTuple):
        w: int
        n: int

    def f(x, y, weights=None):
        \"\"\"Return 1 + 1.\"\"\"
        x = check_array(x + 1)
        if x < 0:
            raise ValueError(f"x is {x + 1}")
        x = np.where(x > 1, x, -y) and min(x, 3)
        x += 1e-9
        return Run(x, n=g(x, y))
""")


def test_what_is_changed_and_what_is_left_alone():
    texts = {c.text for c in mutations.changes(ast.parse(CHANGED), {"f"})}
    for text in (
        "weights ignored  ->  weights = None",
        "x > 1  ->  x >= 1",
        "x > 1  ->  x <= 1",
        "np.where(x > 1, x, -y)  ->  np.where(x > 1, -y, x)",
        "-y  ->  y",
        "min(x, 3)  ->  max(x, 3)",
        "x += 1e-09  ->  (dropped)",
        "g(x, y)  ->  g(y, x)",
        "Run(x, n=g(x, y))  ->  Run(zero(x), n=g(x, y))",
        "Run(x, n=g(x, y))  ->  Run(x, n=zero(g(x, y)))",
    ):
        assert text in texts, text
    assert not [t for t in texts if "x + 1" in t or "x < 0" in t or "1e-09  ->  2" in t]
