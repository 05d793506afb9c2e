"""The groups of verbs, the modules that define them, and earlier names of options."""

from collections.abc import Sequence
from typing import Any

from typer.core import TyperGroup

GROUPS = {
    "Start here": "demo build search related serve site",
    "Look further": "clusters page info suggest refine select expand duplicates bag label summary",
    "Make and keep collections": "update compact fetch crawl plan read index cluster check compile",
    "Use answers elsewhere": "mcp neighbours export",
    "Many sites as one": "network",
    "The laboratory": "evaluate tune explain-gamma",
}
"""The verbs under the headings of the help."""
VERBS = [verb for group in GROUPS.values() for verb in group.split()]
"""Every verb, in the order of the help."""
_MODULES = {
    "compact": "update",
    "select": "search",
    "expand": "search",
    "suggest": "search",
    "explain-gamma": "explain_gamma",
    "summary": "label",
}
"""The modules of verbs that share one, or whose name is no module's."""
_LIMITS = {"--limit": "--set-limit"}
_COUNTS = {"-n": "-k", "--count": "--limit"}
_PROCESSES = {"--processes": "--workers"}
_OLD_OPTIONS = {
    "read": _LIMITS,
    "build": _LIMITS,
    "crawl": _LIMITS,
    "network init": _LIMITS | _PROCESSES,
    "network up": _PROCESSES,
    "serve": _PROCESSES,
    "bag": _COUNTS,
    "refine": _COUNTS,
    "duplicates": _COUNTS,
}
"""What options of a verb were called before, and are called now."""


def module_of(verb: str) -> str:
    """Return the module that has a verb."""
    return f"pagekin.cli.{_MODULES.get(verb, verb)}"


class GroupedVerbs(TyperGroup):
    """The verbs in groups, which still take the options of earlier versions."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the loaded verbs in the order of the table, since modules load each other in any order."""
        return [name for name in VERBS if name in self.commands]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the verbs under the headings of their groups."""
        width = max(map(len, VERBS))
        for heading, verbs in GROUPS.items():
            commands = [(verb, self.commands[verb]) for verb in verbs.split() if verb in self.commands]
            rows = [(verb.ljust(width), command.get_short_help_str(formatter.width)) for verb, command in commands]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the verb, and rename options that have an earlier name."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command, rename_options(name or "", rest)


def rename_options(verb: str, args: Sequence[str]) -> list[str]:
    """Return the arguments of a verb with options by their present names."""
    if verb == "network" and args:
        return [args[0], *_rename(_OLD_OPTIONS.get(f"network {args[0]}", {}), args[1:])]
    return _rename(_OLD_OPTIONS.get(verb, {}), args)


def _rename(names: dict[str, str], args: Sequence[str]) -> list[str]:
    renamed = list(args)
    for place, arg in enumerate(args):
        if arg == "--":
            break
        option, equals, value = arg.partition("=")
        if arg.startswith("-") and not arg.startswith("--") and len(arg) > 2:  # -n5
            option, equals, value = arg[:2], arg[2:], ""
        if option in names:
            renamed[place] = names[option] + equals + value
    return renamed
