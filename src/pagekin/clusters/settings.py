"""How clusters are made: every choice of the 1996 paper that is open, as one value."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple, dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, Self, get_args

from pagekin.errors import PagekinError

METHODS = ("default", "hypursuit1996")
SIMILARITIES = ("hybrid", "terms", "links")
COMBINATIONS = ("max", "mean", "product", "min")
"""What F of equation 1 may be; the paper's is max."""
Normalise = Literal["union", "common"]
_PAPER_ONLY = ("similarity", "combine", "links")


class ClusterError(PagekinError, ValueError):
    """Clusters that cannot be made; the message says why and what to do."""


def _setting(default: Any, help_text: str) -> Any:
    return field(default=default, metadata={"help": help_text})


@dataclass(frozen=True)
class LinkSettings:
    """What counts in the similarity by links, and how much.

    Common ancestors and descendants stay below 1/3 and direct paths reach 1, so with equal weights paths dominate.
    With L levels, S^anc and S^dsc are too small by at most 4^-L / 3: 0.0013 for 4.
    """

    ancestors: float = _setting(1 / 3, "W_a, the weight of common ancestors (equation 5)")
    descendants: float = _setting(1 / 3, "W_d, the weight of common descendants")
    paths: float = _setting(1 / 3, "W_s, the weight of direct paths")
    levels: int | None = _setting(
        4, "ancestors and descendants more than so many links from both pages are left out; `none` takes all"
    )
    normalise: Literal["union", "common"] = _setting(
        "union",
        "an ancestor counts by one over those on its level: ancestors of either page (union), or of both (common)",
    )

    def __post_init__(self) -> None:
        weights = {"ancestors": self.ancestors, "descendants": self.descendants, "paths": self.paths}
        for name, weight in weights.items():
            if not 0 <= weight < math.inf:
                raise ClusterError(f"the weight of {name} is {weight}; it has to be 0 or more")
        if self.levels is not None and self.levels < 1:
            raise ClusterError(f"levels = {self.levels}; it has to be 1 or more, or None for no limit")
        if self.normalise not in get_args(Normalise):
            raise ClusterError(f"normalise = {self.normalise!r}; it has to be 'union' or 'common'")


@dataclass(frozen=True)
class TermSettings:
    """w^at: how much a word weighs under each attribute; 0 leaves the attribute out. In the order of the attributes' bits."""

    title: float = _setting(10.0, "weight of a word of the title (w^at of equation 8)")
    header: float = _setting(5.0, "weight of a word of a heading")
    keyword: float = _setting(5.0, "weight of a keyword, or of a word that is emphasised")
    address: float = _setting(5.0, "weight of a word in <address>")
    alt: float = _setting(1.0, "weight of a word that stands for an image")
    text: float = _setting(1.0, "weight of a word of the text")

    def __post_init__(self) -> None:
        for name, factor in asdict(self).items():
            if not (math.isfinite(factor) and factor >= 0):
                raise ClusterError(f"the factor of {name} words is {factor}: it must be 0 or more")
        if not any(astuple(self)):
            raise ClusterError("the factors of all attributes are 0: at least one must be more")


@dataclass(frozen=True)
class ClusterSettings:
    """How pages are put into clusters: the same value for builds, `pagekin cluster`, networks and Python."""

    method: str = "default"
    """default, or hypursuit1996: complete link over the similarity of terms and links."""
    max_clusters: int = _setting(30, "clusters, at most")
    similarity: str = _setting("hybrid", f"what makes pages similar: {', '.join(SIMILARITIES)}")
    combine: str = _setting("max", f"F, which joins terms and links: {', '.join(COMBINATIONS)}")
    seed: int = _setting(1, "seed of the default method")
    links: LinkSettings = field(default_factory=LinkSettings)
    terms: TermSettings = field(default_factory=TermSettings)
    """Weights in the similarity of 1996, and in the content label whatever the method."""

    def __post_init__(self) -> None:
        for name, allowed in (("method", METHODS), ("similarity", SIMILARITIES), ("combine", COMBINATIONS)):
            if getattr(self, name) not in allowed:
                raise ClusterError(f"{name} is one of {', '.join(allowed)}; not '{getattr(self, name)}'")
        if self.max_clusters < 1 or self.seed < 0:
            raise ClusterError("max_clusters is at least 1, and a seed at least 0")

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """Return a copy with some settings, given by dotted name and perhaps as text, changed."""
        known = {name: item for name, _table, item in _all_settings()}
        tables: dict[str, dict[str, Any]] = {}
        for name, value in settings.items():
            if name not in known:
                raise ClusterError(f"there is no setting '{name}' of clusters. Settings are {', '.join(known)}")
            table, _dot, item = name.rpartition(".")
            tables.setdefault(table, {})[item] = _parse(name, known[name].default, value)
        changed = tables.pop("", {})
        changed |= {table: replace(getattr(self, table), **items) for table, items in tables.items()}
        return replace(self, **changed)

    def as_facts(self) -> dict[str, Any]:
        """Return what the manifest records: the settings that have an effect with this method."""
        facts: dict[str, Any] = {"method": self.method, "max_clusters": self.max_clusters}
        if self.method == "default":
            facts["seed"] = self.seed
        else:
            facts |= {"similarity": self.similarity, "combine": self.combine, "links": asdict(self.links)}
        return facts | {"terms": asdict(self.terms)}


def _all_settings() -> list[tuple[str, str, Any]]:
    """Return (dotted name, table or '', dataclass field) of every setting but the method."""
    settings: list[tuple[str, str, Any]] = []
    for item in fields(ClusterSettings):
        inner = item.default_factory() if callable(item.default_factory) else None
        if is_dataclass(inner):
            settings += [(f"{item.name}.{part.name}", item.name, part) for part in fields(inner)]
        elif item.name != "method":
            settings.append((item.name, "", item))
    return settings


def cluster_settings_table() -> list[tuple[str, str, str]]:
    """Return (name, default, what it does) of every setting, for docs."""
    return [
        (name, "1/3" if item.default == 1 / 3 else json.dumps(item.default).strip('"'), item.metadata["help"])
        for name, _table, item in _all_settings()
    ]


def _parse(name: str, default: Any, value: Any) -> Any:
    """Return `value`, perhaps written as text, as the type that the setting has."""
    if isinstance(default, str):
        return value
    if name == "links.levels" and (value is None or str(value).lower() == "none"):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ClusterError(f"{name} is a number; not {value!r}") from None
    if not isinstance(default, int):
        return number
    if not number.is_integer():
        raise ClusterError(f"{name} is a whole number; not {value!r}")
    return int(number)


def choose_clusters(preset: str = "", settings: Iterable[str] = (), **chosen: Any) -> ClusterSettings:
    """Return the settings of a command line: a preset, NAME=VALUE settings, and options that have a name of their own.

    Without a preset, a setting that only the paper's method knows chooses that method.
    """
    changes: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ClusterError(f"a setting is written NAME=VALUE, for example links.paths=0; not '{setting}'")
        changes[name.strip()] = value.strip()
    changes |= {name: value for name, value in chosen.items() if value is not None}
    papers = [name for name in changes if name.partition(".")[0] in _PAPER_ONLY]
    method = preset or ("hypursuit1996" if papers else "default")
    if method == "default" and papers:
        raise ClusterError(f"{papers[0]} belongs to the preset hypursuit1996")
    return ClusterSettings(method).with_settings(changes)
