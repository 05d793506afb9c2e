"""Fit the weights of the signals for see-also lists: hide links, and let the signals find them again."""

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pagekin.bags import PRESETS, LinkColumns, Origin, Signals, link_weights
from pagekin.clusters import DirectoryError
from pagekin.evaluation.author_links import SeeAlsoReader, running_links
from pagekin.evaluation.compare import Measured, judge_change
from pagekin.evaluation.experiments import NEAREST
from pagekin.evaluation.fit import SignalTuning
from pagekin.evaluation.gamma import ClassBootstrap, PairCounts
from pagekin.evaluation.halves import ROUNDS, SOURCES, Clock, draw
from pagekin.evaluation.ranking import Nearest, Rankings, document_id, make_rankings
from pagekin.evaluation.served import LEAST_SOURCES, SignalScores, shares
from pagekin.evaluation.signal_table import FOLDS, SignalTable, Weights, cross_fit
from pagekin.similarity import RelatedIndex
from pagekin.store import Progress, no_progress

LEAST_LINKS = 3
"""Pages with fewer links in running text keep them all."""
_KEPT = ("links", "bag", "title")
"""Signals that keep their share: hidden links say nothing of shown ones, and bags hold words that the hidden ones brought."""
LEAST_LISTS = 40
"""Where fewer pages have see-also lists, links in running text are taken."""
_LOOKING_SHARE, _MEASURING_SHARE, _TRYING_SHARE = 0.15, 0.6, 0.85
"""Of the budget: until when pages with links are looked for, their candidates measured, and weights tried."""
Targets = dict[int, npt.NDArray[np.int64]]
"""By document: some of those that it links to."""


def tune_see_also(
    index: RelatedIndex, *, budget: float = 60.0, seed: int = 1, now: Callable[[], float] = time.perf_counter,
    progress: Progress = no_progress,
) -> SignalTuning:  # fmt: skip
    """Fit the weights for pages that an author would link to, by hiding half of the links of some pages.

    The weight of direct links cannot be learnt from links that are hidden, so it keeps its share.
    """
    clock = Clock(budget, now)
    links = LinkColumns.of(index.corpus.kin)
    able, by_lists = find_linking(index, links, seed, lambda: clock.spent < _LOOKING_SHARE)
    if len(able) < 2:
        raise DirectoryError(
            f"fitting for see-also needs see-also lists, or pages with {LEAST_LINKS} or more links in running text; "
            f"{len(able)} have them"
        )
    hidden, left_out = hide_links(links, able, seed, whole=by_lists)
    scores = SignalScores(without_anchor_words(index), without_links(links, hidden))
    table = SignalTable()
    for done, document in enumerate(able):
        progress("measuring", done / len(able))
        if done >= LEAST_SOURCES and clock.spent > _MEASURING_SHARE:
            break
        near = np.setdiff1d(scores.candidates(document), left_out[document])
        right = np.isin(near, hidden[document]).astype(np.int64)
        table.add(scores, document, document, near, right, np.ones(len(hidden[document])))
    progress("measuring", 1.0)
    before, preset = index.strategy.signals, PRESETS["default"].signals_for("see-also")
    parts = np.arange(len(table)) % FOLDS
    fit = cross_fit(table, parts, [preset, before, Signals()], _KEPT, seed, lambda: clock.spent < _TRYING_SHARE)
    bootstrap = ClassBootstrap(np.arange(len(table)), ROUNDS, seed)
    rankings = _rank_hidden(index, table, hidden, bootstrap)
    was, by_preset, by_fit = (
        measure_hidden(table, rankings, bootstrap, [shares(weights) for weights in each])
        for each in ([before] * len(table), [preset] * len(table), [fit.without[part] for part in parts.tolist()])
    )
    return SignalTuning(
        "see-also", index.strategy, before, preset, fit.weights, judge_change(was, by_preset), judge_change(was, by_fit),
        judge_change(by_preset, by_fit), "see-also lists" if by_lists else "hidden links in running text",
        (len(table), len(table)), fit.tries, clock.seconds, seed,
    )  # fmt: skip


