"""What holds for every request and every answer."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flask import abort, request

if TYPE_CHECKING:
    from flask import Flask, Response

    from webjudge.hosts import Hosts

__all__ = ["protect"]

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
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
}
_OTHER_HOST = (
    "This is not the address of this server. Use the link that the organizer sent you. Organizers: "
    "name the address by --url (QUEM_URL), and let a proxy pass it on as X-Forwarded-Host."
)
_SAFE = ("GET", "HEAD", "OPTIONS")


def protect(app: Flask, hosts: Hosts) -> None:
    """Refuse requests that another site makes in a judge's name, and set the headers.

    Parameters
    ----------
    hosts : Hosts
        Who is asked for another one is not answered, so that no page repeats its name.
    """

    def refuse_other_hosts() -> None:
        # Whoever looks after the server may ask for its health by any name.
        if request.endpoint != "healthz" and not hosts.know(request.host):
            abort(400, _OTHER_HOST)

    app.before_request(refuse_other_hosts)
    app.before_request(_refuse_other_sites)
    app.after_request(_set_headers)


def policy(**changes: str) -> str:
    """Write the Content-Security-Policy, with some directives changed.

    Parameters
    ----------
    **changes : str
        Directives, with ``_`` for ``-``.
    """
    directives = _POLICY | {name.replace("_", "-"): value for name, value in changes.items()}
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def _refuse_other_sites() -> None:
    """Browsers say where a request comes from; what says nothing is no browser."""
    if request.method in _SAFE:
        return
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        if site not in ("same-origin", "none"):
            abort(403, "This request came from another site.")
        return
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.host:
        abort(403, "This request came from another site.")


def _set_headers(response: Response) -> Response:
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Content-Security-Policy", policy())
    if request.endpoint != "static":
        response.headers.setdefault("Cache-Control", "no-store")
    if request.is_secure:
        response.headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    return response
