"""How well each label is foretold by the others, from draws that have seen them all."""

import numpy as np
from scipy.special import logsumexp

from serendip.core.arrays import Floats


def left_out(log_densities: Floats) -> Floats:
    """(t,) log p(y_i | the other labels), by truncated importance sampling.

    A draw from the posterior of all labels counts for that of all but y_i with weight
    1 / p(y_i | draw). Weights beyond S^¾ times their median are cut to that: the cut goes away as
    draws become many, and until then no single draw decides (Ionides 2008 cuts by the mean).

    Args:
        log_densities: (t, S) log p(y_i | draw s); parameters that y_i alone decides should have
            been integrated out, or the weights are of little use.
    """
    weights = -log_densities
    weights -= np.median(weights, axis=1, keepdims=True)
    weights = np.minimum(weights, 0.75 * np.log(weights.shape[1]))
    found = logsumexp(weights + log_densities, axis=1) - logsumexp(weights, axis=1)
    return np.asarray(found)
