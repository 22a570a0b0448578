"""Checks of hosts, origins, and bodies, and security headers."""

from __future__ import annotations

import hashlib
import ipaddress
import socket
from functools import cache, lru_cache
from urllib.parse import urlsplit

from flask import Flask, Response, request
from flask.sessions import SecureCookieSessionInterface

from webjudge.errors import RefusedError

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
_HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-Robots-Tag": "noindex",
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in _POLICY.items()),
}
_SAFE = ("GET", "HEAD", "OPTIONS")


def protect(app: Flask, hosts: Hosts) -> None:
    """Refuse foreign hosts and cross-site requests, and set security headers."""

    def refuse_other_hosts() -> None:
        # Health checks may use any host name.
        if request.endpoint != "healthz" and not hosts.know(request.host):
            raise RefusedError("host")

    app.before_request(refuse_other_hosts)
    app.before_request(_refuse_other_sites)
    app.after_request(_set_headers)


def policy(**changes: str) -> str:
    """The Content-Security-Policy, with changed directives."""
    directives = _POLICY | {name.replace("_", "-"): value for name, value in changes.items()}
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def _refuse_other_sites() -> None:
    """Browsers send the origin; clients that do not send it are not browsers."""
    if request.method in _SAFE:
        return
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site is None:
        is_ours = origin is None or urlsplit(origin).netloc == request.host
    else:
        is_ours = site in ("same-origin", "none")
    if not is_ours:
        raise RefusedError("origin")


def _set_headers(response: Response) -> Response:
    given = set(response.headers.keys(lower=True))
    usual = _HEADERS
    if request.endpoint != "static":
        usual = usual | {"Cache-Control": "no-store"}
    if request.is_secure:
        usual = usual | {"Strict-Transport-Security": "max-age=31536000"}
    response.headers.extend({n: value for n, value in usual.items() if n.lower() not in given})
    return response


# Wildcard addresses to listen on.
ANYWHERE = ("0.0.0.0", "::", "")  # noqa: S104  compared with, not bound to


class Hosts:
    """The ``Host`` headers that this server accepts."""

    def __init__(self, listens: str, url: str | None, *, behind_proxy: bool) -> None:
        self._names = {name for name in (urlsplit(url or "").hostname,) if name}
        self._only_these = behind_proxy and bool(self._names)
        self._listens = listens.casefold()

    def know(self, host: str) -> bool:
        """Whether a ``Host`` header names this server."""
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
    """Whether an address belongs to this machine, tested by binding a socket."""
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
    """The machine's host name, short name, and fully qualified name."""
    own = socket.gethostname().casefold()
    short = own.partition(".")[0]
    return {own, short, f"{short}.local", socket.getfqdn().casefold()}


class Kept(SecureCookieSessionInterface):
    """The signed cookie with the chosen language and flashed messages."""

    digest_method = staticmethod(hashlib.sha256)
    # Otherwise each request would derive the key again.
    get_signing_serializer = cache(SecureCookieSessionInterface.get_signing_serializer)

    def get_cookie_path(self, app: Flask) -> str:  # noqa: ARG002
        """Restrict the cookie to the app's path."""
        return request.script_root or "/"

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002
        """Set Secure on requests over TLS."""
        return request.is_secure
