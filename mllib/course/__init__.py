"""What only the chapters need: claims, figures and data sets."""

from mllib.course.claims import ClaimFailure, claim

__all__ = ["ClaimFailure", "claim"]
