r"""Formulas of one line as plain text: what a claim prints where nothing typesets them.

Only the TeX of a sentence is read: ``$k \le R^2\|w^*\|^2/\gamma^2$`` becomes
``k <= R^2 |w^*|^2/γ^2``. A command that is not known stays as its name.
"""

import re
import unicodedata

__all__ = ["readable"]

_TOKEN = re.compile(r"\\[A-Za-z]+\s*|\\.|\s+|.", re.DOTALL)
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
    "final-sigma sigma tau upsilon phi chi psi omega"
).split()
_LETTERS = {name: chr(0x3B1 + i) for i, name in enumerate(_GREEK)}
_LETTERS |= {name.capitalize(): letter.upper() for name, letter in _LETTERS.items()}
_LETTERS |= {"varepsilon": "ε", "vartheta": "θ", "varphi": "φ", "ell": "l", "partial": "∂"}
_SIGNS = {
    " <= ": "le leq",
    " >= ": "ge geq",
    " << ": "ll",
    " >> ": "gg",
    " != ": "ne neq",
    " -> ": "to rightarrow mapsto",
    " => ": "implies Rightarrow",
    " <=> ": "iff Leftrightarrow",
    " ~ ": "sim",
    " ≈ ": "approx",
    " ∝ ": "propto",
    " in ": "in",
    " not in ": "notin",
    " and ": "land",
    " or ": "lor",
    " × ": "times",
    " ⊆ ": "subseteq",
    " ∪ ": "cup",
    " ∩ ": "cap",
    " · ": "cdot",
    " | ": "mid",
    "±": "pm",
    "∞": "infty",
    "∇": "nabla",
    "∅": "emptyset varnothing",
    "...": "ldots dots cdots",
    "|": "lvert rvert lVert rVert vert Vert",
    "<": "langle",
    ">": "rangle",
    "T": "top",
    "*": "ast star",
    "'": "prime",
    " ": "quad qquad",
    "": "left right big Big bigl bigr Bigl Bigr displaystyle limits",
}
_SIGNS = {name: sign for sign, names in _SIGNS.items() for name in names.split()}
_ACCENTS = {"hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303"}
_ACCENTS |= {"bar": "\u0304", "overline": "\u0304", "dot": "\u0307", "vec": ""}
_OPEN, _CLOSE = "\0", "\1"  #: around words: a blank beside letters, nothing beside signs
_FONTS = "text mathrm mathbf mathbb mathcal mathit boldsymbol operatorname textstyle".split()


def readable(text):
    r"""Return ``text`` with each formula between dollars written in plain characters.

    >>> readable(r"$\hat\theta \le \frac{a+b}{2}$ for each $x_{i+1}$")
    'θ̂ <= (a+b)/2 for each x_(i+1)'
    """
    if text.count("$") % 2:
        raise ValueError("the dollars around formulas come in pairs.")
    pieces = text.split("$")
    pieces[1::2] = [_formula(piece) for piece in pieces[1::2]]
    return "".join(pieces)


def _formula(tex):
    tokens = _TOKEN.findall(tex)[::-1]
    shown = _until(tokens, None).replace(_CLOSE + _OPEN, " ")
    shown = re.sub(rf"(?<=[^\W_]){_OPEN}|(?<=\)){_OPEN}|{_CLOSE}(?=[^\W_])", " ", shown)
    shown = re.sub(rf"[{_OPEN}{_CLOSE}]", "", shown)
    return unicodedata.normalize("NFC", re.sub(r"  +", " ", shown).strip())


def _until(tokens, end):
    """Write out the reversed ``tokens`` up to ``end``, which is taken too."""
    parts = []
    while tokens and tokens[-1] != end:
        parts.append(_next(tokens))
    if tokens:
        tokens.pop()
    return "".join(parts)


def _argument(tokens):
    """Write out what a command takes: a group in braces or one token."""
    while tokens and tokens[-1].isspace():
        tokens.pop()
    return _next(tokens).strip() if tokens else ""


def _next(tokens):
    token = tokens.pop().rstrip() or " "
    if token == "{":
        return _until(tokens, "}")
    if token in "^_":
        inner = _argument(tokens)
        raised = inner if re.fullmatch(rf"-?[\w*'{_OPEN}{_CLOSE}]+|\W", inner) else f"({inner})"
        return token + raised + (_CLOSE if token == "^" else "")
    if not token.startswith("\\"):
        return " " if token == "~" else token
    name = token[1:]
    if not name.isalpha():
        return {"|": "|", ",": " ", ";": " ", ":": " ", "!": ""}.get(name, name)
    if name in ("frac", "tfrac", "dfrac"):
        return "/".join(_tied(_argument(tokens)) for _ in range(2))
    if name == "sqrt":
        return f"{_OPEN}sqrt({_argument(tokens)})"
    if name in _ACCENTS:
        letter = _argument(tokens)
        return letter[:1] + _ACCENTS[name] + letter[1:]
    if name in _FONTS:
        return _argument(tokens)
    if name in _LETTERS:
        return _LETTERS[name]
    if name in _SIGNS:
        return _SIGNS[name]
    return f"{_OPEN}{name}{_CLOSE}"


def _tied(part):
    """Put a sum or a product in brackets where a fraction takes it."""
    return part if re.fullmatch(rf"[^\s+\-*/=<>{_OPEN}]+", part) else f"({part})"
