"""Write docs/cli.md, the command reference, from the help texts of the commands.

Run `python scripts/reference.py` after you change a command. The output has a fixed width and no colour, so that it does
not depend on the terminal.
"""

from pathlib import Path
from typing import Any

from typer.main import get_command

from pagekin.cli.app import app, load_verbs

WIDTH = 96
TARGET = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
INTRODUCTION = """# Command reference

This page is generated from `pagekin --help` by `python scripts/reference.py`; edit the commands, not this file.
[Reading](reading.md) explains the options of `pagekin read` and the output of `--json`.

- `pagekin --install-completion` sets up shell completion, and `-h` is short for `--help`.
- `-k` or `--limit` sets the number of results, and `--workers` the number of processes or threads, in every command that has
  them.
- You may name a page by any part that identifies it: its address without scheme or `www.`, the end of its address
  (`library/json.html`), or its title.
- Results go to standard output; errors, warnings and the progress bar go to standard error.

## Exit codes

| code | meaning |
|---|---|
| 0 | success, even if records were skipped |
| 1 | a bug in Pagekin; `PAGEKIN_DEBUG=1` in the environment prints what a bug report needs |
| 2 | wrong usage |
| 3 | bad input: a missing source, a damaged collection, an unknown address, damage under `--strict`; a full disk |
| 130 | stopped from the keyboard; the collection stays as it was |
"""


def reference() -> str:
    """The text of docs/cli.md."""
    load_verbs()
    program: Any = get_command(app)
    size = {"terminal_width": WIDTH, "max_content_width": WIDTH, "resilient_parsing": True, "color": False}
    top = program.make_context("pagekin", [], **size)
    sections = [INTRODUCTION, _section("pagekin", program.get_help(top))]
    for name in program.list_commands(top):
        command = program.commands[name]
        context = command.make_context(name, [], parent=top, **size)
        sections.append(_section(f"pagekin {name}", command.get_help(context)))
        for below, verb in getattr(command, "commands", {}).items():
            inner = verb.make_context(below, [], parent=context, **size)
            sections.append(_section(f"pagekin {name} {below}", verb.get_help(inner)))
    return "\n".join(sections)


def _section(title: str, text: str) -> str:
    """A help text under its heading."""
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
