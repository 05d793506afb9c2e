"""Whether search puts the right page first, beside tantivy and bm25s on the same words.

    python benchmarks/search_quality.py COLLECTION.kin... [--most 2000] [--half tune|judge]

Known-item questions, drawn from the collection itself:

- *link texts*: what two pages or more write on a link to one page, and next to nobody on a link to another. The words
  are not the page's own, it may or may not say them. Pages that link to themselves do not count. Search knows link texts, so
  this tells whether it makes use of them, not how it would do without.
- *titles*: what only one page of the collection is called, without what the titles of its host share.
- *own words*: three words of a page's text, drawn by how often they stand there and how rare they are elsewhere, as
  somebody may remember a page whose name is forgotten.
- *with a stray word*: the first two again, each with a word that has nothing to do with it.
- *people*: questions as people type them, with the pages that answer them, from people_questions.tsv; for collections of the
  names school, demo and python. With `--half` only that half.

Ours is asked as a person asks, by the text; pages of one composite document count as one. "All words" is the share of questions
whose right page holds all of them, the most that a search for all words can reach. Pages with the same HTML as the right one are
right, too. tantivy and bm25s score by BM25 over all words of a page, the same forms divided in the same way; tantivy is asked for
pages with all words and for pages with some, bm25s for some. Halves let a ranking be tuned on one and judged on the other.
"""

import argparse
import os
import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from growth import row
from pagekin.collection import Collection, SearchRequest
from pagekin.hypertext import Attribute, Corpus, ShortTitles
from pagekin.text import And, Or, Query, TextIndex, Word, analyse, tokens
from search_speed import Bm25s, Tantivy

MOST_WORDS = 10
"""Words of a question: longer ones are sentences, which nobody types."""
FEWEST_PAGES, NEARLY_ONLY = 2, 0.9
"""Pages that must link with a text to one page, and their share of all that link with it."""
DRAWN_WORDS = 3
DEPTH = 10
PEOPLE_PAGES = {"school": ("/", ".htm"), "demo": ("://", ""), "python": ("/3.11/", ".html")}
"""What stands before and after the names by which people_questions.tsv calls the pages of each collection."""
STRAY = slice(300, 20_000)
"""Places, by frequency, of the words that are strays."""
Ask = Callable[["Question", int], Sequence[int]]


@dataclass(frozen=True)
class Question:
    """Words, and the pages any of which is the answer."""

    words: tuple[str, ...]
    right: frozenset[int]

    @property
    def text(self) -> str:
        """What is typed."""
        return " ".join(self.words)

    @property
    def query(self) -> Query:
        """All of the words."""
        parts = tuple(Word(None, word) for word in dict.fromkeys(self.words))
        return And(parts) if len(parts) > 1 else parts[0]

    @property
    def any_word(self) -> Query:
        """Some of the words."""
        return Or(tuple(Word(None, word) for word in dict.fromkeys(self.words)))


@dataclass(frozen=True)
class Outcome:
    """How well some questions were answered."""

    found: float
    """Share of questions whose right page is found at all."""
    mrr: float
    first: float
    five: float
    milliseconds: float
    """The median."""


# -- questions ----------------------------------------------------------------------------------------------------------


