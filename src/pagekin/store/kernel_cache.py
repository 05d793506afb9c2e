"""Where compiled kernels are kept between runs.

Numba caches what it compiled, but does not notice edits in files that a kernel imports. So the cache folder's
name carries a hash of all of a room's kernel sources, and lies where this user may write.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path


def use_kernel_cache(kernels: Path, also: Iterable[Path] = ()) -> None:
    """Let numba keep what it compiles from the folder `kernels`, which depends on the files `also`."""
    if "NUMBA_CACHE_DIR" not in os.environ:
        import numba

        # Read when a function is decorated, so each room sets it just before it imports its own kernels.
        numba.config.CACHE_DIR = _cache_folder([*sorted(kernels.glob("*.py")), *also])  # type: ignore[attr-defined]


def _cache_folder(sources: list[Path]) -> str:
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.read_bytes())
    name = f"kernels-{digest.hexdigest()[:16]}"
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    for base in (Path(home) / "pagekin", Path(tempfile.gettempdir()) / f"pagekin-{os.getuid()}"):
        folder = base / name
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        # A folder in a shared place is trusted only if it is ours: compiled code is run from it.
        if folder.stat().st_uid == os.getuid() and os.access(folder, os.W_OK):
            return str(folder)
    return tempfile.mkdtemp(prefix="pagekin-kernels-")
