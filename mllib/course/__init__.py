"""What only the chapters need: claims, faults put in on purpose, figures and data sets."""

from mllib.course.broken import broken
from mllib.course.claims import ClaimFailure, claim, refusal

__all__ = ["ClaimFailure", "broken", "claim", "refusal"]
