"""Opt-outs: addresses and hosts that are left out of a collection for good, in a list that is kept with it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pagekin.errors import PagekinError
from pagekin.hypertext.urls import canonical_url, host_of_url, split_port
from pagekin.store import RaggedBytes

_MOST_SIZE = 1 << 28


class OptOutError(PagekinError, ValueError):
    """A list of opt-outs that cannot be read; the message says why."""


@dataclass(frozen=True)
class OptOuts:
    """Addresses in canonical form, and hosts with all their subdomains."""

    addresses: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, addresses: Iterable[str] = (), hosts: Iterable[str] = ()) -> "OptOuts":
        """Return opt-outs of addresses and hosts; raise an OptOutError for anything that is neither."""
        return cls(frozenset(map(_address, addresses)), frozenset(map(_host, hosts)))

    @classmethod
    def of(cls, entries: Iterable[str]) -> "OptOuts":
        """Return opt-outs of some entries; the form of each tells whether it is an address or a host."""
        every = list(entries)
        return cls.parse([one for one in every if "://" in one], [one for one in every if "://" not in one])

    @classmethod
    def load(cls, file: Path) -> "OptOuts":
        """Read a list with one address or host per line; a # at the start or after a blank begins a comment."""
        try:
            if file.stat().st_size > _MOST_SIZE:
                raise OptOutError(f"{file} is too large for a list of addresses and hosts, one on each line")
            lines = file.read_text(encoding="utf-8-sig").splitlines()
        except OSError as error:
            raise OptOutError(f"{file} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise OptOutError(f"{file} is not a list of addresses and hosts: it is not UTF-8 text") from None
        whole = cls()
        for number, line in enumerate(lines, start=1):
            entry = f" {line}".partition(" #")[0].strip()
            try:
                whole |= cls.of([entry] if entry else [])
            except OptOutError as error:
                raise OptOutError(f"{file}, line {number}: {error}") from None
        return whole

    def __or__(self, other: "OptOuts") -> "OptOuts":
        if not other:
            return self
        return OptOuts(self.addresses | other.addresses, self.hosts | other.hosts)

    def __bool__(self) -> bool:
        return bool(self.addresses or self.hosts)

    def __contains__(self, address: str) -> bool:
        """Return whether an address in canonical form is opted out, by itself or by its host."""
        return address in self.addresses or self._has_host(address.encode().split(b"/", 3)[2])

    def as_list(self) -> list[str]:
        """Return all entries, sorted; `of` reads them back."""
        return [*sorted(self.addresses), *sorted(self.hosts)]

    def mark(self, urls: RaggedBytes) -> npt.NDArray[np.bool_]:
        """Mark the opted-out addresses of a sorted table; with hosts, every address is looked at."""
        marked = np.zeros(len(urls), np.bool_)
        places = (urls.find(address.encode()) for address in self.addresses)
        marked[[place for place in places if place >= 0]] = True
        if self.hosts:
            known: dict[bytes, bool] = {}
            for place, url in enumerate(urls):
                authority = url.split(b"/", 3)[2]
                if authority not in known:
                    known[authority] = self._has_host(authority)
                marked[place] |= known[authority]
        return marked

    def _has_host(self, authority: bytes) -> bool:
        """Return whether the host of an address (with its port), or a parent domain of it, is opted out."""
        name = split_port(authority.decode("utf-8", "replace").rpartition("@")[2])[0].rstrip(".")
        labels = name.split(".")
        return any(".".join(labels[first:]) in self.hosts for first in range(len(labels)))


def _address(text: str) -> str:
    """Return the canonical form of an address."""
    address = canonical_url(text)
    if address is None:
        raise OptOutError(f"'{text}' is not an http(s) address, such as https://www.example.org/a.html")
    return address


def _host(text: str) -> str:
    """Return a host without its port."""
    host = "" if set(text) & set("/@?# ") else split_port(host_of_url(f"http://{text}/"))[0]
    if not host:
        raise OptOutError(
            f"'{text}' is neither a host, such as example.org, nor an address, such as https://example.org/"
        )
    return host


NO_OPT_OUTS = OptOuts()
