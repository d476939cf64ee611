"""HTTP as the server speaks it: on h11, which alone limits a head that never ends."""

from uvicorn.protocols.http.h11_impl import H11Protocol

from serendip.web.server.guard import too_long
from serendip.web.server.problems import problem_response

_LINGER_S = 2.0


class LimitedProtocol(H11Protocol):
    """Answers 431 where `h11_max_incomplete_event_size` is exceeded before a request has begun.

    What still comes is thrown away for a moment, so that the sender can read the answer.
    """

    refused = False

    def data_received(self, data: bytes) -> None:
        """Takes in what came, unless it was refused."""
        if not self.refused:
            super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        """Refuses what is no HTTP, or too much of it."""
        limit = self.config.h11_max_incomplete_event_size or 0
        if len(self.conn.trailing_data[0]) <= limit:
            super().send_400_response(msg)
            return
        self.refused = True
        made = problem_response(431, too_long(limit), {"Connection": "close"})
        head = "".join(f"{name}: {value}\r\n" for name, value in made.headers.items())
        status = "HTTP/1.1 431 Request Header Fields Too Large\r\n"
        self.transport.write(f"{status}{head}\r\n".encode() + bytes(made.body))
        self.loop.call_later(_LINGER_S, self.transport.close)
