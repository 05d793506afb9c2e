"""`pagekin neighbours`: the related pages of all pages, in one file."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from pagekin.cli.app import USAGE, app, fail, human_bytes, open_index, progress_bar, refuse_nan, say

_PARQUET_ROWS = 200_000


@app.command()
def neighbours(
    collection: Annotated[str, typer.Argument(metavar="SITE.kin", help="An indexed collection.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write: .jsonl or .parquet.")],
    k: Annotated[int, typer.Option("-k", min=1, max=1_000, help="Related pages per page.")] = 10,
    min_similarity: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, callback=refuse_nan, help="Only pages more similar than this (default: as indexed)."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also for addresses that are known only by links to them.")
    ] = False,
    unfold: Annotated[bool, typer.Option("--unfold", help="Give near-duplicates as results of their own.")] = False,
    workers: Annotated[
        int, typer.Option(min=0, help="Threads, no more than there are cores; 0 means one per core.")
    ] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")] = False,
) -> None:
    """Write the related pages of every page to one file."""
    if out.suffix not in (".jsonl", ".parquet"):
        fail(f"--out: {out} ends neither in .jsonl nor in .parquet", USAGE)
    if out.suffix == ".parquet":
        _need_pyarrow()
    if out.is_dir():
        fail(f"--out: {out} is a folder; name a file", USAGE)
    index = open_index(collection)
    import numpy as np

    from pagekin.hypertext import default_workers
    from pagekin.similarity import all_neighbours, check_index

    # Compiled code does not look where it reads, so a damaged index would end it without a word.
    if damage := next(check_index(index.corpus.kin), None):
        fail(f"{collection} is damaged: {damage.where} {damage.what}. Index it again: pagekin index {collection}")
    cores = default_workers()
    documents = np.arange(len(index))
    if not everything:
        documents = documents[index.captured(documents)]
    answers = all_neighbours(index, documents, k, not unfold, min_similarity, min(workers or cores, cores))
    fresh = out.with_name(f".{out.name}.unfinished")
    try:
        with progress_bar(quiet) as tell, fresh.open("wb") as file:
            write = _write_parquet if out.suffix == ".parquet" else _write_json_lines
            pairs, alone = write(index, answers, file, lambda done: tell("answering", done / max(len(documents), 1)))
        fresh.replace(out)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        fail(f"{out} cannot be written: {error.strerror}. Nothing was left behind.")
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    if not quiet:
        say(f"{out}: {pairs:,} related pages of {len(documents):,} pages, {human_bytes(out.stat().st_size)}")
        alpha = index.strategy.signature.alpha if min_similarity is None else min_similarity
        if alone and alpha:
            pages = f"{alone:,} page{'s have' if alone > 1 else ' has'}"
            say(f"{pages} no related page above the threshold α = {alpha:g}. Without it: --min-similarity 0")


def _need_pyarrow() -> None:
    """End with a clear message unless pyarrow is installed."""
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        fail("Parquet needs pyarrow: pip install 'pagekin[parquet]', or write .jsonl", USAGE)


def _write_json_lines(
    index: Any, answers: Iterator[Any], file: IO[bytes], progress: Callable[[int], None]
) -> tuple[int, int]:
    """Write one object per page; return the number of pairs and of pages without any."""
    pairs = alone = 0
    urls = index.urls
    for done, (document, answer) in enumerate(answers, 1):
        line = {
            "url": urls[document],
            "copies": len(answer.copies),
            "related": [
                {"url": urls[one.document], "similarity": round(one.similarity, 6), "copies": len(one.copies)}
                for one in answer.related
            ],
        }  # fmt: skip
        file.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
        pairs += len(answer.related)
        alone += not answer.related
        progress(done)
    return pairs, alone


def _write_parquet(
    index: Any, answers: Iterator[Any], file: IO[bytes], progress: Callable[[int], None]
) -> tuple[int, int]:
    """Write one row per pair of pages; return the number of pairs and of pages without any."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [("url", pa.string()), ("rank", pa.int32()), ("related", pa.string()), ("similarity", pa.float64()),
         ("copies", pa.int32())]
    )  # fmt: skip
    pairs = alone = 0
    urls = index.urls
    with pq.ParquetWriter(file, schema) as writer:
        rows: list[dict[str, Any]] = []
        for done, (document, answer) in enumerate(answers, 1):
            url = urls[document]
            rows += [
                {"url": url, "rank": rank, "related": urls[one.document], "similarity": round(one.similarity, 6),
                 "copies": len(one.copies)}
                for rank, one in enumerate(answer.related, 1)
            ]  # fmt: skip
            pairs += len(answer.related)
            alone += not answer.related
            if len(rows) >= _PARQUET_ROWS:
                writer.write_table(pa.Table.from_pylist(rows, schema))
                rows = []
            progress(done)
        writer.write_table(pa.Table.from_pylist(rows, schema))
    return pairs, alone
