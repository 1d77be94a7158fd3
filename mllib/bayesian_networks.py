"""Bayesian networks: joint laws that factorise along a directed graph without cycles.

Chapter: Sequences and graphs, *Bayesian networks*. Main references: Pearl (1988), Verma and Pearl
(1990), Koller and Friedman (2009).
"""

import heapq
import itertools
from math import prod
from operator import index
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln

from mllib.core.arrays import as_array, check_sample_weight
from mllib.core.numerics import safe_log
from mllib.core.scalars import check_count, check_positive, check_rng, check_scalar

__all__ = [
    "BayesNet",
    "Elimination",
    "Factor",
    "Marginals",
    "ancestors",
    "bayes_net",
    "children",
    "connected",
    "d_separated",
    "dirichlet_tables",
    "eliminate",
    "elimination_order",
    "family_counts",
    "full_conditional",
    "gibbs",
    "hmm_network",
    "intervene",
    "joint_table",
    "log_evidence",
    "log_likelihood",
    "markov_blanket",
    "markov_equivalent",
    "multiply",
    "naive_bayes_network",
    "relative_tables",
    "sample",
    "skeleton",
    "sum_out",
    "sum_product",
    "topological_order",
    "v_structures",
]


# Records -------------------------------------------------------------------------------------


class BayesNet(NamedTuple):
    """A network of discrete variables; ``bayes_net`` makes one and checks it."""

    parents: tuple  #: pa(t) for each node t, a tuple of node numbers
    tables: tuple  #: p(x_t | x_pa(t)): one axis for each parent in their order, the last for x_t
    names: tuple  #: the name of each node


class Factor(NamedTuple):
    """A function of some of the variables."""

    nodes: tuple  #: their numbers, in the order of the axes
    values: np.ndarray  #: one axis for each of them


class Elimination(NamedTuple):
    """The answer to a question, and what it cost."""

    posterior: np.ndarray  #: p(query | evidence), one axis for each query node
    evidence: float  #: p(evidence)
    order: tuple  #: names of the nodes summed out, in that order
    largest: int  #: entries of the largest product formed


class Marginals(NamedTuple):
    """The posteriors of all nodes."""

    posterior: tuple  #: p(x_t | evidence) for each node t, in the order of the names
    evidence: float  #: p(evidence)


# Functions: graphs ---------------------------------------------------------------------------


def _check_parents(parents, name="parents"):
    """Return parents as a tuple of tuples of ints, refuse what is no list of parents."""
    try:
        parents = tuple(tuple(index(p) for p in row) for row in parents)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must list the numbers of the parents of each node.") from None
    n = len(parents)
    for t, row in enumerate(parents):
        if any(not 0 <= p < n for p in row) or len(set(row)) < len(row):
            raise ValueError(
                f"{name} of node {t} must be different numbers from 0 to {n - 1}, got {row}."
            )
    return parents


def topological_order(parents, names=None):
    """Return the nodes in an order in which each comes after its parents; names are for messages.

    Among the nodes whose parents are placed, the one with the lowest number comes next. A cycle is
    refused, and named.

    Examples
    --------
    >>> topological_order([(1, 2), (), (1,)])
    (1, 2, 0)
    """
    parents = _check_parents(parents)
    below, order = children(parents), []
    waiting = [len(pa) for pa in parents]  # how many parents are not placed yet
    ready = [t for t, left in enumerate(waiting) if left == 0]  # a heap, in order already
    while ready:
        t = heapq.heappop(ready)
        order.append(t)
        for s in below[t]:
            waiting[s] -= 1
            if waiting[s] == 0:
                heapq.heappush(ready, s)
    if len(order) < len(parents):
        raise ValueError(_cycle_message(parents, set(order), names))
    return tuple(order)


def _cycle_message(parents, placed, names):
    """Walk from parent to parent among the nodes that cannot be placed until one repeats."""
    walk = [min(set(range(len(parents))) - placed)]
    while walk[-1] not in walk[:-1]:
        walk.append(min(p for p in parents[walk[-1]] if p not in placed))
    cycle = walk[walk.index(walk[-1]) :][::-1]
    arrows = " -> ".join(str(names[t] if names is not None else t) for t in cycle)
    return f"parents must have no cycle, but {arrows}: remove one of these edges."


