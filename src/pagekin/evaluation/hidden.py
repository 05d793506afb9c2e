"""Fitting the weights of the signals for see-also lists: links are hidden, and the signals have to find them again."""

import copy
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pagekin.bags import PRESETS, LinkColumns, Origin, link_weights
from pagekin.clusters import DirectoryError
from pagekin.evaluation.compare import Measured, judge_change
from pagekin.evaluation.experiments import NEAREST
from pagekin.evaluation.fit import FITTING_SHARE, LEARNING_SHARE, SignalTable, SignalTuning, fit_weights
from pagekin.evaluation.gamma import ClassBootstrap, PairCounts
from pagekin.evaluation.halves import ROUNDS, SOURCES, Clock, draw
from pagekin.evaluation.ranking import Nearest, Rankings, document_id, make_rankings
from pagekin.evaluation.served import LEAST_SOURCES, SignalScores, shares
from pagekin.similarity import RelatedIndex
from pagekin.store import Array, Progress, no_progress

LEAST_LINKS = 3
"""Pages with fewer links that count keep them all."""
_KEPT = ("links", "bag", "title")
"""Signals that keep their share: hidden links say nothing of shown ones, and bags hold words that the hidden ones brought."""
Targets = dict[int, npt.NDArray[np.int64]]
"""By document: some of those that it links to."""


def tune_see_also(
    index: RelatedIndex, *, budget: float = 60.0, seed: int = 1, now: Callable[[], float] = time.perf_counter,
    progress: Progress = no_progress,
) -> SignalTuning:  # fmt: skip
    """Fit the weights for pages that an author would link to: half of the links of some pages are hidden and to be found.

    The weight of direct links cannot be learnt from links that are hidden, so it keeps its share.
    """
    clock = Clock(budget, now)
    links = LinkColumns.of(index.corpus.kin)
    counts = np.diff(np.asarray(links.out_offsets, np.int64))
    able = np.flatnonzero((counts >= LEAST_LINKS) & (links.lists == 0) & index.captured(np.arange(len(index))))
    if len(able) < 2:
        raise DirectoryError(
            f"fitting for see-also needs pages with {LEAST_LINKS} or more links in running text; {len(able)} have them"
        )
    drawn = draw(able, seed, 2 * SOURCES)
    hidden, shown = hide_links(links, drawn, seed)
    scores = SignalScores(without_anchor_words(index), without_links(links, hidden))
    half = (len(drawn) + 1) // 2

    def measure(sources: Array, from_share: float, until: float) -> SignalTable:
        table = SignalTable()
        for done, document in enumerate(sources.tolist()):
            progress("measuring", from_share + 0.5 * done / len(sources))
            if done >= LEAST_SOURCES and clock.spent > until:
                break
            near = np.setdiff1d(scores.candidates(document), shown[document])
            right = np.isin(near, hidden[document]).astype(np.int64)
            table.add(scores, document, document, near, right, np.ones(len(hidden[document])))
        return table

    learning = measure(drawn[:half], 0.0, LEARNING_SHARE)
    before = index.strategy.signals_for("see-also")
    fitted, tries = fit_weights(
        learning, [before, PRESETS["default"].signals_for("see-also")], _KEPT, lambda: clock.spent < FITTING_SHARE
    )
    judging = measure(drawn[half:], 0.5, 0.95)
    progress("measuring", 1.0)
    bootstrap = ClassBootstrap(np.arange(len(judging)), ROUNDS, seed)
    rankings = _rank_hidden(index, judging, hidden, bootstrap)
    was, is_now = (measure_hidden(judging, rankings, bootstrap, shares(weights)) for weights in (before, fitted))
    return SignalTuning(
        "see-also", index.strategy, before, fitted, judge_change(was, is_now), "hidden links in running text",
        (half, len(learning)), (len(drawn) - half, len(judging)), tries, clock.seconds, seed,
    )  # fmt: skip


