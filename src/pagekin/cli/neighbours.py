"""`pagekin neighbours`: the related pages of all pages, in one file."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from pagekin import hypertext, similarity, store
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, fail, human_bytes, progress_bar, say, use_file
from pagekin.wording import plural

_PARQUET_ROWS = 200_000


@app.command()
def neighbours(
    collection: options.IndexedCollection,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write: .jsonl or .parquet.")],
    k: options.RelatedCount = 10,
    min_similarity: options.MinSimilarity = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Include addresses that are known only from links.")
    ] = False,
    unfold: Annotated[bool, typer.Option("--unfold", help="Write near-duplicates as separate results.")] = False,
    workers: options.CoreThreads = 0,
    quiet: options.Quiet = False,
) -> None:
    """Write the related pages of every page to one file."""
    if out.suffix not in (".jsonl", ".parquet"):
        fail(f"--out: {out} ends neither in .jsonl nor in .parquet", USAGE)
    if out.suffix == ".parquet":
        _need_pyarrow()
    if out.is_dir():
        fail(f"--out: {out} is a folder; name a file", USAGE)
    import numpy as np

    index = open_undamaged(collection)
    documents = np.arange(len(index))
    if not everything:
        documents = documents[index.are_captured(documents)]
    ranking = similarity.RankingOptions(k=k, min_similarity=min_similarity, fold=not unfold)
    answers = similarity.all_neighbours(index, documents, ranking, threads_of(workers))
    write = _write_parquet if out.suffix == ".parquet" else _write_json_lines
    pairs = alone = 0

    def count_answers(tell: Callable[[str, float], None]) -> Iterator[tuple[str, Any]]:
        nonlocal pairs, alone
        for done, (document, answer) in enumerate(answers, 1):
            yield index.urls[document], answer
            pairs += len(answer.related)
            alone += not answer.related
            tell("answering", done / len(documents))

    with use_file(out, then=" Nothing was left behind."), progress_bar(quiet) as tell, store.fresh_file(out) as file:
        write(index.urls, count_answers(tell), file)
    if not quiet:
        say(
            f"{out}: {plural(pairs, 'related page')} of {plural(len(documents), 'page')}, {human_bytes(out.stat().st_size)}"
        )
        alpha = index.strategy.signature.alpha if min_similarity is None else min_similarity
        if alone and alpha:
            pages = f"{alone:,} page{'s have' if alone > 1 else ' has'}"
            say(f"{pages} no related page above the threshold α = {alpha:g}. Without it: --min-similarity 0")


def open_undamaged(collection: str) -> "similarity.RelatedIndex":
    """Open an index after checking it: compiled code does not check bounds, so a damaged index would crash it."""
    index = similarity.RelatedIndex.open(collection)
    for corpus in index.corpora:
        if damage := next(similarity.check_index(corpus.kin), None):
            whole = len(index.corpora) == 1  # shards are not indexed again by themselves
            advice = (
                f"Index it again: pagekin index {collection}"
                if whole
                else f"For all damage: pagekin check {collection}"
            )
            fail(f"{corpus.kin.path} is damaged: {damage.where} {damage.what}. {advice}")
    return index


def threads_of(workers: int) -> int:
    """Return the number of threads to run: one per core for 0, and never more."""
    return min(workers or hypertext.default_workers(), hypertext.default_workers())


def _need_pyarrow() -> None:
    """End with a clear message unless pyarrow is installed."""
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        fail("Parquet needs pyarrow: pip install pyarrow, or write .jsonl", USAGE)


def _write_json_lines(urls: Any, answers: Iterator[tuple[str, Any]], file: IO[bytes]) -> None:
    """Write one object per page."""
    for url, answer in answers:
        line = {
            "url": url,
            "copies": len(answer.copies),
            "related": [
                {"url": urls[one.document], "similarity": round(one.similarity, 6), "copies": len(one.copies)}
                for one in answer.related
            ],
        }
        file.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")


def _write_parquet(urls: Any, answers: Iterator[tuple[str, Any]], file: IO[bytes]) -> None:
    """Write one row per pair of pages."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [("url", pa.string()), ("rank", pa.int32()), ("related", pa.string()), ("similarity", pa.float64()),
         ("copies", pa.int32())]
    )  # fmt: skip
    with pq.ParquetWriter(file, schema) as writer:
        rows: list[dict[str, Any]] = []
        for url, answer in answers:
            rows += [
                {"url": url, "rank": rank, "related": urls[one.document], "similarity": round(one.similarity, 6),
                 "copies": len(one.copies)}
                for rank, one in enumerate(answer.related, 1)
            ]  # fmt: skip
            if len(rows) >= _PARQUET_ROWS:
                writer.write_table(pa.Table.from_pylist(rows, schema))
                rows = []
        writer.write_table(pa.Table.from_pylist(rows, schema))
