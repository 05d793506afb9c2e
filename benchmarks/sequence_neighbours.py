"""How many of the related pages are merely the next page or the one before, on sites as they are published.

    python benchmarks/sequence_neighbours.py --out CACHE_DIR [--sets cmake,python] [--pages 200]

The order of a site's pages is what its own `rel=next` says, in <link> or <a>. Of some pages, drawn by a seed, the first five
related pages are looked at: which share of them is the page before or after, and which share is two pages away. Chapters run
along the sequence, so a share of 0 is not to be wished for; the shares of TF-IDF cosine of the same pages stand beside it.

It needs a Debian with apt-get and dpkg-deb, as doc_collections.py does.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from doc_collections import fetch, unpack
from pagekin.bags import choose_strategy
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import Corpus, ReadPlan
from pagekin.similarity import RankingOptions, RelatedIndex
from pagekin.store import open_kin

SETS = {
    "cmake": ("cmake-doc", "usr/share/doc/cmake-data/html"),
    "python": ("python3.11-doc", "usr/share/doc/python3.11/html"),
    "octave": ("octave-doc", "usr/share/doc/octave/octave.html"),
    "django": ("python-django-doc", "usr/share/doc/python-django-doc/html"),
}
"""Short names; the package of each, and where its pages lie in it."""
BASE, FIRST = "http://site.example/", 5
_NEXT = re.compile(rb'<(?:link|a)\b[^>]*\brel="?next"?[^>]*>', re.IGNORECASE)
_HREF = re.compile(rb'href="([^"#]*)')


def next_pages(root: Path) -> dict[str, str]:
    """Return the page that each page names as the next one."""
    found = {}
    for file in sorted(root.rglob("*.html")):
        link = _NEXT.search(file.read_bytes())
        if link and (href := _HREF.search(link[0])):
            url = BASE + file.relative_to(root).as_posix()
            found[url] = urljoin(url, href[1].decode())
    return found


def shares(pages: list[str], after: dict[str, str], related: Callable[[str], list[str]]) -> tuple[float, float]:
    """Return which share of the first related pages is one page away, and which two."""
    before = {following: page for page, following in after.items()}
    count, one_away, two_away = 0, 0, 0
    for page in pages:
        near = {after[page], before[page]}
        far = {after.get(after[page]), before.get(before[page])} - near
        found = related(page)
        count += len(found)
        one_away += len(near & {*found})
        two_away += len(far & {*found})
    return one_away / count, two_away / count


def by_words(index: RelatedIndex, known: list[str]) -> Callable[[str], list[str]]:
    """Return what ranks pages by TF-IDF cosine."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    corpus = index.corpus
    numbers = [corpus.pages_of(corpus.url_number(url))[0] for url in known]
    texts = [corpus.stored_text(number)[0].decode("utf-8", "replace") for number in numbers]
    rows = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
    place = {url: at for at, url in enumerate(known)}

    def related(url: str) -> list[str]:
        cosine = (rows[place[url]] @ rows.T).toarray()[0]
        cosine[place[url]] = -1
        return [known[at] for at in np.argsort(-cosine, kind="stable")[:FIRST]]

    return related


def main() -> None:
    """Build the collections and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="where packages are downloaded and unpacked; default: in --out")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--pages", type=int, default=200)
    given = parser.parse_args()
    cache = given.cache or given.out / "packages"
    cache.mkdir(parents=True, exist_ok=True)
    print("| set | pages asked | one page away | two away | TF-IDF: one away | two away |\n|---|---|---|---|---|---|")
    for name in given.sets.split(","):
        package, folder = SETS[name]
        root, kin = unpack(fetch(package, cache), cache) / folder, given.out / f"{name}-as-published.kin"
        build_collection(ReadPlan([str(root)], kin, base_url=BASE), BuildRecipe(choose_strategy("default")))
        index, after = RelatedIndex(Corpus(open_kin(kin)), compiled=True), next_pages(root)
        known = [url for url in index.urls if index.are_captured(np.array([index.document(url)]))[0]]
        pages = sorted({*after} & {*after.values()} & {*known})
        random.Random(1).shuffle(pages)
        pages = pages[: given.pages]

        def served(url: str, index: RelatedIndex = index) -> list[str]:
            return [one.url for one in index.answer(index.query_of([url]), RankingOptions(k=FIRST)).results]

        found = [*shares(pages, after, served), *shares(pages, after, by_words(index, known))]
        print(f"| {name} | {len(pages)} | {' | '.join(f'{share:.3f}' for share in found)} |", flush=True)


if __name__ == "__main__":
    main()
