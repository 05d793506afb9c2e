"""Reading the network file: everything is checked, and every message names its line."""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import ada_url
import msgspec
from msgspec import Meta

from pagekin.labels import LabelError, is_plain, operator_terms
from pagekin.net import parse_allowed
from pagekin.routers.lines import Place, key_lines, line_of
from pagekin.routers.network import LONGEST_NAME, MAIN, SETTINGS, Network, NetworkError, Node, Settings, levels_of

_LARGEST_FILE = 32 << 20
_MOST_MESSAGES = 20
_SYNTAX_LINE = re.compile(r"(.*) \(at line (\d+), column \d+\)", re.DOTALL)
_TEXT, _TEXTS = (str, "a text"), (tuple[str, ...], "a list of texts")
_COUNT = (Annotated[int, Meta(ge=1, le=2**40)], "a number from 1 to 2^40")
_VALUES: dict[str, tuple[Any, str]] = {
    "name": _TEXT,
    "url": (str, "an address"),
    "listen": (str, "an http address of this machine"),
    "parents": _TEXTS,
    "runs": (Literal["here", "elsewhere"], "one of here, elsewhere"),
    "hierarchy": _TEXT,
    "added": _TEXTS,
    "collection": (str, "a path"),
    "allow": _TEXTS,
    "timeout": (Annotated[float, Meta(gt=0, le=3600)], "more than 0 and at most 3,600 seconds"),
    "max_terms": (Annotated[int, Meta(ge=0, le=2**40)], "a number from 0 to 2^40"),
    "max_clusters": _COUNT,
    "max_bytes": _COUNT,
    "child_bytes": _COUNT,
}
"""What each key holds, as a type and in words."""
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
"""Keys that sites lack, with the commands to use instead: a site's label is made with its collection."""


