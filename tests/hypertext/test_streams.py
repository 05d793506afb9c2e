"""The stored forms of streams give back what was stored."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pagekin.hypertext.streams import RARE, decode_gaps, decode_marks, decode_words
from tests.hypertext.coders import encode_gaps

rising = st.lists(st.integers(0, 2000), max_size=60).map(lambda gaps: np.cumsum(np.array(gaps, dtype=np.int64)))


@given(st.lists(st.one_of(st.integers(0, 70_000), st.integers(65_530, 65_540)), max_size=200))
def test_words_come_back(ids: list[int]) -> None:
    array = np.array(ids, dtype=np.uint32)
    words = np.minimum(array, RARE).astype(np.uint16)
    assert decode_words(words, array[array >= RARE]).tolist() == ids


@given(rising, st.data())
def test_marks_come_back(positions: np.ndarray, data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.integers(1, 127), min_size=len(positions), max_size=len(positions)))
    gaps, last = encode_gaps(positions)
    coded = np.zeros(len(gaps), dtype=np.uint8)
    coded[last] = kinds
    at, found = decode_marks(gaps, coded)
    assert at.tolist() == positions.tolist()
    assert found.tolist() == kinds


@given(rising)
def test_offsets_come_back(positions: np.ndarray) -> None:
    coded, _ = encode_gaps(positions)
    assert coded.dtype == np.uint8
    assert decode_gaps(coded).tolist() == positions.tolist()
