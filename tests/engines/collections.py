"""What a collection on the disk consists of."""

from pathlib import Path

from pagekin.store import LOCK


def files_of(folder: Path) -> dict[str, bytes]:
    """Return all files of a collection and its shards, but for locks."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and file.name != LOCK)
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}
