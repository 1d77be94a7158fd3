"""What a benchmark declares: one Row for each workload, and how its quality is judged."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


class Quality(NamedTuple):
    """What both answers are worth, measured in the same way."""

    measure: str  #: what is compared, with its unit
    ours: float
    peer: float
    better: str = "higher"  #: "higher" or "lower"
    allowed: float = 1e-6  #: how much worse ours may be, relative to max(1, |peer|)

    @property
    def equal(self):
        """Whether ours is at least as good as the peer's, up to what is allowed."""
        worse = self.peer - self.ours if self.better == "higher" else self.ours - self.peer
        return bool(worse <= self.allowed * max(1.0, abs(self.peer)))


@dataclass(frozen=True)
class Row:
    """One workload that mllib and its peer both run.

    ``ours`` and ``peer`` take the data and return the call that is timed. They import what they
    need themselves, so that the memory of one side does not hold the other.
    """

    workload: str  #: what is computed, in a few words, unique in its module
    n: int  #: number of observations
    d: int  #: number of features
    against: str  #: the peer's class or function
    target: float  #: the ratio mllib / peer aimed at, one thread
    data: Callable[[int], dict]  #: seed -> arrays
    ours: Callable[[dict], Callable[[], Any]]
    peer: Callable[[dict], Callable[[], Any]]
    quality: Callable[[dict, Any, Any], Quality]  #: data and what the two calls returned
    why: str = ""  #: if the target is missed: the reason, in plain words
    seeds: tuple = (0, 1)  #: at least two data sets
