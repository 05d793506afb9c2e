"""The work of `pagekin network init`: build leaves from web archives, and write the file with the routers above them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pagekin import routers
from pagekin.clusters import MOST_PAGES, ClusterSettings
from pagekin.engines import LEAVES, Census, LeafBuilder, LeafPlan, LeafSite, LeavesError, lock_folder
from pagekin.labels import read_label
from pagekin.sources import Limits, plan_units
from pagekin.store import Progress, fresh_file, no_progress, open_kin

BY = ("dns", "directory", "clusters")


class WrongPlanError(routers.NetworkError):
    """Options that contradict each other; the message says which."""

    fault = "usage"


@dataclass(frozen=True)
class NetworkPlan:
    """The options of `init_network`."""

    by: tuple[str, ...] = ("dns",)
    """dns, directory, clusters: a hierarchy for each."""
    directory: Path | None = None
    """A table of addresses and classes, for the hierarchy `directory`."""
    name: str = ""
    min_pages: int = 3
    clusters: ClusterSettings = field(default_factory=ClusterSettings)
    """How the clusters of each site are made; small sites have fewer of them."""
    host: str = "127.0.0.1"
    port: int = 8700
    one_port: bool = True
    processes: int = 1
    replace: bool = False
    """Replace a network file that is there."""
    base_urls: Mapping[str, str] = field(default_factory=dict)
    base_url: str = ""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for one in self.by:
            if one not in BY:
                raise WrongPlanError(f"--by is one of {', '.join(BY)}; not '{one}'")
        if len(set(self.by)) < len(self.by) or not self.by:
            raise WrongPlanError("--by names each hierarchy once, and at least one")
        if ("directory" in self.by) != (self.directory is not None):
            raise WrongPlanError("--by directory and --directory FILE go together")
        if self.min_pages < 1 or self.processes < 1 or not 0 < self.port < 65536:
            raise WrongPlanError("pages and processes are at least 1, and a port is below 65,536")


@dataclass
class NetworkReport:
    """Facts about a network that was made."""

    network: routers.Network
    pages: dict[str, int]
    """Pages of each site."""
    kept: int = 0
    """Leaves that were whole already."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Leaves that could not be built, and why."""
    skipped: dict[str, int] = field(default_factory=dict)
    """Records of the sources that are no pages, by reason."""
    listed: int = 0
    """Pages that the directory lists."""
    unused: list[str] = field(default_factory=list)
    """Collections in the folder that the network does not name: of an earlier one."""
    seconds: dict[str, float] = field(default_factory=dict)


def init_network(
    sources: Sequence[str], out: Path, plan: NetworkPlan, progress: Progress = no_progress
) -> NetworkReport:
    """Divide the pages of all sources into leaves, build these, and write the network file.

    NetworkError if nothing can be made of it; SourceError and DirectoryError for what cannot be read.
    """
    file = out / routers.NETWORK_FILE
    if file.exists() and not plan.replace:
        raise routers.NetworkError(
            f"{file} exists already. Name another folder, or give --replace: unchanged leaves are kept, and the file is "
            "overwritten."
        )
    units = plan_units(sources, dict(plan.base_urls), plan.base_url)
    try:
        with lock_folder(out, (routers.NETWORK_FILE, f".{routers.NETWORK_FILE}.unfinished")):
            leaves = LeafPlan(plan.min_pages, plan.directory, plan.clusters, plan.processes, plan.limits)
            return _make_network(LeafBuilder(units, out, leaves, progress), out, plan)
    except LeavesError as error:
        raise routers.NetworkError(str(error)) from None


def _make_network(builder: LeafBuilder, out: Path, plan: NetworkPlan) -> NetworkReport:
    """Build the leaves and write the network file."""
    census, clock = builder.census, builder.clock
    groups = _group_leaves(census, plan)
    built = builder.build(LeafSite(group.name, group.file, group.hosts, group.pages) for group in groups)
    groups = [replace(group, pages=built.pages[group.file]) for group in groups if group.file in built.pages]
    clock.tell("routers", 0.0)
    trees = [_make_hierarchy(by, groups, census, out) for by in plan.by]
    name = plan.name or out.resolve().name
    network = routers.make_network(name, groups, trees, plan.host, plan.port, plan.one_port, LEAVES)
    with fresh_file(out / routers.NETWORK_FILE, durable=True) as file:
        file.write(network.to_toml().encode("utf-8", "replace"))
    builder.finish()
    clock.tell("routers", 1.0)
    network = routers.Network.load(out / routers.NETWORK_FILE)
    pages = {f"{LEAVES}/{group.file}.kin": group.pages for group in groups}
    return NetworkReport(
        network,
        {node.name: pages[node.collection.as_posix()] for node in network.nodes if node.collection},
        built.kept,
        built.left_out,
        dict(census.skipped),
        sum(sum(counts.values()) for counts in census.classes.values()),
        sorted(kin.name for kin in (out / LEAVES).glob("*.kin") if f"{LEAVES}/{kin.name}" not in pages),
        clock.seconds,
    )


def _group_leaves(census: Census, plan: NetworkPlan) -> list[routers.SiteGroup]:
    """Group hosts into leaves; raise a NetworkError if they make no network."""
    groups = routers.group_hosts(census.hosts, plan.min_pages)
    if not groups:
        skipped = ", ".join(f"{count:,} {reason}" for reason, count in Counter(census.skipped).most_common())
        raise routers.NetworkError(
            f"no page was found; a page is HTML with status 200. Skipped: {skipped or 'nothing'}."
        )
    largest = max(groups, key=lambda group: group.pages)
    if plan.clusters.method != "default" and largest.pages > MOST_PAGES:
        raise routers.NetworkError(
            f"{largest.name} has {largest.pages:,} pages; the method {plan.clusters.method} takes {MOST_PAGES:,} at most. "
            "Use the default method."
        )
    routers.check_ports(len(groups) + 1, plan.port, plan.one_port)
    if plan.directory is not None and not census.classes:
        raise routers.NetworkError(f"{plan.directory} lists none of the pages: are its addresses spelled like theirs?")
    return groups


def _make_hierarchy(by: str, groups: Sequence[routers.SiteGroup], census: Census, out: Path) -> routers.Hierarchy:
    """Make the routers above the leaves: by domain names, by the classes of listed pages, or by labels."""
    if by == "dns":
        return routers.dns_tree(groups)
    if by == "directory":
        return routers.directory_tree({
            group.file: sum((Counter(census.classes.get(host, {})) for host in group.hosts), Counter()) for group in groups
        })  # fmt: skip
    labels = {group.file: read_label(open_kin(out / LEAVES / f"{group.file}.kin")) for group in groups}
    return routers.cluster_tree({file: label for file, label in labels.items() if label is not None})
