"""What the modules of all chapters share: checks, the estimator protocol, tables, work that splits.

Some parameters mean the same wherever they stand, and are explained here only:

max_iter : int
    The largest number of iterations; a ``ConvergenceWarning`` tells when it was reached before the
    criterion was met, with the gap that is left. ``n_iter_`` is the number that was run.
tol : float
    The criterion, relative to the scale of the data or the objective, in [0, 1).
n_init : int
    Random starts, of which the best is kept.
random_state : None, int or numpy.random.Generator
    The source of random numbers: an int gives the same result each time. Functions take ``rng``, a
    ``numpy.random.Generator``.
workers : int or map-like callable
    Who does work that splits: 1 runs here, an int above 1 on that many processes, -1 on one for
    each core, a callable such as ``pool.map`` as it is. The result does not depend on it.
sample_weight : array of shape (n,), optional
    How much each row counts: a weight of 2 like the row twice, of 0 like leaving it out.
class_weight : None, "balanced" or dict
    Factors by which the classes multiply the weights of their rows; "balanced" gives all classes
    the same total.
"""
