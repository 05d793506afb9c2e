"""Load numba without packages that it can do without, in processes that run nothing but Pagekin."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_SPARED = ("scipy", "yaml")
"""For linear algebra, and for a configuration file: Pagekin has neither."""


class _NumbaAlone(MetaPathFinder):
    """Tells numba, and nobody else, that these packages are not there."""

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in _SPARED and _importing_module().partition(".")[0] == "numba":
            raise ModuleNotFoundError(f"numba is loaded without {fullname}", name=fullname)
        return None


def _importing_module() -> str:
    """Return the name of the module that is importing another."""
    frame = sys._getframe(2)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("importlib"):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


def load_numba_alone() -> None:
    """Make numba load without what no kernel needs: loading scipy takes as long as numba itself.

    For a program of our own alone: functions that others compile in this process cannot multiply matrices any more.
    """
    if not any(isinstance(finder, _NumbaAlone) for finder in sys.meta_path):
        sys.meta_path.insert(0, _NumbaAlone())
