"""Bayesian networks: graphs, laws, exact inference, learning, agreements with other chapters."""

import itertools
from fractions import Fraction as F

import numpy as np
import pytest

from mllib.bayesian_networks import (
    Factor,
    ancestors,
    bayes_net,
    children,
    connected,
    d_separated,
    dirichlet_tables,
    eliminate,
    elimination_order,
    family_counts,
    full_conditional,
    gibbs,
    hmm_network,
    intervene,
    joint_table,
    log_evidence,
    log_likelihood,
    markov_blanket,
    markov_equivalent,
    multiply,
    naive_bayes_network,
    relative_tables,
    sample,
    skeleton,
    sum_out,
    sum_product,
    topological_order,
    v_structures,
)
from mllib.estimation import categorical_mle, dirichlet_posterior
from mllib.hidden_markov_models import forward, posteriors
from mllib.naive_bayes import CategoricalNB, class_counts, conditional_tables
from mllib.probability import is_conditionally_independent


def all_dags(n):
    """Every graph without a cycle on n numbered nodes, as tuples of parents."""
    pairs = list(itertools.combinations(range(n), 2))
    for choice in itertools.product((0, 1, 2), repeat=len(pairs)):
        parents = [[] for _ in range(n)]
        for (a, b), way in zip(pairs, choice):
            if way == 1:
                parents[b].append(a)
            elif way == 2:
                parents[a].append(b)
        try:
            topological_order(parents)
        except ValueError:
            continue
        yield tuple(map(tuple, parents))


def random_net(parents, rng, values=None):
    values = values or [2] * len(parents)
    tables = [
        rng.dirichlet(np.ones(values[t]), [values[p] for p in pa]).reshape(
            [values[p] for p in pa] + [values[t]]
        )
        for t, pa in enumerate(parents)
    ]
    return bayes_net(parents, tables)


GRAPH = [(), (), (0, 1), (2,), (1, 3), (2,)]
SIZES = [2, 3, 2, 3, 2, 4]


# Graphs --------------------------------------------------------------------------------------


def test_numbers_of_graphs_are_the_published_ones():
    # Robinson (1973) counts the graphs, Gillispie and Perlman (2001) their classes
    for n, graphs, classes in ((1, 1, 1), (2, 3, 2), (3, 25, 11), (4, 543, 185)):
        dags = list(all_dags(n))
        assert len(dags) == graphs
        kinds = {(frozenset(skeleton(g)), frozenset(v_structures(g))) for g in dags}
        assert len(kinds) == classes


def test_order_puts_parents_first_and_names_a_cycle():
    for g in all_dags(4):
        order = topological_order(g)
        assert sorted(order) == [0, 1, 2, 3]
        assert all(order.index(p) < order.index(t) for t in range(4) for p in g[t])
    with pytest.raises(ValueError, match="b -> c -> b: remove one of these edges"):
        topological_order([(), (0, 2), (1,), (2,)], names="abcd")
    with pytest.raises(ValueError, match="0 -> 0"):
        topological_order([(0,)])


def trails(parents, x, y):
    """All paths without a repeated node from x to y in the skeleton."""
    near = [set(pa) | set(ch) for pa, ch in zip(parents, children(parents))]
    todo = [[x]]
    while todo:
        path = todo.pop()
        if path[-1] == y:
            yield path
        else:
            todo += [[*path, t] for t in near[path[-1]] if t not in path]


def separated_by_definition(parents, x, y, given):
    """The textbook definition: every path is blocked, a collider opened by its descendants."""
    opened = ancestors(parents, given) if given else set()
    for path in trails(parents, x, y):
        active = True
        for a, b, c in zip(path, path[1:], path[2:]):
            collider = a in parents[b] and c in parents[b]
            active &= b in opened if collider else b not in given
        if active:
            return False
    return True


def queries(n):
    for x, y in itertools.combinations(range(n), 2):
        rest = [t for t in range(n) if t not in (x, y)]
        for size in range(len(rest) + 1):
            for given in itertools.combinations(rest, size):
                yield x, y, given


