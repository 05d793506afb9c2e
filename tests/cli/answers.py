"""What tests of the command ask for, and how they look at what it says."""

import ctypes
import json
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.command import pagekin

CARBON = "http://elements.example/carbon.html"
MAUNA_KEA = "http://mountains.example/mauna-kea.html"
PAGE = b"<title>Carbon</title><p>Carbon atoms make diamond, graphite and the charcoal of every fire."
HOSTILE = "\x1b[31mRed\x1b[0m \x1b]0;owned\x07 \x9b5m\x08 \u202edeb \x7f whale"


def made(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert done.returncode == 0, done.stderr
    return done


def answer(*arguments: str | Path, **options: object) -> dict[str, Any]:
    """What `pagekin related ... --json` prints."""
    told: dict[str, Any] = json.loads(made(pagekin("related", *arguments, "--json", **options)).stdout)
    return told


def urls(told: dict[str, Any]) -> list[str]:
    return [result["url"] for result in told["results"]]


def hosts(told: dict[str, Any]) -> set[str | None]:
    return {urlsplit(url).hostname for url in urls(told)}


def refused(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    """Check that the command said on one occasion what is wrong, and nothing else."""
    said = " ".join(done.stderr.split())
    assert done.returncode == code, said
    assert [word for word in words if word not in said] == [], said
    assert "Traceback" not in said
    assert "internal error" not in said
    assert done.stdout == ""


def without_privileges() -> None:
    """Take from the command what lets root read and write everywhere; other users never had it."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def files_of_at_most(size: int) -> Callable[[], None]:
    """Let no file of the command grow further: a disk that is full, as far as the command can tell."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
