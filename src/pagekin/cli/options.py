"""Options and arguments that several verbs take."""

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin import store

PRESETS = ("default", "hypursuit1996")
"""The ways to refine, and to suggest."""
ENGINES = ("local", "spark")
"""Where builds run."""
WISHES = ("both", "kin", "see-also")
"""What related may mean."""


def refuse_nan(value: float | None) -> float | None:
    """Refuse nan, which no range of an option excludes (a callback of number options)."""
    if value is not None and math.isnan(value):
        raise typer.BadParameter("nan is not a number")
    return value


def parse_memory(text: str) -> "store.MemoryBudget":
    """Return the memory limit for a size such as 800M or 1G."""
    try:
        return store.MemoryBudget(store.parse_size(text))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def parse_target(text: str) -> Path | str:
    """Return where to write a collection: the path of a folder, or an address in an object store."""
    return text if store.is_remote(text) else Path(text)


# -- of most verbs ------------------------------------------------------------------------------------------------------

Collection = Annotated[str, typer.Argument(metavar="SITE.kin")]
IndexedCollection = Annotated[str, typer.Argument(metavar="SITE.kin", help="An indexed collection.")]
NewCollection = Annotated[Path, typer.Option("--out", "-o", metavar="SITE.kin", help="The collection to write.")]
NewOrRemoteCollection = Annotated[
    Any,
    typer.Option(
        "--out", "-o", metavar="SITE.kin|s3://…", parser=parse_target,
        help="The collection to write: a folder, or an address in an object store.",
    ),
]  # fmt: skip
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SummaryAsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")]
Threads = Annotated[int, typer.Option(min=0, help="Threads; 0 means one per core.")]
CoreThreads = Annotated[int, typer.Option(min=0, help="Threads, no more than there are cores; 0 means one per core.")]

# -- of what reads sources ----------------------------------------------------------------------------------------------

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="WARC, ARC or WACZ files, also s3://…, lists of them (warc.paths.gz), folders of HTML, or `demo`.",
    ),
]
SomeSources = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SOURCE...]", help="The sources, as `pagekin build` takes them."),
]
Engine = Annotated[
    str,
    typer.Option(metavar="local|spark", help="Build on this machine, or on a Spark cluster; the bytes are the same."),
]
BaseUrls = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[FOLDER=]URL", help="The address of a folder's root (default http://localhost/); once per folder."
    ),
]
AllCaptures = Annotated[bool, typer.Option(help="Keep every capture of a URL, not only the newest.")]
Strict = Annotated[bool, typer.Option(help="Fail (exit 3) on damaged records instead of skipping them.")]
Parser = Annotated[str, typer.Option(metavar="fast|strict", help="How to read HTML; strict is slow.")]
Memory = Annotated[
    Any,
    typer.Option(
        metavar="SIZE", parser=parse_memory,
        help="Stay within this memory, all processes together: 800M, 1G. The result is the same; less memory takes longer.",
    ),
]  # fmt: skip
Workers = Annotated[int, typer.Option(min=0, help="Processes that read; 0 means one per core.")]
Limit = Annotated[
    list[str] | None,
    typer.Option(
        "--set-limit", metavar="NAME=NUMBER", help="Change a limit per page, e.g. page_bytes=1000000; repeatable."
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="GLOB", help="Leave out pages whose whole address matches, e.g. '*/genindex*'; repeatable."),
]
Content = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SELECTOR",
        help="Read words and links only from this region of a page, e.g. main; repeatable, the first match is used.",
    ),
]
Obey = Annotated[
    list[str] | None,
    typer.Option(
        "--obey", metavar="noindex|x-robots-tag",
        help="Leave out pages that ask not to be indexed, in a robots meta element or in the header; repeatable.",
    ),
]  # fmt: skip
MaxPerHost = Annotated[
    int,
    typer.Option(
        min=0, metavar="N", help="Keep at most this many addresses of each host, those with the lowest hashes; 0: all."
    ),
]
Replace = Annotated[
    bool, typer.Option("--replace", help="Overwrite an existing collection even if it was built from other sources.")
]

OptOuts = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Addresses and hosts, one per line, to leave out permanently: now and in later builds and updates.",
    ),
]
Updatable = Annotated[
    bool | None,
    typer.Option(
        help="Keep what was read, so that pagekin update works. [default: as in the existing collection; no for a new one]"
    ),
]

# -- of what indexes and clusters ---------------------------------------------------------------------------------------

