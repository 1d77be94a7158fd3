"""Titles of exercises and their solutions: one pair of brackets less, and a bar that opens.

An author writes ``{exercise} Another start (conceptual)``; the page shows the title, and what the
exercise asks of the reader on a tag. The title of a solution carries no link, so that its whole bar
opens it: the exercise stands above it.
"""

import re

_EFFORT = r"(?: \((conceptual|short code|extended)\))?"
_HEAD = re.compile(
    r'(<p class="admonition-title"><span class="caption-number">)(Exercise [\d.]+) ?(</span>) '
    rf"\((.*?){_EFFORT}\)(?= <a class=\"permalink\"|\s*</p>)"
)
_SOLUTION = re.compile(
    r'(<p class="admonition-title">)Solution to\s*<a [^>]*>\s*'
    rf"(Exercise [\d.]+)(?: \((.*?){_EFFORT}\))?</a></p>"
)
_REFERENCE = re.compile(
    r"(Exercise [\d.]+ \()([^()]*(?:\([^()]*\)[^()]*)*) \((?:conceptual|short code|extended)\)\)"
)


def split(title):
    """Return a title without the word in brackets that ends it, and that word or ``""``."""
    match = re.fullmatch(rf"(.*?){_EFFORT}", title.strip(), re.DOTALL)
    return match[1], match[2] or ""


def plainer(html):
    """Return a page whose exercises and solutions have plain titles."""

    def head(match):
        before, number, after, title, effort = match.groups()
        tag = f' <span class="effort">{effort}</span>' if effort else ""
        return f'{before}{number}{after} <span class="exercise-title">{title}</span>{tag}'

    def solution(match):
        title = f": {match[3]}" if match[3] else ""
        return f"{match[1]}Solution to {match[2]}{title}</p>"

    return _REFERENCE.sub(r"\1\2)", _SOLUTION.sub(solution, _HEAD.sub(head, html)))
