"""Access control: the host names a server answers to, and the token it requires beyond the loopback interface."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import socket
from dataclasses import dataclass, replace

from starlette.datastructures import MutableHeaders
from starlette.requests import Request

from corpus.errors import UsageError

MIN_TOKEN_LENGTH = 16
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[\w.-]+))(?::\d{1,5})?", re.ASCII)
# Browsers leave these out of `Host` and `Origin`.
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


def is_loopback(address: str) -> bool:
    """Return whether only this machine can reach an address."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def public_origin(url: str) -> str:
    """Return the origin of a server's public URL, as browsers send it.

    Raises:
        UsageError: It is not the URL of a whole host.
    """
    match = re.fullmatch(r"(https?)://([^/]+)/?", url.lower())
    if match is None or not _name_in(match[2]):
        raise UsageError(f"--public-url must be like https://qa.example.org, without a path, not {url!r}.")
    return f"{match[1]}://{match[2].removesuffix(_DEFAULT_PORTS[match[1]])}"


@dataclass(frozen=True, slots=True)
class Access:
    """Which requests a server accepts.

    Attributes:
        local: Whether it listens on the loopback interface, and answers to no address beyond it.
        names: Other names it answers to, in lower case.
        token: The token that requests must carry, or "".
        port: The port it listens on; part of the cookie's name, as browsers share cookies between a host's ports.
        public_origin: The origin of the proxy in front of it, if there is one.
    """

    local: bool = True
    names: frozenset[str] = frozenset()
    token: str = ""
    port: int = 0
    public_origin: str | None = None

    @classmethod
    def for_network(cls, host: str, token: str, port: int) -> Access:
        """Return the access of a server that others reach by its addresses, this machine's name or `host`."""
        hostname = socket.gethostname().lower()
        names = frozenset({hostname, f"{hostname.partition('.')[0]}.local", host.lower()})
        return cls(local=False, names=names, token=token, port=port)

    def behind_proxy(self, origin: str) -> Access:
        """Return this access, extended to a proxy with this origin, which need not pass on `Host`."""
        return replace(self, names=self.names | {_name_in(origin.partition("://")[2])}, public_origin=origin)

    def answers_to(self, host: str) -> bool:
        """Return whether the server answers to a `Host`: its names, and any address, as DNS rebinding needs a name."""
        name = _name_in(host)
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
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        has_bearer = scheme.lower() == "bearer" and self.is_token(bearer.strip())
        return not self.token or has_bearer or _is_equal(request.cookies.get(self.cookie, ""), self.cookie_value)

    def is_token(self, text: str) -> bool:
        """Compare a text with the token, in constant time."""
        return bool(self.token) and _is_equal(text, self.token)

    def grant(self, headers: MutableHeaders) -> None:
        """Set the cookie that lets a browser in from now on."""
        secure = "; Secure" if self.public_origin is not None and self.public_origin.startswith("https:") else ""
        headers.append("Set-Cookie", f"{self.cookie}={self.cookie_value}; Path=/; HttpOnly; SameSite=Strict{secure}")


def _is_equal(text: str, secret: str) -> bool:
    digests = (hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest() for value in (text, secret))
    return hmac.compare_digest(*digests)


def _name_in(host: str) -> str:
    """Return the name or address in a `Host`, without its port; "" if it is invalid."""
    match = _HOST.fullmatch(host.lower())
    return match["address"] or match["name"] if match else ""
