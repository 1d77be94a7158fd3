"""One site, one server and one browser for all tests of the built site."""

import subprocess
import sys

import pytest
from contents import PATIENCE, ROOT, SITE
from playwright.sync_api import expect, sync_playwright
from serving import served

sys.path.insert(0, str(ROOT))

from _ext.web import browser as browsers

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session", autouse=True)
def built():
    """Build the site if it is not there."""
    if not (SITE / "index.html").is_file():
        subprocess.run([sys.executable, "_ext/build/site.py"], cwd=ROOT, check=True)


@pytest.fixture(scope="session")
def address():
    """Serve the site compressed, on a free port of this machine."""
    with served(SITE) as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    """Start the browser once."""
    path = browsers.find()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=browsers.OPTIONS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def open_tab(browser):
    """Open a tab with a storage, a cache and connections of its own."""

    def tab(**options):
        opened = browser.new_page(**options)
        opened.set_default_timeout(PATIENCE)
        return opened

    return tab


@pytest.fixture
def new_tab(open_tab):
    """Open tabs that are closed after the test: ``new_tab(color_scheme="dark")``."""
    opened = []

    def new(**options):
        opened.append(open_tab(**options))
        return opened[-1]

    yield new
    for tab in opened:
        tab.close()
