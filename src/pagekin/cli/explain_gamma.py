"""`pagekin explain-gamma`: show how the best and the worst strategy rank pages around one page (Figure 2)."""

import shutil
import textwrap
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any
from unicodedata import bidirectional, category

import typer

from pagekin import clusters, evaluation, hypertext
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, fail, fill_template, print_json, progress_bar, say, title_line
from pagekin.cli.evaluate import open_directory

SYMBOLS = {"same class": "#", "sibling": "+", "cousin": "-", "distant cousin": "~", "unrelated": "."}
STRIP = 60
_COLUMN = 60
_BETWEEN = "   "
_PLACES = 12
_PART = "\f"
"""Stands between the parts of an ordering."""
_TURNING = frozenset("LRE RLE PDF LRO RLO LRI RLI FSI PDI".split())


@app.command("explain-gamma")
def explain_gamma(
    collection: options.Collection,
    url: Annotated[str, typer.Argument(metavar="URL", help="The source: a page of the collection and the directory.")],
    directory: options.DirectoryName = "",
    strategies: options.Strategies = "",
    figures: options.Figures = False,
    depth: options.Depth = 3,
    mode: options.Mode = "lenient",
    classes: options.Classes = "primary",
    loose: options.Loose = False,
    directory_pages: options.OwnPages = None,
    k: Annotated[int, typer.Option("-k", "--limit", min=1, max=10_000, help="Pages of each ordering.")] = 10,
    workers: options.Threads = 0,
    as_json: options.AsJson = False,
) -> None:
    """Show how strategies order pages around one page.

    As in the paper's Figure 2, the best and the worst strategy order the directory's pages.
    """
    if figures and strategies:
        fail("--figures and --strategies exclude each other; give one of them", USAGE)
    corpus = hypertext.Corpus.open(collection)
    tree = open_directory(corpus, directory, depth, mode, classes, loose)
    if strategies:
        todo = evaluation.read_strategies(Path(strategies))
    elif figures:
        todo = evaluation.distinct_strategies(evaluation.figure_strategies())
    else:
        todo = evaluation.default_strategies(corpus)
    tree = evaluation.without_own_pages(corpus, tree, evaluation.directory_pages(corpus, directory_pages or ()))
    source = evaluation.find_source(corpus, tree, url, loose)
    with progress_bar(as_json) as tell:
        done = evaluation.explain_source(
            corpus, tree, source, todo, threads=workers or hypertext.default_workers(),
            own_pages=directory_pages or (), progress=tell,
        )  # fmt: skip
    view = SourceView(corpus, done)
    if as_json:
        print_json(explanation_as_dict(view, k))
    else:
        print_explanation(view, k, shutil.get_terminal_size((80, 24)).columns)


class SourceView:
    """Shows the pages of an explanation, for programs and for people."""

    def __init__(self, corpus: "hypertext.Corpus", done: "evaluation.SourceExplanation") -> None:
        self.corpus, self.done = corpus, done
        self._own = evaluation.classes_of_document(done.directory, done.source)

    def document(self, document: int) -> dict[str, Any]:
        """Return a page with its classes, the nearest to the source's first."""
        number = int(self.done.directory.urls[document])
        pages = self.corpus.pages_of(number)
        paths = sorted(
            evaluation.classes_of_document(self.done.directory, document),
            key=lambda path: min(clusters.familial_distance(a, path) for a in self._own),
        )
        return {
            "url": self.corpus.url(number),
            "title": self.corpus.titles.text(pages[0]) if pages else "",
            "classes": [evaluation.path_text(path) for path in paths],
        }

    def place_of(self, one: "evaluation.SourceJudgement", document: int) -> dict[str, Any]:
        """Return a page with its place in an ordering, or 0 if it has none."""
        return {
            "place": one.place(document),
            **self.document(document),
            "relation": self._relation(document),
            "similarity": round(float(one.similarity[document]), 6),
        }

    def _relation(self, document: int) -> str:
        return evaluation.relation_name(int(self.done.distance[document]), self.done.directory.depth)

    def relations(self) -> dict[str, int]:
        """Return how many candidates there are at each familial distance, the nearest first."""
        counts: Counter[str] = Counter()
        for distance in range(self.done.directory.depth + 1):
            name = evaluation.relation_name(distance, self.done.directory.depth)
            counts[name] += int((self.done.distance == distance).sum())
        return counts

    def strip(self, one: "evaluation.SourceJudgement") -> str:
        """Return the familial distances of the first places of an ordering, a symbol each."""
        return "".join(SYMBOLS[self._relation(document)] for document in one.order[:STRIP].tolist())

    def places(self, one: "evaluation.SourceJudgement") -> dict[str, Any]:
        """Return the places of the pages of the source's class in an ordering."""
        distance = self.done.distance
        places = [place for place, level in enumerate(distance[one.order].tolist(), 1) if level == 0]
        return {"places": places, "nothing_in_common": int((distance == 0).sum()) - len(places)}

    def describe_places(self, one: "evaluation.SourceJudgement") -> str:
        """Return the places of the source's class as a sentence."""
        places, nothing = self.places(one).values()
        if not places and not nothing:
            return "No other page is in its class."
        first = [f"{place:,}" for place in places[:_PLACES]]
        if len(places) > _PLACES:
            first += ["...", f"{places[-1]:,}"]
        sentence = f"Its class at places {', '.join(first)} of {len(one.order):,}" if places else ""
        half = (len(places) + nothing + 1) // 2
        if len(places) >= max(half, _PLACES):
            sentence += f"; half of it in the first {places[half - 1]:,}"
        if nothing:
            sentence += f"{'; ' if sentence else ''}{nothing:,} of its class with nothing in common"
        return f"{sentence}."


