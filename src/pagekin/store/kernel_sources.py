"""Find the sources that the kernels of a room depend on, and digest them.

A compiled kernel holds code of the functions that it calls, and constants of modules that it imports, so an edit in any of
these files makes it stale.
"""

import hashlib
import re
from functools import cache
from pathlib import Path

_HOUSE = Path(__file__).parent.parent
_IMPORT = re.compile(r"^ *from (pagekin[\w.]*|\.\w+) import (\([^)]*\)|[^\n]*)|^ *import (pagekin[\w.]*)", re.MULTILINE)
_NAME = re.compile(r"(\w+)(?: as \w+)?")


@cache
def stamp_sources(kernels: Path) -> str:
    """Return a digest of all sources that the kernels in a folder depend on, independent of the package's location."""
    digest = hashlib.sha256()
    for source in _sources_of(kernels):
        digest.update(_digest(source))
    return digest.hexdigest()


def forget_sources() -> None:
    """Forget what was read of the sources; while a program runs, they are what they were when it started."""
    for read in (stamp_sources, _digest, _imports, _defining_files):
        read.cache_clear()


def _sources_of(kernels: Path) -> list[Path]:
    """Return the files in `kernels`, and all files of Pagekin that they import, directly or indirectly."""
    sources: set[Path] = set()
    waiting = list(kernels.glob("*.py"))
    while waiting:
        source = waiting.pop()
        if source not in sources:
            sources.add(source)
            if source == _HOUSE / "store" / "kernels.py":
                continue  # what keeps kernels is not in them
            waiting += [file for module, name in _imports(source) for file in _defining_files(module, name)]
    return sorted(sources)


@cache
def _digest(source: Path) -> bytes:
    return hashlib.sha256(source.read_bytes()).digest()


@cache
def _imports(source: Path) -> list[tuple[str, str]]:
    """Return the (module, name) pairs that a file imports of ours; the name is empty where the module is imported whole."""
    pairs: list[tuple[str, str]] = []
    for module, names, whole in _IMPORT.findall(source.read_text(encoding="utf-8")):
        full = module
        if module.startswith("."):
            full = ".".join(("pagekin", *source.parent.relative_to(_HOUSE).parts, module[1:]))
        pairs += [(full, name) for name in _NAME.findall(names)] if module else [(whole, "")]
    return pairs


@cache
def _defining_files(module: str, name: str) -> list[Path]:
    """Return the file that defines a name of a module: the module itself, a submodule, or the source of the room's door."""
    place = _HOUSE.joinpath(*module.split(".")[1:])
    for file in (place.with_suffix(".py"), place / f"{name}.py"):
        if file.is_file():
            return [file]
    doors = [door for door in (place / "__init__.pyi", place / "__init__.py") if door.is_file()]
    exported = [pair for door in doors for pair in _imports(door) if pair[1] == name]
    return [file for pair in exported for file in _defining_files(*pair)] or doors
