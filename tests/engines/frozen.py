"""The slow, obvious version of a delta: all bags of an updated collection, made anew under the epoch of another one."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from pagekin import bags
from pagekin.bags.build import write_sketches
from pagekin.bags.delta import _frequencies, epoch_in
from pagekin.bags.furniture import classify_by_epoch
from pagekin.hypertext import Corpus
from pagekin.similarity import INDEX_ARRAYS, make_index
from pagekin.store import Kin, KinWriter, Workspace, no_progress, open_kin


def remake_under_epoch(path: Path, base: Kin, out: Path) -> Path:
    """Index a copy of a collection in one piece by the frequencies, furniture and pages that only list of another."""
    shutil.copytree(path, out)
    kin = open_kin(out)
    corpus, strategy = Corpus(kin), bags.strategy_of_index(base.facts["index"])
    words, citing = bags.make_vocabulary(corpus, strategy), bags.citing_pages(corpus)
    uses = classify_by_epoch(corpus, *epoch_in(corpus, base))
    with KinWriter(out, "test") as writer, TemporaryDirectory() as name:
        folder = Path(name)
        kept, _windows = bags.keep(corpus, strategy, words, uses, folder, no_progress, 1)
        write_sketches(kept, words, writer)
        raw = bags.merge(corpus, strategy, words, kept, citing, Workspace(folder), no_progress, 1)
        facts: dict[str, Any] = dict(kin.facts["index"])
        facts |= bags.weigh(corpus, strategy, words, raw, _frequencies(base), writer, no_progress)
        into = bags.number_links(corpus, raw.urls, bags.find_links(corpus, strategy, uses, citing, raw.urls))
        out_links = bags.collect_links([into], "sources")
        into = bags.collect_links([bags.count_outlinks(out_links)], "targets")
        facts |= bags.write_links(corpus, uses, raw.urls, into, out_links, writer)
        for one in ("factor", "furniture", "navigation", "lists"):
            writer.put(f"epoch.{one}", np.asarray(base[f"epoch.{one}"]))
        facts["whole"] = {one: base.facts["index"][one] for one in ("bags", "own_pages", "own_words")}
        facts |= make_index(writer.view(kin.facts, kin), strategy, writer)
        keep = {one: entry for one, entry in kin.manifest["files"].items() if not one.startswith(INDEX_ARRAYS)}
        writer.commit({**kin.facts, "index": facts}, keep)
    return out
