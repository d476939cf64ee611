"""Two people at one page: what one corrects is what they saw, never what a colleague just wrote."""

import re
import threading

import pytest

from serendip.campaigns import Campaign
from serendip.campaigns.log.events import Corrected, Told
from web.servers import Server, begin


@pytest.fixture(name="lab")
def _lab(tmp_path):
    store = tmp_path / "lab.db"
    with Server(store) as server, server.client() as client:
        begin(client, n=40, model="linear")
        server.store = store
        yield server


def tell(client, results, **more):
    body = {"results": results, "who": "bob", **more}
    answer = client.post("/api/v1/campaigns/screen/tell", json=body)
    return answer.status_code


class Page:
    """A browser with the page of the campaign."""

    def __init__(self, client):
        self.client = client
        self.token = ""
        page = client.get("/campaigns/screen")
        self.token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)[1]
        self.text = page.text

    def post(self, path, fields):
        """A form as the browser sends it: pairs, in order."""
        data = {}
        for name, value in [("csrf_token", self.token), *fields]:
            data.setdefault(name, []).append(value)
        answer = self.client.post(f"/campaigns/screen/{path}", data=data)
        self.text = answer.text
        return answer.status_code

    def save(self, entries, marked=()):
        """Fills in the table, with what the page holds beside each entry."""
        fields = []
        for item, value in entries.items():
            fields += [("item", item), ("seen", self.seen(item)), ("value", value)]
        return self.post("tell", [*fields, *(("replace", item) for item in marked)])

    def seen(self, item):
        """The old result that the page offers to replace."""
        found = re.search(
            rf'name="item" value="{item}"><input type="hidden" name="seen" value="([^"]*)"',
            self.text,
        )
        return found[1] if found else ""


def results(lab):
    campaign = Campaign.open("screen", lab.store)
    return {item: one.value for item, one in campaign.state.results.items()}


def test_a_mark_replaces_only_what_was_seen_and_only_its_own_entry(lab):
    with lab.client() as ann, lab.client() as bob:
        assert tell(bob, {"c000": 1.0}) == 200
        page = Page(ann)
        assert page.save({"c000": "2", "c001": "5"}) == 422
        assert page.seen("c000") == "1.0"
        assert "Replace 1 by 2" in page.text
        assert tell(bob, {"c000": 3.0}, correct=True) == 200
        assert tell(bob, {"c001": 9.0}) == 200
        seen = page.text
        assert page.save({"c000": "2", "c001": "5"}, marked=["c000"]) == 422
        assert results(lab) == {"c000": 3.0, "c001": 9.0}  # neither was overwritten
        assert page.seen("c000") == "3.0"
        assert page.seen("c001") == "9.0"
        page.text = seen
        assert page.save({"c000": "2", "c002": "7"}, marked=["c000", "c002"]) == 422
        assert page.save({"c000": "2", "c001": "5"}, marked=["c000"]) == 422
        assert page.save({"c000": "2", "c002": "7"}, marked=["c000"]) == 200
        assert results(lab) == {"c000": 2.0, "c001": 9.0, "c002": 7.0}


def test_a_change_in_the_list_of_results_replaces_only_what_was_shown(lab):
    with lab.client() as ann, lab.client() as bob:
        assert tell(bob, {"c000": 0.1 + 0.2}) == 200
        page = Page(ann)
        assert page.seen("c000") == ""
        shown = re.search(
            r'name="replace" value="1"><input [^>]*name="seen" value="([^"]*)"', page.text
        )
        fields = [("item", "c000"), ("replace", "1"), ("seen", shown[1])]
        assert tell(bob, {"c000": 3.0}, correct=True) == 200
        assert page.post("add", [*fields, ("value", "2")]) == 422
        assert results(lab) == {"c000": 3.0}
        fields[2] = ("seen", "3.0")
        assert page.post("add", [*fields, ("value", "2")]) == 200
        assert results(lab) == {"c000": 2.0}


def test_a_colleague_who_writes_at_the_same_moment_is_never_overwritten(lab):
    """Each round ann corrects one result and adds another, which bob adds as well."""
    with lab.client() as ann, lab.client() as bob:
        assert tell(bob, {"c000": 1.0}) == 200
        page = Page(ann)
        value = 1.0
        for turn in range(1, 16):
            item = f"c{turn:03d}"
            page.save({"c000": str(value + 1)})
            start = threading.Barrier(2)
            said = []

            def write(item=item, start=start, said=said):
                start.wait()
                said.append(tell(bob, {item: 9.0}))

            colleague = threading.Thread(target=write)
            colleague.start()
            start.wait()
            saved = page.save({"c000": str(value + 1), item: "5"}, marked=["c000"])
            colleague.join()
            value += saved == 200
            assert {saved, said[0]} == {200, 422} or sorted((saved, said[0])) == [200, 409]
    events = [entry.event for entry in Campaign.open("screen", lab.store).log]
    assert {event.item for event in events if isinstance(event, Corrected)} <= {"c000"}
    told = [event.item for event in events if isinstance(event, Told)]
    assert len(told) == len(set(told)) == 16
