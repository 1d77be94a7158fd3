"""Settings that every test run shares."""

import os
import sys

sys.modules.setdefault("rfc3987_syntax", None)  # as in _ext: what reads notebooks starts sooner
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn's checks ask for it; set before scipy


def pytest_collectstart(collector):
    """Let nbval compare pictures too: by default it skips PNG and JPEG."""
    if hasattr(collector, "skip_compare"):
        pictures = ("image/png", "image/jpeg")
        collector.skip_compare = tuple(key for key in collector.skip_compare if key not in pictures)
