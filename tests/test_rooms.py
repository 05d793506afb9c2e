"""The rooms: which may import which, only what their doors export, and who knows the names of arrays."""

import ast
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import pagekin
from pagekin.bags import BAG_ARRAYS
from pagekin.clusters import THESAURUS_ARRAYS, TREE_ARRAYS
from pagekin.hypertext import CORPUS_ARRAYS, RECORD_ARRAYS
from pagekin.labels import LABEL_ARRAYS
from pagekin.similarity import INDEX_ARRAYS
from pagekin.text import TEXT_ARRAYS

ROOT = Path(pagekin.__file__).parent
MAY_IMPORT = {
    "store": "",
    "net": "",
    "sources": "store net",
    "hypertext": "store sources",
    "bags": "hypertext",
    "similarity": "bags",
    "text": "hypertext",
    "clusters": "similarity text",
    "labels": "clusters",
    "collection": "labels",
    "routers": "collection labels net",
    "engines": "collection",
    "evaluation": "collection",
    "web": "routers",
    "site": "engines",
    "cli": "web site routers engines evaluation",
}
"""The rooms in their order, and which of those above each may import, with all that these may import."""
ROOMS = list(MAY_IMPORT)
ARRAYS = {
    "hypertext": (*CORPUS_ARRAYS, *RECORD_ARRAYS),
    "bags": BAG_ARRAYS,
    "similarity": tuple(set(INDEX_ARRAYS) - set(BAG_ARRAYS)),
    "text": TEXT_ARRAYS,
    "clusters": (TREE_ARRAYS, THESAURUS_ARRAYS),
    "labels": (LABEL_ARRAYS,),
}
"""How the names of the arrays begin that each room writes."""
HEAVY = ("aiohttp", "jinja2", "litestar", "numba", "scipy", "uvicorn")
"""Libraries that take long to load: only a room's code may load them, its door never."""

NOT_YET_IN_ORDER: set[tuple[str, str]] = set()
"""(room, other): imports against the table that still have to go."""
NOT_YET_THROUGH_DOORS: set[str] = set()
"""Rooms whose imports still pass doors by."""
NOT_YET_BY_COLUMNS: set[str] = set()
"""Files that still name arrays of the corpus: each decodes the word streams by itself."""


@cache
def parsed(file: Path) -> ast.Module:
    """Return the syntax tree of a file, which several tests look at."""
    return ast.parse(file.read_text(encoding="utf-8"))


def may_import(room: str) -> set[str]:
    """The rooms that a room may import, itself included."""
    return {room}.union(*(may_import(other) for other in MAY_IMPORT[room].split()))


def files_of(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def imports_of(file: Path) -> Iterator[tuple[str, str, str]]:
    """(room, module within it, name) of what a file imports of rooms, wherever in the file the import stands.

    The module is empty for a room's door, the name for a module that is imported as such. Of a door that is imported whole,
    `from pagekin import bags`, it is each name that the file takes of it.
    """
    tree = parsed(file)
    for node in ast.walk(tree):
        names: list[tuple[str, str]] = []
        if isinstance(node, ast.Import):
            names = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "pagekin":
            names = [
                (f"pagekin.{alias.name}", name)
                for alias in node.names
                for name in names_taken_of(tree, alias.asname or alias.name)
            ]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [(node.module, alias.name) for alias in node.names]
        for module, name in names:
            parts = module.split(".")
            if parts[0] == "pagekin" and len(parts) > 1 and parts[1] in ROOMS:
                yield parts[1], ".".join(parts[2:]), name


def names_taken_of(tree: ast.Module, module: str) -> set[str]:
    """The attributes of a module that a file names, in annotations that are strings, too."""
    whole = [tree, *(ast.parse(text) for text in annotations_in(tree))]
    attributes = [node for part in whole for node in ast.walk(part) if isinstance(node, ast.Attribute)]
    return {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == module}


def annotations_in(tree: ast.Module) -> Iterator[str]:
    """The annotations of a file that are strings."""
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            said = getattr(node, name, None)
            if isinstance(said, ast.Constant) and isinstance(said.value, str):
                yield said.value


def exports_of(room: str) -> dict[str, str]:
    """What a room's door exports, by name: the module that has it; none for a module that is exported itself."""
    stub = ROOT / room / "__init__.pyi"
    tree = ast.parse(stub.read_text(encoding="utf-8")) if stub.exists() else ast.Module([], [])
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}


