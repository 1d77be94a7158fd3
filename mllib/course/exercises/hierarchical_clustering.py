"""Checks of the exercises of *Hierarchical clustering*."""

import itertools

import numpy as np
from scipy.cluster import hierarchy
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist, pdist

from mllib.course.exercises import breaks, code, points, value

LINKAGES = {"single": np.min, "complete": np.max, "average": np.mean}


def merges(D, linkage):
    """Merge the closest pair of clusters until one is left; the clusters made, heights, no ties?"""
    groups, made, heights, sure = [(i,) for i in range(len(D))], [], [], True
    while len(groups) > 1:
        pairs = list(itertools.combinations(groups, 2))
        far = [LINKAGES[linkage](D[np.ix_(a, b)]) for a, b in pairs]
        a, b = pairs[np.argmin(far)]
        sure = sure and (len(far) == 1 or np.diff(np.sort(far)).min() > 1e-9)
        groups = [g for g in groups if g not in (a, b)] + [(*a, *b)]
        made.append(tuple(sorted(groups[-1])))
        heights.append(min(far))
    return made, heights, sure


# Diameters -----------------------------------------------------------------------------------


@code(
    "ex-hierarchical-clustering-diameter",
    "a few numbers, the height at which average linkage unites all of them, and the mean "
    "dissimilarity of all their pairs, which is another",
)
def _(c, x, height, mean):
    x = np.asarray(x, dtype=float).reshape(-1, 1)
    c.holds("two numbers at least, and ten at most", 2 <= len(x) <= 10)
    _, heights, sure = merges(cdist(x, x), "average")
    c.holds("at each merge all linkages differ, as H2 asks", sure)
    c.holds(
        "the height is that of the last merge of average linkage", abs(height - heights[-1]) < 1e-6
    )
    c.holds("the mean is that of all pairs", abs(mean - pdist(x).mean()) < 1e-6)
    c.holds("the two differ", abs(height - mean) > 1e-6)


points(
    "ex-hierarchical-clustering-diameter",
    r"The diameter of $A\cup B$ is the largest of three numbers: both diameters and $d_{AB}$.",
    "By induction both diameters are the heights at which the parts were made; a single "
    "observation has diameter 0.",
    "By part 2 of the theorem of the chain, for which H2 is needed, these are below $d_{AB}$.",
)

# Only the order matters ----------------------------------------------------------------------


@code(
    "ex-hierarchical-clustering-monotone",
    "a list of the names of those of single, complete and average linkage that keep their merges, "
    "and three or four numbers for which average linkage of the squares makes others",
)
def _(c, names, x):
    rng, keeps = np.random.default_rng(0), set(LINKAGES)
    for D in (cdist(y, y) for y in rng.normal(size=(20, 8, 2))):
        keeps -= {m for m in keeps if merges(D, m)[0] != merges(D**2, m)[0]}
    c.holds("these linkages keep their merges on 20 samples, and no other", set(names) == keeps)
    x = np.asarray(x, dtype=float).reshape(-1, 1)
    c.holds("three or four numbers", len(x) in (3, 4))
    (made, _, sure), (other, _, too) = (merges(cdist(x, x) ** p, "average") for p in (1, 2))
    c.holds("no merge is decided by a tie", sure, too)
    c.holds("average linkage of the squares makes other clusters", made != other)


points(
    "ex-hierarchical-clustering-monotone",
    "The minimum of transformed numbers is the transformed minimum, and so with the maximum.",
    "By induction over the merges, after each of them all linkages are the transformed ones.",
    "A strictly increasing function keeps the outcome of every comparison, so the closest pair is "
    "the same.",
)

# Heights add up ------------------------------------------------------------------------------

value(
    "ex-hierarchical-clustering-budget",
    "the share of the sum of squares that three clusters of iris explain, a number from 0 to 1",
    "2940f62f68609634",
)
points(
    "ex-hierarchical-clustering-budget",
    "Half the square of a height is what that merge adds to $J$.",
    "$J$ of single observations is 0, $J$ of one cluster the total; the first $n-K$ merges lead "
    "from $n$ clusters to $K$.",
)

# How many strays? ----------------------------------------------------------------------------


def agreement(a, b):
    """The adjusted Rand index, from the pairs that share a label."""
    pairs = np.triu_indices(len(a), 1)
    a, b = (np.equal.outer(z, z)[pairs] for z in (a, b))
    chance = a.mean() * b.mean()
    return (np.mean(a & b) - chance) / ((a.mean() + b.mean()) / 2 - chance)


def dense(D, eps, k):
    """The labels of DBSCAN, -1 for noise."""
    core = np.flatnonzero((eps >= D).sum(axis=1) >= k)
    z, near = np.full(len(D), -1), D[:, core].argmin(axis=1)
    inside = D[:, core].min(axis=1) <= eps
    z[inside] = connected_components(D[np.ix_(core, core)] <= eps)[1][near[inside]]
    return z


@code(
    "ex-hierarchical-clustering-noise",
    "your function `indices(X, y)`, which returns the index of single linkage and that of DBSCAN; "
    "X holds the 120 points of the arcs, whose kinds are y, and then the strays",
)
def _(c, indices):
    t, kinds = np.linspace(0, np.pi, 60), np.repeat([0, 1], 60)
    arcs = np.r_[np.c_[np.cos(t), np.sin(t)], np.c_[1 - np.cos(t), 0.4 - np.sin(t)]]
    said, truth = [], []
    for seed, k in itertools.product(range(10), (0, 5, 10, 40)):
        rng = np.random.default_rng(seed)
        X = np.r_[arcs + rng.normal(0, 0.06, arcs.shape), rng.uniform([-1, -0.8], [2, 1.2], (k, 2))]
        single = hierarchy.fcluster(hierarchy.linkage(X, "single"), 2, "maxclust")
        said.append(indices(X, kinds.copy()))
        z = [single[:120], dense(cdist(X, X), 0.2, 5)[:120]]
        truth.append([agreement(labels, kinds) for labels in z])
    gap = np.abs(np.array(said) - truth)
    c.holds(
        "single linkage: the index by counting pairs, 40 samples of 0 to 40 strays",
        gap[:, 0] < 1e-9,
    )
    c.holds("DBSCAN: the same", gap[:, 1] < 1e-9)


# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-hierarchical-clustering-break",
    [
        ("updated", "(a * ac + b * bc) / (a + b)", "(ac + bc) / 2"),
        ("nearest_neighbour_chain", "length -= 2", "length -= 0"),
        (
            "minimum_spanning_tree",
            "near[c], source[c] = D[newest, c], newest",
            "near[c] = D[newest, c]",
        ),
    ],
)
