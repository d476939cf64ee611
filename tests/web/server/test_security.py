"""Who gets in, from where, and what nobody gets out: against real servers."""

import re
import socket
import time

import httpx
import pytest

from serendip.core.errors import InvalidInput
from serendip.web.server.guard import pass_of
from serendip.web.server.settings import ServeSettings, is_loopback
from web.servers import Server, get, post

PATHS = [
    "/",
    "/login",
    "/new",
    "/static/style.css",
    "/static/",
    "/campaigns/secretcampaign",
    "/campaigns/nosuchcampaign",
    "/api/v1/openapi.json",
    "/openapi.json",
    "/docs",
    "/redoc",
    "/api/v1/campaigns",
    "/api/v1/campaigns/secretcampaign",
    "/api/v1/campaigns/secretcampaign/status",
    "/api/v1/campaigns/nosuchcampaign",
    "/api/v1/backtests",
    "/nowhere/at/all",
]

PAGE = {"Accept": "text/html"}


# --- without the token ---------------------------------------------------------------------------


@pytest.mark.parametrize("accept", ["*/*", "text/html,application/xhtml+xml", "application/json"])
def test_without_the_token_everything_is_401_and_nothing_leaks(stranger, accept):
    bodies = set()
    for path in PATHS:
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"):
            if (path, method) == ("/login", "POST"):
                continue
            answer = stranger.request(method, path, headers={"Accept": accept})
            assert answer.status_code == 401, (method, path)
            assert answer.headers["www-authenticate"] == "Bearer"
            assert "secretcampaign" not in answer.text.replace("/campaigns/secretcampaign", "")
            assert "yield" not in answer.text
            assert "set-cookie" not in answer.headers or "serendip_token" not in str(
                answer.headers.get_list("set-cookie")
            )
            if method == "GET":
                bodies.add(re.sub(r'name="next" value="[^"]*"', "", answer.text))
    # What there is and what there is not look the same: one problem, and one page for people.
    assert len(bodies) <= 2


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic YTpi"},
        {"Authorization": "Bearer a-token-for-the-tests-012345678"},
        {"Authorization": "Bearer a-token-for-the-tests-01234567890"},
        {"Cookie": "serendip_token=wrong"},
        {"Cookie": "serendip_token="},
        {"Cookie": "serendip_token=a-token-for-the-tests-0123456789"},  # the cookie is not it
        {"Cookie": "\x80\xff;;;=;serendip_token"},
        {"Authorization": "Bearer \xe9\xff"},
    ],
)
def test_wrong_tokens_are_refused(guarded, headers):
    raw = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
    answer = get(f"{guarded.api}/campaigns", headers=raw)
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == 401


def test_the_token_opens_the_api(guarded, token):
    for scheme in ("Bearer", "bearer"):
        answer = get(f"{guarded.api}/campaigns", headers={"Authorization": f"{scheme} {token}"})
        assert answer.json()["campaigns"][0]["name"] == "secretcampaign"
    document = get(
        f"{guarded.api}/openapi.json", headers={"Authorization": f"Bearer {token}"}
    ).json()
    assert document["security"] == [{"token": []}]


def test_a_token_in_the_address_becomes_a_cookie_and_is_dropped(stranger, token):
    answer = stranger.get(f"/?token={token}&view=all", headers=PAGE)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?view=all"
    (cookie,) = [c for c in answer.headers.get_list("set-cookie") if c.startswith("serendip_token")]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert token not in cookie
    assert stranger.get("/api/v1/campaigns").status_code == 200  # the client keeps cookies
    again = stranger.get(f"/?token={token}", headers=PAGE)  # dropped for those who are in, too
    assert again.status_code == 303
    assert stranger.get("/?token=wrong", headers=PAGE).status_code == 401


def test_the_api_takes_no_token_in_the_address(stranger, token):
    assert stranger.get(f"/api/v1/campaigns?token={token}").status_code == 401


def test_the_login_form_admits_those_who_know_it(stranger, token):
    page = stranger.get("/campaigns/secretcampaign", headers=PAGE)
    assert page.status_code == 401
    assert 'name="token"' in page.text
    assert "<script" not in page.text
    wrong = stranger.post("/login", data={"token": "wrong"}, headers=PAGE)
    assert wrong.status_code == 401
    assert "not the token" in wrong.text
    right = stranger.post("/login", data={"token": token, "next": "/campaigns/secretcampaign"})
    assert right.status_code == 303
    assert right.headers["location"] == "/campaigns/secretcampaign"
    assert stranger.get("/api/v1/campaigns").status_code == 200


