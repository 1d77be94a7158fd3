"""The two registers of statements: ``chapters/results.yml`` and ``chapters/errata.yml``."""

from pathlib import Path

import yaml

from _ext.once import QUICK, once


def load(path):
    """Read a register; an empty or missing file is an empty list."""
    return _read(path) if Path(path).exists() else []


@once
def _read(path):
    return yaml.load(path.read_text(encoding="utf-8"), Loader=QUICK) or []


def registers(app):
    """Return the results and the slips, each as a list of entries."""
    source = Path(app.srcdir)
    return load(source / app.config.results_file), load(source / app.config.errata_file)


def register_names(results, errata):
    """Return every name that a claim may carry."""
    return {entry["id"] for entry in results} | {f"erratum-{entry['id']}" for entry in errata}
