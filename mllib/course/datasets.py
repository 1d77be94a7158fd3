"""Data sets that the chapters read: tables kept here or shipped by scikit-learn and statsmodels.

Nothing is fetched: every table is on disk after installation.
"""

from importlib import import_module
from importlib.resources import files
from typing import NamedTuple

import numpy as np

__all__ = [
    "Table",
    "berkeley",
    "breast_cancer",
    "diabetes",
    "digits",
    "earthquakes",
    "faithful",
    "iris",
    "longley",
    "spector",
    "sunspots",
    "us_arrests",
]


class Table(NamedTuple):
    """A data set: inputs, targets where there are any, names, and where it comes from."""

    X: np.ndarray  #: inputs, shape (n, d)
    y: np.ndarray | None  #: targets or labels, shape (n,)
    columns: tuple  #: the name of each column of X, with its unit
    classes: tuple  #: the name of each label, if y holds labels
    source: str  #: provenance, one sentence


def _of(package):
    """Return a part of another package, or say which extra of ours installs it."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"This table is shipped by {package.split('.')[0]}, which is not installed: "
            f"pip install 'ml-you-can-check[book]'.",
            name=error.name,
        ) from error


def _csv(name):
    path = files("mllib.course").joinpath("data", f"{name}.csv")
    with path.open(encoding="utf-8") as lines:
        return np.loadtxt(lines, delimiter=",", skiprows=1, ndmin=2, comments="#")


def faithful():
    """Old Faithful: 272 eruptions, their duration and the waiting time to the next, in minutes."""
    return Table(
        _csv("faithful"),
        None,
        ("eruption (min)", "waiting (min)"),
        (),
        "Azzalini and Bowman (1990), Applied Statistics 39, 357-365; R's datasets::faithful.",
    )


def earthquakes():
    """Number of earthquakes of magnitude 7 or more in the world in each year 1900 to 2006."""
    data = _csv("earthquakes")
    return Table(
        data[:, 1:],
        data[:, 0].astype(int),
        ("earthquakes per year",),
        (),
        "U.S. Geological Survey, as tabulated in Zucchini and MacDonald (2009), Table 1.1; "
        "y is the year.",
    )


def berkeley():
    """Graduate admissions at Berkeley in autumn 1973: counts for the six largest departments."""
    data = _csv("berkeley")
    return Table(
        data[:, :3].astype(int),
        data[:, 3].astype(int),
        ("department (1 to 6 for A to F)", "sex (0 men, 1 women)", "admitted (0 no, 1 yes)"),
        (),
        "Bickel, Hammel and O'Connell (1975), Science 187, 398-404; R's datasets::UCBAdmissions. "
        "y is the number of applicants.",
    )


def longley():
    """Longley: employment in the United States, 1947 to 1962, and six inputs that move along."""
    data = _csv("longley")
    return Table(
        data[:, :6],
        data[:, 6],
        (
            "GNP deflator (1954 = 100)",
            "GNP (million dollars)",
            "unemployed (thousand)",
            "armed forces (thousand)",
            "population (thousand)",
            "year",
        ),
        (),
        "Longley (1967), JASA 62, 819-841; NIST StRD. y is total employment in thousands.",
    )


def us_arrests():
    """Arrests in the 50 states of the USA in 1973, and the share of people who live in towns."""
    path = files("mllib.course").joinpath("data", "usarrests.csv")
    with path.open(encoding="utf-8") as lines:
        rows = [line.strip().split(",") for line in lines][1:]
    return Table(
        np.array([row[1:] for row in rows], dtype=float),
        np.arange(len(rows)),
        ("murder (per 100 000)", "assault (per 100 000)", "in towns (%)", "rape (per 100 000)"),
        tuple(row[0] for row in rows),
        "World Almanac and Book of Facts 1975, as in McNeil (1977), Interactive Data Analysis; "
        "R's datasets::USArrests. y numbers the states.",
    )


def _from_sklearn(loader, source):
    bunch = getattr(_of("sklearn.datasets"), loader)()
    classes = tuple(map(str, getattr(bunch, "target_names", ())))
    return Table(bunch.data, bunch.target, tuple(map(str, bunch.feature_names)), classes, source)


def iris():
    """Fisher's iris: 150 flowers of three species, four lengths in centimetres."""
    return _from_sklearn("load_iris", "Fisher (1936), Annals of Eugenics 7, 179-188.")


def breast_cancer():
    """Wisconsin diagnostic breast cancer: 569 tumours, 30 measurements of their cell nuclei."""
    return _from_sklearn(
        "load_breast_cancer", "Street, Wolberg and Mangasarian (1993), SPIE 1905, 861-870."
    )


def digits():
    """Handwritten digits: 1797 images of 8 by 8 pixels, ink from 0 to 16."""
    return _from_sklearn(
        "load_digits", "Alpaydin and Kaynak (1998), UCI optical recognition of handwritten digits."
    )


def diabetes():
    """Diabetes: 442 patients, ten measurements of mean 0 and length 1, progress after a year."""
    return _from_sklearn(
        "load_diabetes", "Efron, Hastie, Johnstone and Tibshirani (2004), Annals of Statistics 32."
    )


def spector():
    """Spector and Mazzeo: 32 students of economics, and whether their grade improved."""
    path = files(_of("statsmodels")).joinpath("datasets", "spector", "spector.csv")
    with path.open(encoding="utf-8") as lines:
        data = np.loadtxt(lines, skiprows=1)
    return Table(
        data[:, 1:4],
        data[:, 4],
        ("grade point average", "test score in economics", "taught by PSI (0 no, 1 yes)"),
        ("not improved", "improved"),
        "Spector and Mazzeo (1980), Journal of Economic Education 11, 37-44; as statsmodels ships "
        "it. y is 1 if the grade improved.",
    )


def sunspots():
    """Sunspots: their mean number in each year from 1700 to 2008."""
    path = files(_of("statsmodels")).joinpath("datasets", "sunspots", "sunspots.csv")
    with path.open(encoding="utf-8") as lines:
        data = np.loadtxt(lines, delimiter=",", skiprows=1)
    return Table(
        data[:, :1],
        data[:, 1],
        ("year",),
        (),
        "National Geophysical Data Center, NOAA; as statsmodels ships it. y is the mean number of "
        "sunspots of the year.",
    )
