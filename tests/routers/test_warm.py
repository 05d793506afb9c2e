"""What a process opens and compiles before it listens: afterwards no question waits for a compiler."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pagekin.collection import ReloadingCollection, ServiceError
from pagekin.routers.warm import warm, warm_leaf

_SCRIPT = """
import asyncio, json, sys
from pathlib import Path

from pagekin.labels import LabelBudget, router_label
from pagekin.collection import ReloadingCollection
from pagekin.collection.messages import (
    Item, RefineRequest, RelatedRequest, SearchRequest, SelectRequest, ShowRequest, SuggestRequest, CooccurrencesRequest,
)
from pagekin.collection.refinement import LabelThesaurus
from pagekin.collection import fold_hits
from pagekin.routers.router import Router
from pagekin.collection.queries import parse_query, query_words
from pagekin.routers.routing import RoutingTable
from pagekin.routers.warm import warm

leaves = [ReloadingCollection(Path(one).stem, Path(one)) for one in sys.argv[1:]]
warm([Router("top", {}), *leaves])


def kernels():
    return {
        f"{module}.{name}": len(found.overloads)
        for module in list(sys.modules) if "._kernels." in module
        for name, found in vars(sys.modules[module]).items() if hasattr(found, "overloads")
    }


async def asked(leaf):
    word = leaf.label.heaviest[0]
    first = (await leaf.search(SearchRequest(query=word))).results
    item = Item("document", first[0].url)
    await leaf.search(SearchRequest(query=f"title:{word} OR page"))
    await leaf.search(SearchRequest(query=f'"{word} {word}"'))
    await leaf.show(ShowRequest(query=word, items=(item,)))
    await leaf.select(SelectRequest(query=word))
    await leaf.refine(RefineRequest(query=word))
    await leaf.cooccurrences(CooccurrencesRequest(query=word))
    await leaf.suggest(SuggestRequest(items=(item,)))
    bag = await leaf.bag(RelatedRequest(url=item.url))
    await leaf.related(RelatedRequest(bag=bag))
    return first


before = kernels()
found = [one for leaf in leaves for one in asyncio.run(asked(leaf))]
fold_hits(found, 10)
labels = {leaf.name: leaf.label for leaf in leaves}
router_label("top", labels, LabelBudget(clusters=3))
table, query = RoutingTable(labels), parse_query("page OR bird")
table.judge(query, ask=1), table.stats(query), table.words_held(["bird"])
LabelThesaurus(labels).suggest(query_words(query), 3)
print(json.dumps([before, {name: count for name, count in kernels().items() if count != before.get(name)}]))
"""


def test_once_it_is_warm_no_question_compiles_anything(collections: dict[str, Path]) -> None:
    command = [sys.executable, "-c", _SCRIPT, str(collections["birds"]), str(collections["elements"])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    before, later = json.loads(done.stdout)
    assert before, "there are kernels that can be compiled"
    assert later == {}


def opened(leaf: ReloadingCollection) -> set[str]:
    """What is open of a leaf's collection by now."""
    return {*vars(leaf.collection), *vars(leaf.whole)}


def test_each_leaf_has_open_what_a_search_needs_and_one_of_them_the_rest(collections: dict[str, Path]) -> None:
    leaves = [ReloadingCollection(name, collections[name]) for name in ("birds", "elements", "planets")]
    warm(leaves)
    for leaf in leaves:
        assert {"documents", "document_pages", "cluster_of", "titles"} <= opened(leaf)
        assert leaf.requests == 0, "nobody has asked yet"
    assert [{"related_pages", "thesaurus"} <= opened(leaf) for leaf in leaves] == [True, False, False]


def test_a_leaf_that_cannot_be_opened_keeps_no_other_from_being_warm(
    collections: dict[str, Path], tmp_path: Path
) -> None:
    missing = ReloadingCollection("missing", tmp_path / "no.kin", patient=True)
    there = ReloadingCollection("birds", collections["birds"])
    warm([missing, there])
    assert "related_pages" in opened(there)
    warm_leaf(missing)
    with pytest.raises(ServiceError):
        _ = missing.collection
