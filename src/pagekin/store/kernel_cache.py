"""Choose the folder where compiled kernels are kept between runs.

Numba keeps what it compiled, but does not notice edits in files that a kernel imports. So the folder's name carries a
digest of all sources that the kernels of a room depend on, and lies where this user may write.
"""

import hashlib
import os
import re
import tempfile
from functools import cache
from pathlib import Path

_HOUSE = Path(__file__).parent.parent
_IMPORT = re.compile(r"^ *from (pagekin[\w.]*|\.\w+) import (\([^)]*\)|[^\n]*)|^ *import (pagekin[\w.]*)", re.MULTILINE)
_NAME = re.compile(r"(\w+)(?: as \w+)?")


@cache
def cache_folder(kernels: Path, kind: str) -> str:
    """Return the folder for what is compiled, as `kind`, from the kernels in a folder of sources."""
    digest = hashlib.sha256()
    for source in _sources_of(kernels):
        digest.update(source.read_bytes())
    name = f"{kind}-{digest.hexdigest()[:16]}"
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    bases = [Path(home) / "pagekin", Path(tempfile.gettempdir()) / f"pagekin-{os.getuid()}"]
    if "NUMBA_CACHE_DIR" in os.environ:
        bases.insert(0, Path(os.environ["NUMBA_CACHE_DIR"]))
    for base in bases:
        folder = base / name
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        # A folder in a shared place is trusted only if it is ours: compiled code is run from it.
        if folder.stat().st_uid == os.getuid() and os.access(folder, os.W_OK):
            return str(folder)
    return tempfile.mkdtemp(prefix="pagekin-kernels-")


def _sources_of(kernels: Path) -> list[Path]:
    """Return the files in `kernels`, and all files of ours that they import, and these in turn."""
    sources: set[Path] = set()
    waiting = list(kernels.glob("*.py"))
    while waiting:
        source = waiting.pop()
        if source not in sources:
            sources.add(source)
            waiting += [file for module, name in _imports(source) for file in _defining_files(module, name)]
    return sorted(sources)


def _imports(source: Path) -> list[tuple[str, str]]:
    """Return the (module, name) pairs that a file imports of ours; the name is empty where the module is imported whole."""
    pairs: list[tuple[str, str]] = []
    for module, names, whole in _IMPORT.findall(source.read_text(encoding="utf-8")):
        full = module
        if module.startswith("."):
            full = ".".join(("pagekin", *source.parent.relative_to(_HOUSE).parts, module[1:]))
        pairs += [(full, name) for name in _NAME.findall(names)] if module else [(whole, "")]
    return pairs


def _defining_files(module: str, name: str) -> list[Path]:
    """Return the file that gives a module its name: the module's own, a submodule, or where the room's door has it from."""
    place = _HOUSE.joinpath(*module.split(".")[1:])
    for file in (place.with_suffix(".py"), place / f"{name}.py"):
        if file.is_file():
            return [file]
    doors = [door for door in (place / "__init__.pyi", place / "__init__.py") if door.is_file()]
    exported = [pair for door in doors for pair in _imports(door) if pair[1] == name]
    return [file for pair in exported for file in _defining_files(*pair)] or doors