class Pages:
    """The pages of a corpus that count as one."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._digests = np.asarray(corpus.kin["page.digest"])
        self._same: dict[int, list[int]] = defaultdict(list)
        for page, digest in enumerate(self._digests.tolist()):
            self._same[digest].append(page)

    def like(self, pages: Sequence[int]) -> frozenset[int]:
        """Some pages, and those with the same HTML."""
        return frozenset(other for page in pages for other in self._same[int(self._digests[page])])


def link_texts(pages: Pages) -> Iterator[Question]:
    """What is written on links to one page."""
    corpus = pages.corpus
    kin = corpus.kin
    forms = analyse([corpus.word(term) for term in range(len(corpus.terms))])
    linking: dict[tuple[str, ...], dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    spelled: dict[tuple[str, ...], Counter[tuple[int, ...]]] = defaultdict(Counter)
    for page in range(len(corpus)):
        words = corpus.words(page)
        here = slice(int(kin["page.anchors"][page]), int(kin["page.anchors"][page + 1]))
        own = int(kin["page.url"][page])
        for target, start, length in zip(
            *(kin[f"anchor.{name}"][here].tolist() for name in ("target", "start", "length")), strict=True
        ):
            if 0 < length <= MOST_WORDS and target != own:
                terms = tuple(words[start : start + length].tolist())
                key = tuple(forms[term] for term in terms)
                linking[key][target].add(page)
                spelled[key][terms] += 1
    for key in sorted(linking):
        target, sources = max(linking[key].items(), key=lambda pair: (len(pair[1]), -pair[0]))
        right = corpus.pages_of(target)
        enough = max(FEWEST_PAGES, NEARLY_ONLY * sum(map(len, linking[key].values())))
        if right and len(sources) >= enough and any(form.isalpha() for form in key):
            most = min(spelled[key], key=lambda terms: (-spelled[key][terms], terms))
            yield Question(tuple(corpus.word(term) for term in most), pages.like(right))


def own_titles(pages: Pages) -> Iterator[Question]:
    """What only one page is called."""
    corpus = pages.corpus
    titles = ShortTitles(corpus)
    called: dict[tuple[str, ...], list[int]] = defaultdict(list)
    said: dict[tuple[str, ...], tuple[str, ...]] = {}
    for page in range(len(corpus)):
        words = tuple(tokens(titles.text(page)))
        if 0 < len(words) <= MOST_WORDS and any(word.isalpha() for word in words):
            called[tuple(analyse(words))].append(page)
            said[tuple(analyse(words))] = words
    for key in sorted(called):
        right = pages.like(called[key][:1])
        if right.issuperset(called[key]):
            yield Question(said[key], right)


def own_words(pages: Pages, most: int, seed: int) -> Iterator[Question]:
    """Words of pages' texts, each drawn with a chance of its tf times idf; at most so many pages, by chance."""
    corpus = pages.corpus
    forms = analyse([corpus.word(term) for term in range(len(corpus.terms))])
    numbers = {form: number for number, form in enumerate(dict.fromkeys(forms))}
    of_term = np.array([numbers[form] for form in forms], np.int64)
    df = np.zeros(len(numbers))
    for page in range(len(corpus)):
        df[np.unique(of_term[corpus.words(page)])] += 1
    chance = np.random.default_rng(seed)
    for page in chance.permutation(len(corpus))[:most].tolist():
        stream = corpus.stream(page)
        text = stream.words[(stream.attributes & Attribute.TEXT) != 0]
        wordy = {int(term): corpus.word(int(term)).isalpha() for term in np.unique(text)}
        text = text[np.array([wordy[term] for term in text.tolist()], np.bool_)]
        held, first, count = np.unique(of_term[text], return_index=True, return_counts=True)
        if len(held) >= DRAWN_WORDS:
            value = count * np.log1p(len(corpus) / df[held])
            some = chance.choice(len(held), DRAWN_WORDS, replace=False, p=value / value.sum())
            yield Question(tuple(corpus.word(int(text[first[at]])) for at in some), pages.like([page]))


def with_stray_words(pages: Pages, questions: Sequence[Question], seed: int) -> list[Question]:
    """Add a word of the collection to each question, by chance."""
    corpus, chance = pages.corpus, random.Random(seed)
    terms = range(len(corpus.terms))[STRAY] or range(len(corpus.terms))
    words = [word for word in map(corpus.word, terms) if word.isalpha()]
    return [Question((*question.words, chance.choice(words)), question.right) for question in questions]


