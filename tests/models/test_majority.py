"""What is left out of a mixture has less than a tenth of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serendip.models.majority import major


@pytest.mark.parametrize(
    ("weights", "kept"),
    [
        ([1.0], [True]),
        ([0.95, 0.05], [True, False]),
        ([0.05, 0.95], [False, True]),
        ([0.89, 0.11], [True, True]),
        ([0.88, 0.06, 0.06], [True, False, True]),  # both together are more than a tenth
        ([0.92, 0.04, 0.04], [True, False, False]),
        ([0.0, 1.0, 0.0], [False, True, False]),
    ],
)
def test_the_least_are_left_out(weights, kept):
    np.testing.assert_array_equal(major(np.array(weights)), kept)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20).filter(lambda w: sum(w) > 1e-6))
def test_little_is_left_out_and_never_the_largest(weights):
    share = np.array(weights) / sum(weights)
    kept = major(share)
    assert share[~kept].sum() < 0.1
    assert kept[np.argmax(share)] or share.max() in share[kept]
    least = share[kept].min()
    assert share[~kept].sum() + least > 0.1 - 1e-12  # one more would be too many