def hide_links(links: LinkColumns, documents: Array, seed: int) -> tuple[Targets, Targets]:
    """Return half of the links of each document, drawn, which are to be hidden, and the other half."""
    rng = np.random.default_rng(seed)
    hidden, shown = {}, {}
    for document in sorted(documents.tolist()):
        first, last = int(links.out_offsets[document]), int(links.out_offsets[document + 1])
        targets = rng.permutation(np.asarray(links.out[first:last], np.int64))
        hidden[document], shown[document] = targets[: len(targets) // 2], targets[len(targets) // 2 :]
    return hidden, shown


def without_links(links: LinkColumns, hidden: Targets) -> LinkColumns:
    """Return the links without hidden ones, weighed anew as if these had never been."""
    pages, offsets = len(links.lists), np.asarray(links.out_offsets, np.int64)
    sources = np.repeat(np.arange(pages), offsets[1:] - offsets[:-1])
    targets = np.asarray(links.out, np.int64)
    gone = [source * pages + some for source, some in hidden.items()]
    kept = ~np.isin(sources * pages + targets, np.concatenate(gone))
    sources, targets = sources[kept], targets[kept]
    outlinks, inlinks = (np.bincount(side, minlength=pages) for side in (sources, targets))
    by_target = np.lexsort((sources, targets))
    return replace(
        links,
        out_offsets=np.cumsum(np.append(0, outlinks)),
        out=targets.astype(np.uint32),
        in_offsets=np.cumsum(np.append(0, inlinks)),
        into=sources[by_target].astype(np.uint32),
        out_weight=np.bincount(sources, link_weights(inlinks)[targets], pages).astype(np.float32),
        in_weight=np.bincount(targets, link_weights(outlinks)[sources], pages).astype(np.float32),
    )


def without_anchor_words(index: RelatedIndex) -> RelatedIndex:
    """Return the index with bags in which words that only links bring count nothing: they would give hidden links away."""
    bags = copy.copy(index.bags)
    bags.weights = np.where(np.asarray(bags.flags) == Origin.ANCHORS, np.float32(0), bags.weights)
    return index.with_bags(bags)


def _rank_hidden(index: RelatedIndex, table: SignalTable, hidden: Targets, bootstrap: ClassBootstrap) -> Rankings:
    """Grade what was hidden 1 and all else 0."""
    some = np.unique(np.concatenate([*table.documents, *(hidden[one] for one in table.sources), table.sources]))
    names = {document: document_id(index.urls[document]) for document in some.tolist()}
    grades = {names[source]: {names[d]: 1 for d in hidden[source].tolist()} for source in table.sources}
    places, rows = np.arange(len(table)), np.array(table.sources, np.int64)
    return make_rankings(names, places, rows, grades, 1, len(table), bootstrap)


def measure_hidden(table: SignalTable, rankings: Rankings, bootstrap: ClassBootstrap, weights: Array) -> Measured:
    """Return all measures of weights: how far in front of the other candidates they put what was hidden."""
    near = Nearest(np.full((len(table), NEAREST), -1, np.int64), np.zeros((len(table), NEAREST), np.float32))
    counts = np.zeros((3, len(table), 2, 2), np.int64)
    for place, (documents, grades) in enumerate(zip(table.documents, table.grades, strict=True)):
        scores = table.scores(place, weights)
        top = np.lexsort((documents, -scores))[:NEAREST]
        top = top[scores[top] > 0]
        near.nearest[place, : len(top)], near.nearest_similarity[place, : len(top)] = documents[top], scores[top]
        others = np.sort(scores[grades == 0])
        below, up_to = (np.searchsorted(others, scores[grades > 0], side).sum() for side in ("left", "right"))
        pairs = len(others) * np.count_nonzero(grades)
        counts[:, place, 0, 1] = below, pairs - up_to, up_to - below
    ranked = rankings.scores(near)
    pair_counts = PairCounts(counts[0], counts[1], counts[2], np.zeros((len(table), 2), np.int64))
    agreement, gammas, somers = bootstrap.agreement(pair_counts, "overall")
    return {
        "nDCG@10": (ranked.ndcg10, ranked.resampled[0]), "MAP": (ranked.map, ranked.resampled[1]),
        "Γ": (agreement.gamma, gammas), "Somers' D": (agreement.somers_d, somers),
    }  # fmt: skip