def of_people(pages: Pages, name: str, half: str) -> list[Question]:
    """Return the questions of people that were written down for a collection; none for collections of other names."""
    if name not in PEOPLE_PAGES:
        return []
    corpus = pages.corpus
    begins, ends = PEOPLE_PAGES[name]
    by_name = {
        url.rpartition(begins)[2].removesuffix(ends): page
        for page, url in enumerate(map(corpus.page_url, range(len(corpus))))
    }
    found = []
    for line in Path(__file__).with_name("people_questions.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            collection, part, text, right = line.split("\t")
            if collection == name and half in ("both", part):
                found.append(Question(tuple(text.split()), pages.like([by_name[one] for one in right.split()])))
    return found


def drawn(questions: Iterator[Question], most: int, half: str, seed: int) -> list[Question]:
    """At most so many of the questions, by chance, or a half of these."""
    every = list(questions)
    chosen = random.Random(seed).sample(every, min(most, len(every)))
    return {"tune": chosen[::2], "judge": chosen[1::2]}.get(half, chosen)


# -- answers ------------------------------------------------------------------------------------------------------------


def by_tantivy(peer: Tantivy) -> dict[str, Ask]:
    """Order by the BM25 of tantivy over all words of a page: of pages with all words, or with some."""
    return {
        "tantivy, all words": lambda question, most: peer.ask(question.query, most)[1],
        "tantivy, some words": lambda question, most: peer.ask(question.any_word, most)[1],
    }


def by_pagekin(path: Path) -> Ask:
    """Ours, as a server asks it."""
    collection = Collection(path.stem, path)
    corpus, documents = collection.corpus, collection.documents

    def ask(question: Question, most: int) -> list[int]:
        found = collection.search(SearchRequest(query=question.text, limit=most, raw=True)).results
        pages = [corpus.pages_of(corpus.url_number(hit.url))[0] for hit in found]
        homes = {int(documents[page]): page for page in question.right}
        return [homes.get(int(documents[page]), page) for page in pages]

    return ask


def judged(ask: Ask, index: TextIndex, questions: Sequence[Question]) -> Outcome:
    """Ask all questions one way."""
    places, times = [], []
    for question in questions:
        started = time.perf_counter()
        pages = ask(question, DEPTH)
        times.append(time.perf_counter() - started)
        places.append(next((place for place, page in enumerate(pages, 1) if page in question.right), 0))
    there = [_found(index, question) for question in questions]
    place = np.array(places)
    return Outcome(
        found=float(np.mean(there)),
        mrr=float(np.mean(np.divide(1.0, place, where=place > 0, out=np.zeros(len(place))))),
        first=float(np.mean(place == 1)),
        five=float(np.mean((place > 0) & (place <= 5))),
        milliseconds=1000 * float(np.median(times)),
    )


def _found(index: TextIndex, question: Question) -> bool:
    keep = np.zeros(len(index), np.bool_)
    keep[list(question.right)] = True
    return index.count(question.query, keep) > 0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", type=Path, nargs="+")
    parser.add_argument("--most", type=int, default=2000, help="questions of a kind that are drawn from a collection")
    parser.add_argument("--half", choices=["both", "tune", "judge"], default="both")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}; at most {args.most:,} questions of a kind, seed {args.seed}, {args.half}\n")
    row("collection", "questions", "all words", "ordered by", f"MRR@{DEPTH}", "first", "in the first 5", "median, ms")
    row("---", "---", "---:", "---", "---:", "---:", "---:", "---:")
    for path in args.collections:
        index = TextIndex.at(path, compiled=True)
        # The files stay open after the folder has gone.
        with tempfile.TemporaryDirectory() as folder:
            sides = by_tantivy(Tantivy(index, folder)) | {"bm25s": Bm25s(index).pages, "pagekin": by_pagekin(path)}
        pages = Pages(index.corpus)
        named = {
            "link texts": drawn(link_texts(pages), args.most, args.half, args.seed),
            "titles": drawn(own_titles(pages), args.most, args.half, args.seed),
        }
        kinds = named | {
            "own words": drawn(own_words(pages, args.most, args.seed), args.most, args.half, args.seed),
            **{f"{kind} with a stray word": with_stray_words(pages, some, args.seed) for kind, some in named.items()},
        }
        for half in ("tune", "judge") if args.half == "both" else (args.half,):
            kinds[f"of people ({half})"] = of_people(pages, path.stem.partition("-")[0], half)
        for kind, questions in kinds.items():
            if not questions:
                continue
            for name, ask in sides.items():
                out = judged(ask, index, questions)
                row(
                    path.stem, f"{len(questions):,} {kind}", f"{out.found:.1%}", name, f"{out.mrr:.3f}",
                    f"{out.first:.1%}", f"{out.five:.1%}", f"{out.milliseconds:.2f}",
                )  # fmt: skip


if __name__ == "__main__":
    main()
