"""Folders and files by their addresses, on a disk or in an object store: `/crawl/a.warc.gz`, `s3://crawl/a.warc.gz`.

pyarrow does the work for object stores, and is loaded for them alone.
"""

import contextlib
import io
import os
import re
import secrets
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

from pagekin.errors import PagekinError
from pagekin.store.disk import is_full

SCHEMES = ("s3", "gs", "abfs", "hdfs")
"""The object stores that addresses may begin with. S3 is tested; the others are left to pyarrow."""
_ADDRESS = re.compile(rf"({'|'.join(SCHEMES)})://[^/]", re.IGNORECASE)
_BUFFER = 1 << 20
"""Bytes that are asked of an object store at a time."""
_STEP = 4 << 20
TEMPORARY = ".work-"
"""How the names of files begin that are not written to their ends."""


class StorageError(PagekinError):
    """An object store or shared disk that failed; the message says what was tried."""

    may_pass = True


class MissingFileError(StorageError):
    """A file that is not there."""


def is_remote(address: str | os.PathLike[str]) -> bool:
    """Return whether an address leads to an object store."""
    return isinstance(address, str) and _ADDRESS.match(address) is not None


@contextlib.contextmanager
def _translate_errors(address: str) -> Iterator[None]:
    """Replace errors of the library by one that names the address."""
    try:
        yield
    except FileNotFoundError as error:
        raise MissingFileError(f"{address} does not exist.") from error
    except (OSError, ValueError, NotImplementedError) as error:
        if is_full(error):
            raise
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise StorageError(f"{address} cannot be used: {said.rstrip('.')}.") from error


def _file_system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it."""
    if not is_remote(address):
        return _Disk(), str(Path(address).absolute())
    scheme, _, path = address.partition("://")
    if scheme.lower() == "s3":
        return _s3(path.partition("/")[0]), path.rstrip("/")
    from pyarrow import fs

    with _translate_errors(address):
        system, path = fs.FileSystem.from_uri(address)
        return system, path.rstrip("/")


class _DiskFile:
    """A file on a disk, read in parts."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    def read_at(self, size: int, start: int) -> bytes:
        """Return some bytes from a position."""
        with self._path.open("rb") as file:
            file.seek(start)
            return file.read(size)


class _Disk:
    """The disks of this machine, with the interface of pyarrow's file systems that `Storage` uses."""

    def open_input_stream(self, path: str, compression: None) -> BinaryIO:
        """Open a file for reading; `compression` is ignored here."""
        return Path(path).open("rb")

    def open_input_file(self, path: str) -> _DiskFile:
        """Open a file for random access."""
        return _DiskFile(path)

    def open_output_stream(self, path: str, compression: None) -> BinaryIO:
        """Open a file for writing."""
        return Path(path).open("wb")

    def create_dir(self, path: str, *, recursive: bool) -> None:
        """Make a folder unless it is there."""
        Path(path).mkdir(parents=recursive, exist_ok=True)

    def move(self, path: str, target: str) -> None:
        """Rename a file, replacing an existing one."""
        Path(path).replace(target)

    def delete_file(self, path: str) -> None:
        """Remove a file."""
        Path(path).unlink()


