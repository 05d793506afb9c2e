"""Names for topics, kept from an earlier build or written by people: a file that is an input of a build."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.clusters.hierarchy import Tree
from pagekin.clusters.levels import tree_levels
from pagekin.clusters.settings import ClusterError
from pagekin.hypertext import Corpus

_SKETCH = 32
"""Hashes of addresses that a topic is known by: the least ones."""
_DIGITS = 10
"""Hexadecimal digits of each."""
_SAME = 0.5
"""Topics that have this share of their pages in common are the same."""
_LONGEST = 200
_MOST_SIZE = 1 << 26
_HEAD = """\
# Names of the topics of {name}. Change a name, and give the file to a build (pagekin build --names, pagekin cluster --names):
# a topic that has half of its pages in common with the one here keeps the name. Remove an entry to have the topic named anew.
# Entries of your own may list pages in place of a sketch (addresses = [...]): the smallest topic that holds them all is meant.
"""


@dataclass(frozen=True)
class KeptName:
    """A name, and how to recognise its topic: by a sketch of its pages' addresses, or by some of its pages."""

    name: str
    sketch: tuple[int, ...] = ()
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True)
class KeptNames:
    """The names of a file."""

    names: tuple[KeptName, ...] = ()
    digest: str = ""
    """Of the file's bytes; the manifest names it."""

    @classmethod
    def load(cls, file: Path) -> "KeptNames":
        """Read a file of names; raise a ClusterError that says what is wrong with it."""
        try:
            if file.stat().st_size > _MOST_SIZE:
                raise ClusterError(f"{file} is too large for a file of names")
            data = file.read_bytes()
            entries = tomllib.loads(data.decode("utf-8"))
        except OSError as error:
            raise ClusterError(f"{file} cannot be read: {error.strerror}") from None
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ClusterError(f"{file} is not TOML: {error}") from None
        topics = entries.get("topic", [])
        if set(entries) - {"topic"} or not isinstance(topics, list):
            raise ClusterError(f"{file} is not a file of names: it has tables other than [[topic]]")
        names = tuple(_entry(file, number, topic) for number, topic in enumerate(topics, start=1))
        return cls(names, hashlib.blake2b(data, digest_size=16).hexdigest())

    def match(self, tree: Tree, corpus: Corpus) -> dict[int, str]:
        """Return the names of nodes: each name goes to the node most similar to its topic, and each node gets at most one."""
        if not self.names:
            return {}
        sketches = node_sketches(tree, corpus)
        holding: dict[int, list[int]] = {}
        for node, sketch in sketches.items():
            for value in sketch:
                holding.setdefault(value, []).append(node)
        pairs: list[tuple[float, int, int]] = []
        for place, kept in enumerate(self.names):
            if kept.addresses:
                pairs += [(2.0, place, node) for node in _smallest_holding(kept.addresses, tree, corpus)]
            likely = {node for value in kept.sketch for node in holding.get(value, ())}
            pairs += [(_common(kept.sketch, sketches[node]), place, node) for node in likely]
        names: dict[int, str] = {}
        used: set[int] = set()
        for share, place, node in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
            if share >= _SAME and node not in names and place not in used:
                names[node] = self.names[place].name
                used.add(place)
        return names


NO_NAMES = KeptNames()


def _entry(file: Path, number: int, topic: Any) -> KeptName:
    """Read one entry of a file of names."""
    where = f"{file}, topic {number}"
    if not isinstance(topic, Mapping) or (unknown := set(topic) - {"name", "pages", "sketch", "addresses"}):
        what = f"there is no field '{sorted(unknown)[0]}'" if isinstance(topic, Mapping) else "it is not a table"
        raise ClusterError(f"{where}: {what}; fields are name, pages, sketch and addresses")
    name, sketch, addresses = topic.get("name"), topic.get("sketch", ""), topic.get("addresses", [])
    if not isinstance(name, str) or not 0 < len(" ".join(name.split())) <= _LONGEST:
        raise ClusterError(f"{where}: the name must have 1 to {_LONGEST} characters")
    if not isinstance(addresses, list) or not all(isinstance(one, str) for one in addresses):
        raise ClusterError(f"{where}: addresses must be a list of texts")
    try:
        values = tuple(int(value, 16) for value in str(sketch).split())
    except ValueError:
        raise ClusterError(f"{where}: the sketch is damaged") from None
    if not values and not addresses:
        raise ClusterError(
            f"{where}: '{name}' has neither a sketch nor addresses, so its topic cannot be found; add addresses"
        )
    return KeptName(" ".join(name.split()), values, tuple(addresses))


def node_sketches(tree: Tree, corpus: Corpus) -> dict[int, tuple[int, ...]]:
    """Return the least address hashes of the pages of each node except the root. Cost: one sort of the pages per level."""
    size = _DIGITS // 2
    hashes: npt.NDArray[np.int64] = np.fromiter(
        (
            int.from_bytes(hashlib.blake2b(corpus.page_url(page).encode(), digest_size=size).digest(), "big")
            for page in range(len(corpus))
        ),
        np.int64,
        len(corpus),
    )
    sketches: dict[int, tuple[int, ...]] = {}
    for level in tree_levels(tree):
        values = hashes[level.pages]
        ordered = values[np.lexsort((values, level.places))]
        for place, node in enumerate(level.nodes.tolist()):
            first, last = int(level.offsets[place]), int(level.offsets[place + 1])
            sketches[node] = tuple(dict.fromkeys(ordered[first : min(first + _SKETCH, last)].tolist()))
    sketches.pop(0, None)
    return sketches


def _common(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Estimate the Jaccard similarity of two topics' pages."""
    least = sorted({*one, *other})[:_SKETCH]
    both = {*one} & {*other}
    return sum(value in both for value in least) / max(len(least), 1)


def _smallest_holding(addresses: tuple[str, ...], tree: Tree, corpus: Corpus) -> list[int]:
    """Return (as a list) the smallest node except the root that holds the pages at all given addresses, or nothing."""
    paths = []
    for address in addresses:
        number = corpus.url_number(address)
        pages = corpus.pages_of(number)[:1] if number >= 0 else []
        paths.append({node for page in pages for home in tree.homes(page) for node in tree.path(home)})
    common = set.intersection(*paths) - {0}
    return sorted(common, key=lambda node: (len(tree.pages_of(node)), node))[:1]


def write_names(tree: Tree, corpus: Corpus) -> str:
    """Return the names of a tree's topics as the text of a file, for `KeptNames.load`."""
    sketches = node_sketches(tree, corpus)
    lines = [_HEAD.format(name=corpus.kin.path.name)]
    for node in sorted(sketches):
        about = tree.descriptions[node]
        if about.name:
            sketch = " ".join(f"{value:0{_DIGITS}x}" for value in sketches[node])
            lines.append(
                f"[[topic]]\nname = {json.dumps(about.name, ensure_ascii=False)}\n"
                f'pages = {len(tree.pages_of(node))}\nsketch = "{sketch}"\n'
            )
    return "\n".join(lines)
