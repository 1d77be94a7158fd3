"""One site, one server and one browser for all tests of the built site."""

import shutil
import subprocess
import sys

import pytest
from contents import PATIENCE, ROOT, SITE
from playwright.sync_api import expect, sync_playwright
from serving import served

#: The shell opens no windows, which saves a third of the time.
SHELL = shutil.which("chromium-headless-shell")
CHROMIUM = SHELL or shutil.which("chromium")
expect.set_options(timeout=PATIENCE)
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


@pytest.fixture(scope="session", autouse=True)
def built():
    """Build the site if it is not there."""
    if not (SITE / "index.html").is_file():
        subprocess.run([sys.executable, "_ext/build.py"], cwd=ROOT, check=True)


@pytest.fixture(scope="session")
def address():
    """Serve the site compressed, on a free port of this machine."""
    with served(SITE) as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    """Start the browser once."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def windows(browser):
    """Windows of the browser by their options: opening one costs more than opening a page."""
    opened = {}

    def window(**options):
        key = repr(sorted(options.items()))
        if key not in opened:
            opened[key] = browser.new_context(**options)
            opened[key].set_default_timeout(PATIENCE)
        return opened[key]

    return window


@pytest.fixture(scope="session")
def open_tab(browser, windows):
    """Open a tab: its size, colours and motion are its own, the other options its window's.

    Where there are windows indeed, each tab has one of its own and closes it: a window that closes
    with its last tab may take along the next.
    """

    def tab(*, viewport=None, color_scheme="light", reduced_motion="no-preference", **options):
        opened = windows(**options).new_page() if SHELL else browser.new_page(**options)
        opened.set_default_timeout(PATIENCE)
        opened.set_viewport_size(viewport or {"width": 1280, "height": 720})
        opened.emulate_media(color_scheme=color_scheme, reduced_motion=reduced_motion)
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


@pytest.fixture
def own_tab(browser):
    """Open tabs with a storage of their own."""
    opened = []

    def new(**options):
        opened.append(browser.new_context(**options))
        opened[-1].set_default_timeout(PATIENCE)
        return opened[-1].new_page()

    yield new
    for context in opened:
        context.close()
