"""What `pagekin export` writes for other programs: pages and links as tables and graphs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin import collection as collection_room
from pagekin.cli.app import human_bytes, print_json, progress_bar, say, use_file

LINK_SUFFIXES = (".parquet", ".csv", ".jsonl", ".graphml", ".gexf")
Pages = Annotated[
    Path | None,
    typer.Option("--pages", metavar="FILE", help="All pages, by Common Crawl's names: .parquet, .csv or .jsonl."),
]
Links = Annotated[
    Path | None,
    typer.Option(
        "--links", metavar="FILE",
        help="All links with their words: .parquet, .csv, .jsonl; as a graph: .graphml, .gexf.",
    ),
]  # fmt: skip
Gephi = Annotated[
    Path | None, typer.Option("--gephi", metavar="FOLDER", help="The links as nodes.csv and edges.csv for Gephi.")
]


def export_tables(
    target: str, pages: Path | None, links: Path | None, gephi: Path | None, as_json: bool, quiet: bool
) -> None:
    """Write the files that were asked for, and say what was written."""
    written = _write_files(target, pages, links, gephi, quiet or as_json)
    if as_json:
        print_json(written)
    elif not quiet:
        for name, about in written.items():
            say(f"{name}: {about['rows']:,} rows, {human_bytes(about['bytes'])}")


def _write_files(
    target: str, pages: Path | None, links: Path | None, gephi: Path | None, quiet: bool
) -> dict[str, dict[str, Any]]:
    """Write the files; return the rows and bytes of each, by its name."""
    if pages:
        collection_room.check_table_file(pages)
    if links:
        collection_room.check_table_file(links, LINK_SUFFIXES)
    opened = collection_room.Collection(Path(target).stem, Path(target), compiled=False, hide_path=False)
    written: dict[str, dict[str, Any]] = {}
    with progress_bar(quiet) as tell:
        if pages:
            table = collection_room.PageTable(opened)
            with use_file(pages, then=" Nothing was left behind."):
                rows = collection_room.write_table(table, pages, lambda done: tell("pages", done / max(len(table), 1)))
            written[str(pages)] = {"rows": rows, "bytes": pages.stat().st_size}
        graph = collection_room.Links(opened)
        if links:
            with use_file(links, then=" Nothing was left behind."):
                if links.suffix in collection_room.GRAPH_SUFFIXES:
                    collection_room.write_graph(graph, links)
                    rows = len(graph.edges()[0])
                else:
                    total = max(len(graph), 1)
                    rows = collection_room.write_table(graph, links, lambda done: tell("links", done / total))
            written[str(links)] = {"rows": rows, "bytes": links.stat().st_size}
        if gephi:
            with use_file(gephi):
                collection_room.write_gephi(graph, gephi)
            size = sum(file.stat().st_size for file in gephi.iterdir())
            written[str(gephi)] = {"rows": len(graph.edges()[0]), "bytes": size}
    return written
