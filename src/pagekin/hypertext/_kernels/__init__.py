"""Compiled kernels: one file per job, plain arrays in and out.

Numba caches what it compiled, but does not notice edits in files that a kernel imports. So the cache folder's
name carries a hash of all kernel sources, and lies where this user may write.
"""

import hashlib
import os
import tempfile
from pathlib import Path


def _cache_folder() -> str:
    digest = hashlib.sha256()
    here = Path(__file__).parent
    for source in [*sorted(here.glob("*.py")), here.parent / "batch.py"]:
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


if "NUMBA_CACHE_DIR" not in os.environ:
    import numba

    numba.config.CACHE_DIR = _cache_folder()  # type: ignore[attr-defined]
