"""Say which disk is full, since the system's error does not."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pagekin.store.folder import KinError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class DiskFullError(KinError):
    """A disk without room for what is to be written; the message says which, and what to do."""

    may_pass = True


def is_full(error: BaseException | None) -> bool:
    """Return whether an error says that a disk, a quota or a file has no room left."""
    return isinstance(error, OSError) and error.errno in _FULL


def describe_full(error: BaseException | None, path: Path) -> str:
    """Return which disk is full, for people, without a full stop."""
    assert isinstance(error, OSError)
    if error.errno == errno.EFBIG:
        return f"a file in {path} may not grow any further ({error.strerror})"
    if error.errno == errno.EDQUOT:
        return f"the quota of the disk at {path} is used up ({error.strerror})"
    return f"the disk at {path} is full ({error.strerror})"


@contextmanager
def on_temporary_disk() -> Iterator[Path]:
    """Yield the folder of temporary files; raise a DiskFullError if its disk is full."""
    folder = Path(tempfile.gettempdir())
    try:
        yield folder
    except OSError as error:
        if not is_full(error):
            raise
        raise DiskFullError(
            f"{describe_full(error, folder)}. It holds temporary files; make room there, or let TMPDIR name a folder "
            "on a larger disk, and run the command again. Collections are as they were before."
        ) from error


@contextmanager
def temporary_folder(purpose: str) -> Iterator[Path]:
    """Make a temporary folder, and remove it at the end. Inside, only writes to this folder may fail."""
    with (
        on_temporary_disk(),
        tempfile.TemporaryDirectory(prefix=f"pagekin-{purpose}-", ignore_cleanup_errors=True) as name,
    ):
        yield Path(name)


@contextmanager
def fresh_file(path: Path, durable: bool = False) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` once it is complete; if writing fails, nothing is left of it.

    With `durable` its bytes are on the disk before it replaces the other.
    """
    fresh = path.with_name(f".{path.name}.unfinished")
    try:
        with fresh.open("wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
