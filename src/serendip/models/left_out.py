"""How well each label is foretold by the others, from draws that have seen them all."""

import numpy as np
from scipy.special import logsumexp

from serendip.core.arrays import Floats


def left_out(log_densities: Floats) -> Floats:
    """(t,) log p(y_i | the other labels), by truncated importance sampling.

    A draw from the posterior of all labels counts for that of all but y_i with weight
    1 / p(y_i | draw); weights beyond √S times their mean are cut to that (Ionides 2008).

    Args:
        log_densities: (t, S) log p(y_i | draw s); parameters that y_i alone decides should have
            been integrated out, or the weights are of little use.
    """
    n_draws = log_densities.shape[1]
    weights = -log_densities
    weights -= logsumexp(weights, axis=1, keepdims=True) - np.log(n_draws)
    weights = np.minimum(weights, 0.5 * np.log(n_draws))
    found = logsumexp(weights + log_densities, axis=1) - logsumexp(weights, axis=1)
    return np.asarray(found)
