"""The rooms' import order: a room imports only rooms above it, and only what they export or their public modules."""

import ast
from pathlib import Path

import pagekin

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
    "cli": "web routers engines evaluation",
}
"""The rooms in their order, and which of those above each may import, with all that these may import."""
ORDER = [room for room in MAY_IMPORT if room != "collection"]
NOT_YET = {("engines", "routers"), ("web", "evaluation")}
"""(room, other): imports against the table that still have to go."""
ROOT = Path(pagekin.__file__).parent


def may_import(room: str) -> set[str]:
    """The rooms that a room may import, itself included."""
    return {room}.union(*(may_import(other) for other in MAY_IMPORT[room].split()))


def imports_of(file: Path) -> set[tuple[str, str]]:
    """(room, module) pairs that a file imports, wherever in the file the import stands."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "pagekin" and len(parts) > 1 and parts[1] in ORDER:
                found.add((parts[1], ".".join(parts[2:])))
    return found


def test_every_room_of_the_house_exists_and_says_what_it_is_for() -> None:
    for room in ORDER:
        tree = ast.parse((ROOT / room / "__init__.py").read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), room
    rooms = {p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith("_")}
    assert rooms == set(ORDER)


def test_a_room_imports_only_rooms_that_the_table_allows() -> None:
    needed = set()
    for room in ORDER:
        for file in (ROOT / room).rglob("*.py"):
            for other, module in imports_of(file):
                if other not in may_import(room):
                    assert (room, other) in NOT_YET, f"{file} imports {other}.{module}"
                    needed.add((room, other))
    assert needed == NOT_YET


def test_kernels_are_private_to_their_room() -> None:
    for room in ORDER:
        for file in (ROOT / room).rglob("*.py"):
            for other, module in imports_of(file):
                assert other == room or "_kernels" not in module, f"{file} reaches into {other}._kernels"


def test_relative_imports_are_not_used() -> None:
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{file} uses a relative import"
