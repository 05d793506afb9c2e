"""The arrays of the demo web, byte for byte: whoever changes one of them does so on purpose.

`golden.json` holds one digest per array, by collection and group. After a change that is meant, renew one group with

    pytest tests/test_golden.py --renew-golden=text

and look at the difference before it is committed. Several groups are named with commas, all of them with `all`.
"""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pagekin.bags import preset_strategy
from pagekin.clusters import ClusterSettings
from pagekin.engines import BuildRecipe, build_collection, cluster_collection
from pagekin.hypertext import ReadPlan
from pagekin.store import open_kin

GOLDEN = Path(__file__).with_name("golden.json")
GROUPS = {
    "corpus": (
        "alias", "anchor", "host", "inlink", "mark", "page", "snippet", "stream", "term", "text", "title", "url",
    ),
    "bags": ("bag", "bagterm", "copy", "epoch", "link"),
    "signatures": ("signature",),
    "lists": ("list",),
    "text": ("form", "posting"),
    "clusters": ("about", "tree"),
    "label": ("label",),
    "records": ("archive", "record"),
}  # fmt: skip
"""First words of the names of arrays, by what is made in one step of a build."""
KEPT = {
    "default": tuple(GROUPS),
    "haveliwala2002": ("corpus", "bags", "signatures", "lists", "clusters", "label"),
    "hypursuit1996": ("clusters", "label"),
}
"""The groups that are compared of each collection; the others are those of `default`, or not made."""
Digests = dict[str, dict[str, dict[str, str]]]


def digest(name: str, array: np.ndarray[Any, Any]) -> str:
    """Return a digest of an array's name, dtype, shape and bytes."""
    head = f"{name} {array.dtype.str} {array.shape}\n".encode()
    return hashlib.blake2b(head + np.ascontiguousarray(array).tobytes(), digest_size=16).hexdigest()


def digests_of(path: Path) -> dict[str, dict[str, str]]:
    """Return the digests of all arrays of a collection by group and name."""
    kin = open_kin(path)
    group_of = {first: group for group, firsts in GROUPS.items() for first in firsts}
    digests: dict[str, dict[str, str]] = {group: {} for group in GROUPS}
    for name in sorted(kin.manifest["files"]):
        first = name.partition(".")[0]
        assert first in group_of, f"the array {name} is new: put '{first}' into one of the groups"
        digests[group_of[first]][name] = digest(name, kin[name])
    return digests


@pytest.fixture(scope="session")
def golden_kins(demo_kin: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that gives the demo web as one of the three collections, each built once."""
    folder = tmp_path_factory.mktemp("golden")

    def build(name: str) -> Path:
        if name == "default":
            return demo_kin
        path = folder / f"{name}.kin"
        if not path.exists() and name == "haveliwala2002":
            build_collection(ReadPlan(["demo"], path, workers=1), BuildRecipe(preset_strategy(name), ClusterSettings()))
        elif not path.exists():
            shutil.copytree(demo_kin, path)
            cluster_collection(path, ClusterSettings(method=name))
        return path

    return build


@pytest.mark.parametrize(("name", "group"), [(name, group) for name, groups in KEPT.items() for group in groups])
def test_arrays_are_the_same_bytes_as_ever(
    golden_kins: Callable[[str], Path], request: pytest.FixtureRequest, name: str, group: str
) -> None:
    digests = digests_of(golden_kins(name))[group]
    golden: Digests = json.loads(GOLDEN.read_text())
    renewed = str(request.config.getoption("--renew-golden")).split(",")
    if group in renewed or "all" in renewed:
        golden.setdefault(name, {})[group] = digests
        GOLDEN.write_text(json.dumps(golden, indent=1, sort_keys=True) + "\n")
    assert digests == golden[name][group]


def test_each_group_that_is_compared_has_arrays() -> None:
    golden: Digests = json.loads(GOLDEN.read_text())
    assert {name: set(groups) for name, groups in golden.items()} == {name: set(KEPT[name]) for name in KEPT}
    assert all(golden[name][group] for name in KEPT for group in KEPT[name])


def test_both_presets_read_the_same_corpus_and_make_bags_of_their_own() -> None:
    golden: Digests = json.loads(GOLDEN.read_text())
    default, paper = golden["default"], golden["haveliwala2002"]
    assert default["corpus"] == paper["corpus"]
    assert all(default[group] != paper[group] for group in ("bags", "signatures", "lists"))
    assert default["clusters"] != golden["hypursuit1996"]["clusters"]


def test_a_digest_depends_on_name_dtype_shape_and_bytes() -> None:
    one = np.arange(4, dtype=np.uint32)
    others = [digest("b", one), digest("a", one.astype(np.uint16)), digest("a", one[:3]), digest("a", one[::-1])]
    others.append(digest("a", one.reshape(2, 2)))
    assert len({digest("a", one), *others}) == 6
    assert digest("a", one) == digest("a", one.copy())
