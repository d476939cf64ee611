import numpy as np
import pytest

from serendip.core.errors import InvalidInput, SerendipError
from serendip.core.labels import Binary, Continuous, Ordered


def test_continuous_keeps_numbers_and_guards_the_range():
    labels = Continuous(0.0, 1.0)
    assert labels.encode("0.25") == 0.25
    assert labels.encode(1) == 1.0
    with pytest.raises(InvalidInput, match=r"1\.5 lies outside the declared range \[0\.0, 1\.0\]"):
        labels.encode(1.5)
    with pytest.raises(InvalidInput, match="wider range"):
        labels.encode(-0.1)


@pytest.mark.parametrize("written", ["high", None, "", float("nan"), float("inf")])
def test_what_is_not_a_number_is_refused(written):
    for labels in (Continuous(), Binary()):
        with pytest.raises(InvalidInput, match="number"):
            labels.encode(written)


def test_binary():
    labels = Binary()
    assert [labels.encode(value) for value in (True, 0, "1")] == [1.0, 0.0, 1.0]
    with pytest.raises(InvalidInput, match="0 or 1; got"):
        labels.encode(0.5)
    assert (labels.decode(0.9), labels.decode(0.1)) == ("1", "0")


def test_ordered_keeps_the_order_and_the_mapping():
    labels = Ordered(["low", "medium", "high"])
    assert labels.mapping == {"low": 0.0, "medium": 0.5, "high": 1.0}
    assert [labels.encode(name) for name in (" low", "high ")] == [0.0, 1.0]
    assert [labels.decode(value) for value in (0.2, 0.4, 3.0)] == ["low", "medium", "high"]
    numbers = [labels.mapping[name] for name in labels.categories]
    assert np.all(np.diff(numbers) > 0)
    with pytest.raises(InvalidInput, match="'great' is not one of the categories: low, medium"):
        labels.encode("great")


@pytest.mark.parametrize("categories", [[], ["one"], ["a", "a"]])
def test_bad_categories_are_refused(categories):
    with pytest.raises(InvalidInput, match="categories"):
        Ordered(categories)


def test_empty_range_is_refused():
    with pytest.raises(InvalidInput, match="low < high"):
        Continuous(1.0, 0.0)
    assert issubclass(InvalidInput, SerendipError)