@pytest.mark.parametrize(
    "path", ["//evil.example", "/\\evil.example", "https://evil.example", "/a\r\nSet-Cookie: b=c"]
)
def test_the_login_leads_nowhere_else(guarded, token, path):
    answer = post(f"{guarded.url}/login", data={"token": token, "next": path})
    assert answer.headers["location"] == "/"
    assert "b=c" not in str(answer.headers)


def test_a_long_login_is_not_read(guarded):
    answer = post(f"{guarded.url}/login", data={"token": "x" * 100_000})
    assert answer.status_code == 413


def test_cookies_of_others_do_not_lock_one_out(guarded, token):
    cookie = f'other={{"a": 1}}; bad name=1; serendip_token={pass_of(token)}; x'
    answer = get(f"{guarded.api}/campaigns", headers={"Cookie": cookie})
    assert answer.status_code == 200


# --- which addresses need a token ----------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.9.10", "LOCALHOST"])
def test_this_computer_needs_no_token(host):
    assert is_loopback(host)
    assert ServeSettings(host=host).guarded().token is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "lab.example", "", "127.0.0.1.x"])
def test_every_other_address_gets_a_token(host):
    first, second = (ServeSettings(host=host).guarded().token for _ in range(2))
    assert first is not None
    assert len(first) >= 40
    assert first != second
    assert ServeSettings(host=host, token="0123456789abcdef").guarded().token == "0123456789abcdef"


@pytest.mark.parametrize("token", ["short", "", "with blank 0123456789", "ünïcödé-0123456789"])
def test_weak_tokens_are_refused(token):
    with pytest.raises(InvalidInput, match="token"):
        ServeSettings(host="0.0.0.0", token=token)


def test_a_token_that_was_made_is_printed_once(tmp_path):
    with Server(tmp_path / "lab.db", host="0.0.0.0") as server:
        found = re.search(r"Token, shown this once: (\S+)", server.log.read_text())
        assert found is not None
        assert get(f"{server.api}/campaigns").status_code == 401
        headers = {"Authorization": f"Bearer {found[1]}"}
        assert get(f"{server.api}/campaigns", headers=headers).status_code == 200
        assert get(f"{server.url}/?token={found[1]}").status_code == 303
    text = server.log.read_text()
    assert text.count("shown this once") == 1
    assert f"GET /?token={found[1]}" not in text  # no log of addresses


# --- other names of this computer, other sites ---------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", ""]
)
def test_other_names_of_this_computer_are_refused(local, host):
    """A page of another site whose name was made to lead here must not read anything."""
    answer = get(f"{local.api}/campaigns", headers={"Host": host})
    assert answer.status_code == 421
    assert "screen" not in answer.text


def test_no_name_at_all_is_refused(local):
    with socket.create_connection(("127.0.0.1", local.port), 10) as plain:
        plain.sendall(b"GET /api/v1/campaigns HTTP/1.0\r\n\r\n")
        assert plain.recv(4096).split(b"\r\n")[0].split()[1] == b"421"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_its_own_names_are_fine(local, host):
    headers = {"Host": f"{host}:{local.port}"}
    assert get(f"{local.api}/campaigns", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},  # another port is another site
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_requests_of_other_sites_change_nothing(local, client, headers):
    before = client.get("/api/v1/campaigns/screen").json()
    for path, body in (
        ("/api/v1/campaigns/screen/ask", {"json": {"count": 1}}),
        ("/api/v1/campaigns/screen/tell", {"json": {"results": {"c001": 1.0}}}),
        ("/campaigns/screen/ask", {"data": {"count": "1"}}),
        ("/new", {"files": {"table": ("a.csv", b"a,b\n1,2\n")}}),
    ):
        answer = client.post(path, headers=headers, **body)
        assert answer.status_code == 403, path
    assert client.get("/api/v1/campaigns/screen").json() == before


