"""Languages as people call them."""

import tomllib
from functools import cache
from importlib.resources import files


@cache
def _names() -> dict[str, str]:
    return tomllib.loads((files("pagekin.web") / "languages.toml").read_text())


def language_name(code: str) -> str:
    """Return the name of a language by its code; the code where no name is known."""
    return _names().get(code, code)
