"""The `pagekin` command, and what its verbs share: exit codes, error messages, tables and progress."""

import io
import json
import math
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from pagekin import __version__, store
from pagekin.cli.verbs import VERBS, GroupedVerbs, module_of
from pagekin.errors import PagekinError
from pagekin.wording import format_measure, plural

USAGE, BAD_INPUT, OUR_FAULT = 2, 3, 1
INTERRUPTED = 130
_STOPPED = "stopped; collections are as they were."
LINE_SECONDS = 30.0
"""How often a line tells of progress where there is no terminal."""
_COMPILING_SECONDS = 5.0
"""The same while code is compiled, which takes less time than most builds, but nobody expects."""
_STEPS = 2
"""Steps of a stage that tell its rate: before them no time is promised."""
_EXIT_CODES = {"usage": USAGE, "input": BAD_INPUT, "ours": OUR_FAULT}
# What could drive a terminal from a page's title (control characters), show it backwards, or not be printed at all.
_UNSAFE = "\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_NOT_SHOWN = re.compile(f"[\x00-\x08\x0b-\x1f{_UNSAFE}]")
_ESCAPED = re.compile(f"[{_UNSAFE}]")
_LONGEST_TITLE = 200
HELP = """Pagekin finds related pages in web archives and sites, and explains why; with clusters and search.

Exit codes: 0 success (even if records were skipped), 2 wrong usage, 3 bad input, 1 a bug in Pagekin."""


class _Verbs(GroupedVerbs):
    """The verbs: an expected error ends a verb with a message and the right exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a verb."""
        try:
            answer = super().invoke(ctx)
            sys.stdout.flush()
            return answer
        except BrokenPipeError:
            # The reader of our output went away (head, less): not an error, and nothing to say it to.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except KeyboardInterrupt:  # which typer would turn into an exit without a word
            fail(_STOPPED, INTERRUPTED)
        except PagekinError as error:
            if error.detail and os.environ.get("PAGEKIN_DEBUG"):
                say(error.detail, err=True)
            fail(str(error), _EXIT_CODES[error.fault])


# Without markup the help is plain text: the boxes of rich would cost as much time again as all the rest of it.
app = typer.Typer(
    cls=_Verbs, help=HELP, no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False, rich_markup_mode=None,
)  # fmt: skip


def load_verbs(verb: str = "") -> None:
    """Add a verb to `app`, or all of them if there is none of that name: help and mistakes need every name."""
    for name in [verb] if verb in VERBS else VERBS:
        import_module(module_of(name))


def fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    """Say what is wrong on standard error, and end."""
    say(f"pagekin: {message}", err=True)
    raise typer.Exit(code)


def say(text: str = "", err: bool = False) -> None:
    """Print a line, with � in place of control characters other than tabs and line ends."""
    print(_NOT_SHOWN.sub("�", text), file=sys.stderr if err else sys.stdout)


@contextmanager
def check_option(option: str = "") -> Iterator[None]:
    """Turn a ValueError about a value, perhaps of an option, into a usage error."""
    try:
        yield
    except ValueError as error:
        fail(f"{option}: {error}" if option else str(error), USAGE)


def check_choice(option: str, value: str, choices: Iterable[str]) -> None:
    """End with a usage error unless an option has one of its allowed values."""
    if value not in choices:
        fail(f"{option} is one of {', '.join(choices)}, not '{value}'", USAGE)


@contextmanager
def use_file(name: str | Path, use: str = "written", then: str = "") -> Iterator[None]:
    """End with a clear message if a file cannot be written or read; `then` describes the resulting state."""
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
        "plural": plural,
        "cell": lambda value, sign="": format_measure(value, sign) if math.isfinite(value) else "-",
        "share": lambda value: f"{value:.0%}" if math.isfinite(value) else "-",
    }  # fmt: skip
    return environment


def _reasons(counts: dict[str, int]) -> str:
    """Return the numbers of skipped records by reason, the most frequent first."""
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(counts.items(), key=lambda item: -item[1]))


def fill_template(name: str, filters: dict[str, Callable[..., Any]] | None = None, **context: Any) -> str:
    """Return a text rendered from its template, with additional filters if given."""
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


def _write_error(line: str) -> None:
    say(line, err=True)
    sys.stderr.flush()


class CompilingLines:
    """Lines that explain the wait while code is compiled for this machine, once."""

    latest = 0.0
    """When any of these lines was printed last; soon after it, other lines would only say that they wait."""

    def __init__(self, write: Callable[[str], None] = _write_error) -> None:
        self._write = write
        self._began = self._last = 0.0

    def tell(self, state: "store.CompileProgress") -> None:
        """Print what is being compiled and the time left; then progress from time to time, and finally the time taken."""
        now = time.monotonic()
        if not state.processes:
            self._write("pagekin: waiting for another process that is compiling the same code ...")
        elif not state.done:
            self._began = self._last = now
            who = "a process" if state.processes == 1 else f"{state.processes} processes"
            self._write(f"pagekin: compiling {state.kernels} kernels, only this once: {who}, "
                        f"about {_minutes(state.seconds_left)} ...")  # fmt: skip
        elif state.done == state.kernels:
            self._write(f"pagekin: compiled in {_minutes(now - self._began)}, and cached for the next time.")
        elif now - self._last >= _COMPILING_SECONDS:
            self._last = now
            share = state.done / state.kernels
            self._write(f"pagekin: compiled {share:.0%}, about {_minutes(state.seconds_left)} left")
        else:
            return
        CompilingLines.latest = now


