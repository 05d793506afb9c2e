"""The `pagekin` command and what all its verbs share: exit codes, errors for people, tables and progress."""

import io
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from pagekin import __version__
from pagekin.errors import PagekinError

USAGE, BAD_INPUT, OUR_FAULT = 2, 3, 1
INTERRUPTED = 130
LINE_SECONDS = 30.0
"""How often a line tells of progress where there is no terminal."""
_EXIT_CODES = {"usage": USAGE, "input": BAD_INPUT, "ours": OUR_FAULT}
# What could drive a terminal from a page's title (control characters), show it backwards, or not be printed at all.
_UNSAFE = "\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_NOT_SHOWN = re.compile(f"[\x00-\x08\x0b-\x1f{_UNSAFE}]")
_ESCAPED = re.compile(f"[{_UNSAFE}]")
_LONGEST_TITLE = 200
HELP = """Pagekin finds a web page's kin: related pages, clusters and search for web archives, with reasons.

Exit codes: 0 done (also with skipped records), 2 wrong usage, 3 bad input, 1 our fault."""

VERBS = """
crawl plan build search select expand suggest related bag duplicates neighbours export index evaluate explain-gamma tune cluster
clusters label summary refine network serve check demo info page read
""".split()
"""Every verb, in the order of the help."""
_MODULES = {
    "select": "search",
    "expand": "search",
    "suggest": "search",
    "explain-gamma": "explain_gamma",
    "summary": "label",
}
"""The modules of verbs that share one, or whose name is no module's."""


class _Verbs(TyperGroup):
    """The verbs: errors for people end each of them with a sentence and the right exit code."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the loaded verbs in the order of the table: some modules load others, so the order of loading does not tell."""
        return [name for name in VERBS if name in self.commands]

    def invoke(self, ctx: Any) -> Any:
        """Run a verb."""
        try:
            return super().invoke(ctx)
        except PagekinError as error:
            if error.detail and os.environ.get("PAGEKIN_DEBUG"):
                say(error.detail, err=True)
            fail(str(error), _EXIT_CODES[error.fault])


# Without markup the help is plain text: the boxes of rich would cost as much time again as all the rest of it.
app = typer.Typer(
    cls=_Verbs, help=HELP, no_args_is_help=True, add_completion=False,
    pretty_exceptions_enable=False, rich_markup_mode=None,
)  # fmt: skip


def load_verbs(verb: str = "") -> None:
    """Add a verb to `app`, or all of them if there is none of that name: help and mistakes need every name."""
    for name in [verb] if verb in VERBS else VERBS:
        import_module(f"pagekin.cli.{_MODULES.get(name, name)}")


def fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    """Say what is wrong on standard error, and end."""
    say(f"pagekin: {message}", err=True)
    raise typer.Exit(code)


def say(text: str = "", err: bool = False) -> None:
    """Print a line, with � in place of control characters other than tabs and line ends."""
    print(_NOT_SHOWN.sub("�", text), file=sys.stderr if err else sys.stdout)


@contextmanager
def check_option(option: str = "") -> Iterator[None]:
    """End with wrong usage if a ValueError says that what was given, for an option perhaps, is not allowed."""
    try:
        yield
    except ValueError as error:
        fail(f"{option}: {error}" if option else str(error), USAGE)


def check_choice(option: str, value: str, choices: Iterable[str]) -> None:
    """End with wrong usage unless an option has one of the values that it may have."""
    if value not in choices:
        fail(f"{option} is one of {', '.join(choices)}, not '{value}'", USAGE)


@contextmanager
def use_file(name: str | Path, use: str = "written", then: str = "") -> Iterator[None]:
    """End with a clear message if a file cannot be written, or read; `then` says in what state that leaves things."""
    try:
        yield
    except OSError as error:
        fail(f"{name} cannot be {use}: {error.strerror}.{then}")


def title_line(title: str) -> str:
    """Return a page's title, cut where it is too long for a line."""
    if len(title) > _LONGEST_TITLE:
        return f"{title[:_LONGEST_TITLE]} ..."
    return title or "(no title)"


