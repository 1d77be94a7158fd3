r"""Claims: the results of the book, run where they are stated.

A claim stands in the cell after its theorem and is written as

    with claim("perceptron-mistake-bound") as c:
        c.holds(r"$k \le R^2 \|w^*\|^2 / \gamma^2$ on 200 separable data sets", mistakes <= bounds)
        c.tight("largest ratio of mistakes to bound", np.max(mistakes / bounds), at_least=0.5)
        c.necessary("without separability: no clean pass in 1000", min(mistakes_per_pass) > 0)

A statement that a machine can decide for all values at once is proved instead of sampled:
``c.proves(text, certificate, without=..., refuted=...)``, see ``mllib.course.proofs``.

The text of a verdict is a sentence for the reader; its formulas stand in dollars, in simple TeX,
and names of the code between backquotes.
The claim shows the names of the results and one line per verdict. If a check fails, the others
still run; its line says so with the first case that fails, in a notebook also with both sides of
the comparison there, and the claim ends in a ``ClaimFailure``. In a terminal it prints plain text.
In a notebook it displays that text together with Markdown, in which formulas are typeset and the
number of checks is told; from both the build composes the cards under the proofs and the pages of
results.
"""

import ast
import re
import sys

import numpy as np

from mllib.course.plain import readable

__all__ = ["ClaimFailure", "claim", "refusal"]

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")


class ClaimFailure(AssertionError):
    """Raised when a check of a claim fails, or when a claim checks nothing."""

    def _render_traceback_(self):
        """Return what a notebook shows: a sentence, without the way through this file."""
        told = str(self).splitlines()
        said = told[0] if len(self.args) < 2 else f"{self.args[1]}: the card says where."
        return [f"{type(self).__name__}: {said}"]

    def __str__(self):
        """Return the whole message."""
        return str(self.args[0])


class claim:
    """Check the results called ``names``; use as a context manager.

    Parameters
    ----------
    *names : str
        Anchors of the results that this claim verifies, such as ``"perceptron-mistake-bound"``.
    """

    def __init__(self, *names):
        if not names:
            raise ValueError(
                "claim needs the name of a result, such as 'perceptron-mistake-bound'."
            )
        for name in names:
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise ValueError(
                    f"{name!r} is not the name of a result: lower-case words joined by hyphens."
                )
        self.names = names
        self._verdicts = []

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        names = ", ".join(self.names)
        failed = [
            f"{names} [{verdict}] {readable(text)}: {why}."
            for verdict, text, _, why in self._verdicts
            if why
        ]
        if kind is None and not any(
            verdict in ("holds", "proves") for verdict, *_ in self._verdicts
        ):
            raise ClaimFailure(f"{names}: the claim never called holds(...) or proves(...).")
        if kind is None or failed:
            _show(self._plain(), self._markdown())
        if kind is None and failed:
            count = f"{len(failed)} of {len(self._verdicts)} verdicts"
            raise ClaimFailure("\n".join(failed), f"{names}: {count} failed")
        return False

    def _plain(self):
        lines = (
            f"  {'FAILS' if why else verdict:<10} {readable(text)}{f': {why}' if why else ''}"
            for verdict, text, _, why in self._verdicts
        )
        return "\n".join([*self.names, *lines])

    def _markdown(self):
        lines = [" ".join(f"`{name}`" for name in self.names), ""]
        for verdict, text, checks, why in self._verdicts:
            count = f" *({checks} checks)*" if checks > 1 else ""
            mark, end = (
                (f"✗ {verdict} fails:", f" — **{_escaped(why)}**") if why else (verdict, count)
            )
            lines.append(f"- **{mark}** {_escaped(text)}{end}")
        if any(why for *_, why in self._verdicts):  # a card in red
            lines = ['<div style="border-left: 5px solid #c62828; padding-left: 1em">', "", *lines]
            lines += ["", "</div>"]
        return "\n".join(lines)

    def holds(self, text, *conditions):
        """Record that the statement itself is true in every case.

        Parameters
        ----------
        text : str
            What was checked, over which cases, as one sentence without numbers that vary;
            formulas in dollars.
        *conditions : bool or array of bool; all must be true; at least one, and none empty
        """
        self._check("holds", text, conditions)

    def tight(self, text, ratio, *, at_least):
        """Record how close an instance comes to equality, and print that ratio.

        Parameters
        ----------
        text : str; what the ratio compares, such as "largest ratio of mistakes to bound"
        ratio : float; observed over bound: 1 is equality
        at_least : float; the sharpness that the text around the claim relies on, above 0
        """
        if not at_least > 0:
            raise ValueError(f"at_least must be above 0, got {at_least!r}.")
        ratio = float(ratio)
        passed = at_least <= ratio <= 1 + 1e-9
        line = f"{text}: {ratio:.4g}"
        self._check("tight", line, (passed,), f"expected a ratio in [{at_least:g}, 1]")

    def necessary(self, text, *conditions):
        """Record that the statement fails once one named hypothesis is dropped.

        The text names that hypothesis, and ``conditions`` show the statement false without it.
        """
        self._check("necessary", text, conditions)

    def contrast(self, text, *conditions):
        """Record a difference worth seeing that drops no hypothesis: a rival, a variant."""
        self._check("contrast", text, conditions)

    def proves(self, text, certificate, *, without, refuted):
        """Record what a machine decides for all values at once, and the refutation beside it.

        Parameters
        ----------
        text : str; the statement, with what it is quantified over
        certificate : from ``mllib.course.proofs``; it has to be proved
        without : str; which hypothesis is dropped, or which constant sharpened, in ``refuted``
        refuted : a certificate of the same form, for which the tool has to find a counterexample
        """
        for verdict, line, decide in (
            ("proves", text, certificate),
            ("refuted", without, refuted),
        ):
            try:
                point, tool = decide()
            except ArithmeticError as limit:
                self._check(verdict, line, (False,), str(limit))
            else:
                if verdict == "proves":
                    self._check(verdict, f"{line} ({tool})", (not point,), f"false at {point}")
                else:
                    line = f"{line}: false at {point}" if point else line
                    self._check(verdict, line, (bool(point),), "it is true all the same")

    def _check(self, verdict, text, conditions, expected=""):
        if "\n" in text or not text.strip():
            raise ValueError("the text of a verdict must be one non-empty line.")
        readable(text)  # refuses what it cannot read, here and not at the end
        names, checks, why = ", ".join(self.names), 0, ""
        if not conditions:
            raise ClaimFailure(f"{names}: {verdict} was given nothing to check.")
        for number, condition in enumerate(conditions, 1):
            cases = np.asarray(condition)
            if cases.size == 0:
                raise ClaimFailure(f"{names}: {verdict} was given no cases.")
            if cases.dtype != np.bool_:
                raise ClaimFailure(f"{names}: {verdict} needs true or false, got {cases.dtype}.")
            if not cases.all() and not why:
                which = f" in condition {number}" if len(conditions) > 1 else ""
                why = (expected or _first_failing(cases)) + which
                why += "" if expected else _sides(verdict, text, number, cases)
            checks += cases.size
        if why and verdict == "necessary":
            dropped = re.match(r"without (H\d+)", text)
            hypothesis = dropped[1] if dropped else "its hypothesis"
            why = f"the statement did not fail although {hypothesis} was dropped ({why})"
        self._verdicts.append((verdict, text, checks, why))


