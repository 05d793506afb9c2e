"""Whether `pagekin tune` gains on what it has not seen: chapters and see-also lists of real sites.

    PAGEKIN_DATA=... python benchmarks/tune_truth.py --out CACHE_DIR [--sets git,qt] [--budget 60] [--seed 1]

The sets are those of truth_sets.py. By chapters, tune sees the set as related_truth.py does, without navigation and see-also
lists; each chapter is judged by weights that were fitted to the others, against the weights that are served.

By see-also lists, it sees the pages as they are published; where these have too few lists that it recognises, it judges by links
in running text. Beside it stands the recall of the authors' lists on the set from which they were taken out, with navigation and
contents pages: by the weights served and by those chosen, called better or not.

The sets are those for learning, unless --sets names others.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from doc_collections import fetch, unpack
from pagekin.bags import Signals, choose_strategy
from pagekin.clusters import load_directory
from pagekin.engines import BuildRecipe, build_collection
from pagekin.errors import PagekinError
from pagekin.evaluation import SignalTuning, tune_kin, tune_see_also
from pagekin.evaluation.halves import Clock
from pagekin.evaluation.hidden import list_centres, table_of_lists
from pagekin.evaluation.served import SignalScores, shares
from pagekin.evaluation.signal_table import POOL, draw_weights
from pagekin.evaluation.without_lists import read_lists
from pagekin.hypertext import Corpus, ReadPlan
from pagekin.similarity import RelatedIndex, score_signals
from pagekin.store import no_progress, open_kin
from truth_measures import FIRST, Site
from truth_peers import Means, collection
from truth_sets import SETS, judged_chapters, make_set, read_pages


def open_index(path: Path) -> RelatedIndex:
    """Open a collection for many questions."""
    return RelatedIndex(Corpus(open_kin(path)), compiled=True)


def published(name: str, out: Path, cache: Path) -> Path | None:
    """Return the collection of a package's pages as they are; None for sets that are no packages."""
    chosen, path = SETS[name], out / name / "published.kin"
    if not chosen.package:
        return None
    if not path.exists():
        source = unpack(fetch(chosen.package, cache), cache) / chosen.root
        if source.is_file():
            source = write_entries(name, out / name / "published", cache)
        build_collection(ReadPlan([str(source)], path, base_url=chosen.base), BuildRecipe(choose_strategy("default")))
    return path


def write_entries(name: str, folder: Path, cache: Path) -> Path:
    """Write the entries of a dictionary as pages, and return their folder."""
    for page, html in read_pages(name, cache, Path()):
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        (folder / page).write_bytes(html)
    return folder


def by_chapters(site: Site, index: RelatedIndex, budget: float, seed: int) -> SignalTuning:
    """Tune by the chapters of a set, none of which has anything to do with another."""
    file = site.folder / "chapters.tsv"
    classes = ((path, chapter.replace("/", "|")) for path, chapter in judged_chapters(site.truth).items())
    file.write_text(
        "".join(f"{SETS[site.name].url(path)}\t/{chapter}/{chapter}\n" for path, chapter in classes), encoding="utf-8"
    )
    return tune_kin(index, load_directory(index.corpus, str(file)), budget=budget, seed=seed)


def recall(site: Site, index: RelatedIndex, weights: Signals) -> float:
    """Return the mean recall@10 of the authors' lists by some weights."""
    scores, found = SignalScores(index), []
    numbers = np.array([index.corpus.url_number(site.url(page)) for page in range(len(site))])
    documents = np.where(numbers >= 0, scores.documents(np.maximum(numbers, 0)), -1)
    for page in site.see_also_sources:
        if documents[page] < 0:
            continue
        near = np.intersect1d(scores.candidates(int(documents[page])), documents)
        values, worth = scores.measure(int(documents[page]), near)
        first = near[np.argsort(-score_signals(values, shares(weights), worth), kind="stable")[:FIRST]]
        wanted = documents[sorted(site.see_also[page])]
        found.append(np.count_nonzero(np.isin(wanted, first)) / len(wanted))
    return float(np.mean(found)) if found else float("nan")


