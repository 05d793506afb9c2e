"""Compare how strategies order the documents around one source (section 2.2, Figure 2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagMatrix, BagWorkshop, Strategy
from pagekin.clusters import Directory, DirectoryError, familial_distance, load_directory
from pagekin.errors import PagekinError
from pagekin.evaluation.evaluate import bag_workshop, directory_pages
from pagekin.evaluation.experiments import matrix_similarities
from pagekin.evaluation.gamma import REGIONS, PairCounts, gamma, somers_d
from pagekin.evaluation.strategies import figure_strategies, own_strategies
from pagekin.hypertext import Corpus, guess_url, nearest_urls, unknown_url_message
from pagekin.store import Array, Progress, no_progress

PLAIN = ("links", "window 0", "window 32", "content")
"""Bars of Figure 3 that are judged beside the presets: they differ most, and their bags are made in seconds."""
FIRST = 100
"""Places of an ordering in which misplaced pages are looked for first, as many as Figure 2 shows."""
MOST_TIED = 0.5
"""A strategy that ties more of its pairs is not called best or worst: a Γ of 1 may come from five pages with one word."""
_MISSES = 3
_TERMS = 5


class SourcePageError(PagekinError):
    """A page that cannot be a source; the message says why and what to do."""


@dataclass(frozen=True)
class SourceAgreement:
    """The agreement of one source's order of documents with the directory, in one region."""

    concordant: int
    discordant: int
    tied: int

    @property
    def pairs(self) -> int:
        """Return the number of pairs of different familial distance, including ties."""
        return self.concordant + self.discordant + self.tied

    @property
    def gamma(self) -> float:
        """Return Γ (definition 3); nan if the similarity orders no pair."""
        return float(gamma(self.concordant, self.discordant))

    @property
    def somers_d(self) -> float:
        """Return Somers' D; nan if there are no pairs."""
        return float(somers_d(self.concordant, self.discordant, self.tied))


@dataclass(frozen=True)
class SourceJudgement:
    """One strategy's order of the directory's pages around a source; documents are places in the directory."""

    name: str
    strategy: Strategy
    regions: dict[str, SourceAgreement]
    similarity: npt.NDArray[np.float32]
    order: npt.NDArray[np.int64]
    """Documents that have something in common with the source, most similar first, the first of equals first."""

    def place(self, document: int) -> int:
        """Return a document's rank, 1 for the first; 0 if it has nothing in common with the source."""
        places = np.flatnonzero(self.order == document)
        return int(places[0]) + 1 if len(places) else 0


@dataclass(frozen=True)
class Miss:
    """A discordant pair: the far document is more similar to the source than the near one."""

    far: int
    near: int
    far_terms: tuple[str, ...]
    """What the far document shares with the source, what counts most first."""
    near_terms: tuple[str, ...]


@dataclass(frozen=True)
class SourceExplanation:
    """One source, and how each strategy orders its documents, the best strategy first."""

    directory: Directory
    source: int
    distance: npt.NDArray[np.int64]
    """The familial distance of each document; -1 for the source itself."""
    region: str
    """The region whose Γ says which strategy is better."""
    judgements: list[SourceJudgement]
    best: SourceJudgement
    worst: SourceJudgement
    sparse: list[SourceJudgement]
    """Those that tie so many pairs that they are neither best nor worst."""
    misses: dict[str, list[Miss]]
    """Examples of discordant pairs under the best and the worst strategy, by name."""


def default_strategies(corpus: Corpus) -> dict[str, Strategy]:
    """Return the presets, the index's own strategy, and plain representations of Figure 3."""
    figures = figure_strategies()
    return distinct_strategies(own_strategies(corpus) | {name: figures[f"3: {name}"] for name in PLAIN})


def distinct_strategies(strategies: dict[str, Strategy]) -> dict[str, Strategy]:
    """Return the strategies without those that differ from an earlier one only in name."""
    seen: set[str] = set()
    distinct = {}
    for name, strategy in strategies.items():
        if strategy.digest() not in seen:
            seen.add(strategy.digest())
            distinct[name] = strategy
    return distinct


def relation_name(distance: int, depth: int) -> str:
    """Return the name of a familial distance in a tree of some depth, as in section 2.1."""
    if distance == depth:
        return "unrelated"
    return ("same class", "sibling", "cousin")[distance] if distance < 3 else "distant cousin"


# -- the source ---------------------------------------------------------------------------------------------------------


