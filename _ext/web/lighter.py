"""What the theme and KaTeX ship, cut to what the site shows.

Out go rules of style that no page can use, glyphs of icons that no page names and letters of
formulas that no page has.
"""

import contextlib
import io
import re

import tinycss2
from fontTools import subset

_WORD = re.compile(r"[\w-]+")


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


def selectors(prelude):
    """Split a list of tokens at its commas."""
    parts = [[]]
    for token in prelude:
        if token == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def thinned(rules, words):
    """Return the text of style rules without those that no page can use."""
    kept = []
    for rule in rules:
        if rule.type == "qualified-rule":
            live = [part for part in selectors(rule.prelude) if usable(part, words)]
            if live:
                head = ",".join(tinycss2.serialize(part).strip() for part in live)
                kept.append(f"{head}{{{tinycss2.serialize(rule.content).strip()}}}")
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports"):
            inside = tinycss2.parse_rule_list(
                rule.content, skip_comments=True, skip_whitespace=True
            )
            head = tinycss2.serialize(rule.prelude)
            kept.append(f"@{rule.at_keyword}{head}{{{thinned(inside, words)}}}")
        else:
            kept.append(rule.serialize())
    return "\n".join(kept)


def cut(font, letters):
    """Keep in a font only some letters."""
    points = ",".join(f"{ord(letter):x}" for letter in sorted(letters))
    with contextlib.redirect_stderr(io.StringIO()):
        subset.main(
            [
                str(font),
                f"--unicodes={points}",
                "--flavor=woff2",
                "--layout-features=",
                "--no-recalc-timestamp",
                f"--output-file={font}",
            ]
        )


def trim(folder):
    """Cut the styles and fonts of the site in ``folder``."""
    static = folder / "_static"
    pages = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("**/*.html"))]
    scripts = [path.read_text(encoding="utf-8") for path in sorted(static.glob("**/*.js"))]
    words = set().union(*(_WORD.findall(text) for text in (*pages, *scripts)))
    icons = set()
    for sheet in sorted(static.glob("**/*.css")):
        rules = tinycss2.parse_stylesheet(sheet.read_text(encoding="utf-8-sig"), True, True)
        style = thinned(rules, words)
        sheet.write_text(style, encoding="utf-8")
        icons |= set(re.findall("[\ue000-\uf8ff]", style))
        icons |= {chr(int(code, 16)) for code in re.findall(r"\\([ef][0-9a-f]{3})\b", style)}
    for font in static.glob("vendor/fontawesome/webfonts/*.woff2"):
        cut(font, icons)
    letters = set().union(*map(set, pages))
    for font in static.glob("katex/fonts/*.woff2"):
        cut(font, letters)
    for unused in (*static.glob("vendor/**/*.ttf"), *static.glob("scripts/fontawesome*")):
        unused.unlink()