def children(parents):
    """Return the children of each node, for the parents pa(t) of each.

    Examples
    --------
    >>> children([(), (0,), (0, 1)])
    ((1, 2), (2,), ())
    """
    parents = _check_parents(parents)
    below = [[] for _ in parents]
    for s, pa in enumerate(parents):
        for p in pa:
            below[p].append(s)
    return tuple(map(tuple, below))


def _nodes(nodes, n, name):
    nodes = set(nodes) if hasattr(nodes, "__iter__") else {nodes}
    if any(not hasattr(t, "__index__") or not 0 <= index(t) < n for t in nodes):
        raise ValueError(f"{name} must hold node numbers from 0 to {n - 1}.")
    return set(map(index, nodes))


def ancestors(parents, nodes):
    """Return the given nodes and all from which a directed path leads to one of them."""
    parents = _check_parents(parents)
    found, new = set(), _nodes(nodes, len(parents), "nodes")
    while new:
        found |= new
        new = {p for t in new for p in parents[t]} - found
    return found


def connected(parents, x, given=()):
    """Return the nodes to which an active walk leads from x, given some nodes.

    A walk is active if each of its inner nodes with both arrows pointing at it is given, and no
    other inner node is. Whether it can go on depends only on the last node and on whether it was
    entered along the arrow or against it. The ends include x, and none of the given nodes.

    Book: bayesian-networks-reachability. Shachter (1998), the Bayes ball.

    Examples
    --------
    >>> parents = [(), (0, 2), ()]  # 0 -> 1 <- 2
    >>> sorted(connected(parents, 0)), sorted(connected(parents, 0, given=1))
    ([0, 1], [0, 2])
    """
    parents = _check_parents(parents)
    x, given = _nodes(x, len(parents), "x"), _nodes(given, len(parents), "given")
    if x & given:
        raise ValueError("x and given must have no node in common.")
    return _reach(parents, x, given)


def _reach(parents, x, given):
    """Return the ends of active walks from the set x, given a set without a node of x."""
    below = children(parents)
    seen, todo = set(), [(t, "up") for t in x]  # "up": entered against an arrow, or a start
    while todo:
        t, way = todo.pop()
        if (t, way) in seen:
            continue
        seen.add((t, way))
        if t not in given:
            todo += [(s, "down") for s in below[t]]
        if (way == "up") != (t in given):
            todo += [(p, "up") for p in parents[t]]
    return {t for t, _ in seen} - given


def d_separated(parents, x, y, given=()):
    """Return whether no active walk leads from x to y.

    Then x and y are independent given ``given`` in every law that factorises along the graph.

    Book: bayesian-networks-global-markov. Pearl (1988), section 3.3.

    Parameters
    ----------
    parents : sequence of n sequences of ints
    x, y, given : int or set of ints; three sets without a common node

    Examples
    --------
    >>> d_separated([(), (0,), (1,)], 0, 2, given=1)
    True
    """
    parents = _check_parents(parents)
    sets = zip((x, y, given), ("x", "y", "given"))
    x, y, given = (_nodes(nodes, len(parents), name) for nodes, name in sets)
    if x & y or x & given or y & given or not x or not y:
        raise ValueError("x, y and given must have no node in common, x and y at least one each.")
    return not _reach(parents, x, given) & y


def markov_blanket(parents, t):
    """Return the parents of t, its children, and the other parents of these.

    Examples
    --------
    >>> sorted(markov_blanket([(), (), (0, 1), (2,)], 0))
    [1, 2]
    """
    parents = _check_parents(parents)
    [t] = _nodes(t, len(parents), "t")
    families = [{s, *pa} for s, pa in enumerate(parents) if s == t or t in pa]
    return set().union(*families) - {t}


