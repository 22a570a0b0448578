"""The names by which the server may be asked: others come from somebody else's address."""

from __future__ import annotations

import ipaddress
import socket
from functools import lru_cache
from urllib.parse import urlsplit

__all__ = ["ANYWHERE", "Hosts"]

# Addresses to listen on that stand for all of a machine.
ANYWHERE = ("0.0.0.0", "::", "")  # noqa: S104  compared with, not bound to


class Hosts:
    """Tells which ``Host`` headers are those of this server.

    Parameters
    ----------
    listens : str
        The address or name that the server listens on; empty where that is not known.
    url : str, optional
        What judges' links begin with.
    behind_proxy : bool
        Whether a proxy says by which name it was asked; with a URL there is only that one.
    """

    def __init__(self, listens: str, url: str | None, *, behind_proxy: bool) -> None:
        self._names = {name for name in (urlsplit(url or "").hostname,) if name}
        self._only_these = behind_proxy and bool(self._names)
        self._listens = listens.casefold()

    def know(self, host: str) -> bool:
        """Whether a header names this server.

        Parameters
        ----------
        host : str
            A name or address, with or without a port.
        """
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self._names or self._only_these:
            return name in self._names
        if name == "localhost" or (name and name == self._listens):
            return True
        address = _address(name)
        if address and address.is_loopback:
            return True
        if self._listens == "localhost" or _is_loopback(self._listens):
            return False
        return _is_ours(str(address)) if address else name in _machine_names()


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _is_loopback(name: str) -> bool:
    address = _address(name)
    return bool(address and address.is_loopback)


@lru_cache(maxsize=64)
def _is_ours(address: str) -> bool:
    """Whether an address is one of this machine: only to those can a socket be bound."""
    parsed = ipaddress.ip_address(address)
    if parsed.is_multicast or parsed.is_unspecified:
        return False
    family = socket.AF_INET6 if parsed.version == 6 else socket.AF_INET  # noqa: PLR2004
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


@lru_cache(maxsize=1)
def _machine_names() -> set[str]:
    """The names of this machine: its own, the first part of that, and as its network calls it."""
    own = socket.gethostname().casefold()
    short = own.partition(".")[0]
    return {own, short, f"{short}.local", socket.getfqdn().casefold()}
