"""Put a collection's pages into clusters, by the default or by the paper's method, and describe the clusters."""

import contextlib
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagWorkshop, Strategy, stem_of_word
from pagekin.clusters.agreement import measure_agreement
from pagekin.clusters.communities import Clusters, cluster_pages
from pagekin.clusters.complete import complete_link, hybrid
from pagekin.clusters.describe import CENTRAL, PageFacts, describe
from pagekin.clusters.directory import Directory
from pagekin.clusters.documents import document_tree
from pagekin.clusters.hierarchy import Tree, read_trees
from pagekin.clusters.kept_names import NO_NAMES, KeptNames
from pagekin.clusters.levels import PageLinks, Rows
from pagekin.clusters.links import link_similarity, page_graph
from pagekin.clusters.names import name_tree
from pagekin.clusters.naming import CandidateSearch
from pagekin.clusters.neighbour_graph import links_between
from pagekin.clusters.sampling import NAMED_PAGES, pages_to_name
from pagekin.clusters.settings import ClusterError, ClusterSettings
from pagekin.clusters.shown import ShownPhrases, page_words, phrases_of_corpus
from pagekin.clusters.terms import term_similarity, term_vectors
from pagekin.hypertext import Corpus, common_spellings_of_many, host_of
from pagekin.store import IN_MEMORY, Array, Progress, no_progress, temporary_folder

PLAIN = Strategy().with_settings({"weight.frequency": "none"})
"""The words for names: common words describe a group of pages better than rare ones."""
MOST_PAGES = 12_000
"""Pages that the paper's method takes, at most: its matrices grow with the square."""


def make_clusters(
    corpus: Corpus, settings: ClusterSettings, progress: Progress = no_progress, threads: int = 1,
    workshop: BagWorkshop | None = None,
) -> Clusters:  # fmt: skip
    """Put the pages into clusters by the default or by the paper's method."""
    if settings.method == "default":
        return cluster_pages(
            corpus, settings.max_clusters, settings.seed, threads, progress, settings.sample, workshop
        )  # fmt: skip
    similarity, pages = page_similarity(corpus, settings, progress, threads)
    progress("clusters", 0.0)
    tree = complete_link(similarity, 1)
    wanted = settings.max_clusters
    sizes = sorted({min(8, wanted), wanted, 10 * wanted})
    place = np.searchsorted(np.asarray(corpus.pages.url)[pages], np.asarray(corpus.pages.url))
    levels = tuple(tree.labels(max(len(pages) - size, 0))[place] for size in sizes)
    progress("clusters", 1.0)
    return Clusters(levels, sizes.index(wanted))