class StageRate:
    """How fast a stage advances, by its own reports."""

    def __init__(self, now: float, share: float) -> None:
        self._began, self._first = now, share
        self._advanced, self.share = now, share
        self._steps = 0

    def report(self, now: float, share: float) -> None:
        """Record the share that is done now."""
        if share > self.share:
            self._advanced = now
            self._steps += 1
        self.share = share

    @property
    def per_minute(self) -> float | None:
        """Return the share that is done in a minute; None while a single step or none was reported, which is no rate."""
        if self._steps < _STEPS:
            return None
        return 60 * (self.share - self._first) / max(self._advanced - self._began, 1e-6)

    def seconds_left(self, now: float) -> float | None:
        """Return the time left, counted from the last step; None without a rate, or if the stage should be over by now."""
        rate = self.per_minute
        if not rate:
            return None
        left = 60 * (1 - self.share) / rate - (now - self._advanced)
        return left if left >= 0.5 or self.share >= 1 else None


class ProgressLines:
    """Progress without a terminal: a line from time to time, even while a stage reports nothing."""

    def __init__(self, write: Callable[[str], None] = _write_error) -> None:
        self._write = write
        self._rates: dict[str, StageRate] = {}
        self._stage = ""
        self._last = time.monotonic()
        self._lock, self._over = threading.Lock(), threading.Event()

    def __enter__(self) -> "ProgressLines":
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()

    def tell(self, stage: str, share: float) -> None:
        """Record the progress of a stage."""
        now = time.monotonic()
        self._rates.setdefault(stage, StageRate(now, share)).report(now, share)
        self._stage = stage
        self.remind()

    def remind(self) -> None:
        """Print the progress of the stage, its rate and the time left, if the last line is old."""
        with self._lock:
            now = time.monotonic()
            if now - max(self._last, CompilingLines.latest) < LINE_SECONDS or not self._stage:
                return
            self._last = now
            rate = self._rates[self._stage]
            line = f"pagekin: {self._stage} {rate.share:.0%}"
            left, per_minute = rate.seconds_left(now), rate.per_minute
            if left is not None and per_minute is not None:
                line += f", {per_minute:.1%} a minute" if per_minute < 1 else ""  # else the time left says it all
                line += f", {_minutes(left)} left"
            self._write(line)

    def _watch(self) -> None:
        while not self._over.wait(1.0):
            self.remind()


@contextmanager
def log_progress(write: Callable[[str], None]) -> Iterator["store.Progress"]:
    """Yield a function that writes progress as lines to another program's log, also while code is compiled."""
    compiling = CompilingLines(write).tell
    store.watch_compiling(compiling)
    try:
        with ProgressLines(write) as lines:
            yield lines.tell
    finally:
        store.unwatch_compiling(compiling)


def _minutes(seconds: float) -> str:
    """Return a time as people write it: 0:07, 12:30, 1:02:30."""
    minutes, rest = divmod(round(max(seconds, 0)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


@contextmanager
def progress_bar(quiet: bool = False) -> Iterator[Callable[[str, float], None]]:
    """Yield a function that shows (stage, share) as a progress bar on standard error, or as lines without a terminal."""
    if quiet:
        yield lambda _stage, _share: None
        return
    if not sys.stderr.isatty():
        with ProgressLines() as lines:
            yield lines.tell
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
    from rich.text import Text

    rates: dict[str, StageRate] = {}

    class Rate(ProgressColumn):
        """The share that is done in a minute, and the time left, where there is a rate."""

        def render(self, task: Task) -> Text:
            rate = rates[task.description]
            left, per_minute = rate.seconds_left(time.monotonic()), rate.per_minute
            if left is None or per_minute is None or task.finished:
                return Text("")
            return Text((f"{100 * per_minute:.1f} %/min, " if per_minute < 1 else "") + f"{_minutes(left)} left")

    columns = (
        TextColumn("{task.description:<9}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn(), Rate(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def tell(stage: str, share: float) -> None:
            now = time.monotonic()
            rates.setdefault(stage, StageRate(now, share)).report(now, share)
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


def _words_to_complete() -> list[str]:
    """Return the command line that a shell asks to complete; nothing if the command is being run."""
    return (os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or "").split()


def main() -> None:
    """Run the command; on any error, end with a message and the right exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that has no é shows \xe9
    try:
        quiet = bool({"-q", "--quiet"}.intersection(sys.argv))
        store.watch_compiling((lambda _state: None) if quiet else CompilingLines().tell)
        # No option before the verb takes a value, so a verb in the first place is the verb.
        load_verbs(*(_words_to_complete() or sys.argv)[1:2])
        app()
    except KeyboardInterrupt:
        say(f"pagekin: {_STOPPED}", err=True)
        sys.exit(INTERRUPTED)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        say(f"pagekin: {error.strerror or error}{where}. Collections are left as they were.", err=True)
        sys.exit(OUR_FAULT)
    except Exception as error:
        if os.environ.get("PAGEKIN_DEBUG"):
            raise
        say(f"pagekin: internal error: {type(error).__name__}: {error}. This is a bug in Pagekin; with PAGEKIN_DEBUG=1 in the "
            "environment the same command prints what a bug report needs.", err=True)  # fmt: skip
        sys.exit(OUR_FAULT)
