"""`pagekin network`: sites below a hierarchy of routers."""

import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin import hypertext, routers, sources, store, web
from pagekin.cli import options
from pagekin.cli.app import (
    BAD_INPUT,
    INTERRUPTED,
    USAGE,
    app,
    check_option,
    fail,
    fill_template,
    print_json,
    progress_bar,
    say,
)
from pagekin.cli.cluster import clusters_of_options
from pagekin.cli.read import parse_base_urls, round_times
from pagekin.wording import plural

network = typer.Typer(help="Sites below routers, searched as one.", no_args_is_help=True, add_completion=False)
app.add_typer(network, name="network")

NetworkFile = Annotated[Path, typer.Argument(metavar="NET", help="The network's folder, or its network.toml.")]

OtherPort = Annotated[
    int | None,
    typer.Option(
        min=1, max=65535, help="Use this port instead of the one in network.toml; all nodes here must share one."
    ),
]


@network.command()
def init(
    archives: Annotated[
        list[str],
        typer.Option(
            "--from-archive",
            metavar="SOURCE",
            help="A WARC, ARC or WACZ file, a folder of HTML, or `demo` for the demo web; repeatable.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="NET", help="The folder to write.")],
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="dns|directory|clusters",
            help="How routers group sites: by domain name (the default), by a directory, or by content; repeatable.",
        ),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Addresses and classes (TSV or CSV), for --by directory."),
    ] = None,
    name: Annotated[str, typer.Option(help="The network's name; by default that of its folder.")] = "",
    min_pages: Annotated[
        int, typer.Option(min=1, help="Minimum number of pages for a host to be a site; smaller hosts share one.")
    ] = 3,
    max_clusters: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum number of clusters of a site; small sites have fewer. [default: 30]"),
    ] = None,
    clusters_preset: options.ClustersPreset = "",
    cluster_settings: options.ClusterSetting = None,
    host: Annotated[str, typer.Option(help="The host name or address at which all nodes answer.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=1, max=65535, help="The port of all nodes; with --port-each the first one.")
    ] = 8700,
    port_each: Annotated[
        bool,
        typer.Option(
            "--port-each", help="Give each node a port instead of a path, so that several processes can run them."
        ),
    ] = False,
    _one_port: Annotated[bool, typer.Option("--one-port", hidden=True, help="As it is now by default.")] = False,
    processes: Annotated[int, typer.Option("--workers", min=0, help="Processes that build; 0 means one per core.")] = 0,
    replace: Annotated[
        bool, typer.Option("--replace", help="Overwrite an existing network file; unchanged sites are kept.")
    ] = False,
    base_url: options.BaseUrls = None,
    limit: options.Limit = None,
    as_json: options.SummaryAsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Divide web archives into sites, build them, and write a network file.

    If it is stopped, even killed, run the same command again: finished sites are kept.
    """
    from pagekin.cli.network_init import NetworkPlan, init_network

    bases = parse_base_urls(base_url or [])
    clusters = clusters_of_options(clusters_preset, cluster_settings, max_clusters=max_clusters)
    url, fault = routers.clean_node_url(f"http://{f'[{host}]' if ':' in host else host}:{port}/")
    if fault or url.count("/") > 3 or not host:
        fail(f"--host: '{host}' is not a host, such as 127.0.0.1 or search.example.org", USAGE)
    with check_option("--set-limit"):
        limits = sources.parse_limits(sources.Limits, limit or [])
    plan = NetworkPlan(
        tuple(by or ["dns"]), directory, name, min_pages, clusters, host, port, not port_each,
        processes or hypertext.default_workers(), replace, *bases, limits,
    )  # fmt: skip
    try:
        with progress_bar(quiet or as_json) as tell:
            report = init_network(archives, out, plan, tell)
    except KeyboardInterrupt:
        say("pagekin: stopped; run the same command again to continue.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        print_json(_summary(report))
    elif not quiet:
        say(fill_template("network", report=report, out=out))


def _summary(report: Any) -> dict[str, Any]:
    """Return the summary of a new network, for programs."""
    net = report.network
    return {
        "network": str(net.file),
        "name": net.name,
        "sites": [{"name": name, "pages": pages} for name, pages in report.pages.items()],
        "routers": sum(not node.leaf for node in net.nodes),
        "hierarchies": [
            {"name": root.hierarchy, "root": root.name, "url": root.url, "levels": net.level_of(root.name)}
            for root in net.roots()
        ],
        **{name: getattr(report, name) for name in ("kept", "left_out", "skipped", "listed", "unused")},
        "seconds": round_times(report.seconds),
    }


@network.command()
def show(
    path: NetworkFile,
    sites: Annotated[bool, typer.Option(help="Show sites as well as routers.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show the tree of a network: names, levels, pages and addresses."""
    net = routers.Network.load(path)
    pages = pages_below(net)
    if as_json:
        print_json({
            "name": net.name,
            "nodes": [
                {
                    "name": node.name, "kind": node.kind, "url": node.url, "level": net.level_of(node.name),
                    "parents": list(node.parents), "hierarchy": node.hierarchy, "here": node.here,
                    "sites": len(net.leaves_below(node.name)), "pages": pages[node.name],
                }
                for node in net.nodes
            ],
            "warnings": list(net.warnings),
        })  # fmt: skip
        return
    leaves = [node for node in net.nodes if node.leaf]
    here = sum(pages[leaf.name] or 0 for leaf in leaves)
    between = plural(len(net.nodes) - len(leaves), "router")
    say(f"{net.name}: {plural(len(leaves), 'site')}, {between}, {plural(here, 'page')} here")
    for root in net.roots():
        say(f"\n{root.hierarchy}")
        _print_tree(net, root, pages, sites)
    for warning in net.warnings:
        say(f"warning: {warning}", err=True)


def pages_below(net: "routers.Network") -> dict[str, int | None]:
    """Return the pages of all sites below each node; None if none of their collections is here and can be read."""
    pages: dict[str, int] = {}
    for node in net.nodes:
        if node.leaf and node.here and (path := net.collection_of(node)):
            with suppress(store.KinError, KeyError):
                pages[node.name] = int(store.open_kin(path).facts["pages"])
    leaves = {
        node.name: [leaf.name for leaf in net.leaves_below(node.name) if leaf.name in pages] for node in net.nodes
    }
    return {name: sum(pages[leaf] for leaf in some) if some else None for name, some in leaves.items()}


def _print_tree(net: "routers.Network", root: Any, pages: dict[str, int | None], sites: bool) -> None:
    """Print the tree below a root; a node with several parents appears below each."""
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        count = pages[node.name]
        about = "pages not known" if count is None else plural(count, "page")
        if not node.leaf:
            about = f"level {net.level_of(node.name)}, {plural(len(net.leaves_below(node.name)), 'site')}, {about}"
        elsewhere = "" if node.here else ", runs elsewhere"
        say(f"{'  ' * depth}{node.name}  ({about}{elsewhere})  {node.url}")
        children = [child for child in net.children_of(node.name) if sites or not child.leaf]
        waiting += ((child, depth + 1) for child in reversed(children))


@network.command()
def up(
    path: NetworkFile,
    processes: Annotated[
        int,
        typer.Option(
            "--workers", min=0, help="Processes; 0 means one per core. Nodes that share a port share a process."
        ),
    ] = 1,
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Run only these nodes; repeatable. Others run elsewhere.")
    ] = None,
    on: Annotated[str, typer.Option(metavar="HOST", help="Run only the nodes whose address has this host.")] = "",
    refresh: Annotated[float, typer.Option(min=0.5, help="Seconds between two requests for fresh labels.")] = 60.0,
    port: OtherPort = None,
    replay: options.Replay = "",
) -> None:
    """Run the routers and sites of a network until Ctrl-C."""
    net = _load_at_port(path, port)
    for warning in net.warnings:
        say(f"warning: {warning}", err=True)
    with check_option("--replay"):
        pattern = web.replay_pattern(replay)
    names = routers.choose_nodes(net, only or [], on)
    routers.run_network(net, names, processes, refresh, _tell, partial(web.web_app, "", pattern))