def test_reachability_is_the_textbook_definition_on_all_small_graphs():
    for g in all_dags(4):
        for x, y, given in queries(4):
            answer = d_separated(g, x, y, given)
            assert answer == separated_by_definition(g, x, y, given)
            assert answer == d_separated(g, y, x, given)


def test_separation_is_independence_of_random_laws_on_all_small_graphs():
    rng = np.random.default_rng(0)
    for g in all_dags(4):
        p = joint_table(random_net(g, rng))
        for x, y, given in queries(4):
            independent = is_conditionally_independent(p, x, y, given, tol=1e-13)
            assert independent == d_separated(g, x, y, given)


def test_sets_of_nodes_on_a_larger_graph():
    net = random_net(GRAPH, np.random.default_rng(1), SIZES)
    p = joint_table(net)
    for x, y, given in [({0}, {1}, ()), ({0, 5}, {3, 4}, {1, 2}), ({3}, {5}, {2}), ({0}, {4}, {3})]:
        expected = is_conditionally_independent(p, tuple(x), tuple(y), tuple(given), tol=1e-13)
        assert d_separated(GRAPH, x, y, given) == expected
    assert connected(GRAPH, {0, 5}, 2) == {0, 5, 1, 4}


def test_sets_are_separated_if_each_pair_is():
    single = {q: separated_by_definition(GRAPH, *q) for q in queries(6)}
    several = 0
    for role in itertools.product("xyz-", repeat=6):
        x, y, given = (tuple(t for t in range(6) if role[t] == r) for r in "xyz")
        if x and y:
            pairs = [single[min(a, b), max(a, b), given] for a in x for b in y]
            assert d_separated(GRAPH, x, y, given) == all(pairs)
            several += len(pairs) > 1 and sum(pairs) == len(pairs) - 1
    assert several > 20  # one connected pair among several


def test_the_blanket_screens_a_node_off_and_nothing_smaller_does():
    rng = np.random.default_rng(2)
    for g in all_dags(4):
        p = joint_table(random_net(g, rng))
        for t in range(4):
            blanket = markov_blanket(g, t)
            rest = set(range(4)) - blanket - {t}
            if rest:
                assert is_conditionally_independent(p, t, tuple(rest), tuple(blanket), tol=1e-13)
            for b in blanket:
                fewer = tuple(blanket - {b})
                assert not is_conditionally_independent(p, t, b, fewer, tol=1e-13)


def test_equivalent_graphs_separate_alike_on_all_pairs():
    for n in (2, 3, 4):
        answers = {}
        for g in all_dags(n):
            key = (frozenset(skeleton(g)), frozenset(v_structures(g)))
            pattern = tuple(d_separated(g, *q) for q in queries(n))
            assert answers.setdefault(key, pattern) == pattern
        assert len(set(answers.values())) == len(answers)
    assert not markov_equivalent([(), (0,)], [(), ()])


# Laws and inference --------------------------------------------------------------------------


def test_joint_is_the_product_and_sums_to_one():
    net = random_net(GRAPH, np.random.default_rng(3), SIZES)
    p = joint_table(net)
    assert p.shape == tuple(SIZES)
    assert p.sum() == pytest.approx(1)
    for x in itertools.product(*map(range, SIZES)):
        product = np.prod(
            [
                T[tuple(x[s] for s in (*pa, t))]
                for t, (pa, T) in enumerate(zip(net.parents, net.tables))
            ]
        )
        assert p[x] == pytest.approx(product, rel=1e-13)


def test_parents_may_be_listed_in_any_order():
    a = bayes_net([(), (), (0, 1)], [[0.5, 0.5], [0.2, 0.3, 0.5], np.full((2, 3, 2), 0.5)])
    table = np.random.default_rng(4).dirichlet([1, 1], (2, 3))
    first = bayes_net([(), (), (0, 1)], [*a.tables[:2], table])
    second = bayes_net([(), (), (1, 0)], [*a.tables[:2], table.transpose(1, 0, 2)])
    assert np.allclose(joint_table(first), joint_table(second), rtol=1e-15)