def _first_failing(cases):
    """Say how many cases fail, and which is the first."""
    if cases.ndim == 0:
        return "it is false"
    first = ", ".join(str(i) for i in np.argwhere(~cases)[0])
    return f"{np.count_nonzero(~cases)} of {cases.size} cases fail, the first at [{first}]"


def _sides(verdict, text, number, cases):
    """Say what stood left and right of the comparison in the first case that fails.

    The comparison is read from the cell that runs; of what it calls, only numpy is called again.
    """
    shell = _notebook()
    if shell is None:
        return ""
    for call in ast.walk(ast.parse(shell.transform_cell(shell.user_ns["In"][-1]))):
        if not (isinstance(call, ast.Call) and getattr(call.func, "attr", "") == verdict):
            continue
        condition = call.args[number] if number < len(call.args) else None
        if getattr(call.args[0], "value", None) != text or not isinstance(condition, ast.Compare):
            continue
        sides = [condition.left, *condition.comparators]
        called = (
            part.func for side in sides for part in ast.walk(side) if isinstance(part, ast.Call)
        )
        if len(sides) > 2 or not all(
            re.match(r"np\.(?!random)|abs$|len$", ast.unparse(f)) for f in called
        ):
            continue
        values = [eval(ast.unparse(side), shell.user_ns) for side in sides]
        spread = np.broadcast_arrays(*values)
        if spread[0].shape == cases.shape:
            place = tuple(np.argwhere(~cases)[0])
            values = [part[place] for part in spread]
            told = (f"{v:.4g}" if isinstance(v, np.inexact) else str(v) for v in values)
            said = (f"`{ast.unparse(side)}` = {v}" for side, v in zip(sides, told))
            return f": {', '.join(said)}"
    return ""


def _notebook():
    """Return the shell of the notebook that runs, or None."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell if getattr(shell, "kernel", None) is not None else None


def _escaped(text):
    """Return ``text`` as Markdown that shows each character as it is, formulas and code apart."""
    pieces = re.split(r"(\$[^$]*\$|`[^`]*`)", text)
    pieces[::2] = [re.sub(r"([\\`*_<>\[\]{}&~|#])", r"\\\1", piece) for piece in pieces[::2]]
    return "".join(pieces)


def _show(plain, markdown):
    """Display both forms in a notebook; print the plain one elsewhere."""
    if _notebook() is None:
        sys.stdout.write(plain + "\n")
        return
    from IPython.display import display  # only where a notebook already runs

    display({"text/plain": plain, "text/markdown": markdown}, raw=True)


def refusal(call, *args, error=(ValueError, RuntimeError), **kwargs):
    """Return the sentence with which a call is refused; an answer is an ``AssertionError``.

    Examples
    --------
    >>> refusal(int, "one")
    "invalid literal for int() with base 10: 'one'"
    """
    try:
        answer = call(*args, **kwargs)
    except error as sentence:
        return str(sentence)
    raise AssertionError(f"It was not refused; the answer is {answer!r}.")
