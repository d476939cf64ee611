import numpy as np
import pytest

from serendip.core.data import Block, Observation
from serendip.core.rng import stream
from serendip.models.gp.kernels import Group
from serendip.models.matrix.model import MatrixModel
from serendip.models.matrix.recoded import table_member


def indicators(codes):
    """(n, texts) levels as centred indicators with their groups, as tables are encoded."""
    blocks, groups, start = [], [], 0
    for column in codes.T:
        block = np.eye(column.max() + 1)[column]
        blocks.append((block - block.mean(axis=0)) / 0.7)
        groups.append(Group(tuple(range(start, start + block.shape[1])), text=True))
        start += block.shape[1]
    return np.concatenate(blocks, axis=1), tuple(groups)


def grid(*sizes):
    return np.stack([axis.ravel() for axis in np.indices(sizes)], axis=1)


def test_the_text_with_most_levels_makes_the_rows():
    codes = grid(3, 5, 2)
    x, groups = indicators(codes)
    member = table_member(x, groups)
    cells = member.cells(x)
    assert (member.model.n_rows, member.model.n_columns) == (5, 6)
    assert cells[:, 0].tolist() == codes[:, 1].tolist()
    assert len(np.unique(cells, axis=0)) == 30
    for column in range(6):
        own = codes[cells[:, 1] == column][:, [0, 2]]
        assert len(np.unique(own, axis=0)) == 1


def test_it_says_what_the_model_of_the_table_says():
    codes = grid(4, 6)
    x, groups = indicators(codes)
    member = table_member(x, groups)
    plain = MatrixModel(6, 4)
    y = stream(0, "y").random(24)
    told = [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(10)]
    cells = member.cells(x)
    bare = [Observation(i, cells[i : i + 1], y[i : i + 1]) for i in range(10)]
    here = member.posterior(told, stream(1, "p"))
    there = plain.posterior(bare, stream(1, "p"))
    items = np.arange(10, 24)
    ours = here.moments()(Block(items, x[items]))
    theirs = there.moments()(Block(items, cells[items]))
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(here.held_out().log_density, there.held_out().log_density)
    assert here.noise_variance == pytest.approx(there.noise_variance.mean())


@pytest.mark.parametrize("kind", ["numbers", "one text", "sparse"])
def test_what_is_no_table_has_no_such_model(kind):
    if kind == "numbers":
        x = np.random.default_rng(0).standard_normal((20, 2))
        groups = (Group((0,)), Group((1,)))
    elif kind == "one text":
        x, groups = indicators(grid(5))
    else:
        codes = np.random.default_rng(1).integers(0, 12, (30, 3))
        x, groups = indicators(codes)
    assert table_member(x, groups) is None
