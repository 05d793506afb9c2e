"""Puts compiled kernels into a wheel: with PAGEKIN_COMPILED_WHEEL=1, as `make wheels` sets it, and only then.

Such a wheel is for the interpreter and the kind of processor at hand, and needs the numba release that compiled it.
"""

import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):
    """The hook that hatchling calls before it writes a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, kind: str, build_data: dict[str, Any]) -> None:
        """Name the files to add, the platform, and the compiler."""
        if kind != "standard" or os.environ.get("PAGEKIN_COMPILED_WHEEL") != "1":
            return
        source = Path(self.root) / "src"
        sys.path.insert(0, str(source))
        from pagekin.store import listed_kernels

        files = [kernel.file for kernel in listed_kernels()]
        if not all(file and file.is_relative_to(source) for file in files):
            raise RuntimeError("not all kernels are compiled beside their sources: run pagekin compile")
        build_data["force_include"].update({str(file): str(file.relative_to(source)) for file in files})
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["dependencies"].append(f"numba=={version('numba')}")
