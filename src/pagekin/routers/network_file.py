"""Reading the network file: everything is checked, and every message names its line."""

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import ada_url

from pagekin.labels import LabelError, is_plain, operator_terms
from pagekin.net import parse_allowed
from pagekin.routers.lines import Place, key_lines, line_of
from pagekin.routers.network import LONGEST_NAME, MAIN, RUNS, SETTINGS, Network, NetworkError, Node, Settings, levels_of

_LARGEST_FILE = 32 << 20
_MOST_MESSAGES = 20
_SYNTAX_LINE = re.compile(r"(.*) \(at line (\d+), column \d+\)", re.DOTALL)
_NODE_KEYS = ("name", "url", "listen", "parents", "runs")
KEYS = {
    "network": ("name", *SETTINGS),
    "router": (*_NODE_KEYS, "hierarchy", "added", *SETTINGS),
    "site": (*_NODE_KEYS, "collection", "allow"),
}
_OF_ITS_COLLECTION = {
    "added": "pagekin label SITE.kin --add WORD --save",
    "max_clusters": "pagekin cluster SITE.kin --max-clusters N",
}
"""Keys of routers that sites have not: a site's label is made with its collection, by these commands."""


Kind = TypeVar("Kind", bound=Network)


def read_network(file: Path, kind: type[Kind]) -> Kind:
    """Read a network from a file; raise NetworkError with all that is wrong."""
    return _Reader(file).network(kind)