class NetworkReader:
    """Reads a network file once; collects all errors and reports them at the end."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lines: dict[Place, int] = {}
        self._wrong: list[tuple[int, str]] = []
        self._odd: list[tuple[int, str]] = []
        self._places: dict[str, Place] = {}
        """Where the node of a name stands."""

    def read(self) -> Network:
        """Return the network; raise NetworkError with all that is wrong."""
        text = self._text()
        content = self._parse(text)
        self._lines = key_lines(text)
        self._check_keys((), content, tuple(KEYS))
        top = self._values(content.get("network", {}), ("network",), "network")
        nodes = [
            node
            for block in ("router", "site")
            for place, table in enumerate(self._list(content, block))
            if (node := self._node(table, (block, place), block == "site"))
        ]
        if not content.get("router") and not content.get("site"):
            self._wrong.append((1, "there is neither a [[router]] nor a [[site]]"))
        nodes = self._check_nodes(nodes)
        if self._wrong:
            raise NetworkError(self._report(self._wrong))
        name = top.get("name", self.file.resolve().parent.name or "network")
        return Network.of(name, nodes, _settings(top), self.file, [self._message(*one) for one in sorted(self._odd)])

    def _text(self) -> str:
        try:
            with self.file.open("rb") as stream:
                data = stream.read(_LARGEST_FILE + 1)
        except OSError as error:
            raise NetworkError(
                f"{self.file} cannot be read: {error.strerror}. Make a network with: pagekin network init"
            ) from None
        if len(data) > _LARGEST_FILE:
            raise NetworkError(f"{self.file} is too large for a network file: the limit is {_LARGEST_FILE:,} bytes")
        try:
            return data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise NetworkError(self._message(line, "this is not UTF-8")) from None

    def _parse(self, text: str) -> dict[str, Any]:
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            match = _SYNTAX_LINE.fullmatch(str(error))
            what, line = (match[1], int(match[2])) if match else (str(error), text.count("\n") + 1)
            raise NetworkError(self._message(line, f"this is not TOML: {what}")) from None
        except (RecursionError, ValueError) as error:  # depth without end; a number of more digits than Python reads
            what = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise NetworkError(self._message(1, f"this cannot be read: {what}")) from None

    def _message(self, line: int, text: str) -> str:
        return f"{self.file.name}:{line}: {text}"

    def _report(self, problems: list[tuple[int, str]]) -> str:
        shown = [self._message(*one) for one in sorted(problems)[:_MOST_MESSAGES]]
        more = len(problems) - len(shown)
        return "\n".join([*shown, *([f"... and {more:,} more"] if more else [])])

    def _error(self, place: Place, text: str) -> None:
        self._wrong.append((line_of(self._lines, place), text))

    def _list(self, content: dict[str, Any], block: str) -> list[Any]:
        blocks = content.get(block, [])
        if isinstance(blocks, list):
            return blocks
        self._error((block,), f"write [[{block}]] in two brackets: there may be many")
        return []

    def _values(self, table: Any, place: Place, who: str) -> dict[str, Any]:
        """Return the values of a table's keys; note keys that it cannot have, and values that these cannot."""
        block = str(place[0])
        if not isinstance(table, dict):
            self._error(place, f"{block} must be a table, not {table!r:.40}")
            return {}
        self._check_keys(place, table, KEYS[block])
        values: dict[str, Any] = {}
        for key in table.keys() & KEYS[block]:
            kind, words = _VALUES[key]
            try:
                values[key] = msgspec.convert(table[key], kind)
            except msgspec.ValidationError:
                self._error((*place, key), f"{who} needs {words} as {key}, not {table[key]!r:.40}")
        try:
            parse_allowed(values.get("allow", ()))
        except ValueError as error:
            self._error((*place, "allow"), f"{who} allows what it cannot: {error}")
        return values

    def _check_keys(self, place: Place, keys: Iterable[str], known: Sequence[str]) -> None:
        for key in keys:
            if key not in known:
                what = f"[{place[0]}] has no key" if place else "there is no table or key"
                hint = self._suggestion(key, known)
                if place[:1] == ("site",) and key in KEYS["router"]:
                    command = _OF_ITS_COLLECTION.get(key)
                    how = f" Its label is made with its collection: {command}" if command else ""
                    hint = f"; a site has none: it is a router's.{how}"
                self._error((*place, key), f"{what} '{key[:60]}'{hint}")

    def _suggestion(self, name: str, known: Iterable[str]) -> str:
        """Return a hint with a known name that is close, or ''.

        Looking for it takes time, so only the first messages have one.
        """
        similar = difflib.get_close_matches(name, known, 1) if len(self._wrong) < _MOST_MESSAGES else []
        return f"; did you mean '{similar[0]}'?" if similar else ""

    def _node(self, table: Any, place: Place, leaf: bool) -> Node | None:
        """Return the node of a table, or None if it has no name."""
        given = table if isinstance(table, dict) else {}
        name, url = given.get("name"), ""
        who = f"{place[0]} '{name[:LONGEST_NAME]}'" if name and isinstance(name, str) else f"this {place[0]}"
        values = self._values(table, place, who)
        name, collection = values.get("name", ""), values.get("collection")
        needed = {"name": "has no name", "url": "has no url, such as http://127.0.0.1:8700/"}
        faults = {key: fault for key, fault in needed.items() if key not in given}
        if "name" in values:
            faults["name"] = _name_fault(name)
        if collection is not None and (not collection or "\0" in collection):
            faults["collection"] = "has an empty path, or one with a zero byte"
        here = values.get("runs", "elsewhere" if leaf and collection is None else "here") == "here"
        if leaf and here and collection is None:
            faults["runs"] = "cannot run here without a collection"
        try:
            operator_terms(values.get("added", ()))
        except LabelError as error:
            faults["added"] = f"adds a term that is none: {error}"
        if "url" in values:
            url, faults["url"] = _url(values, here)
        listen, faults["listen"] = _listen(values, here)
        if name in self._places:
            first = line_of(self._lines, self._places[name])
            faults["name"] = f"has the name of line {first}; names are unique among routers and sites"
        for key, fault in faults.items():
            if fault:
                self._error((*place, key), f"{who} {fault}")
        if not name or faults["name"]:
            return None
        self._places[name] = place
        return Node(
            name, url, leaf, Path(collection) if collection else None, values.get("parents", ()),
            values.get("hierarchy", ""), here, values.get("added", ()), _settings(values), listen,
        )  # fmt: skip

    # -- all nodes together --------------------------------------------------------------------------------------------

    def _check_nodes(self, nodes: list[Node]) -> list[Node]:
        """Check the nodes against each other, record errors, and return the nodes with all hierarchies filled in."""
        by_name = {node.name: node for node in nodes}
        self._check_urls(nodes)
        self._check_parents(nodes, by_name)
        self._check_cycles(by_name)
        if self._wrong:
            return nodes
        self._warn_of_oddities(nodes)
        return _with_hierarchies(nodes)

    def _note(self, to: list[tuple[int, str]], node: Node, key: str, text: str) -> None:
        """Note what is wrong or odd about a node, and the line where it is."""
        to.append((line_of(self._lines, (*self._places[node.name], key)), f"{node.kind} '{node.name}'{text}"))

    def _check_urls(self, nodes: list[Node]) -> None:
        seen: dict[str, Node] = {}
        for node in nodes:
            other = seen.setdefault(node.url, node)
            if node.url and other is not node:
                self._note(self._wrong, node, "url", f" has the url of {other.kind} '{other.name}', {node.url}")
        at: dict[str, Node] = {}
        for node in nodes:
            place = node.listen or node.url
            other = at.setdefault(place, node) if node.here else node
            if place and other is not node and (node.listen or other.listen):
                key = "listen" if node.listen else "url"
                self._note(self._wrong, node, key, f" listens where {other.kind} '{other.name}' does, {place}")

    def _check_parents(self, nodes: list[Node], by_name: Mapping[str, Node]) -> None:
        routers = [name for name, node in by_name.items() if not node.leaf]
        for node in nodes:
            for parent in node.parents:
                named = f" names the parent '{parent[:LONGEST_NAME]}', which"
                if parent not in by_name:
                    hint = self._suggestion(parent, routers)
                    self._note(self._wrong, node, "parents", f"{named} does not exist{hint}")
                elif by_name[parent].leaf:
                    self._note(self._wrong, node, "parents", f"{named} is a site; only routers can be")
            if len(set(node.parents)) < len(node.parents):
                self._note(self._wrong, node, "parents", " names a parent twice")

    def _check_cycles(self, by_name: Mapping[str, Node]) -> None:
        """Report every cycle, with one path around it."""
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
                shown = f"{' > '.join(around[:10])}{' > ...' if around[10:] else ''}"
                self._note(self._wrong, by_name[name], "parents", f" is above itself: {shown}")
            passed |= way.keys()

    def _warn_of_oddities(self, nodes: list[Node]) -> None:
        """Warn about oddities: nothing below or above a node, missing or shared collections."""
        parents = {parent for node in nodes for parent in node.parents}
        collections: dict[Path, Node] = {}
        for node in nodes:
            if not node.leaf and node.here and node.name not in parents:
                self._note(self._odd, node, "", " has no children: no node names it as a parent")
            if node.leaf and not node.parents:
                self._note(self._odd, node, "", " has no parents: no router asks it")
            path = node.collection
            if path is None:
                continue
            if not (self.file.parent / path).is_dir():
                self._note(
                    self._odd,
                    node,
                    "collection",
                    f": the collection {path} does not exist, so the site will be left out",
                )
            other = collections.setdefault(path, node)
            if other is not node:
                same = f" has the same collection as site '{other.name}': its pages count twice above both"
                self._note(self._odd, node, "collection", same)


