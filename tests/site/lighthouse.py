"""Measure the built site with Lighthouse, mobile preset, on a compressed local server.

    python tests/site/lighthouse.py [PAGE ...]      every page, or those named

Needs node; Lighthouse comes from npm into _build/lighthouse on first use. Ends with 1 if a page
misses its mark: 100 for accessibility, best practices and SEO; for performance 95 on the landing
page, 90 on a chapter, 80 on a chapter of more than a megabyte of HTML.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from contents import ROOT, SITE, entries, pages
from serving import served

VERSION = "12.8.2"
INSTALLED = ROOT / "_build" / "lighthouse"
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
FULL = 100
LONG = 1_000_000  # bytes of HTML


def program():
    """Return the path of Lighthouse, installed if need be."""
    own = INSTALLED / "node_modules" / ".bin" / "lighthouse"
    if not own.exists():
        if shutil.which("npm") is None:
            sys.exit("npm is missing. On Debian or Ubuntu: sudo apt-get install nodejs npm")
        INSTALLED.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--silent"]
        subprocess.run([*command, "--prefix", str(INSTALLED), f"lighthouse@{VERSION}"], check=True)
    return own


def measure(address, page):
    """Return the report of Lighthouse on one page."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        environment = os.environ | {"CHROME_PATH": shutil.which("chromium") or ""}
        command = [str(program()), f"{address}/{page}", "--quiet", "--output=json"]
        command += [f"--output-path={report}", f"--only-categories={','.join(CATEGORIES)}"]
        command += ["--chrome-flags=--headless=new --no-sandbox --disable-gpu"]
        subprocess.run(command, env=environment, check=True)
        return json.loads(report.read_text(encoding="utf-8"))


def marks(site, page):
    """Return the marks that a page has to reach."""
    wanted = dict.fromkeys(CATEGORIES, FULL)
    long = (site / page).stat().st_size > LONG
    wanted["performance"] = 95 if page == pages()[0] else 80 if long else 90
    return wanted


def figures(report):
    """Return what matters of a report."""
    audits = report["audits"]
    number = {name: audits[name].get("numericValue", 0) for name in audits}
    scores = {c: round(100 * report["categories"][c]["score"]) for c in CATEGORIES}
    return scores | {
        "kB": round(number["total-byte-weight"] / 1000),
        "FCP": round(number["first-contentful-paint"] / 1000, 1),
        "LCP": round(number["largest-contentful-paint"] / 1000, 1),
        "TBT": round(number["total-blocking-time"]),
        "CLS": round(number["cumulative-layout-shift"], 3),
    }


def faults(report):
    """Yield the audits that cost points, with what they concern."""
    for category in CATEGORIES[1:]:
        for entry in report["categories"][category]["auditRefs"]:
            audit = report["audits"][entry["id"]]
            if entry["weight"] and audit["score"] is not None and audit["score"] < 1:
                items = (audit.get("details") or {}).get("items", [])[:3]
                yield f"{entry['id']}: {audit['title']} {json.dumps(items)[:400]}"


def main():
    """Measure, print a table, tell whether every mark is reached."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as chapters/intro.html")
    parser.add_argument("--runs", type=int, default=1, help="runs per page; the median counts")
    parser.add_argument("--site", type=Path, default=SITE, help="folder of the built site")
    options = parser.parse_args()
    print("perf acc best seo    kB  FCP  LCP   TBT   CLS  page", flush=True)
    missed = []
    with served(options.site) as address:
        for page in options.pages or [*pages(), *entries()]:
            reports = [measure(address, page) for _ in range(options.runs)]
            runs = [figures(report) for report in reports]
            found = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
            row = (
                "{performance:4.0f} {accessibility:3.0f} {best-practices:4.0f} {seo:3.0f} {kB:5.0f}"
            )
            row += " {FCP:4.1f} {LCP:4.1f} {TBT:5.0f} {CLS:5.3f}"
            print(row.format(**found), f" {page}", flush=True)
            for line in sorted({fault for report in reports for fault in faults(report)}):
                print(f"       {line}", flush=True)
            wanted = marks(options.site, page)
            missed += [page for name, mark in wanted.items() if found[name] < mark]
    if missed:
        print("Below the mark:", ", ".join(dict.fromkeys(missed)))
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