def find_source(corpus: Corpus, directory: Directory, url: str, loose: bool = False) -> int:
    """Return a page's place in the directory, for any spelling; raise a SourcePageError if it cannot be judged."""
    number = corpus.url_number(url)
    if number < 0 and (guess := guess_url([corpus], url)):
        number = corpus.url_number(guess)
    if number < 0:
        raise SourcePageError(unknown_url_message([corpus], url))
    place = _place(directory, number)
    if place < 0:
        raise SourcePageError(_not_listed_message(corpus, directory, url, number, loose))
    return place


def _place(directory: Directory, number: int) -> int:
    """Return the place of a URL number in a directory, or -1."""
    place = int(np.searchsorted(directory.urls, number))
    return place if place < len(directory.urls) and int(directory.urls[place]) == number else -1


def _not_listed_message(corpus: Corpus, directory: Directory, url: str, number: int, loose: bool) -> str:
    """Return why a page of the collection is not in the directory, and what to ask about instead."""
    name = directory.name
    for depth in range(directory.depth - 1, 0, -1):
        try:
            higher = load_directory(corpus, name, depth, "strict", "all", loose)
        except DirectoryError:
            continue
        place = _place(higher, number)
        if place >= 0:
            path = higher.classes[int(higher.members[higher.offsets[place]])]
            least = directory.depth if directory.mode == "strict" else 2
            hint = " With --mode lenient it would." if depth >= 2 else ""
            return (
                f"{url} stands at {path_text(path)} in {name}: too high, for only pages at level {least} or deeper are "
                f"compared.{hint}"
            )
    why = {"url-path": ": it lies in no folder", "breadcrumbs": ": it has no breadcrumbs"}.get(name, "")
    near = [one for one in nearest_urls(corpus, url, 50) if _place(directory, corpus.url_number(one)) >= 0][:3]
    hint = "\n  ".join(["Listed are", *near]) if near else "No address like it is listed."
    return f"{url} is in {corpus.kin.path}, but not in the directory {name}{why}. {hint}"


def path_text(path: tuple[str, ...]) -> str:
    """Return the path of a class, joined by slashes."""
    return "/" + "/".join(path)


def classes_of_document(directory: Directory, document: int) -> list[tuple[str, ...]]:
    """Return the paths of a document's classes."""
    members = directory.members[directory.offsets[document] : directory.offsets[document + 1]]
    return [directory.classes[number] for number in members.tolist()]


def distances_from(directory: Directory, source: int) -> npt.NDArray[np.int64]:
    """Return each document's smallest familial distance from a source; -1 for the source itself."""
    own = classes_of_document(directory, source)
    of_class = np.array([min(familial_distance(a, b) for a in own) for b in directory.classes], np.int64)
    distances = np.minimum.reduceat(of_class[directory.members], directory.offsets[:-1])
    distances[source] = -1
    return distances


# -- one strategy -------------------------------------------------------------------------------------------------------


def judge_source(
    name: str, strategy: Strategy, matrix: BagMatrix, source: int, distance: Array, depth: int
) -> SourceJudgement:
    """Order the documents by a matrix's similarities, and judge how well that agrees with the distances."""
    from pagekin.evaluation._kernels.judge import count_pairs

    similarity = matrix_similarities(matrix, strategy.metric)(np.array([source]))[0]
    counts = np.zeros((3, 1, depth + 1, depth + 1), np.int64)
    keys, room = np.empty((2, len(similarity)), np.int64)
    count_pairs(similarity, distance, source, keys, room, *counts[:, 0])
    pairs = PairCounts(counts[0], counts[1], counts[2], np.zeros((1, 2), np.int64))
    regions = {region: SourceAgreement(*(int(part[0]) for part in pairs.region(region))) for region in REGIONS}
    taking_part = np.flatnonzero((similarity > 0) & (distance >= 0))
    order = taking_part[np.argsort(-similarity[taking_part], kind="stable")]
    return SourceJudgement(name, strategy, regions, similarity, order)