def test_elimination_equals_the_full_joint():
    net = random_net(GRAPH, np.random.default_rng(5), SIZES)
    p = joint_table(net)
    for query in ((0,), (4, 1), (5, 0, 3)):
        for names in itertools.combinations(set(range(6)) - set(query), 2):
            evidence = {t: SIZES[t] - 1 for t in names}
            found = eliminate(net, query, evidence)
            part = p[tuple(evidence.get(t, slice(None)) for t in range(6))]
            left = [t for t in range(6) if t not in evidence]
            part = part.sum(axis=tuple(i for i, t in enumerate(left) if t not in query))
            part = part.transpose(np.argsort(np.argsort(query)))
            assert found.evidence == pytest.approx(part.sum(), rel=1e-12)
            assert np.allclose(found.posterior, part / part.sum(), rtol=1e-12)


def test_order_changes_the_cost_and_not_the_answer():
    n = 12
    chain = random_net([(), *[(t,) for t in range(n - 1)]], np.random.default_rng(6))
    easy = eliminate(chain, n - 1)
    star = random_net([(), *[(0,)] * (n - 1)], np.random.default_rng(7))
    hard = eliminate(star, n - 1, order=range(n - 1))
    cheap = eliminate(star, n - 1)
    assert easy.largest == 4
    assert (cheap.largest, hard.largest) == (4, 2**n)
    assert np.allclose(cheap.posterior, hard.posterior)
    assert elimination_order([{0, t} for t in range(1, 4)], {0, 1, 2}) == [1, 2, 0]


def test_the_default_order_joins_the_neighbours_of_a_node_that_is_gone():
    ring = [{0, 2}, {2, 1}, {1, 3}, {3, 0}]  # without 0 it has the edge 2 - 3 more
    assert elimination_order(ring, {0, 1, 2, 3}) == [0, 1, 2, 3]


def test_fractions_stay_exact():
    net = bayes_net(
        {"A": (), "B": ("A",)},
        {"A": np.array([F(1, 3), F(2, 3)]), "B": np.array([[F(1, 2), F(1, 2)], [F(1), F(0)]])},
    )
    found = eliminate(net, "A", {"B": 0})
    assert found.posterior.tolist() == [F(1, 5), F(4, 5)]
    assert found.evidence == F(5, 6)
    assert eliminate(net, ("B", "A")).posterior[1, 0] == F(1, 6)


def test_factors_multiply_and_sum():
    rng = np.random.default_rng(8)
    a, b = Factor((2, 0), rng.random((3, 2))), Factor((0, 1), rng.random((2, 4)))
    product = multiply(a, b)
    assert product.nodes == (0, 1, 2)
    assert np.allclose(product.values, np.einsum("ca,ab->abc", a.values, b.values))
    assert np.allclose(sum_out(product, 1).values, product.values.sum(axis=1))


def test_samples_have_the_law_of_the_network():
    net = random_net([(), (0,), (0, 1)], np.random.default_rng(9), [2, 3, 2])
    p, n = joint_table(net).ravel(), 40_000
    X = sample(net, n, np.random.default_rng(10))
    found = np.bincount(np.ravel_multi_index(X.T, (2, 3, 2)), minlength=12) / n
    assert (np.abs(found - p) < 6 * np.sqrt(p * (1 - p) / n)).all()
    assert np.array_equal(X, sample(net, n, np.random.default_rng(10)))


# Interventions, messages, sampling -----------------------------------------------------------


def test_an_intervention_divides_by_the_table_and_not_by_the_margin():
    net = random_net(GRAPH, np.random.default_rng(18), SIZES)
    p = joint_table(net)
    for t, k in ((0, 1), (2, 0), (3, 2), (5, 3)):
        done = joint_table(intervene(net, {t: k}))
        for x in itertools.product(*map(range, SIZES)):
            own = net.tables[t][tuple(x[s] for s in (*GRAPH[t], t))]
            assert done[x] == pytest.approx(p[x] / own if x[t] == k else 0, rel=1e-12)
    both = intervene(net, {2: 1, 4: 0})
    assert both.parents == ((), (), (), (2,), (), (2,))
    assert np.allclose(joint_table(both), joint_table(intervene(intervene(net, {4: 0}), {2: 1})))
    assert net.parents == tuple(map(tuple, GRAPH))


