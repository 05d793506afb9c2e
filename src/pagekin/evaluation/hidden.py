"""Fit the weights of the signals for pages that an author would link to: by see-also lists, or by links in running text."""

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pagekin.bags import PRESETS, LinkColumns, Origin, Signals
from pagekin.clusters import DirectoryError
from pagekin.evaluation.author_links import running_links
from pagekin.evaluation.compare import LEAST_EFFECT, Measured, judge_change
from pagekin.evaluation.experiments import NEAREST
from pagekin.evaluation.fit import SignalTuning, halfway
from pagekin.evaluation.gamma import ClassBootstrap, PairCounts
from pagekin.evaluation.halves import ROUNDS, SOURCES, Clock, draw
from pagekin.evaluation.ranking import Nearest, Rankings, document_id, make_rankings
from pagekin.evaluation.served import LEAST_SOURCES, SignalScores, shares
from pagekin.evaluation.signal_table import FOLDS, TOP, SignalTable, Weights, cross_fit, fit_repeatedly
from pagekin.evaluation.without_lists import Targets, listed_documents, read_lists, take_out_lists, without_links
from pagekin.similarity import RelatedIndex
from pagekin.store import Progress, no_progress

LEAST_LINKS = 3
"""Pages with fewer links in running text keep them all."""
_KEPT = ("links", "bag", "title")
"""Signals that keep their share: hidden links say nothing of shown ones, and bags hold words that the hidden ones brought."""
LEAST_LISTS = 40
"""Where fewer pages have see-also lists, links in running text are taken."""
_READING_SHARE, _LOOKING_SHARE, _MEASURING_SHARE, _TRYING_SHARE = 0.15, 0.3, 0.6, 0.75
"""Of the budget: until when lists are read, pages with links looked for, their candidates measured, and weights tried."""


def tune_see_also(
    index: RelatedIndex, *, budget: float = 60.0, seed: int = 1, now: Callable[[], float] = time.perf_counter,
    progress: Progress = no_progress,
) -> SignalTuning:  # fmt: skip
    """Fit the weights for pages that an author would link to, by see-also lists, or else by links in running text."""
    clock = Clock(budget, now)
    table, targets = table_of_lists(index, clock, seed, progress)
    if len(table) >= LEAST_LISTS:
        return fit_to_lists(index, table, targets, clock, seed, progress)
    return _fit_to_running_links(index, len(table), clock, seed, progress)


# -- by see-also lists --------------------------------------------------------------------------------------------------


def table_of_lists(index: RelatedIndex, clock: Clock, seed: int, progress: Progress) -> tuple[SignalTable, Targets]:
    """Measure the candidates of pages with see-also lists, which seem never to have been written."""
    table = SignalTable()
    lists = read_lists(index, seed, lambda: clock.spent < _READING_SHARE)
    targets, common = listed_documents(index, lists)
    if len(targets) < LEAST_LISTS:
        return table, targets
    scores = SignalScores(*take_out_lists(index, LinkColumns.of(index.corpus.kin), lists))
    able = draw(np.array(sorted(targets), np.int64), seed, 2 * SOURCES).tolist()
    for done, document in enumerate(able):
        progress("measuring", done / len(able))
        if done >= LEAST_LISTS and clock.spent > _MEASURING_SHARE:
            break
        near = scores.candidates(document)
        near = np.setdiff1d(near[index.are_captured(near)], common)
        right = np.isin(near, targets[document]).astype(np.int64)
        table.add(scores, document, document, near, right, np.ones(len(targets[document])))
    progress("measuring", 1.0)
    return table, targets


def fit_to_lists(
    index: RelatedIndex, table: SignalTable, targets: Targets, clock: Clock, seed: int, progress: Progress
) -> SignalTuning:
    """Fit all weights to lists; each list is judged by weights that do not know it, in several divisions."""
    before, preset = index.strategy.signals, PRESETS["default"].signals_for("see-also")
    fit = fit_repeatedly(table, list_centres(before), seed, lambda: clock.spent < _TRYING_SHARE)
    bootstrap = ClassBootstrap(np.arange(len(table)), ROUNDS, seed)
    rankings = _rank_hidden(index, table, targets, bootstrap)

    def measure(*divisions: Sequence[Signals]) -> Measured:
        each = [measure_hidden(table, rankings, bootstrap, list(map(shares, some))) for some in divisions]
        return mean_of_divisions(each)

    def halves(weights: Sequence[Signals]) -> list[Signals]:
        return [halfway(before, one) for one in weights]

    was, by_preset = (measure([one] * len(table)) for one in (before, preset))
    progress("judging", 0.3)
    by_fit = measure(*fit.without)
    progress("judging", 0.7)
    done = SignalTuning(
        "see-also", index.strategy, before, preset, fit.weights, judge_change(was, by_preset), judge_change(was, by_fit),
        judge_change(by_preset, by_fit), "see-also lists", (len(table), len(table)), fit.tries, clock.seconds, seed,
        goal_is_strict=True,
    )  # fmt: skip
    by_half = measure(*map(halves, fit.without)) if done.fit_counts else measure(halves([preset] * len(table)))
    progress("judging", 1.0)
    return replace(done, by_half=judge_change(was, by_half), seconds=clock.seconds)


