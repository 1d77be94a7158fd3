"""The Sphinx extensions of this book, and the script that builds it."""

import sys

# jsonschema, which notebooks are checked with, loads a grammar of web addresses that no notebook
# needs, and that takes more than a second: without the package it does without.
sys.modules.setdefault("rfc3987_syntax", None)
