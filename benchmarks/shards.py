"""A collection in shards beside the same in one piece: whether the first ten are the same, and how much longer they take.

    python benchmarks/shards.py COLLECTION.kin [--shards 8] [--queries 300] [--folder FOLDER]

One process, one thread, everything in memory. Both are asked the same questions in turn, so that whatever else the machine does
slows both; processor time is measured, of each question the less of two. Related pages are asked for of random addresses, by
default, with reasons, and of other sites; queries are random words, questions, phrases and attributes. An answer is the same if
the addresses of its first ten, their scores and the number of matches are.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.cutting import shard_collection

from growth import row
from pagekin.collection import Answer, RelatedOptions, RelatedRequest, SearchRequest, ServiceError, walk
from pagekin.hypertext import Corpus
from pagekin.routers import LeafService, open_collection
from pagekin.text import QueryError

WANTED_RATIO = 2.0
RELATED: dict[str, dict[str, Any]] = {
    "related": {},
    "related, reasons": {"explain": True},
    "related, other sites": {"sites": "other"},
}
Ask = Callable[[LeafService], Any]


@dataclass
class Compared:
    """Questions of a kind that both were asked."""

    same: int = 0
    asked: int = 0
    seconds: list[tuple[float, float]] = field(default_factory=list)

    def ask(self, pair: Sequence[LeafService], question: Ask) -> None:
        """Ask both twice; note whether they agree, and their times."""
        times: list[list[float]] = [[], []]
        answers: list[Any] = []
        for round_ in range(2):
            for place, service in enumerate(pair):
                began = time.process_time()
                answer = _outline(service, question)
                times[place].append(time.process_time() - began)
                if not round_:
                    answers.append(answer)
        self.asked += 1
        self.same += answers[0] == answers[1]
        if not isinstance(answers[0], type):  # a refusal takes no time to speak of
            self.seconds.append((min(times[0]), min(times[1])))

    def print(self, name: str) -> None:
        """Print a line of the table."""
        if not self.seconds:
            row(name, f"{self.same:,} of {self.asked:,}, refused", *["-"] * 5)
            return
        one, shards = (1_000 * np.array(column) for column in zip(*self.seconds, strict=True))
        medians = np.percentile(one, 50), np.percentile(shards, 50)
        ratio = medians[1] / medians[0]
        met = "met" if ratio <= WANTED_RATIO else "missed"
        row(
            name, f"{self.same:,} of {self.asked:,}", f"{medians[0]:.2f}", f"{np.percentile(one, 99):.2f}",
            f"{medians[1]:.2f}", f"{np.percentile(shards, 99):.2f}", f"{ratio:.2f} ({met})",
        )  # fmt: skip


def _outline(service: LeafService, question: Ask) -> Any:
    try:
        answer: Answer = walk(question(service))
    except (ServiceError, QueryError) as error:
        return type(error)
    return [(hit.url, hit.score) for hit in answer], answer.total


def _related(request: RelatedRequest) -> Ask:
    return lambda service: service.related(request)


def _search(request: SearchRequest) -> Ask:
    return lambda service: service.search(request)


def queries(corpus: Corpus, count: int) -> list[str]:
    """Return random words, questions, phrases and attributes of a collection."""
    chance = random.Random(5)
    words = [word for term in range(min(20_000, len(corpus.terms))) if (word := corpus.word(term)).isalpha()]
    found = []
    for number in range(count):
        some = [chance.choice(words[: chance.choice([100, 2_000, 20_000])]) for _ in range(chance.choice([1, 2, 3, 5]))]
        page = corpus.words(chance.randrange(len(corpus)))
        at = chance.randrange(max(len(page) - 1, 1))
        in_a_row = " ".join(corpus.word(int(term)) for term in page[at : at + 2]) or some[0]
        kinds = (" ".join(some), f"what is {' '.join(some)}?", f"title:{some[0]}", f'"{in_a_row}"', in_a_row)
        found.append(kinds[number % len(kinds)])
    return found


def main() -> None:
    """Compare a collection with its shards."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", type=Path)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--folder", type=Path, help="Where the shards are kept; a temporary folder without it.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary) / "shards.kin"
        if not folder.exists():
            shard_collection(options.collection, options.shards, folder)
        pair = [open_collection("web", path) for path in (options.collection, folder)]
        whole = pair[0].whole
        corpus, urls = whole.parts[0].corpus, whole.related_pages.index.urls
        print(
            f"{len(corpus):,} pages, {len(urls):,} addresses, {options.shards} shards, {options.queries:,} questions of a kind\n"
        )
        chosen = [urls[number] for number in random.Random(3).sample(range(len(urls)), min(options.queries, len(urls)))]
        kinds: dict[str, list[Ask]] = {
            name: [_related(RelatedRequest(url=url, options=RelatedOptions(**more))) for url in chosen]
            for name, more in RELATED.items()
        }
        kinds["search"] = [_search(SearchRequest(query=query)) for query in queries(corpus, options.queries)]
        row("", "same first ten", "one piece p50 ms", "p99", "shards p50 ms", "p99", "ratio (at most 2)")
        row(*["---"] * 7)
        for name, questions in kinds.items():
            compared = Compared()
            for question in questions[:20]:  # warm up
                Compared().ask(pair, question)
            for question in questions:
                compared.ask(pair, question)
            compared.print(name)


if __name__ == "__main__":
    main()