def test_an_intervention_on_fractions_is_exact():
    net = bayes_net([(1,), ()], [[[F(1, 3), F(2, 3)], [F(1), F(0)]], [F(1, 4), F(3, 4)]])
    assert joint_table(intervene(net, {0: 1})).tolist() == [[0, 0], [F(1, 4), F(3, 4)]]
    assert eliminate(intervene(net, {1: 0}), 0).posterior.tolist() == [F(1, 3), F(2, 3)]


def test_messages_on_a_forest_give_the_posteriors_of_the_full_joint():
    forest, sizes = [(2,), (), (1,), (1,), (2,), (6,), ()], [2, 3, 2, 2, 3, 3, 2]
    net = random_net(forest, np.random.default_rng(19), sizes)
    p = joint_table(net)
    for seen in ({}, {1: 2}, {0: 1, 4: 2}, {0: 0, 3: 1, 5: 2}, {2: 1, 6: 0}):
        found = sum_product(net, seen)
        part = p.copy()
        for t, k in seen.items():
            part[tuple(slice(None) if s != t else np.arange(sizes[t]) != k for s in range(7))] = 0
        assert found.evidence == pytest.approx(part.sum(), rel=1e-12)
        for t in range(7):
            law = part.sum(axis=tuple(s for s in range(7) if s != t)) / part.sum()
            assert np.allclose(found.posterior[t], law, rtol=1e-12)


def test_messages_of_fractions_are_exact_and_rare_evidence_is_refused():
    halves, table = [F(1, 2), F(1, 2)], [[F(9, 10), F(1, 10)], [F(1, 5), F(4, 5)]]
    net = bayes_net({"A": (), "B": ("A",)}, {"A": halves, "B": table})
    found = sum_product(net, {"B": 0})
    assert [law.tolist() for law in found.posterior] == [[F(9, 11), F(2, 11)], [1, 0]]
    assert found.evidence == F(11, 20)
    long = hmm_network(np.ones(1), np.ones((1, 1)), np.array([[0.1, 0.9]]), 310)
    with pytest.raises(ValueError, match="or below 1e-290"):
        sum_product(long, {f"x{t}": 0 for t in range(1, 311)})


def test_full_conditionals_are_those_of_the_joint():
    net = random_net(GRAPH, np.random.default_rng(20), SIZES)
    p = joint_table(net)
    X = sample(net, 40, np.random.default_rng(21))
    for t in range(6):
        found = full_conditional(net, X, t)
        for x, law in zip(X, found):
            line = p[tuple(slice(None) if s == t else x[s] for s in range(6))]
            assert np.allclose(law, line / line.sum(), rtol=1e-12)


def test_two_gibbs_sweeps_have_the_law_of_the_two_sweeps():
    net = random_net([(), (), (0, 1), (2,)], np.random.default_rng(22))
    p, n = joint_table(net), 20_000
    for held in ((), (2,), (0, 3)):
        law = np.zeros(16)
        law[5] = 1  # all chains start at (0, 1, 0, 1)
        law = law.reshape(2, 2, 2, 2)
        for t in 2 * [t for t in range(4) if t not in held]:
            law = law.sum(axis=t, keepdims=True) * p / p.sum(axis=t, keepdims=True)
        rows = gibbs(net, np.tile([0, 1, 0, 1], (n, 1)), 2, np.random.default_rng(23), held)
        share, law = np.bincount(rows @ [8, 4, 2, 1], minlength=16) / n, law.ravel()
        assert (np.abs(share - law) <= 6 * np.sqrt(law * (1 - law) / n)).all()


# Learning ------------------------------------------------------------------------------------


