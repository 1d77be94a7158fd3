"""The audit of a small book: each end of a change occurs, and each human kind is enumerated."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import graded
import mutants
import mutations
import yaml

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
    best = np.argmin(X, axis=0), weights
    return Run([np.sqrt(np.mean(X**2)) + X.max(), steps], name=rule)
class Model:
    def __init__(self, mean=True):
        self.mean = mean
    def fit(self, X):
        check_choice(self.rule, "rule", ("first", "last"))
        self.a_, self.n_ = X[0] if self.mean else X[1], 7
'''
CELLS = """
At most `steps` of `run`, by default 20; no other argument.

```{code-cell} ipython3
from mllib.toy import area, np, ratio, run
class ClaimFailure(AssertionError): pass
if area(2, 5) != 10: raise ClaimFailure("toy-area: a rectangle")
assert (run(np.eye(2), None).w[1], run(np.eye(2), None, steps=4).w[1]) == (20, 4)
```
"""
TEST = """
from mllib.toy import np, ratio, run
def test_ratio(): assert ratio(3) == 6
def test_steps(): assert run(np.eye(2), None, steps=3).w[1] == 3
"""
HUMAN = """scale is 2.0; default scale=2.0  ->  20.0; default scale=2.0  ->  0.2; mean is True
weights is np.ones_like(weights); default rule='first'  ->  'last'; default clip=True  ->  False
w zeroed; w doubled; w reversed; name zeroed; self.a_ doubled; self.n_ zeroed; X.max()  ->  rms(X)
X.max()  ->  X.mean(); X.max()  ->  X.sum(); np.mean(X ** 2)  ->  np.mean(np.square(level(X)))
np.argmin(X, axis=0)  ->  own(np.argmin(X, axis=0))
X[0] if self.mean else X[1]  ->  X[0] if not self.mean else X[1]"""


def test_each_end_occurs_and_is_published(tmp_path):
    shutil.copytree(mutants.ROOT / "tools", tmp_path / "tools")
    files = {"mllib/__init__.py": "", "mllib/toy.py": MODULE, "registers/mutants.yml": ""}
    files |= {"chapters/part/toy.md": CELLS, "tests/test_toy.py": TEST}
    for name, text in files.items():
        Path(tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        Path(tmp_path / name).write_text(text, "utf-8")
    command = [sys.executable, str(tmp_path / "tools" / "mutants.py"), "toy"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "no tests   toy:9  area  a * b  ->  a / b" in said  # a claim noticed it
    assert "no claims  toy:11  ratio  scale * x  ->  scale / x" in said
    assert "alive      toy:11  ratio  x > 0  ->  x >= 0" in said  # at 0 both give 0
    assert "run  steps is 20" not in said  # both noticed it
    row = next(line.split() for line in said.split("\n") if line.startswith("printed or named"))
    assert row[3:] == ["3", "3", "1", "0"]  # ignored, ten times as many, a tenth
    assert "run  name doubled" not in said  # there is no such text: nothing was changed
    score = yaml.safe_load((tmp_path / "registers" / "mutants.yml").read_text("utf-8"))["toy"]
    assert score["mechanical by claim"] == {"toy-area": 2}
    one, both = ({"noticed": s["tried"] - s["alive"], **s} for s in map(score.get, mutants.GROUPS))
    assert one["noticed"] == one["claims"] + one["tests"] < one["tried"]
    assert both["claims"] < both["noticed"] < both["claims"] + both["tests"] < both["tried"]


def test_every_human_kind_is_enumerated():
    exec(MODULE, space := {"__name__": "toy"})
    made = mutations.changes(ast.parse(MODULE), space)
    texts = [change.text for change in made if change.kind in mutations.HUMAN]
    for text in HUMAN.replace("\n", "; ").split("; "):
        assert texts.count(text) == 1, text


def test_the_grader_is_given_each_change_of_a_function_as_a_function():
    made = graded.versions("mllib.perceptron", "kernel_perceptron")
    assert {kind for kind, *_ in made} >= {"mechanical", *mutations.HUMAN[:2]}
    for _, _, _, source in made:
        (node,) = ast.parse(source).body
        assert node.name == "kernel_perceptron"
    assert len({source for *_, source in made}) == len(made)