def test_other_sites_read_nothing_but_may_lead_here(client):
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert client.get("/api/v1/campaigns", headers=cross).status_code == 403
    leads = {**cross, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert client.get("/", headers=leads).status_code == 200
    framed = {**leads, "Sec-Fetch-Dest": "iframe"}
    assert client.get("/", headers=framed).status_code == 403


def test_requests_of_our_own_pages_are_fine(local, client):
    headers = {"Origin": f"http://127.0.0.1:{local.port}", "Sec-Fetch-Site": "same-origin"}
    body = {"results": {"c039": 1.0}}
    answer = client.post("/api/v1/campaigns/screen/tell", json=body, headers=headers)
    assert answer.status_code == 200


def test_no_other_site_is_named_in_cors_headers(client):
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answer = client.options("/api/v1/campaigns/screen/ask", headers=headers)
    assert not [name for name in answer.headers if name.startswith("access-control")]


# --- forms ---------------------------------------------------------------------------------------


def form_token(page):
    found = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
    assert found is not None
    return found[1]


def test_forms_need_the_value_that_this_browser_was_given(local):
    with local.client() as browser:
        token = form_token(browser.get("/new"))
        table = {"table": ("t.csv", b"id,a\nx,1\ny,2\n")}
        for wrong in ({}, {"csrf_token": ""}, {"csrf_token": "x" * 43}):
            answer = browser.post("/new", data=wrong, files=table)
            assert answer.status_code == 403
            assert "reload" in answer.text
        right = browser.post("/new", data={"csrf_token": token}, files=table)
        assert right.status_code == 303
        by_header = browser.post("/new", headers={"X-CSRF-Token": token}, files=table)
        assert by_header.status_code == 303
    with local.client() as other:  # another browser's value
        other.get("/new")
        assert other.post("/new", data={"csrf_token": token}, files=table).status_code == 403
    with local.client() as bare:  # no cookie at all
        assert bare.post("/new", data={"csrf_token": token}, files=table).status_code == 403
        assert bare.post("/new", data={"csrf_token": ""}, files=table).status_code == 403


def test_every_form_of_every_page_has_the_field(client):
    for path in ("/", "/new", "/campaigns/screen", "/backtests"):
        page = client.get(path)
        forms = re.findall(r"<form\b.*?</form>", page.text, re.DOTALL)
        posts = [form for form in forms if re.search(r'(?i)(hx-post|method="?post)', form)]
        for form in posts:
            assert 'name="csrf_token"' in form, (path, form[:200])


# --- what browsers are told ----------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/new", "/nowhere", "/api/v1/campaigns", "/api/v1/nowhere"])
def test_browsers_are_told_what_pages_may_do(client, path):
    answer = client.get(path, headers=PAGE)
    policy = dict(
        part.strip().partition(" ")[::2]
        for part in answer.headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'self'"
    assert policy["object-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["form-action"] == "'self'"
    assert re.fullmatch(r"'self' 'nonce-[\w-]{20,}'", policy["script-src"])
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in answer.headers
    again = client.get(path, headers=PAGE)
    assert again.headers["content-security-policy"] != answer.headers["content-security-policy"]


def test_pages_hold_no_script_and_load_nothing_from_elsewhere(client):
    for path in ("/", "/new", "/campaigns/screen"):
        text = client.get(path).text
        for script in re.findall(r"<script\b([^>]*)>(.*?)</script>", text, re.DOTALL):
            kind = "src=" in script[0] or "application/json" in script[0] or "nonce=" in script[0]
            assert kind, script
        assert not re.findall(r"<[^>]+\son\w+=", text)
        assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', text)


def test_no_folder_is_listed_and_none_is_left(client):
    for path in (
        "/static",
        "/static/",
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/....//app.py",
        "/static//etc/passwd",
        "/static/%00",
        "/new/../../etc/passwd",
        "/new/..%2f..%2fetc%2fpasswd",
    ):
        answer = client.send(httpx.Request("GET", str(client.base_url).rstrip("/") + path))
        assert answer.status_code in (307, 400, 404, 405), path
        assert "create_app" not in answer.text
        assert "root:" not in answer.text


# --- size ----------------------------------------------------------------------------------------


def test_a_request_that_says_it_is_large_is_not_read(client):
    answer = client.post(
        "/api/v1/campaigns/screen/tell",
        content=b"x" * 5_000_000,
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_stream_that_does_not_say_how_long_it_is_is_cut_off(local):
    """Far less than all of it is taken, however it is sent."""
    sent = 0

    def endless():
        nonlocal sent
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        while sent < 400_000_000:
            sent += 1 << 20
            yield b"a,b,c\n" * 174763
        yield b"\r\n--b--\r\n"

    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    try:
        answer = post(f"{local.api}/tables", content=endless(), headers=headers)
        assert answer.status_code == 413
    except httpx.TransportError:
        pass  # the server closed the connection, which is as good
    assert sent < 200_000_000
    time.sleep(0.1)
    assert get(f"{local.api}/campaigns").status_code == 200
