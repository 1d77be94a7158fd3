"""The registers: ``results.yml``, ``errata.yml`` and what else is counted in ``registers/``."""

import functools
from pathlib import Path

import yaml

#: The loader of YAML in C, ten times as quick, where it is there.
QUICK = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(path):
    """Read a register; an empty or missing file is an empty list.

    It is read again when its time or size changes. Every caller gets the same object, so nobody may
    change it.
    """
    path = Path(path)
    if not path.exists():
        return []
    about = path.stat()
    return _read(path, about.st_mtime_ns, about.st_size)


@functools.lru_cache(maxsize=16)
def _read(path, *stamp):
    return yaml.load(path.read_text(encoding="utf-8"), Loader=QUICK) or []


def registers(app):
    """Return the results and the slips, each as a list of entries."""
    source = Path(app.srcdir)
    return load(source / app.config.results_file), load(source / app.config.errata_file)


#: The page of each source of slips, in chapters/slips.
SLIPS = {
    "Corcos (2014)": "corcos",
    "Tsinghua review notes": "tsinghua",
    "Lorencio Abril (2023)": "lorencio-abril",
    "UCI notes": "uci",
    "NUS MA4270": "nus",
}


def register_names(results, errata):
    """Return every name that a claim may carry."""
    return {entry["id"] for entry in results} | {f"erratum-{entry['id']}" for entry in errata}
