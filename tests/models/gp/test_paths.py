"""The law of paths given their random features, beside that of the process."""

import numpy as np
import pytest

from serendip.core.data import Observation
from serendip.core.rng import stream
from serendip.models.gp.kernels import radial, single_columns
from serendip.models.gp.model import GaussianProcessModel


def law(posterior, x, draws):
    """Covariance of f and of paths given their random features, at x, over the mixture."""
    fits, paths = posterior.fits, {path.fit: path for path in draws.paths}
    weights = np.concatenate([fit.weights for fit in fits])
    means = np.concatenate([fit.means(fit.cross(x)) for fit in fits], axis=1)
    means -= (means @ weights)[:, None]
    exact = (means * weights) @ means.T
    found = exact.copy()
    for place, fit in enumerate(fits):
        path, rows = paths[place], np.concatenate([x, fit.x])
        prior = fit.kernel.matrix(rows, rows) + 1.0
        features = fit.kernel.features(rows)
        waves = features @ features.T + 1.0
        for (weight, _), sketch in zip(fit.kernel.sketched, path.sketches, strict=True):
            features = sketch(rows)
            waves += weight * features @ features.T
        for noise, scale in zip(fit.noise, fit.weights * fit.scales, strict=True):
            inverse = np.linalg.inv(prior[len(x) :, len(x) :] + noise * np.eye(len(fit.x)))
            pull = np.concatenate([np.eye(len(x)), -prior[: len(x), len(x) :] @ inverse], axis=1)
            told = noise * pull[:, len(x) :] @ pull[:, len(x) :].T
            exact += scale * (pull @ prior @ pull.T + told)
            found += scale * (pull @ waves @ pull.T + told)
    return exact, found


@pytest.mark.parametrize(
    ("kernels", "t", "of_deviations", "of_correlations"),
    [(None, 8, 0.06, 0.1), ((radial(single_columns(5), 1.0, 2.5),), 20, 0.15, 0.3)],
    ids=["default", "one kernel"],
)
def test_the_law_of_paths_is_near_that_of_the_process(kernels, t, of_deviations, of_correlations):
    """As near as the module says; not the law of so many draws."""
    for seed in range(3):
        rng = stream(seed, "law")
        x = rng.standard_normal((160, 5))
        y = np.sin(2 * x[:t, 0]) + 0.5 * x[:t, 1] + 0.1 * rng.standard_normal(t)
        seen = [Observation(i, x[[i]], y[[i]]) for i in range(t)]
        posterior = GaussianProcessModel(5, kernels=kernels).posterior(seen, rng)
        exact, found = law(posterior, x[t:], posterior.sample(300, rng))
        sizes, others = np.sqrt(np.diag(exact)), np.sqrt(np.diag(found))
        error = found / np.outer(others, others) - exact / np.outer(sizes, sizes)
        np.testing.assert_allclose(others / sizes, 1.0, atol=of_deviations)
        assert np.abs(error).max() < of_correlations
