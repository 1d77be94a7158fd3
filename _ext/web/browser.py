"""The browser that prints, draws and tests: one that is installed, or else one that is fetched."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

#: In the order of preference: the shell opens no windows, which saves a third of the time.
COMMANDS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
COMMANDS += ("google-chrome-stable", "microsoft-edge", "microsoft-edge-stable", "chrome", "msedge")
MAC = [f"Applications/{n}.app/Contents/MacOS/{n}" for n in ("Google Chrome", "Chromium")]
MAC.append("Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge")
WINDOWS = ("Google/Chrome/Application/chrome.exe", "Microsoft/Edge/Application/msedge.exe")
FOLDERS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
#: What launches it without a window, on any machine.
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def drivers_own():
    """Return where the driver keeps the browser that it downloads, there or not."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def places():
    """Yield the paths where a browser may be, the best first."""
    yield from filter(None, map(shutil.which, COMMANDS))
    yield from (root / name for root in (Path("/"), Path.home()) for name in MAC)
    folders = filter(None, map(os.environ.get, FOLDERS))
    yield from (Path(folder, name) for folder in folders for name in WINDOWS)
    yield drivers_own()


def find():
    """Return the path of a browser that is here and can be driven, or None."""
    if find_spec("playwright") is None:
        return None
    return next((str(path) for path in places() if Path(path).is_file()), None)


def starts(path):
    """Whether the browser starts: one that was downloaded may lack libraries of the system."""
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        try:
            playwright.chromium.launch(executable_path=path, args=OPTIONS).close()
        except Error:
            return False
    return True


def ran(*command, seconds=300):
    """Run a command that says nothing; return whether it ended well."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def get():
    """Return the path of a browser, which is fetched if there is none.

    Raises
    ------
    LookupError
        If none can be had; it says why and what to do.
    """
    if found := find():
        return found
    print("Fetching a browser ...", flush=True)
    if ran(sys.executable, "-m", "playwright", "install", "--no-shell", "chromium"):
        if starts(found := drivers_own()):
            return found
        Path(found).unlink()
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        os.environ["DEBIAN_FRONTEND"] = "noninteractive"
        debian = ("apt-get", "-y", "-qq", "-o", "Acquire::Retries=1", "-o")
        debian += ("Acquire::http::Timeout=20",)
        ran(*debian, "update", seconds=90)
        for package in COMMANDS[:2]:
            if ran(*debian, "install", "--no-install-recommends", package):
                return shutil.which(package)
    raise LookupError(
        "no Chrome, Edge or Chromium is installed and none could be downloaded: install one "
        "(on Debian or Ubuntu: sudo apt-get install chromium)"
    )
