"""Bounds by an ellipsoid, against the same sums in higher precision."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from serendip.core.bounds.ellipsoid import Belief, Ellipsoid

WIDE = np.longdouble


def posterior(rng, d, spread, noise=0.3):
    """A covariance whose eigenvalues span `spread` orders of magnitude, and a mean."""
    basis, _ = np.linalg.qr(rng.standard_normal((d, d)))
    sizes = 10.0 ** rng.uniform(-spread, 0.0, size=d)
    return Belief(rng.standard_normal(d), (basis * sizes) @ basis.T, noise)


def width(around, form, x):
    """√(xᵀ(B + η²I)x) of a form given in long double."""
    blurred = form + WIDE(around.blur) ** 2 * np.eye(len(form), dtype=WIDE)
    return np.sqrt(np.einsum("bd,de,be->b", x, blurred, x))


def directions(rng, d):
    """Rows of all sizes, some of them along the axes."""
    x = rng.standard_normal((60, d)) * 10.0 ** rng.uniform(-9, 9, size=(60, 1))
    return np.concatenate([x, np.eye(d)]).astype(WIDE)


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 12),
    spread=st.sampled_from([0.0, 1.0, 4.0, 8.0, 14.0]),
    n_labels=st.integers(0, 6),
    far=st.sampled_from([0.0, 1e-9, 1.0, 1e6]),
)
def test_no_draw_leaves_its_bound(seed, d, spread, n_labels, far):
    rng = np.random.default_rng(seed)
    belief = posterior(rng, d, spread)
    around = Ellipsoid.of(belief)
    assert around is not None
    form = np.asarray(around.form, dtype=WIDE)
    if n_labels:
        found = around.labelled(rng.standard_normal((n_labels, d)))
        assert found is not None
        around, pulls, shares = found
        for pull, share in zip(pulls.T.astype(WIDE), shares.astype(WIDE), strict=True):
            form = form - share * np.outer(pull, pull)
    near = rng.multivariate_normal(belief.mean, belief.covariance, size=10, method="eigh")
    theta = np.concatenate([near, belief.mean + far * rng.standard_normal((5, d))])
    x = directions(rng, d)
    wide = width(around, form, x)
    apart = np.abs(x @ (theta.astype(WIDE) - belief.mean.astype(WIDE)).T)
    assert np.all(apart <= wide[:, None] * around.radii(theta))
    root = rng.standard_normal((d, 3)) * 10.0 ** rng.uniform(-6, 3)
    size = np.sqrt(((x @ root.astype(WIDE)) ** 2).sum(axis=1))
    assert np.all(size <= wide * around.stretch(root))


def test_bounds_are_not_idle():
    """A draw at its radius in the right direction meets its bound; the form meets its stretch."""
    rng = np.random.default_rng(0)
    belief = posterior(rng, 6, 2.0)
    around = Ellipsoid.of(belief)
    assert around is not None
    theta = belief.mean + rng.standard_normal(6)
    x = np.linalg.solve(belief.covariance, theta - belief.mean)
    reached = x @ (theta - belief.mean) / np.sqrt(x @ belief.covariance @ x)
    np.testing.assert_allclose(around.radii(theta[None])[0], reached, rtol=1e-6)
    np.testing.assert_allclose(around.stretch(np.linalg.cholesky(belief.covariance)), 1.0, 1e-6)


def test_labels_shrink_it_to_the_posterior():
    rng = np.random.default_rng(1)
    belief = posterior(rng, 5, 1.0, noise=0.7)
    x = rng.standard_normal((8, 5))
    around = Ellipsoid.of(belief)
    assert around is not None
    found = around.labelled(x)
    assert found is not None
    precision = np.linalg.inv(belief.covariance) + x.T @ x / 0.7
    np.testing.assert_allclose(found[0].form, np.linalg.inv(precision), rtol=1e-9, atol=1e-12)
    after = Belief(belief.mean, np.linalg.inv(precision), 0.7)
    assert abs(found[0].mismatch(after) - 1.0) < 1e-6
    assert found[0].mismatch(belief) > 1.05


def test_numbers_out_of_range_make_none():
    for covariance in (np.zeros((2, 2)), np.full((2, 2), np.nan), -np.eye(2)):
        assert Ellipsoid.of(Belief(np.zeros(2), covariance, 1.0)) is None
    assert Ellipsoid.of(Belief(np.array([np.inf, 0.0]), np.eye(2), 1.0)) is None
    assert Ellipsoid.of(Belief(np.zeros(2), np.eye(2), 0.0)) is None
