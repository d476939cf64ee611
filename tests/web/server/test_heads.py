"""Requests whose head never ends, sent to a real server through a plain socket."""

import socket
import time

import pytest

from web.servers import PATIENCE

LIMIT = 64 * 1024


def send(server, *parts):
    """What the server answers, and how much it had taken before it closed the door."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
        sent = 0
        try:
            for part in parts:
                line.sendall(part)
                sent += len(part)
            answer = b""
            while chunk := line.recv(65536):
                answer += chunk
        except (ConnectionResetError, BrokenPipeError):
            return b"", sent
    return answer, sent


def head(n_bytes, start=b"GET /api/v1/campaigns HTTP/1.1\r\nHost: localhost\r\n"):
    line = b"X-Filler-%d: " + b"a" * 1000 + b"\r\n"
    return start + b"".join(line % k for k in range(n_bytes // len(line)))


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "endless"])
def test_two_megabytes_of_headers_are_refused_before_anybody_is_asked_who_they_are(guarded, ended):
    end = b"\r\n" if ended else b""
    answer, _ = send(guarded, head(2_000_000) + end)
    assert answer.startswith(b"HTTP/1.1 431 "), answer[:300]
    assert b"application/problem+json" in answer
    assert b"64 KiB" in answer


def test_headers_that_come_in_pieces_are_refused_as_soon_as_they_are_too_long(guarded):
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=PATIENCE) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        for _ in range(LIMIT // 1000 + 5):
            line.sendall(b"a" * 1000)
        answer = line.recv(65536)
    assert answer.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    "request_head",
    [
        head(LIMIT + 5000) + b"\r\n",
        b"GET /" + b"a" * (LIMIT + 5000) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /?q=" + b"a" * (LIMIT + 5000) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=["headers", "path", "query"],
)
def test_a_head_that_comes_at_once_is_measured_too(guarded, request_head):
    answer, _ = send(guarded, request_head)
    assert answer.startswith(b"HTTP/1.1 431 "), answer[:300]


def test_usual_heads_and_large_bodies_are_taken(local):
    with local.client() as client:
        long = {"X-Filler": "a" * 30_000}
        assert client.get("/api/v1/campaigns", headers=long).status_code == 200
        body = {"results": {f"nobody {k}": k for k in range(9000)}}
        answer = client.post("/api/v1/campaigns/screen/tell", json=body, headers=long)
        assert answer.status_code == 422
        assert "nobody 0" in answer.json()["detail"]


def test_what_is_no_http_is_refused_at_once(local):
    answer, _ = send(local, b"\x16\x03\x01 hello\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")


def test_the_server_serves_others_meanwhile(guarded, token):
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=PATIENCE) as line:
        line.sendall(head(LIMIT + 200_000))
        time.sleep(0.1)
        headers = {"Authorization": f"Bearer {token}"}
        with guarded.client(headers=headers) as client:
            assert client.get("/api/v1/campaigns").status_code == 200