def skeleton(parents):
    """Return the edges without their directions, as a set of pairs (s, t) with s < t."""
    return {(min(p, t), max(p, t)) for t, pa in enumerate(_check_parents(parents)) for p in pa}


def v_structures(parents):
    """Return all (a, c, b), a < b, with arrows a -> c <- b and no edge between a and b.

    Examples
    --------
    >>> v_structures([(), (0, 2), ()])
    {(0, 1, 2)}
    """
    edges = skeleton(parents)
    return {
        (a, c, b)
        for c, pa in enumerate(parents)
        for a, b in itertools.combinations(sorted(pa), 2)
        if (a, b) not in edges
    }


def markov_equivalent(first, second):
    """Return whether two graphs have the same skeleton and the same v-structures.

    Exactly then the same laws factorise along both (Verma and Pearl 1990).

    Examples
    --------
    >>> markov_equivalent([(), (0,), (1,)], [(1,), (2,), ()])
    True
    """
    first, second = _check_parents(first, "first"), _check_parents(second, "second")
    topological_order(first), topological_order(second)
    if len(first) != len(second):
        raise ValueError("first and second must have the same number of nodes.")
    return skeleton(first) == skeleton(second) and v_structures(first) == v_structures(second)


# Functions: laws -----------------------------------------------------------------------------


def bayes_net(parents, tables):
    """Return the network p(x) = prod_t p(x_t | x_pa(t)), or say what is wrong with it.

    Book: bayesian-networks-definition.

    Parameters
    ----------
    parents : dict of name -> sequence of names, or sequence of sequences of ints
    tables : dict of name -> array, or sequence of arrays
        p(x_t | x_pa(t)): one axis for each parent, in the order in which it is listed, then one
        for x_t, along which the table sums to one.

    Examples
    --------
    >>> net = bayes_net({"A": (), "B": ("A",)}, {"A": [0.4, 0.6], "B": [[1, 0], [0.5, 0.5]]})
    >>> joint_table(net)
    array([[0.4, 0. ],
           [0.3, 0.3]])
    """
    if isinstance(parents, dict):
        names = tuple(parents)
        for t in names:
            for p in parents[t]:
                if p not in parents:
                    raise ValueError(f"parents must list {p!r}, a parent of {t!r}, as a node too.")
        if not isinstance(tables, dict) or set(tables) != set(names):
            raise ValueError("tables must have one entry for each node that parents lists.")
        tables = [tables[t] for t in names]
        parents = [[names.index(p) for p in parents[t]] for t in names]
    else:
        names = tuple(range(len(parents)))
    parents = _check_parents(parents)
    topological_order(parents, names)
    if len(tables) != len(parents):
        raise ValueError(f"tables must have {len(parents)} entries, one for each node.")
    called = [f"the table of {name}" for name in names]
    tables = [as_array(table, name) for table, name in zip(tables, called)]
    for pa, table, name in zip(parents, tables, called):
        if table.ndim != len(pa) + 1:
            raise ValueError(
                f"{name} must have {len(pa) + 1} axes, one for each parent and the last for "
                f"itself, got shape {table.shape}."
            )
    for pa, table, name in zip(parents, tables, called):
        wanted = tuple(tables[p].shape[-1] for p in pa)
        if table.shape[:-1] != wanted or table.size == 0:
            raise ValueError(
                f"{name} must begin with the axes {wanted} of its parents, got shape {table.shape}."
            )
    above = [[names[p] for p in pa] for pa in parents]
    return BayesNet(parents, tuple(map(_check_table, tables, called, above)), names)


def _check_table(table, name, parents):
    """Return a table of floats or fractions whose rows are distributions."""
    if table.dtype != object:
        table = table.astype(np.float64)
        if not np.isfinite(table).all():
            raise ValueError(f"{name} must hold finite numbers.")
    if (table < 0).any():
        raise ValueError(f"{name} must not be negative.")
    total = np.asarray(table.sum(axis=-1))
    wrong = np.asarray(np.abs(total - 1) > (1e-8 if table.dtype != object else 0))
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        where = ", ".join(f"{p}={v}" for p, v in zip(parents, at))
        raise ValueError(
            f"{name} must sum to one{' at ' + where if where else ''}, its sum is "
            f"{float(total[at]):.6g}."
        )
    return table


