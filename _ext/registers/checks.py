"""What is checked once all pages are read: every statement run, every claim and anchor in place."""

from collections import defaultdict

from sphinx.util import logging

from _ext.registers.register import register_names, registers
from _ext.registers.relations import chapters as published

logger = logging.getLogger(__name__)

#: Blocks that state something, which must therefore be run.
STATEMENTS = ("theorem", "lemma", "proposition", "corollary", "algorithm", "example")
#: Kinds in results.yml that need an executed claim; definitions and advice need only the anchor.
CLAIMED_KINDS = (*STATEMENTS, "derivation")


def faults(pages, results, errata, chapters):
    """Yield (docname, line, message) for every statement, claim or anchor that does not fit.

    Parameters
    ----------
    pages : dict from docname to Page
    results, errata : lists of register entries
    chapters : dict from slug to docname of the published chapters
    """
    registered = register_names(results, errata)
    verified, claimed = defaultdict(list), defaultdict(list)
    for docname, page in pages.items():
        for claim in page.claims:
            title = ", ".join(claim.names) or "?"
            if claim.problem:
                yield docname, claim.line, f"claim {title}: {claim.problem}"
            for name in claim.names:
                if name not in page.targets:
                    yield (
                        docname,
                        claim.line,
                        f"claim {name} names nothing that is anchored on this page",
                    )
                elif name not in registered:
                    yield (
                        docname,
                        claim.line,
                        f"claim {name} is in neither results.yml nor errata.yml",
                    )
                claimed[name].append((docname, claim.line))
                if not claim.problem:
                    verified[docname].append(name)
    for name, places in claimed.items():
        for docname, line in places[1:]:
            yield docname, line, f"claim {name} is made twice, first in {places[0][0]}"
    for docname, page in pages.items():
        for kind, label, line in page.statements:
            if kind in STATEMENTS and not label:
                yield docname, line, f"{kind} without a label, hence without a claim"
            elif kind in STATEMENTS and label not in verified[docname]:
                yield docname, line, f"{kind} {label} has no executed claim that holds"
    for entry in results:
        docname = chapters.get(entry["chapter"])
        if docname is None or docname not in pages:
            continue
        page = pages[docname]
        stated = {label for _, label, _ in page.statements if label}
        if entry["id"] not in page.anchors:
            yield docname, None, f"result {entry['id']} ({entry['kind']}) has no anchor on its page"
        elif (
            entry["kind"] in CLAIMED_KINDS
            and entry["id"] not in verified[docname]
            and entry["id"] not in stated
        ):
            yield docname, None, f"{entry['kind']} {entry['id']} has no executed claim that holds"
    for entry in errata:
        docname, name = chapters.get(entry["chapter"]), f"erratum-{entry['id']}"
        if docname is None or docname not in pages:
            continue
        if name not in pages[docname].anchors:
            yield docname, None, f"slip {entry['id']} has no anchor {name} on its page"
        elif name not in verified[docname]:
            yield docname, None, f"slip {entry['id']} has no executed claim {name} that holds"


def check(app, env):
    """Warn about every fault, with its place."""
    results, errata = registers(app)
    for docname, line, message in faults(
        getattr(env, "book_pages", {}), results, errata, published(env)
    ):
        logger.warning(message, location=(docname, line), type="results")