def test_counts_are_those_of_a_loop_and_add():
    X = sample(random_net(GRAPH, np.random.default_rng(11), SIZES), 80, np.random.default_rng(12))
    w = np.random.default_rng(13).integers(0, 3, 80).astype(float)
    counts = family_counts(GRAPH, SIZES, X, w)
    for t, pa in enumerate(GRAPH):
        for c in itertools.product(*(range(SIZES[p]) for p in pa)):
            for k in range(SIZES[t]):
                hits = sum(
                    w[i]
                    for i, x in enumerate(X)
                    if x[t] == k and all(x[p] == v for p, v in zip(pa, c))
                )
                assert counts[t][(*c, k)] == hits
    halves = [family_counts(GRAPH, SIZES, X[s], w[s]) for s in (slice(30), slice(30, 80))]
    assert all(np.array_equal(a + b, N) for a, b, N in zip(*halves, counts))
    repeated = family_counts(GRAPH, SIZES, np.repeat(X, w.astype(int), axis=0))
    assert all(np.array_equal(a, b) for a, b in zip(repeated, counts))


def test_tables_are_the_estimates_of_the_chapter_on_estimation():
    X = np.array([[0, 0], [0, 2], [1, 1], [1, 1], [1, 2]])
    counts = family_counts([(), (0,)], [2, 3], X)
    assert np.allclose(relative_tables(counts)[1][1], categorical_mle([0, 2, 1]))
    assert relative_tables(counts)[0].tolist() == [0.4, 0.6]
    for alpha in (0.5, 1.0):
        mean = dirichlet_posterior(np.full(3, alpha), counts[1][0]).mean
        assert np.allclose(dirichlet_tables(counts, alpha)[1][0], mean)
    own = (np.array([1.0, 2.0]), np.array([[1.0, 2, 3], [4, 5, 6]]))
    assert np.allclose(dirichlet_tables(counts, own)[1][1], (np.array([0, 2, 1]) + [4, 5, 6]) / 18)


def test_log_likelihood_is_that_of_the_joint_and_largest_at_the_frequencies():
    net = random_net([(), (0,), (0, 1)], np.random.default_rng(14), [2, 3, 2])
    X = sample(net, 60, np.random.default_rng(15))
    value = np.log(joint_table(net)[tuple(X.T)]).sum()
    assert log_likelihood(net, X) == pytest.approx(value, rel=1e-13)
    counts = family_counts(net.parents, [2, 3, 2], X)
    by_counts = sum((N * np.log(T)).sum() for N, T in zip(counts, net.tables))
    assert log_likelihood(net, X) == pytest.approx(by_counts, rel=1e-12)
    best = bayes_net(net.parents, dirichlet_tables(counts, 1e-9))
    for seed in range(20):
        other = random_net(net.parents, np.random.default_rng(seed), [2, 3, 2])
        assert log_likelihood(best, X) > log_likelihood(other, X)
    sure = bayes_net([()], [[1.0, 0.0]])
    assert log_likelihood(sure, [[1]]) == -np.inf


def test_evidence_is_the_chance_of_the_sequence_one_row_at_a_time():
    X = np.array([[0, 1], [1, 1], [1, 0], [0, 1], [1, 1]])
    g, total = [(), (0,)], 0.0
    for i in range(5):
        before = dirichlet_tables(family_counts(g, [2, 2], X[:i].reshape(-1, 2)), 0.7)
        total += log_likelihood(bayes_net(g, before), X[[i]])
    assert log_evidence(family_counts(g, [2, 2], X), 0.7) == pytest.approx(total, rel=1e-12)


# Agreements with other chapters --------------------------------------------------------------