def _with_hierarchies(nodes: list[Node]) -> list[Node]:
    """Return the nodes; routers that name no hierarchy get that of their first parent."""
    by_name = {node.name: node for node in nodes}
    hierarchies: dict[str, str] = {node.name: node.hierarchy for node in nodes if node.hierarchy}
    for node in nodes:
        way: list[str] = []
        name = node.name
        while name not in hierarchies and by_name[name].parents:
            way.append(name)
            name = by_name[name].parents[0]
        hierarchies.setdefault(name, MAIN)
        hierarchies |= dict.fromkeys(way, hierarchies[name])
    return [node if node.leaf else replace(node, hierarchy=hierarchies[node.name]) for node in nodes]


def _settings(values: Mapping[str, Any]) -> Settings:
    """Return the budgets, timeout and allowed addresses that a table sets."""
    return Settings(**{name: values[name] for name in SETTINGS if name in values})


def _url(values: Mapping[str, Any], here: bool) -> tuple[str, str]:
    """Return the address of a node, and what is wrong with it."""
    url, fault = clean_node_url(values["url"])
    if fault:
        return url, f"has the url '{values['url'][:200]}': {fault}"
    if here and url.startswith("https:") and not values.get("listen"):
        fault = (
            f"runs here, and Pagekin itself speaks no TLS: let a proxy answer at {url}, and say where the proxy finds "
            'it, such as listen = "http://127.0.0.1:8700/"; or, if others run it: runs = "elsewhere"'
        )
    return url, fault


def _listen(values: Mapping[str, Any], here: bool) -> tuple[str, str]:
    """Return where a node listens, if that is not its url, and what is wrong with it."""
    written = values.get("listen", "")
    if not written:
        return "", ""
    listen, fault = clean_node_url(written)
    if not fault and listen.startswith("https:"):
        fault = "only http is spoken there; TLS is the proxy's"
    if fault:
        return listen, f"listens at '{written[:200]}': {fault}"
    return listen, "" if here else "runs elsewhere, so it does not listen here"


def _name_fault(name: str) -> str:
    """Return what is wrong with a name, or an empty text."""
    faults = {
        "has an empty name": not name.strip(),
        f"has a name of more than {LONGEST_NAME} characters": len(name) > LONGEST_NAME,
        "has a control character in its name": not is_plain(name),
        "has a '/' in its name, which parts addresses": "/" in name,
        "has a name that is a step in a path": name in (".", ".."),
        "has a space at an end of its name": name != name.strip(),
    }
    return next((fault for fault, holds in faults.items() if holds), "")


def clean_node_url(written: str) -> tuple[str, str]:
    """Return (the address of a node in its usual form, with a slash at the end; what is wrong with it)."""
    try:
        url: Any = ada_url.URL(written)
    except ValueError:
        return "", "this is not an address; write one such as http://127.0.0.1:8700/"
    if url.protocol not in ("http:", "https:"):
        return "", "only http and https are spoken"
    if url.username or url.password:
        return "", "a name or a password does not belong here"
    if url.search or url.hash or written.endswith(("?", "#")):
        return "", "an address of a node has neither a '?' nor a '#'"
    if url.port == "0":
        return "", "0 is not a port"
    href: str = url.href
    return href if href.endswith("/") else f"{href}/", ""
