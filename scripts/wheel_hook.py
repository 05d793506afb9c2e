"""Puts compiled kernels and bytecode into a wheel: with PAGEKIN_COMPILED_WHEEL=1, as `make wheels` sets it, and only then.

Such a wheel is for the interpreter and the kind of processor at hand, and needs the numba release that compiled it. The bytecode
is there for installers that leave compiling it to the first start, as uv does.
"""

import os
import sys
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path
from py_compile import PycInvalidationMode, compile
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):
    """The hook that hatchling calls before it writes a wheel."""

    PLUGIN_NAME = "custom"
    _bytecode: TemporaryDirectory[str] | None = None

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
        build_data["force_include"].update(self._compile_modules(source))
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["dependencies"].append(f"numba=={version('numba')}")

    def _compile_modules(self, source: Path) -> dict[str, str]:
        """Return where the bytecode of each module lies, and where in the wheel it belongs.

        It holds whatever time an installer gives the source: nobody changes the source of an installed package.
        """
        self._bytecode = TemporaryDirectory()
        places = {}
        for file in sorted((source / "pagekin").rglob("*.py")):
            name = file.relative_to(source)
            place = cache_from_source(str(name), optimization="")
            compiled = Path(self._bytecode.name, place)
            mode = PycInvalidationMode.UNCHECKED_HASH
            compile(str(file), str(compiled), dfile=str(name), doraise=True, invalidation_mode=mode)
            places[str(compiled)] = place
        return places

    def finalize(self, _kind: str, _build_data: dict[str, Any], _wheel: str) -> None:
        """Remove the bytecode, which is in the wheel now."""
        if self._bytecode:
            self._bytecode.cleanup()