class _Reader:
    """One reading of a file: what is wrong is gathered, and told at the end."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.lines: dict[Place, int] = {}
        self.wrong: list[tuple[int, str]] = []
        self.odd: list[tuple[int, str]] = []
        self.places: dict[str, Place] = {}
        """Where the node of a name stands."""

    def network(self, kind: type[Kind]) -> Kind:
        """Return the network; raise NetworkError with all that is wrong."""
        text = self._text()
        content = self._parsed(text)
        self.lines = key_lines(text)
        self._unknown_keys((), content, tuple(KEYS))
        top = self._table(content.get("network", {}), ("network",), "network")
        name = top.get("name", self.file.resolve().parent.name or "network", str, "a text")
        defaults = top.settings()
        nodes = [
            node
            for block in ("router", "site")
            for place, table in enumerate(self._list(content, block))
            if (node := self._node(self._table(table, (block, place), block)))
        ]
        if not content.get("router") and not content.get("site"):
            self.wrong.append((1, "there is neither a [[router]] nor a [[site]]"))
        nodes = self._checked(nodes)
        if self.wrong:
            raise NetworkError(self._report(self.wrong))
        return kind.of(name, nodes, defaults, self.file, [self._message(*one) for one in sorted(self.odd)])

    def _text(self) -> str:
        try:
            with self.file.open("rb") as stream:
                data = stream.read(_LARGEST_FILE + 1)
        except OSError as error:
            raise NetworkError(
                f"{self.file} cannot be read: {error.strerror}. Make a network with: pagekin network init"
            ) from None
        if len(data) > _LARGEST_FILE:
            raise NetworkError(f"{self.file} is too large for a network file: {_LARGEST_FILE:,} bytes are the most")
        try:
            return data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise NetworkError(self._message(line, "this is not UTF-8")) from None

    def _parsed(self, text: str) -> dict[str, Any]:
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            found = _SYNTAX_LINE.fullmatch(str(error))
            what, line = (found[1], int(found[2])) if found else (str(error), text.count("\n") + 1)
            raise NetworkError(self._message(line, f"this is not TOML: {what}")) from None
        except (RecursionError, ValueError) as error:  # depth without end; a number of more digits than Python reads
            what = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise NetworkError(self._message(1, f"this cannot be read: {what}")) from None

    def _message(self, line: int, text: str) -> str:
        return f"{self.file.name}:{line}: {text}"

    def _report(self, found: list[tuple[int, str]]) -> str:
        shown = [self._message(*one) for one in sorted(found)[:_MOST_MESSAGES]]
        more = len(found) - len(shown)
        return "\n".join([*shown, *([f"... and {more:,} more"] if more else [])])

    def error(self, place: Place, text: str) -> None:
        """Note an error, and the line where it is."""
        self.wrong.append((line_of(self.lines, place), text))

    def warn(self, place: Place, text: str) -> None:
        """Note a warning, and the line where it is."""
        self.odd.append((line_of(self.lines, place), text))

    def _list(self, content: dict[str, Any], block: str) -> list[Any]:
        found = content.get(block, [])
        if isinstance(found, list):
            return found
        self.error((block,), f"write [[{block}]] in two brackets: there may be many")
        return []

    def _table(self, found: Any, place: Place, block: str) -> "_Table":
        if not isinstance(found, dict):
            self.error(place, f"{block} must be a table, not {found!r:.40}")
            found = {}
        self._unknown_keys(place, found, KEYS[block])
        return _Table(self, found, place, block)

    def _unknown_keys(self, place: Place, found: dict[str, Any], known: Sequence[str]) -> None:
        for key in found:
            if key not in known:
                what = f"[{place[0]}] has no key" if place else "there is no table or key"
                hint = self.suggestion(key, known)
                if place[:1] == ("site",) and key in KEYS["router"]:
                    hint = f"; a site has none: it is a router's. {_of_its_collection(key)}".rstrip()
                self.error((*place, key), f"{what} '{key[:60]}'{hint}")

    def suggestion(self, name: str, known: Iterable[str]) -> str:
        """Return a hint with a known name that is close, or ''.

        Looking for it takes time, so only the first messages have one.
        """
        found = difflib.get_close_matches(name, known, 1) if len(self.wrong) < _MOST_MESSAGES else []
        return f"; did you mean '{found[0]}'?" if found else ""

    def _node(self, table: "_Table") -> Node | None:
        """Return the node of a table, or None if it has no name."""
        leaf = table.block == "site"
        name = table.get("name", "", str, "a text")
        table.who = f"{table.block} '{name[:LONGEST_NAME]}'" if name else f"this {table.block}"
        if fault := _name_fault(name):
            table.error("name", f"has {fault}" if "name" in table.found else "has no name")
            name = ""
        url = self._url(table)
        collection = table.get("collection", None, str, "a path")
        if collection is not None and (not collection or "\0" in collection):
            table.error("collection", "has an empty path, or one with a zero byte")
        runs = table.get("runs", "elsewhere" if leaf and collection is None else "here", str, "a text")
        if runs not in RUNS:
            table.error("runs", f"runs '{runs}'; it is one of {', '.join(RUNS)}")
        if leaf and runs == "here" and collection is None:
            table.error("runs", "cannot run here without a collection")
        added = table.texts("added") or ()
        try:
            operator_terms(added)
        except LabelError as error:
            table.error("added", f"adds a term that is none: {error}")
        node = Node(
            name, url, leaf, Path(collection) if collection else None, table.texts("parents") or (),
            table.get("hierarchy", "", str, "a text"), runs == "here", added, table.settings(),
            self._listen(table, url, runs == "here"),
        )  # fmt: skip
        if not name:
            return None
        if name in self.places:
            first = line_of(self.lines, self.places[name])
            table.error("name", f"has the name of line {first}; names are unique among routers and sites")
            return None
        self.places[name] = table.place
        return node

    def _url(self, table: "_Table") -> str:
        written = table.get("url", "", str, "an address")
        if "url" not in table.found:
            table.error("url", "has no url, such as http://127.0.0.1:8700/")
            return ""
        url, fault = clean_node_url(written)
        if fault and written:
            table.error("url", f"has the url '{written[:200]}': {fault}")
        return url

    def _listen(self, table: "_Table", url: str, here: bool) -> str:
        """Return where a node listens, if that is not its url."""
        written = table.get("listen", "", str, "an http address of this machine")
        if not written:
            if here and url.startswith("https:"):
                table.error(
                    "url",
                    f"runs here, and Pagekin itself speaks no TLS: let a proxy answer at {url}, and say where the proxy finds "
                    'it, such as listen = "http://127.0.0.1:8700/"; or, if others run it: runs = "elsewhere"',
                )
            return ""
        listen, fault = clean_node_url(written)
        if not fault and listen.startswith("https:"):
            fault = "only http is spoken there; TLS is the proxy's"
        if fault:
            table.error("listen", f"listens at '{written[:200]}': {fault}")
        elif not here:
            table.error("listen", "runs elsewhere, so it does not listen here")
        return listen

    # -- all nodes together --------------------------------------------------------------------------------------------

    def _checked(self, nodes: list[Node]) -> list[Node]:
        """Check the nodes against each other, noting what is wrong, and return them with all hierarchies filled in."""
        by_name = {node.name: node for node in nodes}
        self._check_urls(nodes)
        self._check_parents(nodes, by_name)
        self._check_cycles(by_name)
        if self.wrong:
            return nodes
        self._look_around(nodes)
        return _with_hierarchies(nodes)

    def _place(self, node: Node, key: str = "") -> Place:
        return (*self.places[node.name], key) if key else self.places[node.name]

    def _check_urls(self, nodes: list[Node]) -> None:
        seen: dict[str, Node] = {}
        for node in nodes:
            other = seen.setdefault(node.url, node)
            if node.url and other is not node:
                self.error(
                    self._place(node, "url"),
                    f"{node.kind} '{node.name}' has the url of {other.kind} '{other.name}', {node.url}",
                )
        at: dict[str, Node] = {}
        for node in nodes:
            place = node.listen or node.url
            other = at.setdefault(place, node) if node.here else node
            if place and other is not node and (node.listen or other.listen):
                key = "listen" if node.listen else "url"
                self.error(
                    self._place(node, key),
                    f"{node.kind} '{node.name}' listens where {other.kind} '{other.name}' does, {place}",
                )

    def _check_parents(self, nodes: list[Node], by_name: Mapping[str, Node]) -> None:
        routers = [name for name, node in by_name.items() if not node.leaf]
        for node in nodes:
            place = self._place(node, "parents")
            for parent in node.parents:
                if parent not in by_name:
                    self.error(
                        place,
                        f"{node.kind} '{node.name}' names the parent '{parent[:LONGEST_NAME]}', which does not exist"
                        + self.suggestion(parent, routers),
                    )
                elif by_name[parent].leaf:
                    self.error(
                        place,
                        f"{node.kind} '{node.name}' names the parent '{parent}', which is a site; only routers can be",
                    )
            if len(set(node.parents)) < len(node.parents):
                self.error(place, f"{node.kind} '{node.name}' names a parent twice")

    def _check_cycles(self, by_name: Mapping[str, Node]) -> None:
        """Report every cycle, by one way around it."""
        # What has no level is in a cycle or above one, so the way down leads into one.
        known = levels_of(by_name.values())
        below: dict[str, str] = {}
        for node in sorted(by_name.values(), key=lambda one: one.name, reverse=True):
            below |= {parent: node.name for parent in node.parents if node.name not in known}
        passed: set[str] = set()
        for start in sorted(below):
            way: dict[str, None] = {}
            name = start
            while name not in way and name not in passed:
                way[name] = None
                name = below[name]
            if name in way:
                around = [*list(way)[list(way).index(name) :], name]
                node = by_name[name]
                self.error(
                    self._place(node, "parents"),
                    f"{node.kind} '{name}' is above itself: {' > '.join(around[:10])}{' > ...' if around[10:] else ''}",
                )
            passed |= way.keys()

    def _look_around(self, nodes: list[Node]) -> None:
        """Warn of what is odd: nothing below or above a node, collections that are missing or shared."""
        parents = {parent for node in nodes for parent in node.parents}
        collections: dict[Path, Node] = {}
        for node in nodes:
            who = f"{node.kind} '{node.name}'"
            if not node.leaf and node.here and node.name not in parents:
                self.warn(self._place(node), f"{who} has no children: no node names it as a parent")
            if node.leaf and not node.parents:
                self.warn(self._place(node), f"{who} has no parents: no router asks it")
            if node.collection is None:
                continue
            place = self._place(node, "collection")
            if not (self.file.parent / node.collection).is_dir():
                self.warn(
                    place, f"{who}: the collection {node.collection} does not exist, so the site will be left out"
                )
            other = collections.setdefault(node.collection, node)
            if other is not node:
                self.warn(
                    place, f"{who} has the same collection as site '{other.name}': its pages count twice above both"
                )


def _of_its_collection(key: str) -> str:
    """Say how to set for a site's collection what the key sets for a router; '' if it cannot be set there."""
    command = _OF_ITS_COLLECTION.get(key)
    return f"Its label is made with its collection: {command}" if command else ""


