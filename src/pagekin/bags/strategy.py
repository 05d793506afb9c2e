"""Strategies: how a page is represented, with every choice of section 3 of the 2002 paper."""

import hashlib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from pagekin.bags.settings import change_settings, list_settings, number, one_of, read_assignments, switch, toml_value
from pagekin.errors import PagekinError


class StrategyError(PagekinError, ValueError):
    """A setting that is unknown, not allowed, or at odds with another; the message lists what is allowed."""

    fault = "usage"


PAPER_CENTRE = 100 / 51_469
"""Where nmdf has its centre. The paper does not say; its Figure 8 runs from df 1 to 10,000, of which we take the middle,
100, for its 51,469 bags, and move it in proportion."""


PAPER_SIGMA = math.log(10)
"""The width that we take for the paper's nmdf: a power of ten."""


@dataclass(frozen=True)
class Content:
    """The page's own running text and alt texts."""

    scale: float = number(1.0, "weight of a word of the page's own text; 0 leaves the text out", 0, 1000)
    lead: float = number(
        120.0, "the first words and links of a page count most: after n words 1 / (1 + n / lead)^2; 0 counts all alike",
        0, 1_000_000,
    )  # fmt: skip
    furniture: float = number(
        0.2, "links to a page that this share of its host's pages link to are left out with their words; 1 keeps all",
        0, 1,
    )  # fmt: skip


@dataclass(frozen=True)
class Title:
    """The page's title, counted once."""

    scale: float = number(1.0, "weight of a word of the title; 0 leaves the title out", 0, 1000)


@dataclass(frozen=True)
class Anchors:
    """The words of the links that lead to the page, and the words around them."""

    scale: float = number(0.2, "weight of a word in or around a link to the page; 0 leaves them out", 0, 1000)
    repeat: str = one_of("once", "links that count: one per citing host and link text, or every one of them", "every")
    within_site: bool = switch(True, "whether links inside a site count, in every part of the bag")
    listing: float = number(
        0.2, "links of pages that link to this share of their host's pages, and of alphabetical indexes, do not count; 1: all do",
        0, 1,
    )  # fmt: skip


@dataclass(frozen=True)
class Links:
    """The pages that link to the page, each as a term of its own."""

    scale: float = number(0.0, "weight of a citing page; 0 leaves citing pages out", 0, 1000)


@dataclass(frozen=True)
class Outlinks:
    """The pages that the page links to, each as a term of its own."""

    scale: float = number(2.0, "weight of a page that the page links to; 0 leaves them out", 0, 1000)


@dataclass(frozen=True)
class Window:
    """How far the words around a link reach."""

    kind: str = one_of("basic", "where a window ends besides its size", "syntactic", "topical")
    size: int = number(32, "kept words on each side of the link, at most", 0, 1000)


@dataclass(frozen=True)
class Weight:
    """How occurrences become weights."""

    distance: str = one_of("none", "weight by distance d from the link: none, or log2(32 / (1 + d))", "log")
    frequency: str = one_of("nmdf", "weight by the number df of bags that hold the term", "none", "log", "sqrt")
    level: float = number(
        0.5, "centre of nmdf on the logarithmic scale from 1 bag (0) to all bags (1): such terms weigh most", 0, 1
    )
    centre: float | None = number(None, "centre of nmdf as a share of all bags, in place of weight.level", 0, 1)
    mu: float | None = number(None, "centre of nmdf as ln df, in place of both", -50, 50)
    sigma: float = number(1.8, "width of nmdf, in units of ln df", 0.01, 50)
    tf: str = one_of(
        "log", "scaling of a term's summed weight in a bag: 1 + log2 above 1, as it is (raw), or root", "raw", "sqrt"
    )


_UNITS_BEFORE_THE_SETTING = 1_000
_LISTING_BEFORE_THE_SETTING = 1.0


@dataclass(frozen=True)
class Signature:
    """How bags are signed and found again (section 6)."""

    maker: str = one_of("darts", "signatures of real weights (darts), or of integer counts as in 2002 (paper)", "paper")
    m: int = number(192, "values per signature", 8, 4096)
    units: int = number(
        32_000, "equal parts into which `paper` divides a bag; with fewer, long bags lose terms", 100, 1_000_000
    )
    seed: int = number(1, "seed of all hash functions", 0, 2**31 - 1)
    alpha: float = number(0.0, "answers have a similarity above this, unless a query says otherwise", 0, 1)
    min_inlinks: int = number(
        0, "pages with fewer links from other pages can be asked about but are no answers", 0, 1_000_000
    )


