"""Whether what `pagekin tune` calls better by some see-also lists is better by all the others, and what it calls so by chance.

    PAGEKIN_DATA=... python benchmarks/tune_chance.py --out CACHE_DIR [--sets qt,wx] [--lists 120] [--times 20] [--seed 3]

Of each set of tune_truth.py, some lists are drawn again and again, and tune fits and judges by these alone. What it calls better
is judged by the lists that were not drawn. First with the weights that are served; then with the best of those that are tried,
all lists known, in their place: then there is next to nothing to find.
"""

from __future__ import annotations

import argparse
import copy
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from pagekin.bags import Signals
from pagekin.evaluation.halves import Clock
from pagekin.evaluation.hidden import fit_to_lists, list_centres, table_of_lists
from pagekin.evaluation.served import shares
from pagekin.evaluation.signal_table import POOL, SignalTable, draw_weights
from pagekin.evaluation.without_lists import Targets
from pagekin.similarity import RelatedIndex
from pagekin.store import no_progress
from tune_truth import open_index, published

ENOUGH = 1e6
"""Seconds that are never reached."""


def best_weights(table: SignalTable, before: Signals, seed: int) -> Signals:
    """Return the best of the weights that a fit tries, all lists known."""
    pool = draw_weights(list_centres(before), (), POOL, seed)
    best = pool[int(np.argmax([table.ndcg(weights).mean() for weights in pool]))]
    return Signals(*(round(float(one), 4) for one in best))


def draw_and_judge(
    index: RelatedIndex, table: SignalTable, targets: Targets, lists: int, times: int, seed: int
) -> tuple[int, int, float]:
    """Return (how often tune called weights better, how often they are worse by the other lists, their mean gain there)."""
    rng, gains = np.random.default_rng(seed), []
    before = table.ndcg(shares(index.strategy.signals))
    for _time in range(times):
        order = rng.permutation(len(table))
        some = table.select(order[:lists])
        done = fit_to_lists(index, some, targets, Clock(ENOUGH), seed, no_progress)
        if done.improved:
            others = np.sort(order[lists:])
            gains.append(float((table.ndcg(shares(done.chosen)) - before)[others].mean()))
    return len(gains), sum(gain < 0 for gain in gains), float(np.mean(gains)) if gains else float("nan")


def main() -> None:
    """Draw, tune and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="where packages are downloaded and unpacked; default: in --out")
    parser.add_argument("--sets", default="csound,qt,wx,scipy,lazarus,petsc,cppreference,grass")
    parser.add_argument("--lists", type=int, default=120)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=3)
    given = parser.parse_args()
    print(
        "| set | lists | served: better | worse by the others | mean gain | best: better | worse by the others | mean gain |"
    )
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name in given.sets.split(","):
        path = published(name, given.out, given.cache or given.out / "packages")
        assert path is not None
        index = open_index(path)
        table, targets = table_of_lists(index, Clock(ENOUGH), 1, no_progress)
        best = copy.copy(index)
        best.strategy = replace(index.strategy, signals=best_weights(table, index.strategy.signals, 1))
        cells = []
        for one in (index, best):
            better, worse, gain = draw_and_judge(one, table, targets, given.lists, given.times, given.seed)
            cells.append(f"{better} of {given.times} | {worse} | {f'{gain:+.3f}' if better else '-'}")
        print(f"| {name} | {len(table)} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