DOORS = {room: exports_of(room) for room in ROOMS}


def test_every_room_of_the_house_exists_and_says_what_it_is_for() -> None:
    for room in ROOMS:
        tree = ast.parse((ROOT / room / "__init__.py").read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), room
    rooms = {p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith("_")}
    assert rooms == set(ROOMS)


def test_a_room_imports_only_rooms_that_the_table_allows() -> None:
    needed = set()
    for room in ROOMS:
        for file in files_of(room):
            for other, module, name in imports_of(file):
                if other not in may_import(room):
                    assert (room, other) in NOT_YET_IN_ORDER, f"{file} imports {other} {module} {name}"
                    needed.add((room, other))
    assert needed == NOT_YET_IN_ORDER


def test_a_room_imports_only_what_the_doors_of_others_export() -> None:
    needed = set()
    for room in ROOMS:
        for file in files_of(room):
            for other, module, name in imports_of(file):
                allowed = other == room or (room, other) in NOT_YET_IN_ORDER
                # Of a room that is imported as a whole, mypy sees what its door exports.
                if not allowed and (module or (name and name not in DOORS[other])):
                    assert room in NOT_YET_THROUGH_DOORS, f"{file}: the door of {other} does not export {module} {name}"
                    needed.add(room)
    assert needed == NOT_YET_THROUGH_DOORS


@pytest.mark.parametrize("room", [room for room in ROOMS if DOORS[room]])
def test_a_door_gives_every_name_that_it_promises(room: str) -> None:
    door = importlib.import_module(f"pagekin.{room}")
    assert sorted(door.__all__) == sorted(DOORS[room])
    for name, module in DOORS[room].items():
        exported = importlib.import_module(f"pagekin.{room}.{module or name}")
        assert getattr(door, name) is (getattr(exported, name) if module else exported)
    with pytest.raises(AttributeError):
        _ = door.no_such_name


def test_opening_a_door_loads_nothing_heavy() -> None:
    doors = ", ".join(f"pagekin.{room}" for room in ROOMS if DOORS[room])
    program = f"import sys, {doors}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_verbs_load_no_compiler_before_they_look_at_their_arguments() -> None:
    program = "import sys; from pagekin.cli.app import load_verbs; load_verbs(); print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_relative_imports_are_not_used() -> None:
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(parsed(file)):
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{file} uses a relative import"


def names_in(file: Path) -> Iterator[str]:
    """The strings in a file; of those with values in them the beginning."""
    tree = parsed(file)
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            yield node.value
        elif isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            yield str(node.values[0].value)


def test_the_name_of_an_array_stands_only_in_the_room_that_writes_it() -> None:
    golden = json.loads(Path(__file__).with_name("golden.json").read_text(encoding="utf-8"))
    arrays = {name for groups in golden.values() for group in groups.values() for name in group}
    owners = {name: [room for room, firsts in ARRAYS.items() if name.startswith(firsts)] for name in arrays}
    assert all(len(rooms) == 1 for rooms in owners.values()), owners
    owners |= {first: [room] for room, firsts in ARRAYS.items() for first in firsts}
    needed = set()
    for room in ROOMS:
        for file in files_of(room):
            for name in names_in(file):
                if owners.get(name, [room]) != [room]:
                    where = file.relative_to(ROOT).as_posix()
                    assert where in NOT_YET_BY_COLUMNS, f"{where} names {name}, which {owners[name][0]} writes"
                    needed.add(where)
    assert needed == NOT_YET_BY_COLUMNS


def test_a_file_fits_one_sitting_and_a_function_one_look() -> None:
    files = list(ROOT.rglob("*.py"))
    assert [file.name for file in files if len(file.read_text(encoding="utf-8").splitlines()) > 500] == []
    functions = (
        (file.name, node)
        for file in files
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    assert [(name, node.name) for name, node in functions if (node.end_lineno or 0) - node.lineno >= 120] == []


def test_nobody_asks_what_kind_of_service_answers() -> None:
    """A service is whatever answers; who asks for its class takes a fork."""
    kinds = {"Collection", "ReloadingCollection", "ShardedCollection", "Router", "Remote"}
    asked = [
        (file.name, node.lineno)
        for file in ROOT.rglob("*.py")
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "isinstance"
        and kinds & {one.id for one in ast.walk(node.args[1]) if isinstance(one, ast.Name)}
    ]
    assert asked == []
