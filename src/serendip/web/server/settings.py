"""How a server is run: where it listens, what it serves, who may use it."""

import ipaddress
import secrets
from dataclasses import dataclass, replace

from serendip.core.errors import InvalidInput

MEGABYTE = 1_000_000

_SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """All that `serendip serve` was told."""

    store: str | None = None
    """A SQLite file or a postgresql:// URL; by default that of the commands."""
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    """Who does not show it is refused; None lets everybody in who can reach the server."""
    max_upload: int = 50 * MEGABYTE
    """Bytes of a file that is sent in."""
    max_head: int = 64 * 1024
    """Bytes of the address and the headers of a request."""
    max_body: int = 4 * MEGABYTE
    """Bytes of any other request."""
    max_unpacked: int = 400 * MEGABYTE
    """Bytes that a compressed workbook or Parquet file may unpack to."""

    def __post_init__(self) -> None:
        if not 0 <= self.port < 65536:
            raise InvalidInput(f"A port is a number from 0 to 65535; got {self.port}.")
        if self.token is not None and (
            len(self.token) < _SHORTEST_TOKEN or not self.token.isascii() or " " in self.token
        ):
            raise InvalidInput(
                f"A token is at least {_SHORTEST_TOKEN} letters, digits and signs without blanks; "
                "leave --token out and one is made for you."
            )

    @property
    def local(self) -> bool:
        """Whether only this computer can reach the server."""
        return is_loopback(self.host)

    def guarded(self) -> "ServeSettings":
        """The same, with a new token where others can reach the server and none was given."""
        if self.local or self.token is not None:
            return self
        return replace(self, token=secrets.token_urlsafe(32))


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this computer alone."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
