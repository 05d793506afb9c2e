"""How fast search answers, beside tantivy and bm25s on the same words in one run.

    python benchmarks/search_speed.py COLLECTION.kin [--queries 300] [--rounds 3]

One process, one thread, everything in memory. Questions are drawn from the collection: words by how many pages hold them, phrases
from the texts of random pages. Each side gives the ten best pages and, but for bm25s, counts all that match.

- *rare*: two words of one page that at most 1 page in 1,000 holds; *common*: two that at least 1 page in 10 holds; *mixed*: one
  of each. A page has to hold both words. *common, either word* asks for pages with one or the other.
- *phrase*: two or three words in a row in a text, one of them at least on less than 1 page in 10; *common phrase*: all on more.
- tantivy holds the forms that we hold, one field for all words of a page, one for its title and one for its text, where phrases
  are looked for, and the page's number. A question is a parsed query on both sides, an answer the numbers and scores of pages.
- bm25s scores every page that holds some word, by its fastest backend; it knows no phrases, and neither "all words" nor a count.
- *with documents* is what a server asks: pages of one composite document count as one.

The rounds take turns, and of each question the quickest of its rounds counts: the machine has neighbours.
"""

import argparse
import gc
import operator
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from growth import row
from pagekin.clusters import document_of, read_trees
from pagekin.hypertext import Attribute
from pagekin.text import And, Or, Phrase, Query, TextIndex, Word, form_of

K = 10
RARE, COMMON = 0.001, 0.1
"""Shares of pages that hold a rare word at most and a common one at least."""


@dataclass(frozen=True)
class Side:
    """One engine."""

    name: str
    ask: Callable[[Query], int | None]
    """Answer a question and return how many pages match, if that is known."""


# -- questions ----------------------------------------------------------------------------------------------------------


class Questions:
    """Draws questions from a collection."""

    def __init__(self, index: TextIndex, seed: int) -> None:
        self._index, self._corpus = index, index.corpus
        self._chance = np.random.default_rng(seed)
        self._share: dict[str, float] = {}

    def share(self, word: str) -> float:
        """Return the share of pages that hold a word."""
        if word not in self._share:
            self._share[word] = self._index.stats_of(Word(None, word)).df[form_of(word)] / len(self._index)
        return self._share[word]

    def _text(self) -> list[str]:
        """Return the running words of a random page."""
        stream = self._corpus.stream(int(self._chance.integers(len(self._index))))
        words = stream.words[(stream.attributes & Attribute.TEXT) != 0]
        return [self._corpus.word(term) for term in words.tolist()]

    def words(self, *kinds: str) -> Query:
        """Return a question for words of one page, of these kinds."""
        while True:
            page = [word for word in dict.fromkeys(self._text()) if word.isalpha() and word.isascii()]
            of = {
                "rare": [word for word in page if self.share(word) <= RARE],
                "common": [word for word in page if self.share(word) >= COMMON],
            }
            if all(len(of[kind]) >= kinds.count(kind) for kind in kinds):
                drawn = {kind: self._chance.permutation(len(of[kind])).tolist() for kind in set(kinds)}
                parts = tuple(Word(None, of[kind][drawn[kind].pop()]) for kind in kinds)
                if len({form_of(part.word) for part in parts}) == len(parts):
                    return And(parts)

    def phrase(self, common: bool) -> Query:
        """Return a question for a phrase, of common words only or not."""
        while True:
            page = self._text()
            length = int(self._chance.integers(2, 4))
            if len(page) <= length:
                continue
            start = int(self._chance.integers(len(page) - length))
            words = tuple(page[start : start + length])
            if all(word.isalpha() for word in words) and common == all(self.share(word) >= COMMON for word in words):
                return Phrase(None, words)

    def kinds(self, count: int) -> dict[str, list[Query]]:
        """Return `count` questions of each kind."""
        common = [self.words("common", "common") for _ in range(count)]
        return {
            "rare": [self.words("rare", "rare") for _ in range(count)],
            "common": common,
            "mixed": [self.words("rare", "common") for _ in range(count)],
            "common, either word": [Or(query.parts) for query in common if isinstance(query, And)],
            "phrase": [self.phrase(common=False) for _ in range(count)],
            "common phrase": [self.phrase(common=True) for _ in range(count)],
        }


# -- engines ------------------------------------------------------------------------------------------------------------


def pagekin(name: str, index: TextIndex, documents: npt.NDArray[Any] | None = None) -> Side:
    """Return ours, with composite documents or without."""
    return Side(name, lambda query: index.search(query, K, documents=documents).total)