def _load_at_port(path: Path, port: int | None) -> "routers.Network":
    """Load a network file, with its nodes at another port if one is given."""
    net = routers.Network.load(path)
    return routers.move_to_port(net, port) if port else net


def _tell(line: str) -> None:
    """Print a line and flush it, since a reader of a pipe may be waiting for it."""
    say(line)
    sys.stdout.flush()


@network.command()
def status(
    path: NetworkFile,
    seconds: Annotated[float, typer.Option(min=0.1, max=60, help="Seconds to wait for each node.")] = 3.0,
    port: OtherPort = None,
    as_json: options.AsJson = False,
) -> None:
    """Show which nodes are up and ready, with label sizes and ages, pages and last errors. Exit code 3 while something is wrong.

    A router is ready when it has the labels of everything below it.
    """
    net = _load_at_port(path, port)
    rows = routers.ask_health(net, seconds)
    up = sum(row["up"] for row in rows)
    ready = sum(row["ready"] for row in rows)
    wrong = sum(bool(row["error"]) for row in rows)
    if as_json:
        print_json({"name": net.name, "routers": rows})
    else:
        say(fill_template("status", rows=rows, up=up, ready=ready, wrong=wrong))
    if wrong or ready < len(rows):
        raise typer.Exit(BAD_INPUT)
