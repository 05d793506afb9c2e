"""Labels of any shape that the rules allow."""

import numpy as np
from hypothesis import strategies as st

from pagekin.clusters import TERM_ATTRIBUTES
from pagekin.labels import LABEL_VERSION, AddedTerm, ContentLabel, SubCluster, TermFilter, is_plain
from pagekin.labels.model import ADDED_BY, LabelLosses, Term, is_word, pack_terms

counts = st.integers(0, 2**53 - 1)
lines = st.text(max_size=20).filter(is_plain)
words = st.text(min_size=1, max_size=8).filter(is_word) | st.sampled_from(
    ['"', "\\", "(", ")", "1996", "a:b", ";", "é"]
)
urls = st.lists(words.map(lambda path: f"http://site.example/{path}"), unique=True, max_size=3).map(tuple)
filters = st.lists(
    st.lists(st.integers(0, 2**64 - 1), max_size=20).map(lambda keys: TermFilter.of(np.array(keys, np.uint64))),
    max_size=2,
).map(tuple)
analysers = st.sampled_from(["", "porter-2", "other"])
heaviest = st.lists(words, max_size=3).map(tuple)
added = st.sets(
    st.builds(AddedTerm, st.sampled_from(TERM_ATTRIBUTES), words, st.sampled_from(ADDED_BY)), max_size=3
).map(lambda found: tuple(sorted(found)))  # fmt: skip


@st.composite
def terms(draw: st.DrawFn) -> list[Term]:
    pairs = draw(st.sets(st.tuples(st.sampled_from(TERM_ATTRIBUTES), words), max_size=6))
    found = []
    for attribute, word in sorted(pairs):
        df = draw(st.integers(1, 50))
        found.append(Term(attribute, word, draw(st.integers(df, 10**9)), df))
    return found


@st.composite
def labels(draw: st.DrawFn) -> ContentLabel:
    groups = draw(st.lists(terms(), min_size=1, max_size=4))
    table, packed = pack_terms(groups)
    made = tuple(
        SubCluster(
            number, draw(lines), draw(st.integers(50, 99)), draw(st.integers(0, 99)), draw(st.integers(6, 99)),
            tuple(draw(st.lists(counts, max_size=2))), draw(urls), draw(heaviest), one, draw(filters),
        )
        for number, one in enumerate(packed[1:], 1)
    )  # fmt: skip
    many = st.integers(99, 2**53 - 1)
    return ContentLabel(
        LABEL_VERSION, draw(analysers), draw(lines), draw(many), draw(many), draw(many), draw(st.booleans()),
        LabelLosses(draw(counts), draw(counts), draw(counts)), draw(heaviest), draw(added), table, packed[0], draw(filters), made,
        draw(counts), draw(counts),
    )  # fmt: skip
