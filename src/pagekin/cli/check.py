"""`pagekin check`: check a collection for damage."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from pagekin import clusters, engines, hypertext, labels, similarity, store, text
from pagekin.cli import options
from pagekin.cli.app import BAD_INPUT, app, fail, print_json, progress_bar, say


@app.command()
def check(
    collection: Annotated[Path, typer.Argument(metavar="SITE.kin", help="A collection.")],
    as_json: options.AsJson = False,
) -> None:
    """Check a collection for damage. Checksums, lengths, references, signatures; exit code 3 if something is wrong."""
    if not collection.is_dir():
        fail(f"{collection} is not a collection; make one with: pagekin build SOURCE... --out {collection}")
    total = sum(file.stat().st_size for file in collection.rglob("*") if file.is_file()) or 1
    done = 0
    with progress_bar(as_json) as tell:

        def read(size: int) -> None:
            nonlocal done
            done += size
            tell("checking", done / total)

        findings = _check_folder(collection, read)
    whole = all(finding.leftover for finding in findings)
    if as_json:
        print_json({"whole": whole, "findings": [{"where": f.where, "what": f.what} for f in findings]})
    else:
        for finding in findings:
            say(f"{finding.where}: {finding.what}")
        if whole:
            say(f"{collection} is undamaged: every file is as it was written, and all references are valid.")
        else:
            say(f"{collection} is damaged. Build it again: pagekin build SOURCE... --out {collection}")
    if not whole:
        raise typer.Exit(BAD_INPUT)


def _check_folder(path: Path, read: Callable[[int], None]) -> "list[store.Finding]":
    """Return the damage of a collection; of shards, both individually and as a whole."""
    findings = list(store.check_files(path, read))
    if not all(finding.leftover for finding in findings):
        return findings
    kin = store.open_kin(path)
    if folders := hypertext.shard_folders(kin):
        for folder in folders:
            own = _check_folder(folder, read) if folder.is_dir() else [store.Finding("manifest.json", "is missing")]
            findings += [store.Finding(f"{folder.name}/{one.where}", one.what, one.leftover, one.stray) for one in own]
        whole = all(finding.leftover for finding in findings)
        return [*findings, *(engines.check_shards(kin) if whole else ())]
    if delta := kin.facts.get(store.DELTA):
        folder = path / str(delta["folder"])
        own = _check_folder(folder, read) if folder.is_dir() else [store.Finding("manifest.json", "is missing")]
        findings += [store.Finding(f"{folder.name}/{one.where}", one.what, one.leftover, one.stray) for one in own]
        if not all(finding.leftover for finding in findings):
            return findings
        findings += engines.check_delta(kin)
    return findings + (list(hypertext.check_corpus(kin)) or [
        *similarity.check_index(kin), *clusters.check_trees(kin), *labels.check_stored_label(kin), *text.check_text(kin),
    ])  # fmt: skip