def find_linking(
    index: RelatedIndex, links: LinkColumns, seed: int, more: Callable[[], bool] = lambda: True
) -> tuple[Targets, bool]:
    """Return random documents with the documents that their authors point to, and whether by see-also lists.

    Where too few pages have such lists, links in running text are taken, of pages that have enough of them. Only links that
    count are.
    """
    counts = np.diff(np.asarray(links.out_offsets, np.int64))
    able = np.flatnonzero((counts > 0) & (links.lists == 0) & index.are_captured(np.arange(len(index))))
    scores, lists = SignalScores(index), SeeAlsoReader(index.corpus)
    running: Targets = {}
    listed: Targets = {}
    for done, document in enumerate(draw(able, seed, len(able)).tolist()):
        if len(listed) >= 2 * SOURCES or (done >= LEAST_SOURCES and not more()):
            break
        page, own = int(index.documents.pages(np.array([document]))[0]), links_of(links, document)
        if len(targets := np.intersect1d(scores.documents(lists.listed_links(page)), own)):
            listed[document] = targets
        if len(running) >= 2 * SOURCES or len(own) < LEAST_LINKS:
            continue
        if len(targets := np.intersect1d(scores.documents(running_links(index.corpus, page)), own)) >= LEAST_LINKS:
            running[document] = targets
    return (listed, True) if len(listed) >= LEAST_LISTS else (running, False)


def links_of(links: LinkColumns, document: int) -> npt.NDArray[np.int64]:
    """Return the documents that a document links to."""
    return np.asarray(links.out[int(links.out_offsets[document]) : int(links.out_offsets[document + 1])], np.int64)


def hide_links(links: LinkColumns, chosen: Targets, seed: int, whole: bool = False) -> tuple[Targets, Targets]:
    """Return (a random half, or all, of each document's chosen links, to be hidden; all its other links)."""
    rng = np.random.default_rng(seed)
    hidden, others = {}, {}
    for document in sorted(chosen):
        targets = rng.permutation(chosen[document])
        hidden[document] = targets if whole else targets[: len(targets) // 2]
        others[document] = np.setdiff1d(links_of(links, document), hidden[document])
    return hidden, others


def without_links(links: LinkColumns, hidden: Targets) -> LinkColumns:
    """Return the links without hidden ones, with weights as if these had never been."""
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
    """Return the index with bags that ignore words from links only, because these would reveal hidden links."""
    bags = copy.copy(index.bags)
    bags.weights = np.where(np.asarray(bags.flags) == Origin.ANCHORS, np.float32(0), bags.weights)
    return index.with_bags(bags)


def _rank_hidden(index: RelatedIndex, table: SignalTable, hidden: Targets, bootstrap: ClassBootstrap) -> Rankings:
    """Grade hidden documents 1 and all others 0."""
    some = np.unique(np.concatenate([*table.documents, *(hidden[one] for one in table.sources), table.sources]))
    names = {document: document_id(index.urls[document]) for document in some.tolist()}
    grades = {names[source]: {names[d]: 1 for d in hidden[source].tolist()} for source in table.sources}
    places, rows = np.arange(len(table)), np.array(table.sources, np.int64)
    return make_rankings(names, places, rows, grades, 1, len(table), bootstrap)


def measure_hidden(
    table: SignalTable, rankings: Rankings, bootstrap: ClassBootstrap, weights: Sequence[Weights]
) -> Measured:
    """Return all measures, source by source, of how high weights rank the hidden documents among the candidates."""
    near = Nearest(np.full((len(table), NEAREST), -1, np.int64), np.zeros((len(table), NEAREST), np.float32))
    counts = np.zeros((3, len(table), 2, 2), np.int64)
    for place, (documents, grades) in enumerate(zip(table.documents, table.grades, strict=True)):
        scores = table.scores(place, weights[place])
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
