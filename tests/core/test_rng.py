import numpy as np

from serendip.core.rng import priority, stream


def test_the_same_address_opens_the_same_stream():
    assert stream(1, "label", 5).random(4).tolist() == stream(1, "label", 5).random(4).tolist()


def test_addresses_differ():
    keys = [(1, "label", 5), (1, "label", 6), (2, "label", 5), (1, "policy", 5), (1, "label", "5")]
    first = {stream(*key).integers(2**62) for key in keys}
    assert len(first) == len(keys)


def test_no_global_state_is_touched():
    before = np.random.get_state()[1].copy()  # noqa: NPY002  # to see that it does not move
    stream(0, "a").random(10)
    after = np.random.get_state()[1]  # noqa: NPY002
    assert np.array_equal(before, after)


def test_priority_depends_on_key_and_item_only():
    items = np.arange(1000)
    whole = priority(7, items)
    assert np.array_equal(whole[::-1], priority(7, items[::-1]))
    assert len(np.unique(whole)) == 1000
    assert whole.min() >= 0
    assert not np.array_equal(np.argsort(whole), np.argsort(priority(8, items)))