def recognised(site: Site, index: RelatedIndex, seed: int) -> tuple[int, int]:
    """Return (the pairs of a page and one that its lists name, how many of them are read from the pages as published)."""
    lists = read_lists(index, seed)
    numbers = {path: index.corpus.url_number(SETS[site.name].url(path)) for path in site.paths}
    read = {
        (int(index.bags.urls[document]), target) for document, each in lists.items() for target in each.listed.tolist()
    }
    named = [
        (numbers[path], numbers[other])
        for path, others in site.truth.see_also.items()
        for other in others
        if path in numbers and other in numbers
    ]
    return len(named), sum(pair in read for pair in named)


def room_above(index: RelatedIndex, seed: int) -> str:
    """Return how far the best of the weights that are tried is above those served, all lists known, with 1.96 standard errors."""
    table, _targets = table_of_lists(index, Clock(1e6), seed, no_progress)
    pool = draw_weights(list_centres(index.strategy.signals), (), POOL, seed)
    ndcg = np.stack([table.ndcg(weights) for weights in pool])
    gains = ndcg[np.argmax(ndcg.mean(axis=1))] - ndcg[0]
    return f"{ndcg[0].mean():.3f} {gains.mean():+.3f} ± {1.96 * gains.std() / np.sqrt(len(gains)):.3f}"


def print_row(name: str, tuning: SignalTuning, more: str, started: float) -> None:
    """Print what became of a set."""
    gains = " | ".join(str(one.gains[0]) for one in (tuning.by_preset, tuning.by_fit, tuning.by_fit_alone))
    goal = "fitted" if tuning.fit_counts else "preset"
    what = f"yes, {'half-way to ' if tuning.goes_half else ''}{goal}" if tuning.improved else "no"
    gains += f" | {tuning.by_half.gains[0] if tuning.by_half else ''}"
    if tuning.wish == "see-also":
        gains += f"; {tuning.verdict.gains[1]}"
    classes, sources = tuning.judged
    spent = f"{time.process_time() - started:.0f} s"
    print(f"| {name} | {tuning.judged_by} | {classes} | {sources} | {gains} | {what} | {more} | {spent} |", flush=True)


def main() -> None:
    """Tune and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="where packages are downloaded and unpacked; default: in --out")
    parser.add_argument("--sets", default=",".join(name for name, one in SETS.items() if not one.judged_only))
    parser.add_argument(
        "--by", default="chapters,lists", help="chapters, lists; reading: say which lists are recognised"
    )
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", action="store_true", help="also say how much there is to gain by lists, all known")
    given = parser.parse_args()
    cache = given.cache or given.out / "packages"
    cache.mkdir(parents=True, exist_ok=True)
    means = Means(given.out, Path(os.environ.get("PAGEKIN_DATA", "")), False, {})
    columns = [
        "set",
        "by",
        "classes",
        "pages",
        "preset - served",
        "fitted - served",
        "fitted - preset",
        "half-way",
        "better",
    ]
    columns += ["lists", *["served, room"] * given.room, "time"]
    columns = ["set", "named", "recognised"] if given.by == "reading" else columns
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|", flush=True)
    for name in given.sets.split(","):
        site = Site(name, given.out / name, make_set(name, given.out, cache, means.data), 300)
        if given.by == "reading":
            if (path := published(name, given.out, cache)) is not None:
                named, read = recognised(site, open_index(path), given.seed)
                print(f"| {name} | {named} | {read} |", flush=True)
            continue
        index = open_index(collection(site, "default", means))
        try:
            if "chapters" in given.by and site.chapters:
                started = time.process_time()
                print_row(name, by_chapters(site, index, given.budget, given.seed), "", started)
            path = published(name, given.out, cache) if "lists" in given.by else None
            if path is not None:
                started = time.process_time()
                tuning = tune_see_also(open_index(path), budget=given.budget, seed=given.seed)
                before_after = (recall(site, index, one) for one in (tuning.before, tuning.chosen))
                more = ", ".join(f"{one:.3f}" for one in before_after) if site.see_also else ""
                if given.room and tuning.judged_by == "see-also lists":
                    more += f" | {room_above(open_index(path), given.seed)}"
                print_row(name, tuning, more, started)
        except PagekinError as error:
            print(f"| {name} | {error} |", flush=True)


if __name__ == "__main__":
    main()
