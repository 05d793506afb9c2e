"""A corpus that is made to know more addresses and words is the one that would have been cut with them."""

import random
import tempfile
from pathlib import Path

import numpy as np
import pytest

from pagekin.hypertext import Corpus, Cut, check_corpus, widen_corpus
from pagekin.store import KinWriter
from tests.bags.test_order import all_records, make_web
from tests.bags.webs import read_records
from tests.cutting import cut_corpus


def cut_of(corpus: Corpus, cut: Cut, more_urls: np.ndarray, more_terms: np.ndarray) -> Corpus:
    with tempfile.TemporaryDirectory() as folder, KinWriter(Path(folder) / "cut.kin", "test") as writer:
        facts, _numbers = cut_corpus(corpus, cut, writer, more_urls, more_terms)
        return Corpus(writer.view(facts))


@pytest.mark.parametrize("seed", range(6))
def test_a_widened_corpus_is_one_that_was_cut_with_the_same_names(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    whole = read_records(all_records(make_web(seed)))
    first, last = sorted(rng.sample(range(len(whole.urls)), 2))
    cut = Cut(*np.searchsorted(whole.pages.url, [first, last]).tolist(), first, last)
    aliases = set(whole.aliases()[0].tolist())
    urls = np.array([url for url in rng.sample(range(len(whole.urls)), 12) if url not in aliases])
    terms = np.array(rng.sample(range(len(whole.terms)), 5))
    expected = cut_of(whole, cut, urls, terms)
    narrow = cut_of(whole, cut, urls[:0], terms[:0])
    with KinWriter(tmp_path / "wide.kin", "test") as writer:
        addresses, words = [whole.urls[url] for url in urls.tolist()], [whole.terms[term] for term in terms.tolist()]
        facts = widen_corpus(narrow, [*addresses, *addresses], words, writer)
        wide = writer.view(facts, narrow.kin)
        assert wide.arrays.keys() == expected.kin.arrays.keys()
        for name, array in expected.kin.arrays.items():
            assert (wide[name].dtype, wide[name].tobytes()) == (array.dtype, array.tobytes()), name
        assert facts == expected.facts
        assert list(check_corpus(wide)) == []