def _with_hierarchies(nodes: list[Node]) -> list[Node]:
    """Return the nodes; routers that name no hierarchy get that of their first parent."""
    by_name = {node.name: node for node in nodes}
    found: dict[str, str] = {node.name: node.hierarchy for node in nodes if node.hierarchy}
    for node in nodes:
        way: list[str] = []
        name = node.name
        while name not in found and by_name[name].parents:
            way.append(name)
            name = by_name[name].parents[0]
        found.setdefault(name, MAIN)
        found |= dict.fromkeys(way, found[name])
    return [node if node.leaf else replace(node, hierarchy=found[node.name]) for node in nodes]


class _Table:
    """A [network], [[router]] or [[site]] of the file."""

    def __init__(self, reader: _Reader, found: dict[str, Any], place: Place, block: str) -> None:
        self.reader, self.found, self.place, self.block = reader, found, place, block
        self.who = block

    def error(self, key: str, text: str) -> None:
        """Note an error in a key."""
        self.reader.error((*self.place, key), f"{self.who} {text}")

    def get(self, key: str, default: Any, kind: type | tuple[type, ...], what: str) -> Any:
        """Return the value of a key, or the default if it is absent or of the wrong kind, which is noted."""
        value = self.found.get(key, default)
        if key in self.found and (not isinstance(value, kind) or isinstance(value, bool)):
            self.error(key, f"needs {what} as {key}, not {value!r:.40}")
            return default
        return value

    def texts(self, key: str) -> tuple[str, ...] | None:
        """Return the value of a key that holds a list of texts."""
        value = self.get(key, None, list, "a list of texts")
        if value is None:
            return None
        if not all(isinstance(one, str) for one in value):
            self.error(key, f"needs a list of texts as {key}")
            return None
        return tuple(value)

    def settings(self) -> Settings:
        """Return budgets, timeout and allowed addresses."""
        allow = self.texts("allow")
        try:
            parse_allowed(allow or ())
        except ValueError as error:
            self.error("allow", f"allows what it cannot: {error}")
        timeout = self.get("timeout", None, (int, float), "a number of seconds")
        if timeout is not None and not 0 < timeout <= 3600:
            self.error("timeout", f"needs more than 0 and at most 3,600 seconds as timeout, not {timeout}")
        terms, clusters, size = self._count("max_terms", 0), self._count("max_clusters", 1), self._count("max_bytes", 1)
        return Settings(terms, clusters, size, self._count("child_bytes", 1), timeout, allow)

    def _count(self, key: str, least: int) -> int | None:
        value: int | None = self.get(key, None, int, "a whole number")
        if value is not None and not least <= value <= 2**40:
            self.error(key, f"needs a number from {least} to 2^40 as {key}")
        return value


