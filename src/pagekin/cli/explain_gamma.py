"""`pagekin explain-gamma`: what the best and the worst strategy make of one page (Figure 2)."""

import shutil
import textwrap
from collections import Counter
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any
from unicodedata import bidirectional, category

import typer

from pagekin import clusters, evaluation, hypertext
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, fail, print_json, progress_bar, say, title_line
from pagekin.cli.evaluate import number_cell, open_directory

SYMBOLS = {"same class": "#", "sibling": "+", "cousin": "-", "distant cousin": "~", "unrelated": "."}
STRIP = 60
_COLUMN = 60
_BETWEEN = "   "
_PLACES = 12
_NAME = 24
_LINE = 79
_TURNING = frozenset("LRE RLE PDF LRO RLO LRI RLI FSI PDI".split())


@app.command("explain-gamma")
def explain_gamma(
    collection: options.Collection,
    url: Annotated[str, typer.Argument(metavar="URL", help="The source: a page of the collection and the directory.")],
    directory: options.DirectoryName,
    strategies: options.Strategies = "",
    figures: options.Figures = False,
    depth: options.Depth = 3,
    mode: options.Mode = "lenient",
    classes: options.Classes = "primary",
    loose: options.Loose = False,
    directory_pages: options.OwnPages = None,
    k: Annotated[int, typer.Option("-k", min=1, max=10_000, help="How many pages of each ordering to show.")] = 10,
    workers: options.Threads = 0,
    as_json: options.AsJson = False,
) -> None:
    """Show what strategies make of one page.

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
    """How the pages of an explanation are shown, to programs and to people."""

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

    def ranked(self, one: "evaluation.SourceJudgement", document: int) -> dict[str, Any]:
        """Return a page with its place in an ordering, 0 if it has none."""
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
        """Return at which places of an ordering the pages of the source's class stand."""
        distance = self.done.distance
        places = [place for place, level in enumerate(distance[one.order].tolist(), 1) if level == 0]
        return {"places": places, "nothing_in_common": int((distance == 0).sum()) - len(places)}


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
        "ordering": [view.ranked(one, document) for document in one.order[:k].tolist()],
        "discordant": [
            {
                "far": {**view.ranked(one, miss.far), "terms": list(miss.far_terms)},
                "near": {**view.ranked(one, miss.near), "terms": list(miss.near_terms)},
            }
            for miss in view.done.misses[one.name]
        ],
    }


# -- for people ---------------------------------------------------------------------------------------------------------