def _number(net, name, argument):
    """Return the number of the node that an argument calls ``name``."""
    try:
        return net.names.index(name)
    except ValueError:
        raise ValueError(
            f"{argument}: {name!r} is no node of the network; its nodes are {list(net.names)}."
        ) from None


def _held(net, values, argument):
    """Return {number: value} for {name: value}, and refuse names or values that net has not."""
    given = {}
    for name, value in (values or {}).items():
        t = _number(net, name, argument)
        high = net.tables[t].shape[-1] - 1
        given[t] = check_scalar(value, f"the value of {name}", low=0, high=high, integer=True)
    return given


def _sure(net, t, value):
    """Return the law of node t that gives a value the probability 1."""
    table = net.tables[t]
    return np.eye(table.shape[-1], dtype=int)[value].astype(table.dtype)


def _factors(net):
    return [Factor((*pa, t), table) for t, (pa, table) in enumerate(zip(net.parents, net.tables))]


def multiply(first, second):
    """Return the product of two factors, a function of all their variables.

    Examples
    --------
    >>> import numpy as np
    >>> multiply(Factor((0,), np.array([1, 2])), Factor((1,), np.array([3, 4]))).values
    array([[3, 4],
           [6, 8]])
    """
    nodes = tuple(sorted({*first.nodes, *second.nodes}))
    spread = []
    for factor in (first, second):
        values = np.asarray(factor.values).transpose(np.argsort(factor.nodes))
        absent = [axis for axis, t in enumerate(nodes) if t not in factor.nodes]
        spread.append(np.expand_dims(values, absent))
    return Factor(nodes, np.asarray(spread[0] * spread[1]))


def sum_out(factor, t):
    """Return the factor summed over the values of node t."""
    if t not in factor.nodes:
        raise ValueError(f"t must be one of the nodes {factor.nodes} of the factor, got {t}.")
    rest = tuple(s for s in factor.nodes if s != t)
    return Factor(rest, np.asarray(factor.values.sum(axis=factor.nodes.index(t))))


def joint_table(net):
    """Return p(x_1, ..., x_n) for all values, one axis for each node: only for small networks."""
    return _product(_factors(net))[0].values


def intervene(net, values):
    """Return the network after somebody has set nodes, do(x_t = k) for each name: value.

    A node that is set loses its parents and its table; the other tables stay. So the law is their
    product on the rows with these values, and 0 elsewhere. That this is what would happen is an
    assumption about the world: that the arrows are causes.

    Book: bayesian-networks-intervention. Pearl (2009), section 1.3.

    Examples
    --------
    >>> net = bayes_net({"A": (), "B": ("A",)}, {"A": [0.4, 0.6], "B": [[1, 0], [0.5, 0.5]]})
    >>> joint_table(intervene(net, {"B": 1}))
    array([[0. , 0.4],
           [0. , 0.6]])
    """
    parents, tables = list(net.parents), list(net.tables)
    for t, value in _held(net, values, "values").items():
        parents[t], tables[t] = (), _sure(net, t, value)
    return BayesNet(tuple(parents), tuple(tables), net.names)


def _check_rows(X, sizes, name="X"):
    X = as_array(X, name)
    if X.ndim != 2 or X.shape[1] != len(sizes):
        raise ValueError(f"{name} must have shape (n, {len(sizes)}), one column for each node.")
    whole = X.dtype.kind in "biu" or (X.dtype.kind == "f" and np.isfinite(X).all())
    if not whole or np.not_equal(X, np.floor(X)).any():
        raise ValueError(f"{name} must hold whole numbers: number the values of each node from 0.")
    X = X.astype(np.int64)
    if len(X) and ((X < 0).any() or (X.max(axis=0) >= np.array(sizes)).any()):
        t = int(np.argmax((X < 0).any(axis=0) | (X.max(axis=0) >= np.array(sizes))))
        raise ValueError(f"column {t} of {name} must hold values from 0 to {sizes[t] - 1}.")
    return X


