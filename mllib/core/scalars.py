"""Checks of numbers, choices and random states: one sentence that names argument and fix."""

import numbers

import numpy as np

__all__ = [
    "check_callable",
    "check_choice",
    "check_count",
    "check_finite",
    "check_flag",
    "check_instance",
    "check_positive",
    "check_probability",
    "check_rng",
    "check_scalar",
    "random_generator",
    "shown",
]


def check_scalar(
    value, name, *, low=None, high=None, open_low=False, open_high=False, integer=False
):
    """Return ``value`` if it is a real number (or integer) within the stated interval.

    ``open_low`` and ``open_high`` exclude the end points.
    """
    kind = numbers.Integral if integer else numbers.Real
    good = isinstance(value, kind) and not isinstance(value, (bool, np.bool_)) and value == value
    if good and isinstance(value, numbers.Integral):
        good = -(2**63) <= value < 2**63
    if good and low is not None:
        good = (value > low if open_low else value >= low) and (high is not None or value != np.inf)
    if good and high is not None:
        good = value < high if open_high else value <= high
    if good:
        return value
    left = "-inf" if low is None else f"{low:g}"
    right = "inf" if high is None else f"{high:g}"
    opening = "(" if open_low or low is None else "["
    closing = ")" if open_high or high is None else "]"
    sort = "an integer" if integer else "a number"
    raise ValueError(
        f"{name} must be {sort} in {opening}{left}, {right}{closing}, got {shown(value)}."
    )


def check_positive(value, name):
    """Return ``value`` if it is a number above 0."""
    return check_scalar(value, name, low=0, open_low=True)


def check_finite(value, name):
    """Return ``value`` if it is a number and not infinite."""
    return check_scalar(value, name, low=-np.inf, high=np.inf, open_low=True, open_high=True)


def check_count(value, name, low=1):
    """Return ``value`` if it is a whole number, at least ``low``."""
    return check_scalar(value, name, low=low, integer=True)


def check_probability(value, name, *, inside=False):
    """Return ``value`` if it lies in [0, 1]; ``inside`` excludes both ends."""
    return check_scalar(value, name, low=0, high=1, open_low=inside, open_high=inside)


def shown(value):
    """Return how a refused value is shown in a message, an array by its shape: at most one line."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    if isinstance(value, numbers.Integral) and abs(value) >= 2**63:
        return "a whole number of more than 64 bits"
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def check_choice(value, name, choices):
    """Return ``value`` if it is one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        wanted = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {wanted}, got {shown(value)}.")
    return value


def check_flag(value, name):
    """Return ``value`` as a bool if it is True or False, and nothing that merely counts as one."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {shown(value)}.")
    return bool(value)


def check_callable(value, name):
    """Return ``value`` if it can be called."""
    if not callable(value) or isinstance(value, type):
        raise ValueError(f"{name} must be a function, got {shown(value)}.")
    return value


def check_instance(value, name, kind, source):
    """Return ``value`` if it is of the class ``kind``; ``source`` says where one comes from."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join(k.__name__ for k in kinds)
        raise ValueError(f"{name} must be a {wanted}, {source}, got {shown(value)}.")
    return value


def check_rng(rng):
    """Return ``rng`` if it is a ``numpy.random.Generator``."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(
            f"rng must be a numpy.random.Generator, got {shown(rng)}: pass "
            f"numpy.random.default_rng(0)."
        )
    return rng


def random_generator(random_state):
    """Return a ``numpy.random.Generator`` from None, a non-negative int, or a Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None or (
        isinstance(random_state, numbers.Integral)
        and not isinstance(random_state, (bool, np.bool_))
        and random_state >= 0
    ):
        return np.random.default_rng(random_state)
    raise ValueError(
        f"random_state must be None, a non-negative integer or a numpy.random.Generator, "
        f"got {shown(random_state)}."
    )
