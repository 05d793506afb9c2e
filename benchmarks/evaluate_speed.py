"""Judging one strategy by a directory: Pagekin against scikit-learn, scipy and numpy, from the same pages.

    PAGEKIN_DATA=... python benchmarks/evaluate_speed.py [--collection SCHOOL.kin --directory directory.tsv]

The strategy is the pages' own words (stop words dropped, stems) weighted by NMDF; all pages of the school encyclopaedia
are judged, by Jaccard as usual and by cosine. Pagekin starts from a collection that has been read, the peer from the
pages' plain text in memory: it counts words with CountVectorizer, merges stems and weights; cosine is a sparse product,
Jaccard comes from manhattan_distances (bags sum to 1, so it is (2 - L1) / (2 + L1)); pairs are counted with numpy by
binary search, so that no pair is looked at alone.

Times are processor time on one thread, so neither other programs nor more threads count.
"""

import argparse
import math
import os
import tarfile
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
import Stemmer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.preprocessing import normalize

from pagekin.bags import STOP_WORDS, BagWorkshop, Strategy, choose_strategy, nmdf_parameters
from pagekin.clusters import load_directory
from pagekin.evaluation import REGIONS, Bench, Experiment, make_bench
from pagekin.evaluation.baselines import Pages
from pagekin.evaluation.experiments import with_sources
from pagekin.evaluation.gamma import gamma, region_level
from pagekin.hypertext import Corpus, ReadPlan, read_sources

Array = npt.NDArray[Any]
WANTED = 20.0
ROWS = 256


def strategy_of(metric: str) -> Strategy:
    """The words of pages by NMDF."""
    own_words = "title.scale=1 content.scale=1 content.lead=0 anchors.scale=0 outlinks.scale=0 content.furniture=1 stemming=stem"
    weights = f"weight.tf=raw weight.frequency=nmdf weight.centre=0.05 metric={metric}"
    return choose_strategy(settings=f"{own_words} {weights}".split())


class Peer:
    """The same with the usual libraries."""

    def __init__(self, texts: list[str], bench: Bench) -> None:
        self.texts, self.bench = texts, bench

    def vectors(self, strategy: Strategy) -> Any:
        """Weighted stems by document, divided by their sum (Jaccard) or length (cosine)."""
        vectorizer = CountVectorizer()
        counts = vectorizer.fit_transform(self.texts)
        words = vectorizer.get_feature_names_out().tolist()
        kept = [i for i, word in enumerate(words) if word not in STOP_WORDS and not word.isdigit()]
        stems = Stemmer.Stemmer("porter").stemWords([words[i] for i in kept])
        columns = {stem: column for column, stem in enumerate(dict.fromkeys(stems))}
        merge = scipy.sparse.csr_matrix(
            (np.ones(len(kept)), (kept, [columns[stem] for stem in stems])), (len(words), len(columns))
        )
        merged = (counts @ merge).tocsr()
        mu, sigma = nmdf_parameters(strategy, merged.shape[0])
        df = np.bincount(merged.indices, minlength=merged.shape[1])
        factors = np.exp(-0.5 * ((np.log(np.maximum(df, 1)) - mu) / sigma) ** 2)
        return normalize(
            merged @ scipy.sparse.diags(factors), norm="l1" if strategy.metric == "jaccard" else "l2"
        ).tocsr()

    def judge(self, strategy: Strategy) -> dict[str, float]:
        """Γ by region."""
        vectors = self.vectors(strategy)
        turned = vectors.T.tocsr()
        levels = self.bench.directory.depth + 1
        concordant, discordant = np.zeros((levels, levels), np.int64), np.zeros((levels, levels), np.int64)
        classes = self.bench.classes
        for first in range(0, len(self.texts), ROWS):
            if strategy.metric == "jaccard":
                apart = manhattan_distances(vectors[first : first + ROWS], vectors)
                block = ((2 - apart) / (2 + apart)).astype(np.float32)
            else:
                block = (vectors[first : first + ROWS] @ turned).toarray().astype(np.float32)
            for source, row in enumerate(block, first):
                others = np.arange(len(row)) != source
                distance = self.bench.apart[classes[source]][classes]
                groups = [np.sort(row[(distance == level) & others]) for level in range(levels)]
                for i in range(levels):
                    for j in range(i + 1, levels):
                        below = np.searchsorted(groups[j], groups[i], "left").sum()
                        up_to = np.searchsorted(groups[j], groups[i], "right").sum()
                        concordant[i, j] += below
                        discordant[i, j] += len(groups[i]) * len(groups[j]) - up_to
        found = {}
        for region in REGIONS:
            here: Any = ... if region == "overall" else (0, region_level(region, levels - 1))
            found[region] = float(gamma(concordant[here].sum(), discordant[here].sum()))
        return found