def log_likelihood(net, X):
    """Return sum_i sum_t log p(x_it | x_i,pa(t)) of complete rows, in nats; -inf if impossible.

    X has a column for each node, with its values counted from 0.

    Book: bayesian-networks-likelihood-factorises.
    """
    X = _check_rows(X, [table.shape[-1] for table in net.tables])
    return float(
        sum(
            safe_log(table[tuple(X[:, (*pa, t)].T)].astype(np.float64)).sum()
            for t, (pa, table) in enumerate(zip(net.parents, net.tables))
        )
    )


def elimination_order(factors, nodes):
    """Return an order of the nodes in which each next one makes a factor of the fewest variables.

    Ties go to the lowest number. The fewest variables need not make the smallest table.

    ``factors`` are the sets of variables of the factors, ``nodes`` the nodes to be summed out.

    Examples
    --------
    >>> elimination_order([{0, 1}, {1, 2}, {2, 3}], {1, 2, 3})
    [3, 2, 1]
    """
    left, order = set(nodes), []
    near = {t: set() for t in left.union(*factors)}
    for factor in factors:
        for t in factor:
            near[t] |= set(factor) - {t}
    while left:
        t = min(left, key=lambda t: (len(near[t]), t))
        for s in near[t]:  # the new factor joins them all
            near[s] |= near[t] - {s}
            near[s].remove(t)
        order.append(t)
        left.remove(t)
    return order


def eliminate(net, query, evidence=None, order=None):
    """Return p(query | evidence) by summing the other nodes out of the factors, one by one.

    Book: bayesian-networks-elimination. Zhang and Poole (1996).

    Parameters
    ----------
    net : BayesNet
    query : name or tuple of names
    evidence : dict of name -> value, optional; values counted from 0
    order : sequence of names, optional; in which to sum out; see elimination_order for the default

    Examples
    --------
    >>> net = bayes_net({"A": (), "B": ("A",)}, {"A": [0.5, 0.5], "B": [[1, 0], [0.5, 0.5]]})
    >>> eliminate(net, "A", {"B": 0}).posterior
    array([0.66666667, 0.33333333])
    """
    names = query if isinstance(query, (tuple, list)) else (query,)
    query = [_number(net, name, "query") for name in names]
    given = _held(net, evidence, "evidence")
    if set(query) & set(given) or len(set(query)) < len(query) or not query:
        raise ValueError("query must name different nodes, at least one, none of them in evidence.")
    hidden = set(range(len(net.names))) - set(query) - set(given)
    factors = [_restrict(factor, given) for factor in _factors(net)]
    if order is None:
        order = elimination_order([set(f.nodes) for f in factors], hidden)
    else:
        order = [_number(net, name, "order") for name in order]
        if sorted(order) != sorted(hidden):
            raise ValueError("order must name each node outside query and evidence once.")
    factors, sizes = _sum_out_all(factors, order)
    product, size = _product(factors)
    evidence_probability = product.values.sum()
    _check_possible(evidence_probability)
    values = product.values.transpose(np.argsort(np.argsort(query)))
    names, largest = tuple(net.names[t] for t in order), max([*sizes, size])
    return Elimination(values / evidence_probability, evidence_probability, names, largest)


def _check_possible(evidence):
    """Refuse evidence of probability 0, or too rare for floats; of fractions, any will do."""
    if evidence <= (1e-290 if isinstance(evidence, float) else 0):
        raise ValueError(
            "evidence must have a positive probability; under this network it is impossible, or "
            "below 1e-290, where float64 ends: then use tables of fractions."
        )


def _sum_out_all(factors, order):
    """Sum out the nodes in their order: multiply the factors that hold a node, and sum over it."""
    sizes = []
    for t in order:
        product, size = _product([f for f in factors if t in f.nodes])
        factors = [f for f in factors if t not in f.nodes] + [sum_out(product, t)]
        sizes.append(size)  # (eq-bayesian-networks-distribute)
    return factors, sizes


