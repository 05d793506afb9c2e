"""Graphs as files that Gephi and other programs read: GraphML, GEXF, and tables of nodes and edges."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from pagekin.collection.graphs import Graph
from pagekin.hypertext import host_of
from pagekin.store import fresh_file

# What XML 1.0 cannot hold, even escaped.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="url" for="node" attr.name="url" attr.type="string"/>
<key id="label" for="node" attr.name="label" attr.type="string"/>
<key id="host" for="node" attr.name="host" attr.type="string"/>
<key id="topic" for="node" attr.name="topic" attr.type="string"/>
<key id="captured" for="node" attr.name="captured" attr.type="boolean"/>
<key id="weight" for="edge" attr.name="weight" attr.type="double"/>
<graph edgedefault="directed">
"""
_GEXF = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" version="1.3">
<graph defaultedgetype="directed">
<attributes class="node">
<attribute id="0" title="url" type="string"/>
<attribute id="1" title="host" type="string"/>
<attribute id="2" title="topic" type="string"/>
<attribute id="3" title="captured" type="boolean"/>
</attributes>
<nodes>
"""
GRAPH_SUFFIXES = (".graphml", ".gexf")


def write_graph(graph: Graph, path: Path) -> None:
    """Write a graph as GraphML or GEXF, by the name's end; all or nothing."""
    write = _write_graphml if path.suffix == ".graphml" else _write_gexf
    with fresh_file(path) as file, io.TextIOWrapper(file, encoding="utf-8") as text:
        write(graph, text)


def count_nodes(graph: Graph) -> int:
    """Return how many nodes the files of a graph have: pages, and targets of edges."""
    return sum(1 for _node in _nodes(graph))


def write_gephi(graph: Graph, folder: Path) -> None:
    """Write nodes.csv and edges.csv with the column names of Gephi's spreadsheet import."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "nodes.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["Id", "Label", "Url", "Host", "Topic", "Captured"])
        for node in _nodes(graph):
            rows.writerow([node.number, node.label, node.url, node.host, node.topic, node.captured])
    with (folder / "edges.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["Source", "Target", "Type", "Weight"])
        rows.writerows([source, target, "Directed", weight] for source, target, weight in _edges(graph))


class _Node(NamedTuple):
    """A page, or the target of a link, as files of graphs describe it."""

    number: int
    url: str
    label: str
    """The title, or the address."""
    host: str
    topic: str
    captured: str
    """Whether the page was read: `true` or `false`."""


def _nodes(graph: Graph) -> Iterator[_Node]:
    """Yield the pages and the targets of edges."""
    titles, topics, urls = graph.titles(), graph.topics(), graph.urls
    sources, targets, _weights = graph.edges()
    for number in sorted({*sources.tolist(), *targets.tolist(), *titles}):
        url, captured = urls[number], str(number in titles).lower()
        yield _Node(number, url, titles.get(number) or url, host_of(url), topics.get(number, ""), captured)


def _edges(graph: Graph) -> Iterator[tuple[int, int, float]]:
    yield from zip(*(column.tolist() for column in graph.edges()), strict=True)


def _write_graphml(graph: Graph, file: IO[str]) -> None:
    file.write(_GRAPHML)
    for node in _nodes(graph):
        data = {"url": node.url, "label": node.label, "host": node.host, "topic": node.topic, "captured": node.captured}
        cells = "".join(f'<data key="{key}">{_text(value)}</data>' for key, value in data.items())
        file.write(f'<node id="n{node.number}">{cells}</node>\n')
    for source, target, weight in _edges(graph):
        file.write(f'<edge source="n{source}" target="n{target}"><data key="weight">{weight:g}</data></edge>\n')
    file.write("</graph>\n</graphml>\n")


def _write_gexf(graph: Graph, file: IO[str]) -> None:
    file.write(_GEXF)
    for node in _nodes(graph):
        values = (node.url, node.host, node.topic, node.captured)
        cells = "".join(f'<attvalue for="{place}" value={_quote(value)}/>' for place, value in enumerate(values))
        file.write(f'<node id="{node.number}" label={_quote(node.label)}><attvalues>{cells}</attvalues></node>\n')
    file.write("</nodes>\n<edges>\n")
    for place, (source, target, weight) in enumerate(_edges(graph)):
        file.write(f'<edge id="{place}" source="{source}" target="{target}" weight="{weight:g}"/>\n')
    file.write("</edges>\n</graph>\n</gexf>\n")


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("�", text))


def _quote(text: str) -> str:
    return quoteattr(_NOT_XML.sub("�", text))