def test_naive_bayes_is_a_network():
    rng = np.random.default_rng(16)
    X, y = rng.integers(0, 3, (50, 3)), rng.integers(0, 2, 50)
    model = CategoricalNB(categories=[[0, 1, 2]] * 3).fit(X, y)
    net = naive_bayes_network(model.class_prior_, model.tables_)
    for x in itertools.product(range(3), repeat=3):
        found = eliminate(net, 0, {j + 1: v for j, v in enumerate(x)}).posterior
        assert np.allclose(found, model.predict_proba([x])[0], rtol=1e-12)
    counts = family_counts(net.parents, [2, 3, 3, 3], np.column_stack([y, X]))
    smoothed = conditional_tables(class_counts(X, y, 2, [3, 3, 3]))
    assert all(np.allclose(a, b) for a, b in zip(dirichlet_tables(counts)[1:], smoothed))


def test_a_hidden_markov_model_is_a_network():
    rng = np.random.default_rng(17)
    pi, A, e = rng.dirichlet([1, 1, 1]), rng.dirichlet([1] * 3, 3), rng.dirichlet([1] * 2, 3)
    x = [0, 1, 1, 0, 1]
    net, seen = hmm_network(pi, A, e, 5), {f"x{t + 1}": v for t, v in enumerate(x)}
    log_B = np.log(e[:, x].T)
    gamma = posteriors(pi, A, log_B).gamma
    for t in range(5):
        found = eliminate(net, f"z{t + 1}", seen)
        assert np.allclose(found.posterior, gamma[t], rtol=1e-12)
        assert np.log(found.evidence) == pytest.approx(forward(pi, A, log_B).log_likelihood)
    assert found.largest <= 9
    marginals = sum_product(net, seen)
    assert np.allclose(marginals.posterior[::2], gamma, rtol=1e-12)
    assert marginals.evidence == pytest.approx(found.evidence, rel=1e-12)
    alpha = np.exp(forward(pi, A, log_B).log_alpha)
    for t in range(1, 6):
        part = hmm_network(pi, A, e, t)
        past = {f"x{s}": x[s - 1] for s in range(1, t + 1)}
        found = eliminate(part, f"z{t}", past, [f"z{s}" for s in range(1, t)])
        assert np.allclose(found.posterior * found.evidence, alpha[t - 1], rtol=1e-12)


# Errors --------------------------------------------------------------------------------------