class Tantivy:
    """The peer that knows phrases, too."""

    def __init__(self, index: TextIndex, folder: str) -> None:
        import tantivy

        corpus = index.corpus
        names = np.array([form.decode() for form in index.forms], dtype=object)[corpus.kin["form.of_term"]]
        self._tantivy = tantivy
        builder = tantivy.SchemaBuilder()
        for name in ("all", "title", "text"):
            builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
        builder.add_unsigned_field("page", fast=True)
        started = time.perf_counter()
        made = tantivy.Index(builder.build(), path=folder)
        writer = made.writer(heap_size=512 << 20, num_threads=1)
        for page in range(len(corpus)):
            stream = corpus.stream(page)
            forms = names[stream.words]
            document = tantivy.Document()
            document.add_unsigned("page", page)
            document.add_text("all", " ".join(forms.tolist()))
            for name in ("title", "text"):
                under = (stream.attributes & Attribute[name.upper()]) != 0
                document.add_text(name, " ".join(forms[under].tolist()))
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        made.reload()
        self._searcher, self._schema = made.searcher(), made.schema
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        print(
            f"tantivy: indexed in {time.perf_counter() - started:.1f} s (one thread, from Python), {size / 1e6:.1f} MB, "
            f"{self._searcher.num_segments} segments"
        )

    def _translate(self, query: Query) -> Any:
        make, occur = self._tantivy.Query, self._tantivy.Occur
        if isinstance(query, Phrase):
            forms: Any = [form_of(word) for word in query.words]
            fields = [make.phrase_query(self._schema, name, forms) for name in ("title", "text")]
            return make.boolean_query([(occur.Should, field) for field in fields])
        how = occur.Should if isinstance(query, Or) else occur.Must
        parts = query.parts if isinstance(query, And | Or) else (query,)
        words = [form_of(part.word) for part in parts if isinstance(part, Word)]
        return make.boolean_query([(how, make.term_query(self._schema, "all", word)) for word in words])

    def ask(self, query: Query, most: int) -> tuple[int, list[int]]:
        """Return (how many pages match, the best of them)."""
        answer: Any = self._searcher.search(self._translate(query), limit=most, count=True)
        pages: Any = self._searcher.fast_field_values("page", [address for _score, address in answer.hits])
        return answer.count, pages

    def side(self) -> Side:
        """Return tantivy."""
        return Side("tantivy", lambda query: self.ask(query, K)[0])


class Bm25s:
    """The peer that scores by sparse columns."""

    def __init__(self, index: TextIndex) -> None:
        import bm25s

        started = time.perf_counter()
        corpus, form_of_term = index.corpus, index.corpus.kin["form.of_term"]
        pages = [form_of_term[corpus.words(page)].tolist() for page in range(len(corpus))]
        self._numbers = {form.decode(): number for number, form in enumerate(index.forms)}
        self._index = bm25s.BM25(backend="numba")
        self._index.index((pages, self._numbers), show_progress=False)
        self._index.activate_numba_scorer()
        print(f"bm25s: indexed in {time.perf_counter() - started:.1f} s")

    def pages(self, question: Any, most: int) -> list[int]:
        """Return the best pages for the words of a question, those that no page has left out."""
        forms = dict.fromkeys(map(form_of, question.words))
        numbers = [self._numbers[form] for form in forms if form in self._numbers]
        if not numbers:
            return []
        pages, _scores = self._index.retrieve([numbers], k=most, show_progress=False, n_threads=0)
        return [int(page) for page in pages[0]]

    def side(self) -> Side:
        """Return bm25s."""

        def ask(query: Query) -> None:
            assert isinstance(query, And | Or)
            numbers = [[self._numbers[form_of(part.word)] for part in query.parts if isinstance(part, Word)]]
            self._index.retrieve(numbers, k=K, show_progress=False, n_threads=0)

        return Side("bm25s", ask)


# -- the table ----------------------------------------------------------------------------------------------------------


def time_all(side: Side, questions: Sequence[Query]) -> npt.NDArray[np.float64]:
    """Return the milliseconds that each question takes."""
    spent = []
    for question in questions:
        started = time.perf_counter()
        side.ask(question)
        spent.append(time.perf_counter() - started)
    return np.array(spent) * 1e3


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", type=Path)
    parser.add_argument("--queries", type=int, default=300, help="of each kind")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    index = TextIndex.at(options.collection, compiled=True)
    corpus = index.corpus
    kinds = Questions(index, options.seed).kinds(options.queries)
    trees = {tree.name: tree for tree in read_trees(corpus.kin)}
    print(
        f"load {os.getloadavg()[0]:.1f}; {len(index):,} pages, {len(index.forms):,} forms, {options.queries} questions each"
    )
    with tempfile.TemporaryDirectory() as folder:
        documents = document_of(trees.get("documents"), len(corpus))
        sides = [
            Tantivy(index, folder).side(),
            pagekin("pagekin", index),
            pagekin("pagekin, with documents", index, documents),
            Bm25s(index).side(),
        ]
        gc.collect()
        gc.freeze()  # or the peers' millions of objects would be searched for garbage while ours are timed
        print()
        row("questions", "matches, median", "", "p50, ms", "p95, ms", "p50 / tantivy", "p95 / tantivy", "other counts")
        row("---", "---:", "---", *["---:"] * 5)
        for kind, queries in kinds.items():
            asked = sides[:-1] if "phrase" in kind else sides
            counts = {side.name: [side.ask(query) for query in queries] for side in asked}  # which warms up, too
            rounds = [{side.name: time_all(side, queries) for side in asked} for _ in range(options.rounds)]
            least = {side.name: np.min([times[side.name] for times in rounds], axis=0) for side in asked}
            base = np.percentile(least["tantivy"], [50, 95])
            for side in asked:
                p50, p95 = np.percentile(least[side.name], [50, 95])
                differ = sum(map(operator.ne, counts[side.name], counts["tantivy"]))
                row(
                    kind, f"{np.median(np.array(counts['tantivy'])):,.0f}", side.name, f"{p50:.3f}", f"{p95:.3f}",
                    f"{p50 / base[0]:.2f} x", f"{p95 / base[1]:.2f} x", str(differ) if side.name == "pagekin" else "",
                )  # fmt: skip


if __name__ == "__main__":
    main()