def _product(factors):
    product = Factor((), np.array(1))
    for factor in factors:
        product = multiply(product, factor)
    return product, product.values.size


def _restrict(factor, given):
    """Return the factor with the given nodes held at their values."""
    index = tuple(given.get(t, slice(None)) for t in factor.nodes)
    rest = tuple(t for t in factor.nodes if t not in given)
    return Factor(rest, np.asarray(factor.values[index]))


def sum_product(net, evidence=None):
    """Return the posteriors of all nodes of a tree: one pass of messages up it, one down.

    Each node has at most one parent. A forest will do: its trees are independent.

    Book: bayesian-networks-sum-product. Pearl (1988), section 4.2.

    Parameters
    ----------
    net : BayesNet
    evidence : dict of name -> value, optional; values counted from 0

    Examples
    --------
    >>> net = bayes_net({"A": (), "B": ("A",)}, {"A": [0.5, 0.5], "B": [[1, 0], [0.5, 0.5]]})
    >>> sum_product(net, {"B": 0}).posterior[0]
    array([0.66666667, 0.33333333])
    """
    if any(len(pa) > 1 for pa in net.parents):
        raise ValueError("net must have at most one parent for each node: otherwise use eliminate.")
    given = _held(net, evidence, "evidence")
    fits = [  # 1 for each value of a node that the evidence allows, else 0
        _sure(net, t, given[t]) if t in given else np.ones(table.shape[-1], table.dtype)
        for t, table in enumerate(net.tables)
    ]
    inside, up, down = _messages(net, fits)
    chance = prod(up[t] for t, pa in enumerate(net.parents) if not pa)
    _check_possible(chance)
    laws = [down[t] * inside[t] for t in range(len(net.names))]
    return Marginals(tuple(law / law.sum() for law in laws), chance)


def _messages(net, fits):
    """Return up[t] = p(evidence from t downwards | parent), down[t] = p(x_t, evidence elsewhere).

    ``inside[t]`` is p(evidence from t downwards | x_t).
    """
    order, below = topological_order(net.parents), children(net.parents)
    inside, up, down = {}, {}, {}
    for t in reversed(order):
        inside[t] = prod((up[s] for s in below[t]), start=fits[t])
        up[t] = net.tables[t] @ inside[t]  # (eq-bayesian-networks-up)
    for t in order:
        down[t] = net.tables[t]
        for p in net.parents[t]:  # one, or none at a root
            others = prod((up[s] for s in below[p] if s != t), start=down[p] * fits[p])
            down[t] = others @ net.tables[t]  # (eq-bayesian-networks-down)
    return inside, up, down


# Functions: sampling -------------------------------------------------------------------------


def sample(net, n, rng):
    """Draw n rows: each node after its parents, from the row of its table that they choose."""
    check_count(n, "n")
    check_rng(rng)
    X = np.zeros((n, len(net.names)), dtype=np.int64)
    for t in topological_order(net.parents):
        rows = net.tables[t][tuple(X[:, p] for p in net.parents[t])].astype(np.float64)
        X[:, t] = _draw(np.broadcast_to(rows, (n, rows.shape[-1])), rng)
    return X


def _draw(p, rng):
    """Draw a value from each row of probabilities."""
    heights = np.cumsum(p, axis=1)
    return (rng.random(len(p))[:, None] >= heights[:, :-1]).sum(axis=1)


