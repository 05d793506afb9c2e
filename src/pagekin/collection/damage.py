"""Damaged collections: sizes and headers are checked on opening, the contents when an answer fails."""

import threading
from pathlib import Path

from pagekin.store import Finding, KinError, check_files, read_manifest

_LONGEST = 300


def refuse_damaged(path: Path) -> None:
    """Raise a KinError that says what to do if some files are not as long as the manifest says."""
    read_manifest(path)
    if (damage := next(check_files(path, contents=False), None)) is not None:
        raise damaged_error(path, _in_words(damage))


def damaged_error(path: Path, what: str) -> KinError:
    """Return the error that says what is damaged and what to do."""
    return KinError(
        f"{path} is damaged: {what[:_LONGEST]}. For all damage: pagekin check {path}. "
        f"Then make it again: pagekin build SOURCE... --out {path}"
    )


def explain_damage(path: Path, error: Exception) -> Exception:
    """Return a KinError instead of an unexpected error if the collection is damaged; reads all files."""
    damage = _first_damage(path)
    return error if damage is None else damaged_error(path, _in_words(damage))


def _first_damage(path: Path) -> Finding | None:
    """Return the first file that is not as it was written."""
    return next((one for one in check_files(path) if not one.leftover and not one.stray), None)


def _in_words(damage: Finding) -> str:
    return f"{damage.where} {damage.what}"


class DamageCheck:
    """Checks a collection's files once, after an answer has failed unexpectedly."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self._path = name, path
        self.damage = ""
        """What is damaged, as far as it is known."""
        self._check: threading.Thread | None = None
        self._whole = False

    def explain(self, error: BaseException) -> str:
        """Return the message of an error for the client; start the check of all files, once, in the background."""
        if self._check is None:
            self._check = threading.Thread(target=self._look, name=f"check of {self.name}", daemon=True)
            self._check.start()
        if self.damage:
            return f"{self.name} is damaged: {self.damage}"
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
            self.damage = f"it cannot be read: {error.strerror}"
            return
        self.damage, self._whole = _in_words(first)[:_LONGEST] if first else "", first is None
