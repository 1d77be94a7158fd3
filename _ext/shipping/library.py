"""The reference of the library: links to the results it computes and to its source.

A docstring says ``Book: perceptron-mistake-bound``; the page links to that result by its title.
Each function and class links to its lines in a copy of the module beside the site's sources.
"""

import html as markup
import posixpath
import re
import shutil
from pathlib import Path

_BOOK = re.compile(
    r"(?<=<p>Book: )([a-z0-9]+(?:-[a-z0-9]+)+(?:(?:, | and |,\s+)[a-z0-9]+(?:-[a-z0-9]+)+)*)"
)
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")
_OBJECT = re.compile(
    r'(<dl class="py (function|class)">\s*'
    r'<dt class="sig sig-object py" id="mllib\.(\w+)\.(\w+)">.*?)(?=<a class="headerlink")',
    re.DOTALL,
)


def linked(html, page, places, titles):
    """Return a page of the reference with links to results and sources.

    Parameters
    ----------
    html : str
    page : str
        Its address in the site.
    places : dict
        The page of each result by its name.
    titles : dict
        The title of each result by its name.
    """
    folder = posixpath.dirname(page)

    def result(match):
        name = match[0]
        if name not in places:
            return name
        address = posixpath.relpath(places[name], folder)
        title = markup.escape(titles.get(name, name))
        return f'<a class="reference internal" href="{address}#{name}">{title}</a>'

    def source(match):
        head, kind, module, name = match.groups()
        start = ("def" if kind == "function" else "class") + "%20" + name
        address = posixpath.relpath(f"_sources/mllib/{module}.py.txt", folder)
        label = f"Source of {name}"
        return (
            f'{head}<a class="source-link" href="{address}#:~:text={start}" aria-label="{label}">'
            "source</a>"
        )

    html = _BOOK.sub(lambda match: _SLUG.sub(result, match[0]), html)
    return _OBJECT.sub(source, html)


def site(folder, entries, titles):
    """Link the reference in ``folder``; put the sources of the library beside the others.

    Parameters
    ----------
    folder : Path
    entries : list of dict
        The register of results.
    titles : dict
    """
    chapters = {
        path.stem: path.relative_to(folder).as_posix()
        for path in folder.glob("chapters/*/*.html")
        if path.parent.name != "results"
    }
    places = {e["id"]: chapters[e["chapter"]] for e in entries if e["chapter"] in chapters}
    target = folder / "_sources" / "mllib"
    target.mkdir(parents=True, exist_ok=True)
    for module in sorted((Path(__file__).parents[2] / "mllib").glob("*.py")):
        shutil.copyfile(module, target / f"{module.name}.txt")
    for path in sorted(folder.glob("api/*.html")):
        page = path.relative_to(folder).as_posix()
        html = linked(path.read_text(encoding="utf-8"), page, places, titles)
        path.write_text(html, encoding="utf-8")
