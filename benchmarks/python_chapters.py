"""Whether related pages of Python's documentation, as it is published, are those of the same chapter of its library.

    python benchmarks/python_chapters.py --out CACHE_DIR

Nothing is taken out of the pages: indexes, navigation and tables of contents stay. A chapter is what the contents page of a
chapter of the library lists. For each module, the other modules are ranked by the score that is served; MAP is the mean of the
average precision, nDCG@10 is over the same rankings. Beside it stands TF-IDF cosine (sublinear) of the same pages.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from lxml import html as lxml_html

sys.path.insert(0, str(Path(__file__).parent))

from doc_collections import fetch, unpack
from pagekin.bags import Strategy
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import Corpus, ReadPlan
from pagekin.similarity import RelatedIndex
from pagekin.store import open_kin
from truth_measures import FIRST, ndcg

PACKAGE, BASE = "python3.11-doc", "https://docs.python.org/3.11/"
Floats = npt.NDArray[np.float64]


def listed(page: Path) -> list[str]:
    """Return the files that the contents of a page list at their first level."""
    found = lxml_html.parse(str(page)).xpath(
        '//div[contains(@class, "toctree-wrapper")]//li[contains(@class, "toctree-l1")]/a/@href'
    )
    return list(dict.fromkeys(name for href in found if (name := href.partition("#")[0])))


def chapters(root: Path) -> dict[str, str]:
    """Return the chapter of each page of the library."""
    library = root / "library"
    of: dict[str, str] = {}
    for chapter in listed(library / "index.html"):
        for page in listed(library / chapter):
            of.setdefault(f"library/{page}", chapter)
    sizes = Counter(of.values())
    return {page: chapter for page, chapter in of.items() if sizes[chapter] > 1}


def judge(classes: npt.NDArray[np.str_], scores: Callable[[int], Floats]) -> tuple[float, float]:
    """Return (MAP, nDCG@10) of the rankings that scores make."""
    precisions, gains = [], []
    for place, own in enumerate(classes):
        row = np.array(scores(place), float)
        row[place] = -np.inf
        right = (classes == own)[np.argsort(-row, kind="stable")[:-1]]
        at = np.flatnonzero(right)
        precisions.append(float(np.mean((np.arange(len(at)) + 1) / (at + 1))))
        gains.append(ndcg(right[:FIRST].tolist(), int(right.sum())))
    return float(np.mean(precisions)), float(np.mean(gains))


def main() -> None:
    """Build the collection and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    root = unpack(fetch(PACKAGE, out), out) / "usr/share/doc/python3.11/html"
    kin = out / "python-as-published.kin"
    build_collection(ReadPlan([str(root)], kin, base_url=BASE), BuildRecipe(Strategy()))
    index = RelatedIndex(Corpus(open_kin(kin)), compiled=True)
    chapter_of = chapters(root)
    pages = [page for page in chapter_of if index.corpus.url_number(BASE + page) >= 0]
    documents = np.array([index.document(BASE + page) for page in pages])
    classes = np.array([chapter_of[page] for page in pages])
    print(f"{len(index.corpus)} pages, {len(pages)} modules of {len(set(classes.tolist()))} chapters")
    for wish in ("both", "kin", "see-also"):

        def served(place: int, wish: str = wish) -> Floats:
            query = index.query_of_documents((int(documents[place]),))
            return index.signals(query, wish).scores(documents)

        print("{:10} MAP {:.3f}   nDCG@10 {:.3f}".format(wish, *judge(classes, served)))
    texts = [
        index.corpus.stored_text(index.corpus.pages_of(index.corpus.url_number(BASE + page))[0])[0] for page in pages
    ]
    from sklearn.feature_extraction.text import TfidfVectorizer

    rows = TfidfVectorizer(sublinear_tf=True).fit_transform([text.decode("utf-8", "replace") for text in texts])
    cosine = (rows @ rows.T).toarray()
    print("{:10} MAP {:.3f}   nDCG@10 {:.3f}".format("tfidf", *judge(classes, lambda place: cosine[place])))


if __name__ == "__main__":
    main()