def _name_fault(name: str) -> str:
    """Return what is wrong with a name, or an empty text."""
    checks: tuple[tuple[Callable[[str], bool], str], ...] = (
        (lambda text: not text.strip(), "an empty name"),
        (lambda text: len(text) > LONGEST_NAME, f"a name of more than {LONGEST_NAME} characters"),
        (lambda text: not is_plain(text), "a control character in its name"),
        (lambda text: "/" in text, "a '/' in its name, which parts addresses"),
        (lambda text: text in (".", ".."), "a name that is a step in a path"),
        (lambda text: text != text.strip(), "a space at an end of its name"),
    )
    return next((fault for is_wrong, fault in checks if is_wrong(name)), "")


def clean_node_url(written: str) -> tuple[str, str]:
    """Return (the address of a node in its usual form, with a slash at the end; what is wrong with it)."""
    try:
        url: Any = ada_url.URL(written)
    except ValueError:
        return "", "this is no address; write one such as http://127.0.0.1:8700/"
    if url.protocol not in ("http:", "https:"):
        return "", "only http and https are spoken"
    if url.username or url.password:
        return "", "a name or a password does not belong here"
    if url.search or url.hash or written.endswith(("?", "#")):
        return "", "an address of a node has neither a '?' nor a '#'"
    if url.port == "0":
        return "", "0 is no port"
    href: str = url.href
    return href if href.endswith("/") else f"{href}/", ""
