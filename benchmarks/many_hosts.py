"""Whether a collection of many hosts needs other weights of the signals than a single site: chapters and see-also lists.

    PAGEKIN_DATA=... python benchmarks/many_hosts.py --out CACHE_DIR [--sets git,octave] [--sources 40] [--collections alone]

Learning sets of truth_sets.py are judged alone and joined into one collection, in which each is a host, by the same sources.
`quarter` holds every fourth page of the joined ones, so that most links lead to pages that are not there, as in a crawl that
ended early. `webkb` is a real web of many hosts. Rows are weights between the default (0) and `--for kin` (1), and peers.
Figures are means over sources; those of sets alone are means over sets. Copies are not folded.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

sys.path.insert(0, str(Path(__file__).parent))

from pagekin.bags import PRESETS
from pagekin.evaluation.served import SignalScores, shares
from pagekin.hypertext import Corpus
from pagekin.similarity import RelatedIndex, score_signals
from pagekin.store import open_kin
from related_truth import print_table
from truth_measures import FIRST, Side, Site, ndcg
from truth_peers import Means, bm25, collection, tfidf
from truth_sets import SETS, Truth, TruthSet, judged_chapters, load_truth, make_set

PARTS = "git,octave,python,grass,gtk,apache,qtquick,math,glib,maxima,prolog,lilypond"
STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
WEB_SOURCES = 200
"""Pages of WebKB, and of a quarter, that are asked about for each wish."""
FRACTION = 4
Ranker = Callable[[int], Sequence[int]]
"""Given a page's number, those of the ten pages thought closest."""


def archive_path(part: str, path: str) -> str:
    """Return the path that a page of a set has in a set made from an archive."""
    return quote(SETS[part].url(path).removeprefix("https://").removeprefix("http://"), safe="") + ".html"


def join_sets(name: str, parts: Sequence[str], out: Path, keeps: Callable[[str], bool]) -> Truth:
    """Join sets, each under its own host, into one with the pages that `keeps` accepts, unless it is there."""
    folder, archive = out / name, out / f"{name}.warc.gz"
    SETS[name] = TruthSet(False, "", archive=str(archive.resolve()))
    if (folder / "truth.json").exists():
        return load_truth(folder)
    (folder / "site").mkdir(parents=True, exist_ok=True)
    truth = Truth()
    with archive.open("wb") as stream:
        writer = WARCWriter(stream, gzip=True)
        for part in parts:
            root, said = out / part / "site", load_truth(out / part)
            names = {
                path: archive_path(part, path)
                for path in sorted(file.relative_to(root).as_posix() for file in root.rglob("*.htm*"))
                if keeps(archive_path(part, path))
            }
            for path, new in names.items():
                raw = (root / path).read_bytes()
                (folder / "site" / new).write_bytes(raw)
                headers = StatusAndHeaders(
                    "200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1"
                )
                writer.write_record(
                    writer.create_warc_record(
                        SETS[name].url(new), "response", payload=io.BytesIO(raw), http_headers=headers
                    )
                )
            chapters = judged_chapters(said).items()
            truth.chapters |= {names[path]: f"{part}: {chapter}" for path, chapter in chapters if path in names}
            for path, targets in said.see_also.items():
                if path in names and (listed := [names[target] for target in targets if target in names]):
                    truth.see_also[names[path]] = listed
    (folder / "truth.json").write_text(json.dumps(vars(truth)), encoding="utf-8")
    return truth


