"""The settings of clusters, with every choice that the 1996 paper leaves open."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, astuple, dataclass, field
from typing import Any

from pagekin.bags import change_settings, check_settings, number, one_of, read_assignments
from pagekin.errors import PagekinError

_MOST = 1_000_000
_PAPER_ONLY = ("similarity", "combine", "links")


class ClusterError(PagekinError, ValueError):
    """Clusters that cannot be made; the message says why and what to do."""


@dataclass(frozen=True)
class LinkSettings:
    """Weights and limits of the similarity by links.

    Common ancestors and descendants stay below 1/3 and direct paths reach 1, so with equal weights paths dominate.
    With L levels, S^anc and S^dsc are too small by at most 4^-L / 3: 0.0013 for 4.
    """

    ancestors: float = number(1 / 3, "W_a, the weight of common ancestors (equation 5)", 0, _MOST)
    descendants: float = number(1 / 3, "W_d, the weight of common descendants", 0, _MOST)
    paths: float = number(1 / 3, "W_s, the weight of direct paths", 0, _MOST)
    levels: int | None = number(
        4, "ancestors and descendants farther than this many links from both pages are ignored; `none` takes all", 1, _MOST,
        none=True,
    )  # fmt: skip
    normalise: str = one_of(
        "union", "an ancestor's weight is divided by their number on its level: those of either page (union) or of both (common)",
        "common",
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_settings(self, "links", ClusterError)


@dataclass(frozen=True)
class TermSettings:
    """w^at: the weight of a word under each attribute, in the order of the attributes' bits; 0 leaves the attribute out."""

    title: float = number(10.0, "weight of a word of the title (w^at of equation 8)", 0, _MOST)
    header: float = number(5.0, "weight of a word of a heading", 0, _MOST)
    keyword: float = number(5.0, "weight of a keyword or an emphasised word", 0, _MOST)
    address: float = number(5.0, "weight of a word in <address>", 0, _MOST)
    alt: float = number(1.0, "weight of a word of an image's alt text", 0, _MOST)
    text: float = number(1.0, "weight of a word of the text", 0, _MOST)

    def __post_init__(self) -> None:
        check_settings(self, "terms", ClusterError)
        if not any(astuple(self)):
            raise ClusterError("the weights of all attributes are 0: at least one must be positive")


@dataclass(frozen=True)
class ClusterSettings:
    """How pages are put into clusters: the same value for builds, `pagekin cluster`, networks and Python."""

    method: str = field(default="default", metadata={"allowed": ("default", "hypursuit1996")})
    """default, or hypursuit1996: complete link over the similarity of terms and links."""
    max_clusters: int = number(30, "maximum number of clusters", 1, _MOST)
    similarity: str = one_of("hybrid", "what makes pages similar", "terms", "links")
    combine: str = one_of(
        "max", "F, which combines the similarities by terms and by links (equation 1)", "mean", "product", "min"
    )
    seed: int = number(1, "seed of the default method", 0, 2**53)
    sample: int = number(
        30_000, "in a larger collection the default method clusters and names this many pages; the others join them", 2, 2**31
    )  # fmt: skip
    links: LinkSettings = field(default_factory=LinkSettings)
    terms: TermSettings = field(default_factory=TermSettings)
    """Weights in the similarity of 1996, and in the content label whatever the method."""

    def __post_init__(self) -> None:
        check_settings(self, "", ClusterError)

    def with_settings(self, settings: Mapping[str, Any]) -> "ClusterSettings":
        """Return a copy with some settings, given by dotted name and perhaps as text, changed."""
        return change_settings(self, settings, ClusterError)

    def as_facts(self) -> dict[str, Any]:
        """Return what the manifest records: the settings that have an effect with this method."""
        facts: dict[str, Any] = {"method": self.method, "max_clusters": self.max_clusters}
        if self.method == "default":
            facts |= {"seed": self.seed, "sample": self.sample}
        else:
            facts |= {"similarity": self.similarity, "combine": self.combine, "links": asdict(self.links)}
        return facts | {"terms": asdict(self.terms)}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> "ClusterSettings":
        """Return settings with the effect of those that a manifest records."""
        plain = ("method", "max_clusters", "similarity", "combine", "seed", "sample")
        tables = {"links": LinkSettings, "terms": TermSettings}
        return cls(
            **{name: facts[name] for name in plain if name in facts},
            **{name: table(**facts[name]) for name, table in tables.items() if name in facts},
        )


def choose_clusters(preset: str = "", settings: Iterable[str] = (), **chosen: Any) -> ClusterSettings:
    """Return the settings of a command line: a preset, NAME=VALUE settings, and options that have a name of their own.

    Without a preset, a setting that only the paper's method knows chooses that method.
    """
    changes: dict[str, Any] = dict(read_assignments(settings, "links.paths=0", ClusterError))
    changes |= {name: value for name, value in chosen.items() if value is not None}
    papers = [name for name in changes if name.partition(".")[0] in _PAPER_ONLY]
    method = preset or ("hypursuit1996" if papers else "default")
    if method == "default" and papers:
        raise ClusterError(f"{papers[0]} needs the preset hypursuit1996")
    return ClusterSettings(method).with_settings(changes)
