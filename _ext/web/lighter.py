"""What the theme and KaTeX ship, cut to what the site shows.

Each of the three saves at least a tenth of what a chapter of 250 kB weighs over the wire: glyphs of
icons that no page names 150 kB, rules of style that no page can use 58 kB, letters of formulas that
no page has 30 kB.
"""

import contextlib
import io
import string

import tinycss2
from fontTools import subset

#: Our own sheets stay whole: scripts put names of theirs together, and players bring theirs later.
OURS = ("book.css", "course.css")
#: What stands between names in pages and scripts.
BETWEEN = str.maketrans(dict.fromkeys(set(string.punctuation) - set("-_"), " "))


def usable(selector, words):
    """Return whether all classes and ids of a selector are words of some page or script."""
    after_dot = False
    for token in selector:
        if token.type == "hash" and token.value not in words:
            return False
        if after_dot and token.type == "ident" and token.value not in words:
            return False
        after_dot = token == "."
    return True


def thinned(rules, words):
    """Return the text of style rules without those that no page can use."""
    kept = []
    for rule in rules:
        if rule.type == "qualified-rule":
            parts = [[]]
            for token in rule.prelude:
                parts.append([]) if token == "," else parts[-1].append(token)
            live = [tinycss2.serialize(p).strip() for p in parts if usable(p, words)]
            if live:
                kept.append(f"{','.join(live)}{{{tinycss2.serialize(rule.content).strip()}}}")
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports"):
            inside = tinycss2.parse_rule_list(rule.content, True, True)
            head = tinycss2.serialize(rule.prelude)
            kept.append(f"@{rule.at_keyword}{head}{{{thinned(inside, words)}}}")
        else:
            kept.append(rule.serialize())
    return "\n".join(kept)


def cut(font, letters):
    """Keep in a font only some letters."""
    points = ",".join(f"{ord(letter):x}" for letter in sorted(letters))
    options = [f"--unicodes={points}", "--flavor=woff2", "--layout-features="]
    with contextlib.redirect_stderr(io.StringIO()):
        subset.main([str(font), *options, "--no-recalc-timestamp", f"--output-file={font}"])


def trim(folder):
    """Cut the styles of others and the fonts of the site in ``folder``."""
    static = folder / "_static"
    pages = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("**/*.html"))]
    scripts = [path.read_text(encoding="utf-8") for path in sorted(static.glob("**/*.js"))]
    words = set().union(*(text.translate(BETWEEN).split() for text in (*pages, *scripts)))
    for sheet in {*static.glob("**/*.css")} - {static / name for name in OURS}:
        rules = tinycss2.parse_stylesheet(sheet.read_text(encoding="utf-8-sig"), True, True)
        sheet.write_text(thinned(rules, words), encoding="utf-8")
    styles = "".join(path.read_text(encoding="utf-8") for path in static.glob("**/*.css"))
    styles = tinycss2.serialize(tinycss2.parse_component_value_list(styles))  # without escapes
    icons = {sign for sign in styles if "\ue000" <= sign <= "\uf8ff"}
    for font in static.glob("vendor/fontawesome/webfonts/*.woff2"):
        cut(font, icons)
    letters = set().union(*map(set, pages))
    for font in static.glob("katex/fonts/*.woff2"):
        cut(font, letters)
