"""What the course needs: claims, grading by them, exercises, workbooks, figures and data sets."""

from mllib.course.broken import broken
from mllib.course.claims import ClaimFailure, claim, refusal
from mllib.course.exercises import answer
from mllib.course.grading import check, hint, mine
from mllib.course.proofs import for_all, identity, integers, on_box, reals

__all__ = [
    "ClaimFailure",
    "answer",
    "broken",
    "check",
    "claim",
    "for_all",
    "hint",
    "identity",
    "integers",
    "mine",
    "on_box",
    "reals",
    "refusal",
]
