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


def ran(*command, seconds=300):
    """Run a command in silence; return what it printed, or None if it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def asked(line, *arguments):
    """Let the driver do one line in a process of its own, for it may lack libraries."""
    head = "import sys\nfrom playwright.sync_api import sync_playwright as driver\n"
    return ran(sys.executable, "-c", f"{head}with driver() as p: {line}", *arguments, seconds=60)


def drivers_own():
    """Return where the driver keeps the browser that it downloads, there or not."""
    return asked("print(p.chromium.executable_path)") or ""


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
    """Whether the driver starts this browser."""
    launch = f"p.chromium.launch(executable_path=sys.argv[1], args={OPTIONS}).close()"
    return bool(path) and asked(launch, path) is not None


def get():
    """Return the path of a browser, which is fetched if there is none.

    Raises
    ------
    LookupError
        If none can be had; it says why and what to do.
    """
    if starts(found := find()):
        return found
    print("Fetching a browser ...", flush=True)
    ran(sys.executable, "-m", "playwright", "install", "--no-shell", "chromium")
    if starts(found := drivers_own()):
        return found
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        os.environ["DEBIAN_FRONTEND"] = "noninteractive"
        debian = ("apt-get", "-y", "-qq", "-o", "Acquire::Retries=1", "-o")
        debian += ("Acquire::http::Timeout=20",)
        ran(*debian, "update", seconds=90)
        for package in COMMANDS[:2]:  # and a library of the driver
            ran(*debian, "install", "--no-install-recommends", "libatomic1", package)
            if starts(found := shutil.which(package)):
                return found
    raise LookupError(
        "no Chrome, Edge or Chromium starts here and none could be fetched: install one "
        "(on Debian or Ubuntu: sudo apt-get install chromium)"
    )
