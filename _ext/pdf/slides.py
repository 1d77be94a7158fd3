"""``make slides CHAPTER=perceptron``: statements, figures and verdicts of a chapter, one a slide.

    python _ext/pdf/slides.py --chapter perceptron     writes _build/html/slides/perceptron.html

The slides are made of the page, with its numbers and its formulas, and shown by reveal.js without
a network: nothing is written twice. A slide taken from there fits into slides of one's own.
"""

import argparse
import shutil
import sys
from pathlib import Path

from bs4 import BeautifulSoup

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from _ext.build import site

REVEAL = Path(__file__).parents[1] / "vendored" / "reveal"
#: What becomes a slide, and what no slide shows.
SHOWN = "div.proof.admonition, div.exercise, figure, .verdict-card"
HIDDEN = ".permalink, .headerlink, button, script, details, .player-bar, .viewcode-link, .only-dark"
STYLE = """
body { overflow: hidden; } .reveal .slides { text-align: start; }
.reveal .slides > section { font-size: 26px; line-height: 1.4; max-height: 100%; overflow: auto; }
.reveal figure img { width: 100%; height: auto; max-height: 520px; }
.reveal h1 { font-size: 2.2em; } .reveal :is(p, li, figcaption) { max-width: none; }
.reveal ul.verdicts > li { grid-template-columns: 7em minmax(0, 1fr); }
"""


def slides(html, folder):
    """Return the page of a chapter, which lies in ``folder`` of the site, as slides."""
    page = BeautifulSoup(html, "html.parser")
    article = page.select_one("article.bd-article")
    for part in article.select(f"{HIDDEN}, .solution"):
        part.decompose()
    for part in article.select("img[loading]"):
        del part["loading"]
    question = article.select_one(".chapter-card p:not(.admonition-title)") or ""
    sections = [f"<section>{article.h1}{question}</section>"]
    sections += [f"<section>{part}</section>" for part in article.select(SHOWN)]
    styles = "".join(str(link) for link in page.select("link[rel=stylesheet]"))
    up = "../" * (folder.count("/") + 1)
    return (
        f'<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f'<base href="../{folder}/"><title>{article.h1.get_text(strip=True)}</title>'
        f'{styles}<link rel="stylesheet" href="{up}_static/reveal/reveal.css">'
        f'<style>{STYLE}</style></head><body class="bd-content"><div class="reveal bd-article">'
        f'<div class="slides">{"".join(sections)}</div></div>'
        f'<script src="{up}_static/reveal/reveal.js"></script><script>'
        "Reveal.initialize({width: 1100, height: 680, hash: false, slideNumber: true});"
        "</script></body></html>"
    )


def main():
    """Write the slides of one chapter beside the pages of the site."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--chapter", required=True)
    name = parser.parse_args().chapter
    found = sorted(site.SITE.glob(f"chapters/[!r]*/{name}.html")) or sys.exit(
        f"There is no page of a chapter {name!r}: `make book` builds the site."
    )
    folder = found[0].parent.relative_to(site.SITE).as_posix()
    target = site.SITE / "slides" / f"{name}.html"
    target.parent.mkdir(exist_ok=True)
    target.write_text(slides(found[0].read_text(encoding="utf-8"), folder), encoding="utf-8")
    shutil.copytree(REVEAL, site.SITE / "_static" / "reveal", dirs_exist_ok=True)
    print(f"{target.relative_to(site.ROOT)}: open it in a browser; arrow keys turn the slides.")


if __name__ == "__main__":
    main()