def _s3(bucket: str) -> Any:
    """Return the S3 of the environment: AWS_ENDPOINT_URL and AWS_REGION, or else the region that the bucket is in."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or None
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    with _translate_errors(f"s3://{bucket}"):
        return _s3_at(endpoint, region or (None if endpoint else _pyarrow_fs().resolve_s3_region(bucket)))


@cache
def _s3_at(endpoint: str | None, region: str | None) -> Any:
    return _pyarrow_fs().S3FileSystem(endpoint_override=endpoint, region=region)


def _pyarrow_fs() -> Any:
    try:
        from pyarrow import fs
    except ImportError:
        raise StorageError("addresses of object stores need pyarrow: pip install pyarrow") from None
    return fs


class _RemoteFile(io.RawIOBase):
    """A file in an object store. If it cannot be reached, that is not damage, so it raises its own error."""

    def __init__(self, address: str) -> None:
        self._address = address
        system, path = _file_system(address)
        with _translate_errors(address):
            self._file = system.open_input_file(path)
            self._size = int(self._file.size())
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: object) -> int:
        view = cast(memoryview, buffer)
        with _translate_errors(self._address):
            piece = self._file.read_at(max(0, min(len(view), self._size - self._at)), self._at)
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def close(self) -> None:
        if not self.closed and hasattr(self, "_file"):
            self._file.close()
        super().close()


def open_file(address: str) -> BinaryIO:
    """Open a file on a disk or in an object store for reading."""
    if is_remote(address):
        return cast(BinaryIO, io.BufferedReader(_RemoteFile(address), _BUFFER))
    return Path(address).open("rb")


def file_stamp(address: str) -> tuple[int, int]:
    """Return the size of a file and when it was changed, in nanoseconds since 1970; (-1, -1) if there is none."""
    if not is_remote(address):
        try:
            status = os.stat(address)  # noqa: PTH116 - a folder may hold a million files, and a Path of each takes longer
        except OSError:
            return -1, -1
        return status.st_size, status.st_mtime_ns
    system, path = _file_system(address)
    with _translate_errors(address):
        info = system.get_file_info(path)
        return (int(info.size), int(info.mtime_ns or 0)) if info.is_file else (-1, -1)


class Storage:
    """A folder on a disk or in an object store. Its files appear whole or not at all."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._system, self._root = _file_system(self.address)
        self._renames = not is_remote(address)

    def read(self, name: str) -> bytes:
        """Return the content of a file; raise a MissingFileError if there is none."""
        with (
            _translate_errors(self._address_of(name)),
            self._system.open_input_stream(self._path(name), compression=None) as stream,
        ):
            return bytes(stream.read())

    def read_part(self, name: str, start: int, size: int) -> bytes:
        """Return a part of a file's content."""
        with _translate_errors(self._address_of(name)), self._system.open_input_file(self._path(name)) as file:
            return bytes(file.read_at(size, start))

    def write(self, name: str, data: bytes) -> None:
        """Write a small file."""
        with self._open_to_write(name) as stream:
            stream.write(data)

    def upload(self, file: Path, name: str) -> None:
        """Copy a file of this machine."""
        with file.open("rb") as source, self._open_to_write(name) as stream:
            while piece := source.read(_STEP):
                stream.write(piece)

    def download(self, name: str, file: Path) -> None:
        """Copy a file to this machine."""
        with file.open("wb") as target, _translate_errors(self._address_of(name)):
            stream = self._system.open_input_stream(self._path(name), compression=None)
            with stream:
                while piece := stream.read(_STEP):
                    target.write(piece)

    def names(self) -> list[str]:
        """Return the names of all files in the folder and below, sorted; none if there is no such folder."""
        if self._renames:
            root = Path(self._root)
            return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
        from pyarrow import fs

        with _translate_errors(self.address):
            chosen = fs.FileSelector(self._root, allow_not_found=True, recursive=True)
            paths = [info.path for info in self._system.get_file_info(chosen) if info.is_file]
        return sorted(path.removeprefix(f"{self._root}/") for path in paths)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with contextlib.suppress(MissingFileError), _translate_errors(self._address_of(name)):
            self._system.delete_file(self._path(name))

    @contextlib.contextmanager
    def _open_to_write(self, name: str) -> Iterator[Any]:
        """Yield a stream for writing a file, which becomes visible only when it is complete."""
        written = f"{TEMPORARY}{secrets.token_hex(8)}" if self._renames else name
        with _translate_errors(self._address_of(name)):
            if self._renames:
                self._system.create_dir(str(Path(self._path(name)).parent), recursive=True)
            with self._system.open_output_stream(self._path(written), compression=None) as stream:
                yield stream
            if self._renames:
                self._system.move(self._path(written), self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _address_of(self, name: str) -> str:
        return f"{self.address}/{name}"