def discordant_documents(judgement: SourceJudgement, distance: Array) -> list[tuple[int, int]]:
    """Return some (far, near) pairs in which the far document is more similar, the worst first.

    The near ones are those of the nearest class, from the least similar on. The far ones stand in the first places, the
    farthest relations first; where none of the first is wrong, the next one that is.
    """
    others = np.flatnonzero(distance >= 0)
    nearest = others[distance[others] == distance[others].min()] if len(others) else others
    low = nearest[np.argsort(judgement.similarity[nearest], kind="stable")]
    if not len(low):
        return []
    wrong = (distance[judgement.order] > distance[low[0]]) & (
        judgement.similarity[judgement.order] > judgement.similarity[low[0]]
    )
    places = np.flatnonzero(wrong)
    first = places[places < FIRST] if len(places) and places[0] < FIRST else places[:1]
    high = judgement.order[first[np.argsort(-distance[judgement.order[first]], kind="stable")]]
    return [
        (far, near)
        for far, near in zip(high[:_MISSES].tolist(), low[:_MISSES].tolist(), strict=False)
        if judgement.similarity[far] > judgement.similarity[near]
    ]


# -- all together -------------------------------------------------------------------------------------------------------


def explain_source(
    corpus: Corpus, directory: Directory, source: int, strategies: dict[str, Strategy], *, threads: int = 1,
    own_pages: Sequence[str] = (), progress: Progress = no_progress,
) -> SourceExplanation:  # fmt: skip
    """Judge strategies by one source of a directory, with all its pages as candidates.

    Better is the greater Γ in the sibling region, or overall where it has no pairs; then Somers' D, then the name.
    `own_pages` are as in `evaluate_strategies`.
    """
    distance = distances_from(directory, source)
    if len(np.unique(distance[distance >= 0])) < 2:
        raise SourcePageError(
            f"all other pages of {directory.name} are equally far from {corpus.url(int(directory.urls[source]))}: there is "
            "no order to compare with."
        )
    with bag_workshop(corpus, directory, threads, directory_pages(corpus, own_pages)) as workshop:
        judgements = []
        for done, (name, strategy) in enumerate(strategies.items()):
            progress("judging", done / (len(strategies) + 1))
            matrix = workshop.bags(strategy).matrix(directory.urls)
            judgements.append(judge_source(name, strategy, matrix, source, distance, directory.depth))
        progress("judging", len(strategies) / (len(strategies) + 1))
        region = "siblings" if judgements[0].regions["siblings"].pairs else "overall"
        judgements.sort(key=lambda one: _sort_key(one.regions[region], one.name))
        eligible, sparse = split_sparse(judgements, region)
        best, worst = eligible[0], eligible[-1]
        misses = {one.name: _explain_misses(workshop, directory, source, distance, one) for one in (best, worst)}
        progress("judging", 1.0)
        return SourceExplanation(directory, source, distance, region, judgements, best, worst, sparse, misses)


def split_sparse(judgements: list[SourceJudgement], region: str) -> tuple[list[SourceJudgement], list[SourceJudgement]]:
    """Return (judgements that order enough pairs to compare, the others); all that order any if fewer than two do."""
    dense = [one for one in judgements if one.regions[region].tied <= MOST_TIED * one.regions[region].pairs]
    if len(dense) < 2:
        dense = [one for one in judgements if np.isfinite(one.regions[region].gamma)] or judgements
    return dense, [one for one in judgements if all(one is not other for other in dense)]


def _sort_key(agreed: SourceAgreement, name: str) -> tuple[bool, float, float, str]:
    """Return a key that sorts better strategies first, and those that order nothing last."""
    nothing = not np.isfinite(agreed.gamma)
    return nothing, 0.0 if nothing else -agreed.gamma, 0.0 if nothing else -agreed.somers_d, name


def _explain_misses(
    workshop: BagWorkshop, directory: Directory, source: int, distance: Array, one: SourceJudgement
) -> list[Miss]:
    """Return discordant pairs of a judgement, with the terms behind them."""
    pairs = discordant_documents(one, distance)
    if not pairs:
        return []
    matrix = workshop.bags(one.strategy).matrix(directory.urls)

    def shared_terms(document: int) -> tuple[str, ...]:
        """Return the terms that a document shares with the source, the most important first."""
        own, other = (slice(*matrix.offsets[row : row + 2].tolist()) for row in (source, document))
        terms, mine, theirs = np.intersect1d(matrix.terms[own], matrix.terms[other], True, True)
        weights = matrix.weights[own][mine].astype(np.float64), matrix.weights[other][theirs].astype(np.float64)
        shares = np.minimum(*weights) if one.strategy.metric == "jaccard" else np.multiply(*weights)
        best = np.lexsort((terms, -shares))[:_TERMS]
        return tuple(workshop.term_text(one.strategy, term) for term in terms[best[shares[best] > 0]].tolist())

    return [Miss(far, near, shared_terms(far), shared_terms(near)) for far, near in pairs]
