"""What only the chapters need: claims, faults put in on purpose, figures and data sets."""

from mllib.course.broken import broken
from mllib.course.claims import ClaimFailure, claim, refusal
from mllib.course.proofs import for_all, identity, integers, on_box, reals

__all__ = [
    "ClaimFailure",
    "broken",
    "claim",
    "for_all",
    "identity",
    "integers",
    "on_box",
    "reals",
    "refusal",
]