Preset = Annotated[
    str, typer.Option("--preset", metavar="NAME", help="A strategy by name: default, haveliwala2002 (as in the paper).")
]
StrategyFile = Annotated[
    str,
    typer.Option(
        "--strategy", metavar="FILE", help="A strategy from a TOML file, such as `pagekin index --show` prints."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Change a setting of the strategy, e.g. window.size=16; repeatable."
    ),
]
ClustersPreset = Annotated[
    str,
    typer.Option(
        "--clusters-preset",
        metavar="default|hypursuit1996",
        help="How to make clusters: Pagekin's default, or the complete link of the 1996 paper.",
    ),
]
ClusterSetting = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster-set", metavar="NAME=VALUE", help="Change a setting of the clusters, e.g. links.paths=0; repeatable."
    ),
]

KeptNames = Annotated[
    str,
    typer.Option(
        "--names",
        metavar="FILE",
        help="A file with names for topics, from `pagekin clusters --save-names`; you may edit it.",
    ),
]

# -- of questions -------------------------------------------------------------------------------------------------------

Target = Annotated[
    str,
    typer.Argument(metavar="SITE.kin|URL|NET", help="A collection, the address of a service, or a network's folder."),
]
QueryText = Annotated[
    list[str], typer.Argument(metavar="QUERY...", help="""Words, title:word, '"a phrase"', OR, NOT; all must match.""")
]
Most = Annotated[int, typer.Option("-k", "--limit", min=1, max=10_000, help="Maximum number of results.")]
PageNumber = Annotated[int, typer.Option("--page", min=1, metavar="N", help="Which page of -k results; 2 is the next.")]
Deadline = Annotated[
    float, typer.Option(min=0.05, max=120, help="Seconds to wait for a network; the answer then says what is missing.")
]
Site = Annotated[str, typer.Option(metavar="HOST", help="Only pages of this host and its subdomains: cornell.edu.")]
Since = Annotated[str, typer.Option(metavar="DATE", help="Only pages of this day or later: 1996-12-01.")]
Until = Annotated[str, typer.Option(metavar="DATE", help="Only pages of this day or earlier.")]
Language = Annotated[str, typer.Option(metavar="CODE", help="Only pages in this language: en.")]

# -- of what serves -----------------------------------------------------------------------------------------------------

Replay = Annotated[
    str,
    typer.Option(
        "--replay", metavar="PATTERN",
        help="Link pages to their captures in a web archive instead of the live web, e.g. "
        "https://archive.example/web/{timestamp}/{url}.",
    ),
]  # fmt: skip

# -- of related pages ---------------------------------------------------------------------------------------------------

RelatedCount = Annotated[int, typer.Option("-k", "--limit", min=1, max=1_000, help="Related pages per page.")]
MinSimilarity = Annotated[
    float | None,
    typer.Option(min=0, max=1, callback=refuse_nan, help="Only pages more similar than this (default: as indexed)."),
]
Wish = Annotated[
    str,
    typer.Option(
        "--for", "--wish", metavar="|".join(WISHES),
        help="What related means: of the same kind (kin), worth a link (see-also), or both (default: as indexed).",
    ),
]  # fmt: skip
OtherSites = Annotated[bool, typer.Option("--other-sites", help="Only pages of other sites (registrable domains).")]
Captured = Annotated[bool, typer.Option("--captured", help="Only pages that were read, not merely linked to.")]

# -- of the laboratory --------------------------------------------------------------------------------------------------

DirectoryName = Annotated[
    str,
    typer.Option(
        metavar="FILE|url-path|breadcrumbs", help="A table of addresses and paths, or the collection's own tree."
    ),
]
Depth = Annotated[int, typer.Option(min=2, max=10, help="Levels of the tree; deeper ones are collapsed.")]
Mode = Annotated[
    str,
    typer.Option(
        metavar="lenient|strict", help="Pages listed above that depth: pad them (lenient), or leave them out (strict)."
    ),
]
Classes = Annotated[
    str, typer.Option(metavar="primary|all", help="Pages in several classes: use the deepest class (primary), or all.")
]
Loose = Annotated[bool, typer.Option("--loose", help="Match addresses even if scheme, final slash or case differ.")]
OwnPages = Annotated[
    list[str] | None,
    typer.Option(
        "--directory-pages", metavar="PREFIX",
        help="The beginning of the URLs of the directory's own pages: their links do not count, and they are not judged.",
    ),
]  # fmt: skip
Strategies = Annotated[str, typer.Option(metavar="FILE", help="TOML with a table [NAME] per strategy.")]
Figures = Annotated[bool, typer.Option("--figures", help="The strategies of the paper's figures 3 to 9.")]
