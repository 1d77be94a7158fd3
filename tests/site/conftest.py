"""One site, one server and one browser for all tests of the built site."""

import shutil
import subprocess
import sys

import pytest
from contents import PATIENCE, ROOT, SITE
from playwright.sync_api import sync_playwright
from serving import served

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
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


@pytest.fixture
def context(browser):
    """Open browser contexts that are closed after the test: ``context(color_scheme="dark")``."""
    opened = []

    def new(**options):
        opened.append(browser.new_context(**options))
        opened[-1].set_default_timeout(PATIENCE)
        return opened[-1]

    yield new
    for one in opened:
        one.close()
