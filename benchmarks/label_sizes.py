"""Sizes of content labels (Table 2 of hypursuit-1996 for leaves), and how they grow with the site.

    python benchmarks/label_sizes.py ARCHIVE.warc.gz[,HOST]... [--pages 100 1000 10000] [--max-bytes N]

Of each archive, or of one host in it, the first pages are read, put into clusters and labelled with the paper's
budgets: 30 sub-clusters of 500 terms, from the first 500 and 500 frequent terms of a page. The paper's leaves had 100
pages and labels of 410 KB on average. S-expressions are counted without filters, which the paper has not; JSON with all.
On the wire JSON is compressed by zstd.
"""

import argparse
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from fastwarc.stream_io import GzipWriter
from fastwarc.warc import ArchiveIterator, WarcRecordType

from pagekin.clusters import ClusterSettings, read_trees
from pagekin.engines import cluster_collection
from pagekin.hypertext import Corpus, ReadPlan, read_sources
from pagekin.labels import LabelBudget, label_to_json, label_to_sexpr, label_to_wire, leaf_label


def first_pages(archive: Path, host: str, most: int, out: Path) -> None:
    """Write the first HTML pages of an archive, or of a host in it, to another."""
    with archive.open("rb") as source, out.open("wb") as target:
        stream = GzipWriter(target)
        found = 0
        for record in ArchiveIterator(source, record_types=WarcRecordType.response, parse_http=True):
            url = (record.headers.get("WARC-Target-URI") or "").strip("<>")
            if found == most or (host and urlsplit(url).hostname != host):
                continue
            if record.http_headers and record.http_headers.status_code == 200:
                found += 1
                record.write(stream)
        stream.close()


def main() -> None:
    """Print a row for each site and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", nargs="+")
    parser.add_argument("--pages", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--max-bytes", type=int, default=LabelBudget().bytes)
    asked = parser.parse_args()
    print(
        "| site | pages | terms | sub-clusters | S-expression, kB | JSON, kB | of it filters, kB | on the wire, kB | s |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in asked.archives:
        archive, _comma, host = name.partition(",")
        before = 0
        for most in sorted(asked.pages):
            with tempfile.TemporaryDirectory() as scratch:
                part, out = Path(scratch) / "part.warc.gz", Path(scratch) / "site.kin"
                first_pages(Path(archive), host, most, part)
                read_sources(ReadPlan([str(part)], out))
                cluster_collection(out, ClusterSettings(), threads=2)
                corpus = Corpus.open(out)
                if len(corpus) == before:
                    break
                before = len(corpus)
                tree = next(tree for tree in read_trees(corpus.kin) if tree.name == "clusters")
                started = time.perf_counter()
                label = leaf_label(corpus, tree, LabelBudget(bytes=asked.max_bytes), threads=2)
                seconds = time.perf_counter() - started
            kept = [one for cluster in label.clusters for one in cluster.filters]
            filters = sum((len(one.bits) + 2) // 3 * 4 for one in (*label.filters, *kept))
            sizes = (
                len(label_to_sexpr(label, filters=False).encode()),
                len(label_to_json(label)),
                filters,
                len(label_to_wire(label)),
            )
            cells = " | ".join(f"{size / 1000:,.0f}" for size in sizes)
            site = host or Path(archive).name.partition(".")[0]
            print(
                f"| {site} | {label.num_docs:,} | {label.num_terms:,} | {len(label.clusters)} | {cells} | {seconds:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
