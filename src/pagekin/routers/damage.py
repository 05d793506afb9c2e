"""Damaged collections: what sizes and headers show is told when one is opened, the rest is found out when an answer fails."""

import threading
from pathlib import Path

from pagekin.store import KinError, check_files
from pagekin.store.check import Finding, check_sizes
from pagekin.store.folder import read_manifest

_LONGEST = 300


def refuse_damaged(path: Path) -> None:
    """Refuse, with a KinError that says what to do, a collection some of whose files are not what its manifest says."""
    read_manifest(path)
    if (found := next(check_sizes(path), None)) is not None:
        raise damaged(path, _in_words(found))


def damaged(path: Path, what: str) -> KinError:
    """The error that says what is damaged and what to do."""
    return KinError(
        f"{path} is damaged: {what[:_LONGEST]}. See all of it: pagekin check {path}. "
        f"Then make it again: pagekin build SOURCE... --out {path}"
    )


def or_damaged(path: Path, error: Exception) -> Exception:
    """A KinError instead of an error that nobody expected, if the collection is damaged; all of its files are read for that."""
    found = _first_damage(path)
    return error if found is None else damaged(path, _in_words(found))


def _first_damage(path: Path) -> Finding | None:
    """The first file that is not as it was written."""
    return next((one for one in check_files(path) if not one.leftover and not one.stray), None)


def _in_words(found: Finding) -> str:
    return f"{found.where} {found.what}"


class Suspicion:
    """Whether a collection is damaged, once an answer has failed for no reason that anybody gave."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self._path = name, path
        self.found = ""
        """What is damaged, as far as it is known."""
        self._check: threading.Thread | None = None
        self._whole = False

    def told(self, error: BaseException) -> str:
        """What those who asked are told of an error; all files are checked beside other work, once."""
        if self._check is None:
            self._check = threading.Thread(target=self._look, name=f"check of {self.name}", daemon=True)
            self._check.start()
        if self.found:
            return f"{self.name} is damaged: {self.found}"
        if isinstance(error, KinError):
            text = str(error).replace(str(self._path), self._path.name)
            return text if len(text) <= 2 * _LONGEST else f"{text[:_LONGEST]} ... Run: pagekin check {self._path.name}"
        kind = type(error).__name__
        return (
            f"internal error: {kind}"
            if self._whole
            else f"{self.name} seems to be damaged ({kind}); it is being checked"
        )

    def _look(self) -> None:
        """Compare all files with their checksums."""
        try:
            first = _first_damage(self._path)
        except OSError as error:
            self.found = f"it cannot be read: {error.strerror}"
            return
        self.found, self._whole = _in_words(first)[:_LONGEST] if first else "", first is None