@dataclass(frozen=True)
class Signals:
    """The weight of each signal in the ranking of related pages; no index depends on them."""

    bag: float = number(0.15, "weight of the weighted Jaccard similarity of the whole bags", 0, 1000)
    tfidf: float = number(0.25, "weight of the TF-IDF cosine of the pages' own words", 0, 1000)
    containment: float = number(0.14, "weight of how much of the page's words the other holds (BM25)", 0, 1000)
    title: float = number(0.1, "weight of each page's title among the other's words", 0, 1000)
    links: float = number(0.11, "weight of links from one to the other", 0, 1000)
    cocitation: float = number(0.14, "weight of the pages that link to both", 0, 1000)
    coupling: float = number(0.11, "weight of the pages that both link to", 0, 1000)

    def weights(self) -> tuple[float, ...]:
        """Return the weights in the order of the fields."""
        return tuple(getattr(self, one.name) for one in fields(self))


BAG_ALONE = Signals(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""The order of the 2002 paper."""
WISHES = {
    "kin": Signals(0.75, 0.05, 0.0, 0.05, 0.0, 0.1, 0.05),
    "see-also": Signals(0.1, 0.25, 0.17, 0.1, 0.2, 0.1, 0.08),
}
"""Weights for pages of the same kind and subject, and for pages that an author would link to. These and the weights of
`Signals` were chosen on the learning half of benchmarks/related_truth.py: docs/benchmarks.md."""


@dataclass(frozen=True)
class Strategy:
    """One representation of pages, and the index made of it. Equal strategies make equal indexes."""

    name: str = "default"
    words: str = one_of(
        "mixed",
        "words that count: with a letter (mixed), any, or their letters alone as in 2002 (letters)",
        "all",
        "letters",
    )
    stemming: str = one_of(
        "nostem", "words as they are (nostem), stems for the stop list alone (stopstem), or stems", "stopstem", "stem"
    )
    metric: str = one_of("jaccard", "similarity of two bags; an index needs jaccard", "cosine")
    wish: str = one_of(
        "both", "what the weights of the signals are for: pages of the same kind (kin), pages worth a link (see-also), or both",
        *WISHES,
    )  # fmt: skip
    content: Content = field(default_factory=Content)
    title: Title = field(default_factory=Title)
    anchors: Anchors = field(default_factory=Anchors)
    links: Links = field(default_factory=Links)
    outlinks: Outlinks = field(default_factory=Outlinks)
    window: Window = field(default_factory=Window)
    weight: Weight = field(default_factory=Weight)
    signature: Signature = field(default_factory=Signature)
    signals: Signals = field(default_factory=Signals)

    def __post_init__(self) -> None:
        kinds = ("content", "title", "anchors", "links", "outlinks")
        if not any(getattr(self, kind).scale for kind in kinds):
            named = ", ".join(f"{kind}.scale" for kind in kinds[:-1])
            raise StrategyError(f"the strategy leaves everything out: {named} and {kinds[-1]}.scale are all 0")
        if self.weight.frequency != "nmdf" and self.weight.mu is not None:
            raise StrategyError(f"weight.mu belongs to weight.frequency = 'nmdf', which is '{self.weight.frequency}'")
        if not any(self.signals.weights()):
            raise StrategyError("the strategy leaves out all signals: one of them must have a weight above 0")

    def as_dict(self) -> dict[str, Any]:
        """Return the strategy as plain values, nested as in TOML, without settings that are unset."""
        return {
            name: {key: item for key, item in value.items() if item is not None} if isinstance(value, dict) else value
            for name, value in asdict(self).items()
        }

    def as_toml(self) -> str:
        """Return the strategy as the text of a TOML file."""
        plain = self.as_dict()
        lines = [f"{name} = {toml_value(value)}" for name, value in plain.items() if not isinstance(value, dict)]
        for name, table in plain.items():
            if isinstance(table, dict):
                lines += ["", f"[{name}]", *(f"{key} = {toml_value(value)}" for key, value in table.items())]
        return "\n".join(lines) + "\n"

    def digest(self) -> str:
        """Return a short hash that is the same for equal indexes, whatever the strategy is called and the signals weigh."""
        plain = {key: value for key, value in self.as_dict().items() if key not in ("name", "wish", "signals")}
        if self.signature.maker != "paper" or self.signature.units == _UNITS_BEFORE_THE_SETTING:
            del plain["signature"]["units"]  # it has no effect, or its value from before it could be set
        if self.anchors.listing == _LISTING_BEFORE_THE_SETTING:
            del plain["anchors"]["listing"]
        return hashlib.blake2b(json.dumps(plain, sort_keys=True).encode(), digest_size=8).hexdigest()

    def signals_for(self, wish: str) -> Signals:
        """Return the weights of the signals for a wish; '' means the strategy's own wish.

        A strategy that has weights for the wish keeps them, and one that goes by bags alone does so whatever is wished.
        """
        if wish in ("", self.wish) or self.signals == BAG_ALONE:
            return self.signals
        return WISHES[wish] if wish in WISHES else Signals()

    def with_settings(self, settings: Mapping[str, Any]) -> "Strategy":
        """Return a copy of the strategy with some settings changed, given by dotted name."""
        base = replace(self, name=str(settings.get("name", self.name)))
        if "weight.level" in settings:  # in whose place the others would stand
            base = replace(base, weight=replace(self.weight, centre=None, mu=None))
        changes = {name: value for name, value in settings.items() if name != "name"}
        return change_settings(base, changes, StrategyError)


def setting_value(strategy: Strategy, name: str) -> Any:
    """Return the value of a setting, given by dotted name."""
    table, _dot, item = name.rpartition(".")
    return getattr(getattr(strategy, table) if table else strategy, item)


HAVELIWALA2002 = Strategy(
    name="haveliwala2002",
    words="letters",
    stemming="stem",
    content=Content(lead=0.0, furniture=1.0),
    title=Title(scale=1.0),
    anchors=Anchors(scale=1.0, repeat="every", listing=1.0),
    outlinks=Outlinks(scale=0.0),
    weight=Weight(distance="log", centre=PAPER_CENTRE, sigma=PAPER_SIGMA, tf="raw"),
    signature=Signature(maker="paper", m=80, alpha=0.15),
    signals=BAG_ALONE,
)
"""Size-32 windows, distance weights, NMDF, stems, content included (section 7): what the paper ran at scale."""

PRESETS = {"default": Strategy(), "haveliwala2002": HAVELIWALA2002}


def preset_strategy(name: str) -> Strategy:
    """Return the preset of this name; raise StrategyError if there is none."""
    try:
        return PRESETS[name]
    except KeyError:
        raise StrategyError(f"there is no preset '{name}'. Presets are {', '.join(PRESETS)}") from None


def strategy_from_dict(plain: Mapping[str, Any]) -> Strategy:
    """Make a strategy from nested plain values; missing settings are those of its preset, or the defaults."""
    flat: dict[str, Any] = {}
    tables = {table for _name, table, _item in list_settings(Strategy) if table}
    for name, value in plain.items():
        if isinstance(value, Mapping):
            if name not in tables:
                raise StrategyError(f"there is no table [{name}]. Tables are {', '.join(sorted(tables))}")
            flat |= {f"{name}.{key}": item for key, item in value.items()}
        elif name != "preset":
            flat[name] = value
    start = preset_strategy(str(plain["preset"])) if "preset" in plain else Strategy(name="unnamed")
    return start.with_settings(flat)


def strategy_of_index(facts: Mapping[str, Any]) -> Strategy:
    """Return the strategy that an index was made by, given the manifest's facts about the index.

    Indexes that say nothing about the units of `paper` have 1,000, and those that say nothing about pages that only list have
    none: these were no settings then.
    """
    plain = facts["strategy"]
    anchors = {"listing": _LISTING_BEFORE_THE_SETTING, **plain.get("anchors", {})}
    signature = plain.get("signature", {})
    if signature.get("maker") == "paper":
        signature = {"units": _UNITS_BEFORE_THE_SETTING, **signature}
    return strategy_from_dict({**plain, "anchors": anchors, "signature": signature})


def load_strategy(path: str | Path) -> Strategy:
    """Load a strategy from a TOML file; a `preset` in it says where to start from."""
    file = Path(path)
    try:
        plain = tomllib.loads(file.read_text(encoding="utf-8-sig"))
        strategy = strategy_from_dict(plain)
    except OSError as error:
        raise StrategyError(f"{file} cannot be read: {error.strerror}") from None
    except StrategyError as error:
        raise StrategyError(f"{file}: {error}") from None
    except UnicodeDecodeError:
        raise StrategyError(f"{file} is no TOML file: it is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:  # numbers and nesting without end raise no TOMLDecodeError
        raise StrategyError(f"{file} is no TOML file: {error}") from None
    return strategy if "name" in plain else replace(strategy, name=file.stem)


def choose_strategy(preset_name: str = "", file: str = "", settings: Iterable[str] = ()) -> Strategy:
    """Return the strategy that a command line asks for: a preset or a file, then NAME=VALUE settings."""
    if preset_name and file:
        raise StrategyError(
            "give a preset or a strategy file, not both; a file can start from a preset by preset = 'NAME'"
        )
    strategy = load_strategy(file) if file else preset_strategy(preset_name or "default")
    return strategy.with_settings(read_assignments(settings, "window.size=16", StrategyError))