def timed(job: Callable[[], Any]) -> tuple[float, Any]:
    """(processor time, result) of a job."""
    started = time.process_time()
    result = job()
    return time.process_time() - started, result


def school(folder: Path) -> tuple[Path, Path]:
    """(collection, directory) of the school encyclopaedia, read from the data into a folder."""
    data = Path(os.environ.get("PAGEKIN_DATA", "")) / "schoolwiki2007.tar.xz"
    if not data.is_file():
        raise SystemExit("Set PAGEKIN_DATA to the folder that holds schoolwiki2007.tar.xz, or give --collection.")
    with tarfile.open(data) as archive:
        archive.extractall(folder, filter="data")
    (site,) = folder.rglob("site")
    read_sources(ReadPlan([str(site)], folder / "school.kin", base_url="http://schools.example/"))
    return folder / "school.kin", site.parent / "directory.tsv"


def compare(collection: Path, table: Path, scratch: Path, rounds: int) -> None:
    """Print the comparison."""
    corpus = Corpus.open(collection)
    bench = make_bench(load_directory(corpus, str(table)), rounds=1)
    texts = Pages(corpus, bench).texts
    print(
        f"{len(texts):,} pages in {len(bench.directory.classes)} classes; one thread; best of {rounds}; load {load()}"
    )
    # Compiles what is compiled, or fetches it from the cache.
    few = with_sources(bench, np.arange(0, len(bench.sources), max(1, len(bench.sources) // 64)), 1, 1)
    Experiment(corpus, few, BagWorkshop(corpus, scratch / "few")).judge("few", strategy_of("jaccard"))
    print(f"{'':<10}{'Pagekin s':>12}{'scikit-learn s':>16}{'ratio':>10}{'wanted':>9}")
    values: list[tuple[str, dict[str, float]]] = []
    for metric in ("jaccard", "cosine"):
        strategy = strategy_of(metric)
        ours = theirs = math.inf
        for turn in range(rounds):
            experiment = Experiment(corpus, bench, BagWorkshop(corpus, scratch / f"{metric}-{turn}"))
            seconds, judgement = timed(partial(experiment.judge, "ours", strategy))
            ours = min(ours, seconds)
            seconds, found = timed(partial(Peer(texts, bench).judge, strategy))
            theirs = min(theirs, seconds)
        missed = "  missed" if theirs < WANTED * ours else ""
        print(f"{metric:<10}{ours:>12.2f}{theirs:>16.2f}{theirs / ours:>8.1f} x{WANTED:>7g} x{missed}", flush=True)
        values.append((f"Pagekin, {metric}", {region: judgement.agreements[region].gamma for region in REGIONS}))
        values.append((f"scikit-learn, {metric}", found))
    print("Γ, which differs as far as the two take words differently:")
    for name, by_region in values:
        print(f"{name:<24}" + "".join(f"{region:>12} {by_region[region]:.4f}" for region in REGIONS))


def load() -> str:
    """What else the machine does."""
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def main() -> None:
    """Read the collection if need be, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collection", type=Path)
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        collection, directory = options.collection, options.directory
        if collection is None or directory is None:
            collection, directory = school(Path(scratch))
        compare(collection, directory, Path(scratch), options.rounds)


if __name__ == "__main__":
    main()