# -- for programs -------------------------------------------------------------------------------------------------------


def explanation_as_dict(view: SourceView, k: int) -> dict[str, Any]:
    """Return everything for programs, with the first k places of the orderings."""
    done, tree = view.done, view.done.directory
    return {
        "source": view.document(done.source),
        "directory": {
            "name": tree.name, "depth": tree.depth, "mode": tree.mode, "choice": tree.choice, **tree.facts,
            "candidates": view.relations(),
        },
        "region": done.region,
        "strategies": [
            {
                "name": one.name, "strategy": one.strategy.as_dict(),
                **{region: _agreement_as_dict(agreed) for region, agreed in one.regions.items()},
            }
            for one in done.judgements
        ],
        "best": _ordering_as_dict(view, done.best, k),
        "worst": _ordering_as_dict(view, done.worst, k),
    }  # fmt: skip


def _agreement_as_dict(agreed: "evaluation.SourceAgreement") -> dict[str, Any]:
    gamma, somers_d = evaluation.finite_or_none(agreed.gamma), evaluation.finite_or_none(agreed.somers_d)
    return {"gamma": gamma, "somers_d": somers_d, **asdict(agreed)}


def _ordering_as_dict(view: SourceView, one: "evaluation.SourceJudgement", k: int) -> dict[str, Any]:
    return {
        "name": one.name,
        "strip": view.strip(one),
        "same_class": view.places(one),
        "ordering": [view.place_of(one, document) for document in one.order[:k].tolist()],
        "discordant": [
            {
                "far": {**view.place_of(one, miss.far), "terms": list(miss.far_terms)},
                "near": {**view.place_of(one, miss.near), "terms": list(miss.near_terms)},
            }
            for miss in view.done.misses[one.name]
        ],
    }


# -- for people ---------------------------------------------------------------------------------------------------------


def print_explanation(view: SourceView, k: int, width: int) -> None:
    """Print the source, all strategies in short, and the best and the worst in full: side by side if there is room."""
    from rich.cells import set_cell_size

    done = view.done
    overall = evaluation.explain_overall(
        {one.name: {region: agreed.gamma for region, agreed in one.regions.items()} for one in done.judgements}
    )
    say(fill_template("explained", _FILTERS, view=view, symbols=SYMBOLS, overall=overall))
    wide = width >= 2 * _COLUMN + len(_BETWEEN)
    column = min((width - len(_BETWEEN)) // 2 if wide else max(width, _COLUMN), 110)
    chosen = [done.best] + ([done.worst] if done.worst is not done.best else [])
    orderings = [_sections(view, one, k, column) for one in chosen]
    if wide and len(orderings) > 1:
        for both in zip(*orderings, strict=True):
            for left, right in zip_longest(*both, fillvalue=""):
                say(f"{set_cell_size(left, column)}{_BETWEEN}{right}".rstrip())
            say()
        return
    for sections in orderings:
        for section in sections:
            say("\n".join([*section, ""]))


def _sections(view: SourceView, one: "evaluation.SourceJudgement", k: int, width: int) -> list[list[str]]:
    """Return an ordering as four parts: agreement, strip, first pages, discordant pairs; no line is longer than `width`."""
    first = one.order[:k].tolist()
    text = fill_template("ordering", _FILTERS, view=view, one=one, first=first, width=width, part=_PART)
    parts = [part.split("\n")[:-1] for part in f"{text}\n".replace(f"{_PART}\n", _PART).split(_PART)]
    return [[_cut(line, width) for line in part] for part in parts]


def _shorten_term(term: str) -> str:
    """Return a short form of a term: a word unchanged, or the end of a page's address."""
    return f".../{term.rstrip('/').rpartition('/')[2]}" if "://" in term else term


def _name(about: dict[str, Any]) -> str:
    """Return a page's title or address, with unprintable characters replaced by a sign of one cell."""
    name = title_line(about["title"]) if about["title"] else about["url"]
    return "".join("�" if category(sign) in ("Cc", "Cs") or bidirectional(sign) in _TURNING else sign for sign in name)


def _tied(agreed: "evaluation.SourceAgreement") -> str:
    return f"{agreed.tied / agreed.pairs:.0%}"


def _cut(text: str, width: int) -> str:
    """Return a text, cut to `width` cells of a terminal."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= width else set_cell_size(text, max(width - 3, 0)).rstrip() + "..."


_FILTERS: dict[str, Callable[..., Any]] = {
    "cut": _cut, "name": _name, "shorten_term": _shorten_term, "tied": _tied,
    "wrap": lambda text, width: "\n".join(textwrap.wrap(text, width)),
    "first_highest": lambda judgements, region: max(judgements, key=lambda one: one.regions[region].somers_d),
}  # fmt: skip