def list_centres(before: Signals) -> list[Signals]:
    """Return the weights around which others are drawn: those served, the presets, and equal ones."""
    presets = [PRESETS["default"].signals_for(wish) for wish in ("see-also", "kin")]
    return [before, *presets, Signals(*[1.0] * len(before.weights()))]


def mean_of_divisions(each: Sequence[Measured]) -> Measured:
    """Return the means of measures over several divisions of the same sources."""
    return {
        name: (
            float(np.mean([one[name][0] for one in each])),
            np.mean(np.stack([one[name][1] for one in each]), axis=0),
        )
        for name in each[0]
    }


# -- by links in running text -------------------------------------------------------------------------------------------


def _fit_to_running_links(index: RelatedIndex, lists: int, clock: Clock, seed: int, progress: Progress) -> SignalTuning:
    """Fit the weights by hiding half of the links of some pages; `lists` is how many pages have see-also lists.

    The weight of direct links cannot be learnt from links that are hidden, so it keeps its share.
    """
    links = LinkColumns.of(index.corpus.kin)
    able = find_running_links(index, links, seed, lambda: clock.spent < _LOOKING_SHARE)
    if len(able) < 2:
        raise DirectoryError(
            f"fitting for see-also needs {LEAST_LISTS} see-also lists, or pages with {LEAST_LINKS} or more links in running "
            f"text; {lists} pages have such lists, and {len(able)} such links"
        )
    hidden, left_out = hide_links(links, able, seed)
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
        judge_change(by_preset, by_fit), "hidden links in running text", (len(table), len(table)), fit.tries, clock.seconds,
        seed, least_low=LEAST_EFFECT,
    )  # fmt: skip


def find_running_links(
    index: RelatedIndex, links: LinkColumns, seed: int, more: Callable[[], bool] = lambda: True
) -> Targets:
    """Return random documents with the documents that their running text links to, of pages that have enough of them.

    Only links that count are.
    """
    counts = np.diff(np.asarray(links.out_offsets, np.int64))
    able = np.flatnonzero((counts >= LEAST_LINKS) & (links.lists == 0) & index.are_captured(np.arange(len(index))))
    scores = SignalScores(index)
    running: Targets = {}
    for done, document in enumerate(draw(able, seed, len(able)).tolist()):
        if len(running) >= 2 * SOURCES or (done >= LEAST_SOURCES and not more()):
            break
        page, own = int(index.documents.pages(np.array([document]))[0]), links_of(links, document)
        if len(targets := np.intersect1d(scores.documents(running_links(index.corpus, page)), own)) >= LEAST_LINKS:
            running[document] = targets
    return running


def links_of(links: LinkColumns, document: int) -> npt.NDArray[np.int64]:
    """Return the documents that a document links to."""
    return np.asarray(links.out[int(links.out_offsets[document]) : int(links.out_offsets[document + 1])], np.int64)


def hide_links(links: LinkColumns, chosen: Targets, seed: int) -> tuple[Targets, Targets]:
    """Return (a random half of each document's chosen links, to be hidden; all its other links)."""
    rng = np.random.default_rng(seed)
    hidden, others = {}, {}
    for document in sorted(chosen):
        targets = rng.permutation(chosen[document])
        hidden[document] = targets[: len(targets) // 2]
        others[document] = np.setdiff1d(links_of(links, document), hidden[document])
    return hidden, others


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
    counts, recall = np.zeros((3, len(table), 2, 2), np.int64), np.zeros(len(table))
    for place, (documents, grades) in enumerate(zip(table.documents, table.grades, strict=True)):
        scores = table.scores(place, weights[place])
        top = np.lexsort((documents, -scores))[:NEAREST]
        top = top[scores[top] > 0]
        near.nearest[place, : len(top)], near.nearest_similarity[place, : len(top)] = documents[top], scores[top]
        recall[place] = np.count_nonzero(grades[top[:TOP]]) / len(rankings.grades[rankings.names[table.sources[place]]])
        others = np.sort(scores[grades == 0])
        below, up_to = (np.searchsorted(others, scores[grades > 0], side).sum() for side in ("left", "right"))
        pairs = len(others) * np.count_nonzero(grades)
        counts[:, place, 0, 1] = below, pairs - up_to, up_to - below
    ranked = rankings.scores(near)
    pair_counts = PairCounts(counts[0], counts[1], counts[2], np.zeros((len(table), 2), np.int64))
    agreement, gammas, somers = bootstrap.agreement(pair_counts, "overall")
    found, resampled = bootstrap.sums(recall)
    return {
        "nDCG@10": (ranked.ndcg10, ranked.resampled[0]), "recall@10": (found / len(table), resampled / len(table)),
        "MAP": (ranked.map, ranked.resampled[1]),
        "Γ": (agreement.gamma, gammas), "Somers' D": (agreement.somers_d, somers),
    }  # fmt: skip