def full_conditional(net, X, t):
    """Return p(x_t = k | all other nodes) for each row of X, an array of shape (m, K_t).

    Only the tables of t and of its children depend on x_t, so of the other nodes those of the
    Markov blanket decide. The column of t in X does not count.

    Book: bayesian-networks-gibbs.

    Parameters
    ----------
    net : BayesNet
    X : array of shape (m, number of nodes); values counted from 0
    t : name of a node

    Examples
    --------
    >>> net = bayes_net([(), (0,)], [[0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]]])
    >>> full_conditional(net, [[0, 0]], 0)
    array([[0.75, 0.25]])
    """
    t, X = _number(net, t, "t"), _check_rows(X, [table.shape[-1] for table in net.tables])
    families = [(*pa, s) for s, pa in enumerate(net.parents) if s == t or t in pa]
    weights = []
    for k in range(net.tables[t].shape[-1]):
        X[:, t] = k
        weights.append(prod(net.tables[f[-1]][tuple(X[:, f].T)] for f in families))
    weights = np.stack(weights, axis=1)  # (eq-bayesian-networks-full-conditional)
    total = weights.sum(axis=1, keepdims=True)
    if (total == 0).any():
        raise ValueError("X must hold rows that the network gives a positive probability.")
    return weights / total


def gibbs(net, X, n, rng, held=()):
    """Return the rows of X after n sweeps of Gibbs sampling, each row a chain of its own.

    A sweep draws each node in turn from its law given all others. As n grows, the law of a row
    tends to that of the network given the held nodes, if no table holds a 0.

    Book: bayesian-networks-gibbs. Geman and Geman (1984).

    Parameters
    ----------
    net : BayesNet
    X : array of shape (m, number of nodes); the starts, values counted from 0
    n : int; number of sweeps
    rng : numpy.random.Generator
    held : sequence of names, optional; the nodes that keep their values, which are the evidence
    """
    check_count(n, "n")
    check_rng(rng)
    X = _check_rows(X, [table.shape[-1] for table in net.tables])
    held = {_number(net, name, "held") for name in held}
    for _ in range(n):
        for t, name in enumerate(net.names):
            if t not in held:
                X[:, t] = _draw(full_conditional(net, X, name).astype(np.float64), rng)
    return X


# Functions: learning -------------------------------------------------------------------------


def family_counts(parents, n_values, X, weights=None):
    """Return N_tck, how often node t had value k while its parents had the values c.

    Counts of disjoint samples add.

    Book: bayesian-networks-count-likelihood.

    Parameters
    ----------
    parents : sequence of sequences of ints
    n_values : sequence of ints; K_t, how many values each node has
    X : array of shape (n, number of nodes); complete rows, values counted from 0
    weights : array of shape (n,), optional; how often each row counts

    Examples
    --------
    >>> family_counts([(), (0,)], [2, 2], [[0, 0], [0, 1], [1, 1]])[1]
    array([[1., 1.],
           [0., 1.]])
    """
    parents = _check_parents(parents)
    topological_order(parents)
    if len(n_values) != len(parents):
        raise ValueError(f"n_values must have {len(parents)} entries, one for each node.")
    X = _check_rows(X, list(n_values))
    w = check_sample_weight(weights, len(X), "weights", ones=True, chunk=True)
    counts = []
    for t, pa in enumerate(parents):
        N = np.zeros([n_values[s] for s in (*pa, t)])
        np.add.at(N, tuple(X[:, (*pa, t)].T), w)
        counts.append(N)
    return tuple(counts)


def relative_tables(counts):
    """Return the maximum-likelihood tables N_tck / sum_k N_tck; no row may be 0."""
    counts = _check_counts(counts)
    for t, N in enumerate(counts):
        if len(empty := np.argwhere(~N.any(axis=-1))):
            at = tuple(map(int, empty[0]))
            raise ValueError(
                f"counts of node {t} must hold every configuration of its parents, {at} never "
                f"occurred: use dirichlet_tables."
            )
    return tuple(N / N.sum(axis=-1, keepdims=True) for N in counts)


def _check_counts(counts):
    counts = [np.asarray(as_array(N, "counts"), dtype=np.float64) for N in counts]
    if not all(N.ndim and N.size and np.isfinite(N).all() and (N >= 0).all() for N in counts):
        raise ValueError("counts must hold finite numbers >= 0, one array for each node.")
    return counts


