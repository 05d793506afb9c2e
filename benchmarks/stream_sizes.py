"""What a corpus costs on disk, in bytes per word and as a share of its HTML, by kind of data.

python benchmarks/stream_sizes.py SITE.kin...
"""

import argparse

from pagekin.hypertext import Corpus

GROUPS = {
    "words": ("stream.",),
    "boundaries": ("mark.",),
    "anchors": ("anchor.",),
    "links in": ("inlink.",),
    "addresses": ("url.", "alias.", "host."),
    "terms": ("term.",),
    "pages": ("page.", "title.", "snippet."),
    "plain text": ("text.", "page.text"),
}


def main() -> None:
    """Print one table per collection."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("collections", nargs="+")
    for path in parser.parse_args().collections:
        corpus = Corpus.open(path)
        words, html = corpus.facts["words"], corpus.facts["html_bytes"]
        print(f"{path}: {corpus.facts['pages']:,} pages, {words:,} words, {html / 1e6:.1f} MB of HTML")
        totals = dict.fromkeys(GROUPS, 0)
        for name, size in corpus.kin.bytes_on_disk.items():
            # The last group that fits: the plain text's offsets belong to the plain text.
            totals[[group for group, starts in GROUPS.items() if name.startswith(starts)][-1]] += size
        apart = totals.pop("plain text")
        for group, size in [*totals.items(), ("cooccurrences", sum(totals.values())), ("plain text, apart", apart)]:
            print(
                f"  {group:<20}{size / 1e6:>9.2f} MB{size / words:>8.2f} bytes a word{100 * size / html:>7.1f} % of the HTML"
            )


if __name__ == "__main__":
    main()
