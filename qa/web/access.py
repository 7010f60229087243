"""Whom a server knows and lets in: host names, and the token beyond the loopback interface."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders

SHORTEST_TOKEN = 16
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[\w.-]+))(?::\d{1,5})?", re.ASCII)


def is_loopback(address: str) -> bool:
    """Return whether only this machine can reach an address."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


@dataclass(frozen=True, slots=True)
class Access:
    """Whom a server lets in.

    Attributes:
        local: Whether it is on the loopback interface, and known by no other name.
        names: Further names that it is known by, in lower case.
        token: What requests must have, or "".
        port: Where it listens; cookies are for all ports of a host.
    """

    local: bool = True
    names: frozenset[str] = frozenset()
    token: str = ""
    port: int = 0

    @classmethod
    def beyond_this_machine(cls, host: str, token: str, port: int) -> Access:
        """Return that of a server that others reach, by its addresses, this machine's name, or the name of `host`."""
        own = socket.gethostname().lower()
        names = frozenset({own, f"{own.partition('.')[0]}.local", host.lower()})
        return cls(local=False, names=names, token=token, port=port)

    def knows(self, host: str) -> bool:
        """Return whether a `Host` is meant for this server: any address, as rebinding takes a name, or a known name."""
        name = _name_of(host)
        if name in {"localhost", *self.names}:
            return True
        try:
            return is_loopback(name) or not self.local
        except ValueError:
            return False

    @property
    def cookie(self) -> str:
        """The name of the cookie that stands for the token."""
        return f"qa-{self.port}"

    @property
    def cookie_value(self) -> str:
        """What it holds: nothing that the token could be computed from."""
        return hmac.digest(self.token.encode(), b"cookie of qa serve", "sha256").hex()

    def has_token(self, headers: Headers) -> bool:
        """Return whether a request has the token, as a bearer or by the cookie; none is needed without one."""
        if not self.token:
            return True
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.is_token(given.strip()):
            return True
        return any(_same(one, self.cookie_value) for one in _cookies(headers, self.cookie))

    def is_token(self, given: str) -> bool:
        """Return whether a text is the token; that takes as long for any text."""
        return bool(self.token) and _same(given, self.token)

    def grant(self, headers: MutableHeaders) -> None:
        """Let a browser in from now on."""
        headers.append("Set-Cookie", f"{self.cookie}={self.cookie_value}; Path=/; HttpOnly; SameSite=Strict")


def _same(given: str, secret: str) -> bool:
    one, other = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (given, secret))
    return hmac.compare_digest(one, other)


def _cookies(headers: Headers, name: str) -> Iterable[str]:
    for line in headers.getlist("cookie"):
        try:
            found = SimpleCookie(line)
        except CookieError:
            continue
        if name in found:
            yield found[name].value


def _name_of(host: str) -> str:
    """The name or address in a `Host`, without its port; "" for what is no host."""
    found = _HOST.fullmatch(host.lower())
    return found["address"] or found["name"] if found else ""
