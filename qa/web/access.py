"""Access control: the host names a server answers to, and the token it requires beyond the loopback interface."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import socket
from dataclasses import dataclass

from starlette.datastructures import MutableHeaders
from starlette.requests import Request

SHORTEST_TOKEN = 16
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[\w.-]+))(?::\d{1,5})?", re.ASCII)


def is_loopback(address: str) -> bool:
    """Return whether only this machine can reach an address."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


@dataclass(frozen=True, slots=True)
class Access:
    """Which requests a server accepts.

    Attributes:
        local: Whether it listens on the loopback interface, and answers to no other name.
        names: Other names it answers to, in lower case.
        token: The token that requests must carry, or "".
        port: The port it listens on; part of the cookie's name, as browsers share cookies between a host's ports.
    """

    local: bool = True
    names: frozenset[str] = frozenset()
    token: str = ""
    port: int = 0

    @classmethod
    def beyond_this_machine(cls, host: str, token: str, port: int) -> Access:
        """Return the access of a server that others reach by its addresses, this machine's name, or `host`."""
        hostname = socket.gethostname().lower()
        names = frozenset({hostname, f"{hostname.partition('.')[0]}.local", host.lower()})
        return cls(local=False, names=names, token=token, port=port)

    def knows(self, host: str) -> bool:
        """Return whether a `Host` means this server: a known name, or any address, as DNS rebinding needs a name."""
        name = _name_of(host)
        if name in {"localhost", *self.names}:
            return True
        try:
            return is_loopback(name) or not self.local
        except ValueError:
            return False

    @property
    def cookie(self) -> str:
        """The name of the cookie that replaces the token."""
        return f"qa-{self.port}"

    @property
    def cookie_value(self) -> str:
        """The cookie's value, from which the token cannot be recovered."""
        return hmac.digest(self.token.encode(), b"cookie of qa serve", "sha256").hex()

    def has_token(self, request: Request) -> bool:
        """Return whether a request carries the token, as bearer or cookie; True if no token is set."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        has_bearer = scheme.lower() == "bearer" and self.is_token(given.strip())
        return not self.token or has_bearer or _same(request.cookies.get(self.cookie, ""), self.cookie_value)

    def is_token(self, given: str) -> bool:
        """Return whether a text is the token, in constant time."""
        return bool(self.token) and _same(given, self.token)

    def grant(self, headers: MutableHeaders) -> None:
        """Set the cookie that lets a browser in from now on."""
        headers.append("Set-Cookie", f"{self.cookie}={self.cookie_value}; Path=/; HttpOnly; SameSite=Strict")


def _same(given: str, secret: str) -> bool:
    digests = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (given, secret))
    return hmac.compare_digest(*digests)


def _name_of(host: str) -> str:
    """Return the name or address in a `Host`, without its port; "" if it is invalid."""
    match = _HOST.fullmatch(host.lower())
    return match["address"] or match["name"] if match else ""
