"""The public address of the repository: one setting, and the buttons that need it.

``repository.url`` in ``_config.yml`` is empty until the book has a public address; while it is, no
button is shown. Filled in, every page links to the repository, to the text it is made from and to
its issues, and every notebook opens on Binder and, if the address is one of GitHub, on Colab: there
the workflow ``pages`` keeps a branch of the notebooks as their pages have them.
"""

import re
from pathlib import Path
from urllib.parse import urlencode

import yaml
from sphinx.errors import ConfigError

_ADDRESS = re.compile(r"https://(github|gitlab)\.com/[\w.-]+/[\w.-]+")
BINDER = "https://mybinder.org"
COLAB = "https://colab.research.google.com"
#: The form of .github/ISSUE_TEMPLATE that a report fills; ``where`` is one of its fields.
FORM = "slip.yml"
#: The branch that the workflow ``pages`` keeps, and where a service opens a notebook of it.
BRANCH = "notebooks"
LAUNCH = {
    "Binder": f"{BINDER}/v2/gh/{{name}}/{BRANCH}?urlpath=lab/tree/{{path}}.ipynb",
    "Colab": f"{COLAB}/github/{{name}}/blob/{BRANCH}/{{path}}.ipynb",
}


def options(url):
    """Return the options of the theme for a repository at ``url``.

    Raises
    ------
    ConfigError
        If the address is not that of a repository on GitHub or GitLab.
    """
    url = (url or "").removesuffix("/")
    if not url:
        return {}
    match = _ADDRESS.fullmatch(url)
    if match is None or url.endswith(".git"):
        raise ConfigError(
            f"repository.url in _config.yml is {url!r}; "
            "write it as https://github.com/OWNER/NAME, or leave it empty"
        )
    launch = {"notebook_interface": "jupyterlab", "binderhub_url": BINDER}
    if match[1] == "github":
        launch["colab_url"] = COLAB
    return {
        "repository_url": url,
        "use_repository_button": True,
        "use_source_button": True,
        "use_edit_page_button": True,
        "use_issues_button": True,
        "launch_buttons": launch,
    }


def switch_on(app, config):
    """Give the theme what the address allows."""
    path = Path(app.srcdir) / "_config.yml"
    book = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}
    given = book.get("repository") or {}
    wanted = options(given.get("url"))
    if wanted:
        wanted["repository_branch"] = given.get("branch") or "main"
        wanted["path_to_docs"] = given.get("path_to_book") or ""
        config.html_theme_options = {**config.html_theme_options, **wanted}


def report(given, page, title):
    """Return the address of an empty report of a slip on this page, or ""."""
    url = given.get("repository_url")
    if not url:
        return ""
    about = f"Slip: {title}"
    if "gitlab.com/" in url:
        return f"{url}/-/issues/new?" + urlencode({"issue[title]": about})
    return f"{url}/issues/new?" + urlencode({"template": FORM, "title": about, "where": page})


def install_line(url, branch):
    """Return the line that a notebook on Colab needs first: Colab fetches the notebook alone."""
    return f"%pip install -q git+{url}@{branch}"


def finish_buttons(app, pagename, templatename, context, doctree):
    """Let source and edit lead to the text of a chapter, and offer the first line for Colab."""
    given = app.config.html_theme_options
    *_, name = given.get("repository_url", "").partition("https://github.com/")
    for group in context.get("header_buttons", ()):
        buttons = group.get("buttons", [])
        for button in buttons:
            if button.get("label") in ("source-file-button", "source-edit-button"):
                button["url"] = re.sub(r"\.ipynb(?=$|\?)", ".md", button["url"])
            if button.get("text") == "Open issue":
                button["url"] = report(given, pagename, context.get("title", pagename))
            if name and button.get("text") in LAUNCH:
                path = pagename.removeprefix("chapters/")
                button["url"] = LAUNCH[button["text"]].format(name=name, path=path)
        if any(button.get("text") == "Colab" for button in buttons):
            line = install_line(given["repository_url"], given["repository_branch"])
            buttons.append(
                {
                    "type": "javascript",
                    "javascript": f"bookCopy('{line}', 'First line for Colab')",
                    "text": "Copy the first line for Colab",
                    "tooltip": line,
                    "icon": "fas fa-copy",
                    "label": "colab-line-button",
                }
            )


def setup(app):
    """Connect both steps, the second after the buttons of the theme."""
    app.connect("config-inited", switch_on, priority=100)
    app.connect("html-page-context", finish_buttons, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
