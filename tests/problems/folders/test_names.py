"""Names on disk: found both ways, whatever they look like, and never twice."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serendip.core.errors import InvalidInput
from serendip.problems.folders import names
from serendip.problems.folders.names import (
    HASHES,
    NAMES,
    STREAM_END,
    StoredNames,
    hashes_of,
    stream_start,
    text_batch,
    write_index,
)


def written(folder, texts, piece=3):
    """The texts as the names of a folder, in several pieces."""
    parts = [text_batch([texts[at : at + piece]], ["id"]) for at in range(0, len(texts), piece)]
    (folder / NAMES).write_bytes(stream_start(["id"]) + b"".join(parts) + STREAM_END)
    write_index(folder, lambda row: f"row {row}")
    return StoredNames(folder, len(texts))


@settings(max_examples=40, deadline=None)
@given(texts=st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=40, unique=True))
def test_every_name_is_found_both_ways(tmp_path_factory, texts):
    texts = [text.encode("utf-8", "replace").decode() or "x" for text in texts]
    texts = list(dict.fromkeys(texts))
    found = written(tmp_path_factory.mktemp("names"), texts)
    assert [found[place] for place in range(len(texts))] == texts
    assert [found.place(text) for text in texts] == list(range(len(texts)))
    assert found.place("".join(texts) + "?") is None
    assert found.place("") is None


def test_hashes_sorted_in_several_turns(tmp_path, monkeypatch):
    monkeypatch.setattr(names, "_SORTED_AT_ONCE", 100)
    texts = [f"molecule-{place}" for place in range(1234)]
    found = written(tmp_path, texts, piece=77)
    assert [found.place(text) for text in texts] == list(range(1234))
    hashes = np.load(tmp_path / HASHES)
    assert (np.diff(hashes.astype(object)) >= 0).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([NAMES, *names.INDEX])


def test_names_that_share_a_hash_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(names, "hashes_of", lambda texts: np.full(len(texts), 7, dtype=np.uint64))
    found = written(tmp_path, ["a", "b", "c", "d"])
    assert [found.place(name) for name in ("d", "a", "c", "b", "e")] == [3, 0, 2, 1, None]
    with pytest.raises(InvalidInput, match="'b' stands in row 1 and in row 3"):
        written(tmp_path, ["a", "b", "c", "b"])


def test_a_name_that_stands_twice_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="'x' stands in row 2 and in row 9"):
        written(tmp_path, ["a", "b", "x", "c", "d", "e", "f", "g", "h", "x"])


def test_hashes_are_the_same_for_ever():
    """Folders that are on disk rely on them."""
    found = hashes_of(pa.array(["a", "b", "R001", "Öl", "x" * 100]))
    again = hashes_of(pa.chunked_array([["?", "a", "b", "R001", "Öl", "x" * 100]]).chunk(0)[1:])
    np.testing.assert_array_equal(found, again)
    by_hand = []
    for text in ("a", "b", "R001", "Öl", "x" * 100):
        total = sum(
            (byte + 1) * 0x9E3779B97F4A7C15 ** (at + 1) for at, byte in enumerate(text.encode())
        )
        total %= 2**64
        total = (total ^ (total >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        total = (total ^ (total >> 27)) * 0x94D049BB133111EB % 2**64
        by_hand.append(total ^ (total >> 31))
    assert found.tolist() == by_hand


def test_hashes_seldom_agree():
    texts = [f"{a}{b}" for a in range(300) for b in "abcdefghij"]
    assert len(set(hashes_of(pa.array(texts)).tolist())) == len(set(texts))
