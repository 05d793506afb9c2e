"""The names of languages."""

import tomllib
from functools import cache
from importlib.resources import files


@cache
def _names() -> dict[str, str]:
    return tomllib.loads((files("pagekin.web") / "languages.toml").read_text())


def language_name(code: str) -> str:
    """Return the name of a language by its code, or the code if no name is known."""
    return _names().get(code, code)