def print_json(value: Any) -> None:
    """Print one JSON value, and nothing else, on standard output."""
    ascii_only = not (sys.stdout and sys.stdout.encoding.lower().startswith("utf"))
    text = json.dumps(value, ensure_ascii=ascii_only, indent=1)
    sys.stdout.write(_ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")


@cache
def _templates() -> Any:
    """Return the templates of longer texts."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pagekin.cli", "templates"), undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "count": "{:,}".format, "bytes": human_bytes, "title_line": title_line, "reasons": _reasons,
        "cell": lambda value: f"{value:.3f}" if math.isfinite(value) else "-",
        "share": lambda value: f"{value:.0%}" if math.isfinite(value) else "-",
    }  # fmt: skip
    return environment


def _reasons(counts: dict[str, int]) -> str:
    """Return what was skipped, by the reasons, the most frequent first."""
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(counts.items(), key=lambda item: -item[1]))


def fill_template(name: str, filters: dict[str, Callable[..., Any]] | None = None, **context: Any) -> str:
    """Return a text for people by its template, which may have filters of its own."""
    _templates().filters.update(filters or {})
    text: str = _templates().get_template(f"{name}.txt").render(context)
    return text.removesuffix("\n")


def human_bytes(size: float) -> str:
    """Return a size as people write it."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return ""


class _ProgressLines:
    """Progress where nobody watches: now and then a line on standard error, for a log."""

    def __init__(self) -> None:
        self._began: dict[str, tuple[float, float]] = {}
        self._last = time.monotonic()

    def tell(self, stage: str, share: float) -> None:
        """Print how far a stage is, its rate and the time left, if the last line is old."""
        now = time.monotonic()
        began, first = self._began.setdefault(stage, (now, share))
        if now - self._last < LINE_SECONDS:
            return
        self._last = now
        line = f"pagekin: {stage} {share:.0%}"
        if share > first:
            rate = (share - first) / max(now - began, 1e-6)
            line += f", {60 * rate:.1%} a minute, {_minutes((1 - share) / rate)} left"
        say(line, err=True)
        sys.stderr.flush()


def _minutes(seconds: float) -> str:
    """Return a time as people write it: 0:07, 12:30, 1:02:30."""
    minutes, rest = divmod(round(max(seconds, 0)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Callable[[str, float], None]]:
    """Give a function that shows (stage, share) as a progress bar on standard error, or as lines if that is no terminal."""
    if quiet:
        yield lambda _stage, _share: None
        return
    if not sys.stderr.isatty():
        yield _ProgressLines().tell
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    class Rate(TextColumn):
        """The share that is done in a minute."""

        def render(self, task: Task) -> Any:
            if task.speed is None or task.finished:
                return super().render(task)
            return f"{6_000 * task.speed:.1f} %/min"

    columns = (
        TextColumn("{task.description:<9}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), Rate(""),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def tell(stage: str, share: float) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=1.0)
            bar.update(tasks[stage], completed=share)

        yield tell


def _version(value: bool) -> None:
    if value:
        say(f"pagekin {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Take the options before a verb."""


def main() -> None:
    """Run the command; whatever goes wrong, end with a sentence and the right exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that has no é shows \xe9
    try:
        # No option before the verb takes a value, so a verb in the first place is the verb.
        load_verbs(*sys.argv[1:2])
        app()
    except KeyboardInterrupt:
        say("pagekin: stopped; nothing half-done was kept.", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output went away (head, less): not an error, and nothing to say it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        say(f"pagekin: {error.strerror or error}{where}. Collections are left as they were.", err=True)
        sys.exit(OUR_FAULT)
    except Exception as error:
        if os.environ.get("PAGEKIN_DEBUG"):
            raise
        say(f"pagekin: internal error: {type(error).__name__}: {error}. This is our fault; with PAGEKIN_DEBUG=1 in the "
            "environment the same command prints what a bug report needs.", err=True)  # fmt: skip
        sys.exit(OUR_FAULT)
