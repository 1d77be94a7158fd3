"""The audit of a small book: each end of a change occurs, and each human kind is enumerated."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import mutations
import yaml

ROOT = Path(__file__).resolve().parents[2]

MODULE = '''
from typing import NamedTuple
import numpy as np

class Run(NamedTuple):
    w: list
    name: str

def area(a, b):
    """Return a times b."""
    return a * b

def ratio(x, scale=2.0):
    return scale * x if x > 0 else 0.0 * x

def run(X, weights, rule="first", steps=20, clip=True):
    best = np.argmin(X, axis=0)
    return Run([np.sqrt(np.mean(X**2)) + X.max(), steps], name=rule)

class Model:
    def __init__(self, mean=True):
        self.mean = mean

    def fit(self, X):
        check_choice(self.rule, "rule", ("first", "last"))
        self.a_, self.n_ = X[0] if self.mean else X[1], 7
'''
CELLS = """
```{code-cell} ipython3
from mllib.toy import area, np, ratio, run
class ClaimFailure(AssertionError): pass
```
```{code-cell} ipython3
:tags: [hide-input]
if area(2, 5) != 10: raise ClaimFailure("toy-area: a rectangle")
assert run(np.eye(2), None).w[1] == 20
```
"""
TEST = "from mllib.toy import ratio\ndef test_ratio(): assert ratio(3) == 6"


def test_each_end_occurs_and_is_published(tmp_path):
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    files = {
        "mllib/__init__.py": "",
        "mllib/toy.py": MODULE,
        "registers/mutants.yml": "",
        "tests/test_toy.py": TEST,
    }
    for name, text in (files | {"chapters/part/toy.md": CELLS}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    command = [sys.executable, str(tmp_path / "tools" / "mutants.py"), "toy"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "area  a * b" not in said  # a claim noticed all of them
    assert "tests  toy:14  ratio  scale * x  ->  scale / x" in said
    assert "alive  toy:14  ratio  x > 0  ->  x >= 0" in said  # at 0 both give 0
    assert "run  name doubled" not in said  # there is no such text: nothing was changed
    score = yaml.safe_load((tmp_path / "registers" / "mutants.yml").read_text("utf-8"))["toy"]
    assert score["mechanical by claim"] == {"toy-area": 2}
    for group in (score["mechanical"], score["human"]):
        ends = [group[end] for end in ("claims", "tests", "alive")]
        assert group["tried"] == sum(ends) > 3 * min(ends) > 0


def test_every_human_kind_is_enumerated():
    tree = ast.parse(MODULE)
    known, options = {"Run": ["w", "name"]}, mutations.choices(tree, {})
    texts = [c.text for c in mutations.changes(tree, known, options) if c.kind in mutations.HUMAN]
    for text in (
        *("scale is 2.0", "default scale=2.0  ->  20.0", "default scale=2.0  ->  0.2"),
        *("weights is np.ones_like(weights)", "default rule='first'  ->  'last'"),
        *("default steps=20  ->  200", "default clip=True  ->  False", "mean is True"),
        *("w zeroed", "w doubled", "w reversed", "name zeroed"),
        *("self.a_ doubled", "self.n_ zeroed"),
        *("X.max()  ->  X.mean()", "X.max()  ->  X.sum()", "X.max()  ->  rms(X)"),
        "np.mean(X ** 2)  ->  np.mean(np.square(level(X)))",
        *(f"np.argmin(X, axis=0)  ->  {how}(np.argmin(X, axis=0))" for how in ("zeroed", "own")),
        "X[0] if self.mean else X[1]  ->  X[0] if not self.mean else X[1]",
    ):
        assert texts.count(text) == 1, text