def net_of(**tables):
    return bayes_net({"A": (), "B": ("A",)}, {"A": [0.5, 0.5], "B": [[1, 0], [0, 1]]} | tables)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bayes_net({"A": ("B",), "B": ("A",)}, {"A": 0, "B": 0}), "A -> B -> A"),
        (lambda: bayes_net({"A": ("B",)}, {"A": 0}), "parents must list 'B'"),
        (lambda: bayes_net({"A": ()}, {"C": [1]}), "tables must have one entry"),
        (lambda: bayes_net([()], []), "tables must have 1 entries"),
        (lambda: bayes_net([(1,)], [[1]]), "parents of node 0 must be"),
        (lambda: bayes_net([None], [[1]]), "parents must list the numbers"),
        (lambda: net_of(A=[0.5, 0.6]), "the table of A must sum to one, its sum is 1.1"),
        (
            lambda: net_of(B=[[1, 0], [0.5, 0.4]]),
            "table of B must sum to one at A=1, its sum is 0.9",
        ),
        (lambda: net_of(A=[1.5, -0.5]), "the table of A must not be negative"),
        (lambda: net_of(B=[0.5, 0.5]), "the table of B must have 2 axes"),
        (lambda: net_of(B=np.full((3, 2), 0.5)), "the table of B must begin with the axes"),
        (lambda: net_of(A=[np.nan, 1]), "the table of A must hold finite"),
        (lambda: eliminate(net_of(A=[1, 0]), "A", {"B": 1}), "evidence must have a positive prob"),
        (lambda: eliminate(net_of(), "C"), "'C' is no node"),
        (lambda: eliminate(net_of(), "A", {"A": 0}), "query must name different nodes"),
        (lambda: eliminate(net_of(), "A", {"B": 2}), "the value of B must be"),
        (lambda: eliminate(net_of(), "A", order=["A"]), "order must name each node"),
        (lambda: d_separated([(), ()], 0, 0), "x, y and given must have no node"),
        (lambda: d_separated([(), (), ()], 0, 1, 0), "x, y and given must have no node"),
        (lambda: d_separated([(), (), ()], 0, 1, 1), "x, y and given must have no node"),
        (lambda: connected([(), ()], 0, 0), "x and given must have no node"),
        (lambda: connected([(), ()], 2), "x must hold node numbers"),
        (lambda: family_counts([()], [2], [[2]]), "column 0 of X must hold values from 0 to 1"),
        (lambda: family_counts([()], [2], [[0.5]]), "X must hold whole numbers"),
        (lambda: family_counts([()], [2], [[0, 1]]), "X must have shape"),
        (lambda: family_counts([()], [2, 2], [[0]]), "n_values must have 1"),
        (lambda: family_counts([()], [2], [[0]], [-1]), "weights must not be negative"),
        (lambda: relative_tables((np.array([[1, 1], [0, 0]]),)), "counts of node 0 must hold"),
        (lambda: dirichlet_tables((np.ones(2),), 0), "alpha must be"),
        (lambda: dirichlet_tables((np.ones(2),), ([1, 0],)), "alpha must be positive"),
        (lambda: intervene(net_of(), {"C": 0}), "values: .C. is no node"),
        (lambda: intervene(net_of(), {"B": 2}), "the value of B must be"),
        (lambda: sum_product(net_of(A=[1, 0]), {"B": 1}), "evidence must have a positive prob"),
        (
            lambda: sum_product(bayes_net([(), (), (0, 1)], [[1], [1], [[[1]]]])),
            "net must have at most one parent",
        ),
        (lambda: full_conditional(net_of(), [[0, 0]], "C"), "t: .C. is no node"),
        (lambda: full_conditional(net_of(A=[1, 0]), [[0, 1]], "A"), "a positive probability"),
        (lambda: gibbs(net_of(), [[0, 0]], 0, np.random.default_rng(0)), "n must be"),
        (lambda: gibbs(net_of(), [[0, 0]], 1, 0), "rng must be"),
        (lambda: gibbs(net_of(), [[0]], 1, np.random.default_rng(0)), "X must have shape"),
        (lambda: sum_out(Factor((0,), np.ones(2)), 1), "t must be one of the nodes"),
        (lambda: markov_equivalent([()], [(), ()]), "the same number of nodes"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("alpha", [1e8, 1e17, 1e200])
def test_evidence_keeps_its_digits_under_a_heavy_prior(alpha):
    found = log_evidence((np.array([3.0, 4.0, 0.0]),), alpha)
    assert found == pytest.approx(-7 * np.log(3), rel=1e-6)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="alpha must be positive"):
            log_evidence((np.array([3.0, 4.0]),), (np.array([bad, 1.0]),))


def test_nodes_are_not_rounded():
    with pytest.raises(ValueError, match="parents must list the numbers"):
        topological_order([(), (0.5,)])
    with pytest.raises(ValueError, match="x must hold node numbers"):
        d_separated([(), (0,)], 0.5, 1)


def test_evidence_too_rare_for_floats_is_not_called_impossible():
    pi, A, e = ([F(1, 2)] * 2, [[F(9, 10), F(1, 10)]] * 2, [[F(1, 10)] * 10] * 2)
    seen = {f"x{t}": 0 for t in range(1, 311)}
    exact = eliminate(hmm_network(pi, A, e, 310), "z1", seen)
    assert exact.evidence == F(1, 10) ** 310
    assert exact.posterior.tolist() == [F(1, 2)] * 2
    net = hmm_network(*(np.array(a, dtype=float) for a in (pi, A, e)), 310)
    with pytest.raises(ValueError, match="or below 1e-290"):
        eliminate(net, "z1", seen)


def test_the_answer_tells_in_which_order_nodes_were_summed_out():
    net = random_net([(), (0,), (1,), (2,)], np.random.default_rng(0))
    for order in itertools.permutations(net.names[1:]):
        assert eliminate(net, net.names[0], order=order).order == order
    assert eliminate(net, net.names[3]).order == net.names[:3]  # the ends of the chain first
