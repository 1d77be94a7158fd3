"""Checks of the exercises of *Model selection*."""

import copy

import numpy as np

from mllib.course.exercises import breaks, code, points

# Leaving one out of a mean -------------------------------------------------------------------

points(
    "ex-model-selection-mean",
    r"The design is one column of ones and $P=0$, so $h_{ii}=1/n$ for every $i$.",
    r"The shortcut gives $\frac1n\sum_i(y_i-\bar y)^2/(1-\frac1n)^2=(\frac n{n-1})^2"
    r"\mathrm{MSE}$, and $\mathrm{MSE}=\frac{n-1}ns^2$.",
    "GCV agrees because all leverages are equal.",
)

# Leave-one-out at its worst ------------------------------------------------------------------


@code("ex-model-selection-worst", "X, y with the classes 0 and 1, and your classifier")
def _(c, X, y, classifier):
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    rng, rows = np.random.default_rng(0), np.arange(len(y))
    c.holds("as many labels as rows, of two classes", len(X) == len(y), set(y.tolist()) == {0, 1})

    def said(train, inputs):
        model = copy.deepcopy(classifier)
        model.fit(X[train], y[train])
        return np.asarray(model.predict(inputs))

    anywhere = rng.normal(size=(40, *X.shape[1:]))
    c.holds("it ignores the inputs: one answer for 40 of them", np.ptp(said(rows, anywhere)) == 0)
    c.holds(
        "leave-one-out: every row is missed", [said(rows != i, X[[i]])[0] != y[i] for i in rows]
    )
    wrong = []
    for _ in range(20):  # halves with the same number of each class, up to 1
        order = rng.permutation(rows)
        order = order[np.argsort(y[order], kind="stable")]
        halves = order[::2], order[1::2]
        pairs = (halves, halves[::-1])
        wrong.append(np.mean([np.mean(said(a, X[b]) != y[b]) for a, b in pairs]) == 0.5)
    c.holds("20 stratified splits into halves: the error is 1/2", wrong)


# Folds that respect groups -------------------------------------------------------------------


@code("ex-model-selection-groups", "your function `group_folds(groups, k)`")
def _(c, group_folds):
    rng, number, once, rest, apart = np.random.default_rng(0), [], [], [], []
    for names in (np.arange(7), np.array(list("abcdef"))):
        for k in (2, 3, 5):
            groups = rng.permutation(np.repeat(names, 3))
            folds, rows = list(group_folds(groups, k)), set(range(len(groups)))
            number.append(len(folds) == k)
            once.append(sorted(np.concatenate([b for _, b in folds])) == sorted(rows))
            rest += [sorted(a) == sorted(rows - {*map(int, b)}) for a, b in folds]
            apart += [not set(groups[a]) & set(groups[b]) for a, b in folds]
    c.holds("$k$ folds, for names that are numbers or letters", number)
    c.holds("every row is left out once", once)
    c.holds("the others are learned", rest)
    c.holds("no group is on both sides", apart)
    who = rng.permutation(np.repeat(np.arange(40), 3))
    A, t = (
        rng.normal(size=(40, 2))[who] + 0.01 * rng.normal(size=(120, 2)),
        rng.normal(size=40)[who],
    )
    losses = []
    for a, b in group_folds(who, 5):
        nearest = np.linalg.norm(A[b][:, None] - A[a], axis=2).argmin(axis=1)
        losses += [*(t[b] - t[a][nearest]) ** 2]
    c.holds(
        "40 patients three times: the honest error exceeds the variance", np.mean(losses) > t.var()
    )


# Neighbours or a line? -----------------------------------------------------------------------


@code(
    "ex-model-selection-question",
    "the ten differences, neighbours minus ridge regression, their mean, its standard error, and "
    "by how many standard errors the two differ",
)
def _(c, differences, mean, error, number):
    d = np.asarray(differences, dtype=float)
    c.holds("ten differences", d.shape == (10,))
    c.holds("the mean is theirs", abs(mean - sum(d) / 10) < 0.01 * abs(mean))
    spread = (sum((d - sum(d) / 10) ** 2) / 9 / 10) ** 0.5
    c.holds(
        "the standard error has 9 degrees of freedom, and is of the mean",
        abs(error / spread - 1) < 0.01,
    )
    c.holds("the mean is so many standard errors", abs(number - mean / error) < 0.1)
    c.holds(
        "mean and standard error are of the size that shuffles of the rows give",
        150 < mean < 450,
        50 < error < 200,
    )


# BIC, leave-one-out, and more data -----------------------------------------------------------


def shares(n=800, batches=2, size=5000):
    """Simulate how often BIC and leave-one-out prefer degree 4 where degree 3 is true."""
    rng, x = np.random.default_rng(0), np.linspace(-1, 1, n)
    Q, _ = np.linalg.qr(np.vander(x, 5, increasing=True))
    chosen = np.zeros(2)
    for _ in range(batches):
        Y = rng.standard_normal((n, size))
        scores = []
        for d in (4, 5):  # columns
            r = Y - Q[:, :d] @ (Q[:, :d].T @ Y)
            left_out = r / (1 - (Q[:, :d] ** 2).sum(axis=1))[:, None]
            scores.append(
                [n * np.log((r**2).sum(axis=0)) + d * np.log(n), (left_out**2).sum(axis=0)]
            )
        chosen += (np.array(scores[1]) < scores[0]).mean(axis=1) / batches
    return chosen


@code(
    "ex-model-selection-consistency",
    "what your explanation predicts for degree 4: two functions of n, the share of BIC and that of "
    "leave-one-out",
)
def _(c, bic, leave_one_out):
    truth = shares()
    said = np.array([bic(800), leave_one_out(800)], dtype=float)
    off = np.abs(said - truth) / np.sqrt(truth * (1 - truth) / 10_000)
    c.holds("BIC at $n=800$: 10000 simulated samples agree, up to 4 standard errors", off[0] < 4)
    c.holds("leave-one-out at $n=800$: likewise", off[1] < 4)
    c.holds("for $n=10^6$ the share of BIC is below 1/1000", 0 < bic(10**6) < 1e-3)
    c.holds("that of leave-one-out stays", abs(leave_one_out(10**6) - truth[1]) < 0.02)


points(
    "ex-model-selection-consistency",
    r"BIC prefers a superfluous coefficient if its gain in $2\ell$, a squared standard normal "
    r"variable $z^2$, exceeds $\log n$, which grows without bound.",
    r"Leave-one-out divides by $(1-h_{ii})^2\approx1-2h_{ii}$, and the leverages add up to the "
    "number of coefficients: it compares $z^2$ with a number near 2, whatever $n$ is.",
)

# Break it ------------------------------------------------------------------------------------

breaks(
    "ex-model-selection-break",
    [
        ("_fit_fold", "model.fit(X[fold.train], y[fold.train])", "model.fit(X, y)"),
        ("_residuals_and_leverages", "U**2 @ f", "U @ f"),
        ("_gcv", "axis=0) / room**2", "axis=0) / room"),
        ("bic_linear", "q + free, n", "q, n"),
    ],
)