def _alphas(counts, alpha):
    if not isinstance(alpha, (tuple, list)):
        check_positive(alpha, "alpha")
        return [np.full(N.shape, float(alpha)) for N in counts]
    alphas = [
        np.broadcast_to(np.asarray(a, dtype=np.float64), N.shape)
        for a, N in zip(alpha, counts, strict=True)
    ]
    if not all(((a > 0) & (a < np.inf)).all() for a in alphas):
        raise ValueError("alpha must be positive; it need not be whole.")
    return alphas


def dirichlet_tables(counts, alpha=1.0):
    """Return the posterior means (N_tck + alpha_tck) / sum_k (N_tck + alpha_tck).

    Each row has the prior Dir(alpha_tc1, ..., alpha_tcK), independent of the others; ``alpha``
    is one number for all, or arrays shaped like the counts.

    Book: bayesian-networks-dirichlet-bn.

    Examples
    --------
    >>> dirichlet_tables(family_counts([()], [2], [[0], [0]]), 0.5)[0]
    array([0.83333333, 0.16666667])
    """
    counts = _check_counts(counts)
    means = [N + a for N, a in zip(counts, _alphas(counts, alpha))]
    return tuple(A / A.sum(axis=-1, keepdims=True) for A in means)


def log_evidence(counts, alpha=1.0):
    """Return log p(D | graph), all tables integrated out under independent Dirichlet priors.

    It is the sum over nodes t and configurations c of
    log Gamma(a_tc) - log Gamma(a_tc + N_tc) + sum_k [log Gamma(a_tck + N_tck) - log Gamma(a_tck)].

    Book: bayesian-networks-dirichlet-bn. Cooper and Herskovits (1992), Machine Learning 9, 309-347.

    Examples
    --------
    >>> round(log_evidence(family_counts([()], [2], [[0], [0]])), 4)  # 1/3
    -1.0986
    """
    total, counts = 0.0, _check_counts(counts)
    for N, a in zip(counts, _alphas(counts, alpha)):
        total += np.sum(_log_rising(a, N)) - np.sum(_log_rising(a.sum(axis=-1), N.sum(axis=-1)))
    return float(total)


def _log_rising(a, N):
    """Return log Gamma(a + N) - log Gamma(a), also where a is so large that both are equal."""
    some = np.where(N > 0, N, 1.0)
    return np.where(N > 0, gammaln(some) - betaln(a, some), 0.0)


# Functions: two models of other chapters -----------------------------------------------------


def naive_bayes_network(prior, tables):
    """Return the network Y -> X_1, ..., Y -> X_d, with Y as node 0 and tables of shape (K, V_j).

    Examples
    --------
    >>> naive_bayes_network([0.5, 0.5], [[[1, 0], [0, 1]]]).parents
    ((), (0,))
    """
    return bayes_net([(), *[(0,)] * len(tables)], [prior, *tables])


def hmm_network(pi, A, e, T):
    """Return z_1 -> ... -> z_T with z_t -> x_t, the nodes "z1", "x1", ..., "zT", "xT".

    Parameters
    ----------
    pi, A, e : arrays of shape (K,), (K, K) and (K, V); start, transitions and emissions
    T : int

    Examples
    --------
    >>> hmm_network([1.0], [[1.0]], [[0.5, 0.5]], 2).names
    ('z1', 'x1', 'z2', 'x2')
    """
    check_count(T, "T")
    pi, A, e = as_array(pi, "pi"), as_array(A, "A"), as_array(e, "e")
    K, V = pi.size, e.shape[-1] if e.ndim else 0
    for name, a, shape in (("pi", pi, (K,)), ("A", A, (K, K)), ("e", e, (K, V))):
        if a.shape != shape:
            raise ValueError(f"{name} must have shape {shape}, got {a.shape}.")
        _check_table(a, name, ("z",))
    parents, tables = {}, {}
    for t in range(1, T + 1):
        parents[f"z{t}"] = () if t == 1 else (f"z{t - 1}",)
        tables[f"z{t}"] = pi if t == 1 else A
        parents[f"x{t}"] = (f"z{t}",)
        tables[f"x{t}"] = e
    return bayes_net(parents, tables)