class Judge:
    """Ranks a set's sources by any weights; signals are measured once."""

    def __init__(
        self, site: Site, chapter_sources: Sequence[int], see_also_sources: Sequence[int], means: Means
    ) -> None:
        self._site, self._by_chapter, self._by_list = site, chapter_sources, see_also_sources
        index = RelatedIndex(Corpus(open_kin(collection(site, "default", means))), compiled=True)
        scores = SignalScores(index)
        urls = np.array([index.corpus.url_number(site.url(page)) for page in range(len(site))])
        documents = np.where(urls >= 0, scores.documents(np.maximum(urls, 0)), -1)
        page_of = np.full(len(index), -1, np.int64)
        known = np.flatnonzero(documents >= 0)[::-1]
        page_of[documents[known]] = known
        self._near: dict[int, tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]]] = {}
        for page in {*chapter_sources, *see_also_sources}:
            if documents[page] >= 0:
                near = scores.candidates(int(documents[page]))
                near = near[(page_of[near] >= 0) & (page_of[near] != page)]
                self._near[page] = (page_of[near], *scores.measure(int(documents[page]), near))

    def by_weights(self, weights: npt.NDArray[np.float64]) -> Ranker:
        """Return a ranker by shares of the signals."""

        def rank(page: int) -> list[int]:
            if page not in self._near:
                return []
            pages, values, worth = self._near[page]
            scored = score_signals(values, weights, worth)
            best = np.lexsort((pages, -scored))[:FIRST]
            return [int(other) for other in pages[best[scored[best] > 0]]]

        return rank

    def figures(self, rank: Ranker) -> tuple[float, float]:
        """Return nDCG@10 by chapters and recall@10 of see-also lists; nan where nothing is asked."""
        chapters, lists = self._site.chapters, self._site.see_also
        sizes = Counter(chapters.values())
        gains = [
            ndcg([chapters.get(other) == chapters[page] for other in rank(page)], sizes[chapters[page]] - 1)
            for page in self._by_chapter
        ]
        shares_found = [len(lists[page] & set(rank(page))) / len(lists[page]) for page in self._by_list]
        by_chapter, by_list = (float(np.mean(some)) if some else float("nan") for some in (gains, shares_found))
        return by_chapter, by_list


def _rank_all(side: Side, page: int) -> Sequence[int]:
    return side.rank(page, None)


def judge_all(site: Site, by_chapter: Sequence[int], by_list: Sequence[int], means: Means) -> list[tuple[float, float]]:
    """Return the figures of all weights and of the peers."""
    judge = Judge(site, by_chapter, by_list, means)
    default, kin = (shares(PRESETS["default"].signals_for(wish)) for wish in ("both", "kin"))
    rankers: list[Ranker] = [judge.by_weights((1 - step) * default + step * kin) for step in STEPS]
    rankers += [partial(_rank_all, peer) for peer in (tfidf(site, means), bm25(site, means))]
    figures = [judge.figures(rank) for rank in rankers]
    site.forget_pages()
    return figures


def main() -> None:
    """Judge the collections, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="where packages are downloaded and unpacked; default: in --out")
    parser.add_argument("--sets", default=PARTS)
    parser.add_argument(
        "--sources", type=int, default=40, help="pages of a set asked about for each wish (default: 40)"
    )
    parser.add_argument("--collections", default="alone,joined,quarter,webkb")
    given = parser.parse_args()
    cache = given.cache or given.out / "packages"
    cache.mkdir(parents=True, exist_ok=True)
    means = Means(given.out, Path(os.environ.get("PAGEKIN_DATA", "")), False, {})
    parts, some = given.sets.split(","), given.sources
    sites = {name: Site(name, given.out / name, make_set(name, given.out, cache, means.data), some) for name in parts}

    def quarter(path: str) -> bool:
        return hashlib.sha256(path.encode()).digest()[0] % FRACTION == 0

    columns: dict[str, list[tuple[float, float]]] = {}
    for name in given.collections.split(","):
        if name == "alone":
            each = [
                judge_all(site, site.chapter_sources[:some], site.see_also_sources[:some], means)
                for site in sites.values()
            ]
            found = [tuple(np.nanmean(rows, axis=0).tolist()) for rows in zip(*each, strict=True)]
        elif name == "joined":
            site = Site(name, given.out / name, join_sets(name, parts, given.out, lambda path: True), some)
            by_chapter, by_list = [], []
            for part, one in sites.items():
                number = {page: site.number[archive_path(part, path)] for page, path in enumerate(one.paths)}
                by_chapter += [number[page] for page in one.chapter_sources[:some]]
                by_list += [number[page] for page in one.see_also_sources[:some]]
            found = judge_all(site, by_chapter, by_list, means)
        else:
            truth = join_sets(name, parts, given.out, quarter) if name == "quarter" else None
            site = Site(name, given.out / name, truth or make_set(name, given.out, cache, means.data), some)
            found = judge_all(site, site.chapter_sources[:WEB_SOURCES], site.see_also_sources[:WEB_SOURCES], means)
        columns[name] = found
        print(name, *(f"{a:.3f}/{b:.3f}" for a, b in found), file=sys.stderr, flush=True)
    names = [*(f"{step:g}" for step in STEPS), "TF-IDF", "BM25"]
    cells = ([f"{a:.3f} / {b:.3f}".replace("0.", ".").replace("nan", "-") for a, b in one] for one in columns.values())
    print_table(["weights", *columns], list(zip(names, *cells, strict=True)))


if __name__ == "__main__":
    main()