def page_similarity(
    corpus: Corpus, settings: ClusterSettings, progress: Progress = no_progress, threads: int = 1
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Return (the paper's similarity of captured pages, the pages): the newest capture of an address represents it."""
    graph = page_graph(corpus)
    if len(graph) > MOST_PAGES:
        raise ClusterError(
            f"the method hypursuit1996 compares all pairs of pages: {len(graph):,} are too many, the limit is {MOST_PAGES:,}. "
            "Use the default method."
        )
    matrices = []
    if settings.similarity != "links":
        vectors = term_vectors(corpus, settings.terms, threads)
        by_terms = term_similarity(vectors, threads, lambda share: progress("terms", share))
        matrices.append(by_terms if len(graph) == len(by_terms) else by_terms[np.ix_(graph.pages, graph.pages)])
    if settings.similarity != "terms":
        matrices.append(link_similarity(graph, settings.links, threads, progress))
    return hybrid(matrices, settings.combine), graph.pages


def address_tree(corpus: Corpus) -> Tree:
    """Return the tree of hosts, and below them of the folders in the addresses."""

    def path(page: int) -> tuple[str, ...]:
        url = corpus.page_url(page)
        return (host_of(url), *filter(None, url.partition("?")[0].split("/")[3:-1]))

    return Tree.of_paths("addresses", ((page, path(page)) for page in range(len(corpus))), {})


def directory_tree(directory: Directory, corpus: Corpus) -> Tree:
    """Return the tree of a directory's classes with their listed pages; a page may be in several classes."""
    paths = []
    for place, url in enumerate(directory.urls.tolist()):
        members = directory.members[directory.offsets[place] : directory.offsets[place + 1]]
        for page in corpus.pages_of(url)[:1]:
            paths += [(page, directory.classes[number]) for number in members.tolist()]
    return Tree.of_paths("directory", paths, {"directory": Path(directory.name).name})


def describe_trees(
    corpus: Corpus, trees: list[Tree], threads: int, phrases: bool = True, names: KeptNames = NO_NAMES,
    workshop: BagWorkshop | None = None, sample: int = NAMED_PAGES,
) -> list[Tree]:  # fmt: skip
    """Add characteristic terms and central pages to the trees, and names where they are missing.

    Names are phrases, or with phrases=False a few telling words; `names` are those that topics have in any case. Of more than
    `sample` pages a choice is looked at. Memory: for what these hold, and some hundred bytes for each page, mostly for the
    sketches that tell copies.
    """
    chosen = pages_to_name(corpus, sample)
    with contextlib.ExitStack() as files:
        workshop = workshop or BagWorkshop(corpus, files.enter_context(temporary_folder("clusters")), threads)
        pages = _page_facts(corpus, workshop, chosen, threads)
        shown = phrases_of_corpus(corpus, threads, sample, workshop.space) if phrases else None
        return [
            _describe_tree(corpus, tree, chosen, pages, shown if not tree.descriptions else None, names)
            for tree in trees
        ]


def _page_facts(corpus: Corpus, workshop: BagWorkshop, chosen: Array, threads: int) -> PageFacts:
    """Collect the data for descriptions of the chosen pages."""
    page_url = np.asarray(corpus.pages.url).astype(np.int64)[chosen]
    words = workshop.words(PLAIN)
    urls, place = np.unique(page_url, return_index=True)
    bags = workshop.matrix(PLAIN, page_url, words_alone=True)
    return PageFacts(
        Rows.of_words(bags, words, workshop.space).place_among(chosen, len(corpus)),
        Rows.of_words(page_words(corpus, threads).titles, words),
        PageLinks.of(chosen[place[links_between(corpus, urls)[0]]], len(corpus)),
        lambda term: workshop.term_text(PLAIN, term),
        stem_of_word,
        partial(common_spellings_of_many, corpus),
        partial(_main_language, corpus),
    )


def _describe_tree(
    corpus: Corpus, tree: Tree, chosen: Array, pages: PageFacts, shown: ShownPhrases | None, names: KeptNames
) -> Tree:
    """Describe one tree by the chosen pages; its names are taken from what pages show, unless that is None."""
    kept_pages = np.zeros(len(corpus), np.bool_)
    kept_pages[chosen] = True
    looked_at = tree if len(chosen) == len(corpus) else tree.keep_pages(kept_pages)
    search = CandidateSearch(looked_at, shown, pages.links) if shown else None
    described_tree = describe(looked_at, pages, search.note if search else None, shown.unfit if shown else None)
    kept = names.match(tree, corpus) if tree.name == "clusters" else {}
    descriptions = (
        name_tree(described_tree, shown, search.candidates(), pages.links, kept)
        if search and shown
        else list(described_tree.descriptions)
    )
    for node, name in kept.items():
        descriptions[node] = replace(descriptions[node], name=name)
    for node, described in enumerate(descriptions):
        if not described.central:  # none of its pages was chosen
            descriptions[node] = replace(described, central=tuple(tree.pages_of(node)[:CENTRAL].tolist()))
    return replace(tree, descriptions=descriptions)


def _main_language(corpus: Corpus, pages: Array) -> str:
    """Return the language that most of some pages have, '' if it is unknown."""
    counts = np.bincount(np.asarray(corpus.pages.language)[pages], minlength=1)
    return str(corpus.facts["language_codes"][int(np.argmax(counts))])


def make_trees(
    corpus: Corpus, settings: ClusterSettings, directory: Directory | None = None,
    progress: Progress = no_progress, threads: int = 1, names: KeptNames = NO_NAMES,
    workshop: BagWorkshop | None = None,
) -> list[Tree]:  # fmt: skip
    """Make the clusters of a collection and its other trees; `names` are names that topics keep.

    The trees are the addresses, a directory if one is given or the collection has one, and composite documents if there are any.
    """
    if not len(corpus):
        raise ClusterError(f"{corpus.kin.path} holds no page, so there is nothing to cluster")
    clusters = make_clusters(corpus, settings, progress, threads, workshop)
    documents = document_tree(corpus, workshop.space if workshop else IN_MEMORY)
    facts = settings.as_facts() | {"clusters": len(np.unique(clusters.labels)), "documents": len(documents) - 1}
    facts |= {"names": names.digest} if names.digest else {}
    facts |= {"sampled": clusters.sampled} if clusters.sampled else {}
    trees = [Tree.of_levels("clusters", clusters.levels, facts, clusters.chosen), address_tree(corpus)]
    if directory is not None:
        trees.append(directory_tree(directory, corpus))
    progress("names", 0.0)
    trees = describe_trees(corpus, trees, threads, settings.method == "default", names, workshop, settings.sample)
    if directory is None:
        trees += [tree for tree in read_trees(corpus.kin) if tree.name == "directory"]
    trees += [documents] if len(documents) > 1 else []
    progress("names", 1.0)
    return trees


def compare_methods(
    corpus: Corpus, directory: Directory, settings: ClusterSettings, progress: Progress = no_progress, threads: int = 1
) -> list[dict[str, Any]]:
    """Compare the default and the paper's similarities with each level of a directory (Table 1, as numbers).

    Collections that are too large for the paper's method get the default alone.
    """
    listed = [(corpus.pages_of(url)[:1], place) for place, url in enumerate(directory.urls.tolist())]
    pages = np.array([page for captures, _place in listed for page in captures], np.int64)
    paths = [
        directory.classes[int(directory.members[directory.offsets[place]])] for captures, place in listed if captures
    ]
    methods = {"default": replace(settings, method="default")}
    if len(corpus) <= MOST_PAGES:
        for similarity in ("terms", "links", "hybrid"):
            name = f"{similarity} ({settings.combine})" if similarity == "hybrid" else similarity
            methods[name] = replace(settings, method="hypursuit1996", similarity=similarity)
    rows = []
    for name, method in methods.items():
        labels = make_clusters(corpus, method, progress, threads).labels[pages]
        for level in range(1, directory.depth + 1):
            numbers = {path: number for number, path in enumerate(sorted({path[:level] for path in paths}))}
            scores = measure_agreement(np.array([numbers[path[:level]] for path in paths]), labels)
            rows.append({"method": name, "level": level, "classes": len(numbers), **asdict(scores)})
    return rows
