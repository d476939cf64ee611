"""What the page can be asked while somebody waits."""

import threading
import time

from web.servers import PATIENCE, begin


def test_where_nothing_is_under_way_nothing_is_said(client):
    for kind in ("ask", "view"):
        assert client.get(f"/campaigns/screen/progress/waiting/{kind}").status_code == 204
    assert client.get("/campaigns/screen/progress/waiting/lunch").status_code == 422


def test_an_ask_that_takes_a_while_says_where_it_stands(local, client):
    begin(client, "long", n=400, budget=400)
    done = threading.Event()

    def ask():
        with local.client() as another:
            another.post("/api/v1/campaigns/long/ask", json={"count": 40})
        done.set()

    thread = threading.Thread(target=ask)
    thread.start()
    found, deadline = [], time.monotonic() + PATIENCE
    while not done.is_set() and time.monotonic() < deadline:
        answer = client.get("/campaigns/long/progress/waiting/ask")
        if answer.status_code == 200:
            found.append(answer.json())
        time.sleep(0.05)
    thread.join()
    # The model itself is told of the first choices, each of which takes a moment.
    last = [one for one in found if one["what"] == "choosing candidates" and one["done"]][-1]
    assert last["total"] == 40
    assert 0 < last["done"] <= 40
    assert last["left"].startswith("about ")
    assert client.get("/campaigns/long/progress/waiting/ask").status_code == 204
