"""Settings as fields of frozen dataclasses, each with its allowed values; checked and changed in one place."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import field, fields, is_dataclass, replace
from typing import Any, TypeVar

Settings = TypeVar("Settings")
_SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def one_of(default: str, help_text: str, *allowed: str) -> Any:
    """Declare a setting with a choice of words."""
    return field(default=default, metadata={"allowed": (default, *allowed), "help": help_text})


def number(default: float | None, help_text: str, low: float, high: float, none: bool = False) -> Any:
    """Declare a setting with a number, whole if the default is; with `none` also for None."""
    return field(default=default, metadata={"low": low, "high": high, "none": none, "help": help_text})


def switch(default: bool, help_text: str) -> Any:
    """Declare a setting that is on or off."""
    return field(default=default, metadata={"help": help_text})


def list_settings(owner: Any) -> list[tuple[str, str, Any]]:
    """Return (dotted name, table or '', dataclass field) of every setting of a dataclass and of the tables in it."""
    listed: list[tuple[str, str, Any]] = []
    for item in fields(owner):
        inner = item.default_factory() if callable(item.default_factory) else None
        if is_dataclass(inner):
            listed += [(f"{item.name}.{part.name}", item.name, part) for part in fields(inner)]
        elif "help" in item.metadata:
            listed.append((item.name, "", item))
    return listed


def allowed_values(item: Any) -> str:
    """Return the allowed values of a setting, for people."""
    if "allowed" in item.metadata:
        return ", ".join(item.metadata["allowed"])
    if isinstance(item.default, bool):
        return "true, false"
    return f"{item.metadata['low']:,g} to {item.metadata['high']:,.0f}" + (", none" if item.metadata["none"] else "")


def check_setting(name: str, item: Any, value: Any, error: type[Exception]) -> Any:
    """Convert `value`, perhaps given as text, to the type of the setting; raise the error if it is not allowed."""
    wrong = error(f"{name} is one of: {allowed_values(item)}; not {value!r}")
    said = str(value).lower()
    if isinstance(item.default, bool):
        if said not in _SWITCHES:
            raise wrong
        return _SWITCHES[said]
    if "allowed" in item.metadata:
        if value not in item.metadata["allowed"]:
            raise wrong
        return value
    if item.metadata["none"] and said == "none":
        return None
    try:
        as_float = float(said)
    except ValueError:
        raise wrong from None
    is_whole = isinstance(item.default, int)
    is_in_range = item.metadata["low"] <= as_float <= item.metadata["high"]  # never if it is nan
    if not is_in_range or (is_whole and not as_float.is_integer()):
        raise wrong
    return int(as_float) if is_whole else as_float + 0.0  # -0.0 and 0.0 are equal settings, so they have one digest


def check_settings(settings: Any, table: str, error: type[Exception]) -> None:
    """Raise the error if a field of a dataclass, which is a table of this name or '', has a value that is not allowed."""
    for item in fields(settings):
        if item.metadata:
            check_setting(f"{table}.{item.name}".lstrip("."), item, getattr(settings, item.name), error)


def change_settings(base: Settings, changes: Mapping[str, Any], error: type[Exception]) -> Settings:
    """Return a copy of a dataclass with some settings changed, given by dotted name and perhaps as text."""
    known = {name: (table, item) for name, table, item in list_settings(base)}
    changed: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in known:
            raise error(f"there is no setting '{name}'. Settings are {', '.join(known)}")
        table, item = known[name]
        checked = {item.name: check_setting(name, item, value, error)}
        changed |= {table: replace(changed.get(table, getattr(base, table)), **checked)} if table else checked
    return replace(base, **changed)  # type: ignore[type-var]  # a dataclass


def read_assignments(texts: Iterable[str], example: str, error: type[Exception]) -> dict[str, str]:
    """Return the names and values of settings as a command line writes them, NAME=VALUE."""
    changes: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise error(f"a setting is written NAME=VALUE, for example {example}; not '{text}'")
        changes[name.strip()] = value.strip()
    return changes


def settings_table(owner: Any) -> list[tuple[str, str, str, str]]:
    """Return (name, default, allowed values, what it does) of every setting, for help texts and docs."""
    return [
        (name, "unset" if item.default is None else json.dumps(item.default).strip('"'), allowed_values(item),
         item.metadata["help"])
        for name, _table, item in list_settings(owner)
    ]  # fmt: skip


def toml_value(value: Any) -> str:
    """Write a plain value as TOML does: as in JSON, but with no surrogate pairs, and DEL escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