def print_explanation(view: SourceView, k: int, width: int) -> None:
    """Print the source, all strategies in short, and the best and the worst in full: side by side if there is room."""
    from rich.cells import set_cell_size

    done, tree = view.done, view.done.directory
    about = view.document(done.source)
    say(f"{title_line(about['title'])}\n{about['url']}")
    for path in about["classes"]:
        say(path)
    others = ", ".join(f"{count:,} {name} {SYMBOLS[name]}" for name, count in view.relations().items())
    say(f"\n{tree.facts['pages'] - 1:,} other pages in {tree.name} (depth {tree.depth}, {tree.mode}, {tree.choice}):")
    say(f"{others}\n")
    _print_strategies(done)
    wide = width >= 2 * _COLUMN + len(_BETWEEN)
    column = min((width - len(_BETWEEN)) // 2 if wide else max(width, _COLUMN), 110)
    chosen = [("best", done.best)] + ([("worst", done.worst)] if done.worst is not done.best else [])
    orderings = [_sections(view, which, one, k, column) for which, one in chosen]
    if wide and len(orderings) > 1:
        for both in zip(*orderings, strict=True):
            for left, right in zip_longest(*both, fillvalue=""):
                say(f"{set_cell_size(left, column)}{_BETWEEN}{right}".rstrip())
            say()
        return
    for sections in orderings:
        for section in sections:
            say("\n".join([*section, ""]))


def _print_strategies(done: "evaluation.SourceExplanation") -> None:
    """Print a line for each strategy, the best first."""
    if done.region == "siblings":
        say("Strategies by this page's Γ among siblings (same class against sibling classes):")
    else:
        say("Its class or its sibling classes have no other page. Strategies by overall Γ:")
    width = min(max(len(one.name) for one in done.judgements), _NAME)
    say(f"{'':<7}{'':<{width}}  siblings  cousins  unrelated  overall    D {_SHORT[done.region]}  tied")
    for one in done.judgements:
        mark = "best" if one is done.best else "worst" if one is done.worst else ""
        gammas = [number_cell(one.regions[region].gamma) for region in ("siblings", "cousins", "unrelated", "overall")]
        agreed = one.regions[done.region]
        say(f"{mark:<7}{_cut(one.name, width):<{width}}  {gammas[0]:>8}  {gammas[1]:>7}  {gammas[2]:>9}  {gammas[3]:>7}"
            f"  {number_cell(agreed.somers_d):>7}  {_tied(agreed):>4}")  # fmt: skip
    most = max(done.judgements, key=lambda one: one.regions[done.region].somers_d)
    if most.regions[done.region].somers_d > done.best.regions[done.region].somers_d:
        say(f"With ties counted as undecided (Somers' D), '{most.name}' is the best.")
    if done.sparse:
        named = ", ".join(f"{one.name} ({_tied(one.regions[done.region])})" for one in done.sparse)
        for line in textwrap.wrap(f"Neither best nor worst, for most of its pairs are tied: {named}.", _LINE):
            say(line)
    say()


_SHORT = {"siblings": "sib.", "overall": "all "}


def _sections(view: SourceView, which: str, one: "evaluation.SourceJudgement", k: int, width: int) -> list[list[str]]:
    """Return an ordering as four parts: agreement, strip, first pages, discordant pairs; no line is longer than `width`."""
    done = view.done
    agreement = [f"{which.capitalize() if done.worst is not done.best else 'Only'}: {one.name}"]
    agreement.append(f"{'':<9} {'Γ':>6} {'D':>6}  {'concordant':>11} {'discordant':>11} {'tied':>11}")
    for region in ("siblings", "cousins", "unrelated", "overall"):
        agreed = one.regions[region]
        agreement.append(f"{region:<9} {number_cell(agreed.gamma):>6} {number_cell(agreed.somers_d):>6}  "
                         f"{agreed.concordant:>11,} {agreed.discordant:>11,} {agreed.tied:>11,}")  # fmt: skip
    strip = [
        view.strip(one) or "(no page has anything in common with it)",
        *textwrap.wrap(_describe_places(view.places(one), len(one.order)), width),
    ]
    first = []
    for document in one.order[:k].tolist():
        about = view.ranked(one, document)
        first.append(f"{about['place']:>4}  {about['similarity']:.3f}  {about['relation']:<10}  {_name(about)}")
        first.append(f"{'':>13}{about['classes'][0]}")
    discordant = ["Discordant, for example:" if done.misses[one.name] else "No discordant pair to show."]
    for miss in done.misses[one.name]:
        for document, terms, than in ((miss.far, miss.far_terms, ""), (miss.near, miss.near_terms, "before ")):
            about = view.ranked(one, document)
            at = f"place {about['place']:,}, {about['similarity']:.3f}" if about["place"] else "nothing in common"
            tail = f" ({about['relation']}; {at})"
            discordant.append(f"  {than}{_cut(_name(about), width - 2 - len(than) - len(tail))}{tail}")
            if terms:
                discordant.append(f"    shares {', '.join(map(_shorten_term, terms))}")
    return [[_cut(line, width) for line in part] for part in (agreement, strip, first, discordant)]


def _shorten_term(term: str) -> str:
    """Return a word as it is, and the end of a page's address: links are terms, too."""
    return f".../{term.rstrip('/').rpartition('/')[2]}" if "://" in term else term


def _name(about: dict[str, Any]) -> str:
    """Return a page's title or address; what `say` does not print becomes a sign that takes one cell."""
    name = title_line(about["title"]) if about["title"] else about["url"]
    return "".join("�" if category(sign) in ("Cc", "Cs") or bidirectional(sign) in _TURNING else sign for sign in name)


def _describe_places(where: dict[str, Any], of: int) -> str:
    """Return a sentence that says where the pages of the same class stand in an ordering of so many."""
    places, nothing = where["places"], where["nothing_in_common"]
    if not places and not nothing:
        return "No other page is in its class."
    first = [f"{place:,}" for place in places[:_PLACES]]
    if len(places) > _PLACES:
        first += ["...", f"{places[-1]:,}"]
    sentence = f"Its class at places {', '.join(first)} of {of:,}" if places else ""
    half = (len(places) + nothing + 1) // 2
    if len(places) >= max(half, _PLACES):
        sentence += f"; half of it in the first {places[half - 1]:,}"
    if nothing:
        sentence += f"{'; ' if sentence else ''}{nothing:,} of its class with nothing in common"
    return f"{sentence}."


def _tied(agreed: "evaluation.SourceAgreement") -> str:
    return f"{agreed.tied / agreed.pairs:.0%}"


def _cut(text: str, width: int) -> str:
    """Return a text, cut to `width` cells of a terminal."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= width else set_cell_size(text, max(width - 3, 0)).rstrip() + "..."
