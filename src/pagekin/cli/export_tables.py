"""The files of `pagekin export` for other programs: tables and graphs of pages and links, indexes and archives of records."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin import collection as collection_room
from pagekin import hypertext, sources
from pagekin.cli.app import USAGE, fail, human_bytes, print_json, progress_bar, say, use_file

LINK_SUFFIXES = (".parquet", ".csv", ".jsonl", ".graphml", ".gexf")
Pages = Annotated[
    Path | None,
    typer.Option(
        "--pages", metavar="FILE", help="All pages, with Common Crawl's column names: .parquet, .csv or .jsonl."
    ),
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
Cdxj = Annotated[
    Path | None,
    typer.Option("--cdxj", metavar="FILE", help="An index of the pages' records in their archives, sorted."),
]
Wacz = Annotated[
    Path | None,
    typer.Option("--wacz", metavar="FILE.wacz", help="The pages' records, copied from --archives, with pages.jsonl."),
]
Archives = Annotated[
    list[Path] | None,
    typer.Option(
        "--archives", metavar="FILE|FOLDER",
        help="The archives that the pages were read from, or folders that hold them, for records and digests; repeatable.",
    ),
]  # fmt: skip


@dataclass(frozen=True)
class ExportFiles:
    """The files to write."""

    pages: Path | None = None
    links: Path | None = None
    gephi: Path | None = None
    cdxj: Path | None = None
    wacz: Path | None = None
    archives: tuple[Path, ...] = ()

    def __bool__(self) -> bool:
        return any((self.pages, self.links, self.gephi, self.cdxj, self.wacz))


def export_tables(target: str, files: ExportFiles, as_json: bool, quiet: bool) -> None:
    """Write the files that were asked for, and say what was written."""
    written = _write_files(target, files, quiet or as_json)
    if as_json:
        print_json(written)
    elif not quiet:
        for name, about in written.items():
            nodes = f"{about['nodes']:,} nodes, " if "nodes" in about else ""
            unit = "edges" if nodes else "rows"
            say(f"{name}: {nodes}{about['rows']:,} {unit}, {human_bytes(about['bytes'])}")
            say_left_out(about.get("left_out", {}))


def say_left_out(left_out: "dict[str, int]") -> None:
    """Say which records were not copied, and why."""
    for reason, count in sorted(left_out.items()):
        say(f"  not copied: {count:,} {reason}", err=True)


def open_copier(archives: "tuple[Path, ...] | list[Path] | None") -> "sources.RecordCopier":
    """Return a copier of records from the given archives, or end with a message that says what is missing."""
    if not archives:
        fail("records are copied from their archives: name these, or their folder, with --archives", USAGE)
    return sources.RecordCopier(archives)


def _write_files(target: str, files: ExportFiles, quiet: bool) -> dict[str, dict[str, Any]]:
    """Write the files; return the rows and bytes of each, by its name."""
    if files.pages:
        collection_room.check_table_file(files.pages)
    if files.links:
        collection_room.check_table_file(files.links, LINK_SUFFIXES)
    if files.wacz and files.wacz.suffix != ".wacz":
        fail(f"--wacz: '{files.wacz}' must end in .wacz", USAGE)
    opened = collection_room.Collection(Path(target).stem, Path(target), compiled=False, hide_path=False)
    written: dict[str, dict[str, Any]] = {}
    copier = open_copier(files.archives) if files.archives or files.wacz else None
    with progress_bar(quiet) as tell:
        if files.pages:
            table = collection_room.PageTable(opened, copier)
            with use_file(files.pages, then=" Nothing was left behind."):
                rows = collection_room.write_table(
                    table, files.pages, lambda done: tell("pages", done / max(len(table), 1))
                )
            written[str(files.pages)] = {"rows": rows, "bytes": files.pages.stat().st_size}
        if files.links or files.gephi:
            written |= _write_links(collection_room.Links(opened), files.links, files.gephi, tell)
        if files.cdxj or files.wacz:
            if opened.delta:
                raise hypertext.has_delta_error(target)
            written |= _write_records(opened.corpus, files, copier, tell)
    return written


def _write_links(graph: Any, links: Path | None, gephi: Path | None, tell: Any) -> dict[str, dict[str, Any]]:
    """Write the links as a table or as graphs."""
    written: dict[str, dict[str, Any]] = {}
    if links:
        nodes = {}
        with use_file(links, then=" Nothing was left behind."):
            if links.suffix in collection_room.GRAPH_SUFFIXES:
                collection_room.write_graph(graph, links)
                rows, nodes = len(graph.edges()[0]), {"nodes": collection_room.count_nodes(graph)}
            else:
                total = max(len(graph), 1)
                rows = collection_room.write_table(graph, links, lambda done: tell("links", done / total))
        written[str(links)] = {**nodes, "rows": rows, "bytes": links.stat().st_size}
    if gephi:
        with use_file(gephi):
            collection_room.write_gephi(graph, gephi)
        size = sum(file.stat().st_size for file in gephi.iterdir())
        nodes = {"nodes": collection_room.count_nodes(graph)}
        written[str(gephi)] = {**nodes, "rows": len(graph.edges()[0]), "bytes": size}
    return written


def _write_records(
    corpus: "hypertext.Corpus", files: ExportFiles, copier: "sources.RecordCopier | None", tell: Any
) -> dict[str, dict[str, Any]]:
    """Write an index of the pages' records, or copies of them."""
    written: dict[str, dict[str, Any]] = {}
    if files.cdxj:
        with use_file(files.cdxj, then=" Nothing was left behind."):
            rows = collection_room.write_cdxj(collection_room.page_records(corpus, copier), files.cdxj)
        left_out = {"no place known": len(corpus) - rows} if rows < len(corpus) else {}
        written[str(files.cdxj)] = {"rows": rows, "bytes": files.cdxj.stat().st_size, "left_out": left_out}
    if files.wacz and copier is not None:
        total = max(len(corpus), 1)
        about = f"pages of {corpus.kin.path.name}"
        with use_file(files.wacz, then=" Nothing was left behind."):
            done = collection_room.write_wacz(
                collection_room.page_records(corpus), copier, files.wacz, about, lambda n: tell("records", n / total)
            )
        size = files.wacz.stat().st_size
        written[str(files.wacz)] = {"rows": len(done.copied), "bytes": size, "left_out": dict(done.left_out)}
    return written
