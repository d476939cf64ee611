"""Files that people send in: names, bombs, nonsense, and cells that would like to be programs."""

import io
import json
import os
import re
import struct
import time
import zipfile
import zlib

import numpy as np
import openpyxl
import pandas as pd
import pytest

from serendip.core.errors import InvalidInput
from serendip.web.server.problems import Refused
from serendip.web.server.settings import MEGABYTE
from serendip.web.server.uploads import WAITING, Uploads, check_unpacked, safe_name
from web.servers import Server, rows

MB = 1_000_000


@pytest.fixture(name="uploads")
def _uploads(tmp_path):
    return Uploads(tmp_path, 2 * MB)


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("pool.csv", "pool.csv"),
        ("../../etc/cron.d/evil.csv", "evil.csv"),
        ("..\\..\\windows\\evil.CSV", "evil.csv"),
        ("/etc/passwd.tsv", "passwd.tsv"),
        ("a\0b\r\n.csv", "a_b_.csv"),
        ("<script>alert(1)</script>.xlsx", "script_.xlsx"),
        ("Überzug (2).parquet", "Überzug (2).parquet"),
        ("x" * 300 + ".csv", "x" * 80 + ".csv"),
        ("   .csv", "table.csv"),
    ],
)
def test_names_choose_no_place(name, safe):
    assert safe_name(name) == safe


@pytest.mark.parametrize(
    "name", ["", "pool", "pool.exe", ".csv", "pool.csv/", "a.csv.py", "..", "x.xlsm", "....csv"]
)
def test_what_is_no_table_by_its_name_is_refused(name):
    with pytest.raises(InvalidInput, match="ending in"):
        safe_name(name)


def test_files_are_kept_inside_the_folder_and_found_again(uploads, tmp_path):
    outside = tmp_path.parent / "evil.csv"
    id = uploads.keep("../../evil.csv", io.BytesIO(b"a,b\n1,2\n"))
    path = uploads.path(id)
    assert path.resolve().is_relative_to(tmp_path / WAITING)
    assert path.read_bytes() == b"a,b\n1,2\n"
    assert not outside.exists()
    assert uploads.keep("evil.csv", io.BytesIO(b"a,b\n1,2\n")) == id
    assert uploads.keep("other.csv", io.BytesIO(b"a,b\n1,2\n")) != id
    home = uploads.settled(path)
    uploads.forget(id)
    assert uploads.path(id) == home
    assert uploads.settled(home) == home


def test_a_file_that_is_read_once_takes_nothing_from_others(uploads):
    kept = uploads.keep("pool.csv", io.BytesIO(b"a,b\n1,2\n"))
    once = uploads.keep("pool.csv", io.BytesIO(b"a,b\n1,2\n"), apart=True)
    assert once != kept
    assert uploads.path(once).name == "pool.csv"
    uploads.forget(once)
    assert uploads.path(kept).read_bytes() == b"a,b\n1,2\n"


@pytest.mark.parametrize("id", ["", "..", "../" * 8, "0" * 32, "/etc", "0" * 31 + "/", "A" * 32])
def test_ids_lead_nowhere_else(uploads, id):
    with pytest.raises(Refused) as caught:
        uploads.path(id)
    assert caught.value.status == 404
    uploads.forget(id)


def test_too_much_is_not_kept(uploads, tmp_path):
    with pytest.raises(Refused) as caught:
        uploads.keep("big.csv", io.BytesIO(b"x" * (2 * MB + 1)))
    assert caught.value.status == 413
    assert not list((tmp_path / WAITING).iterdir())


def test_what_nobody_used_for_a_week_is_removed(uploads, tmp_path):
    old, new = (uploads.keep(f"{k}.csv", io.BytesIO(b"a\n1\n")) for k in "ab")
    week = time.time() - 8 * 24 * 3600
    os.utime(tmp_path / WAITING / old, (week, week))
    (tmp_path / WAITING / "not ours").mkdir()
    os.utime(tmp_path / WAITING / "not ours", (week, week))
    uploads.tidy()
    assert sorted(one.name for one in (tmp_path / WAITING).iterdir()) == sorted([new, "not ours"])


# --- bombs ---------------------------------------------------------------------------------------


def workbook(path, frame):
    frame.to_excel(path, index=False)
    return path


def test_honest_files_pass(tmp_path):
    frame = pd.DataFrame(rows(50))
    check_unpacked(workbook(tmp_path / "a.xlsx", frame), MB)
    frame.to_parquet(tmp_path / "a.parquet")
    check_unpacked(tmp_path / "a.parquet", MB)
    frame.to_csv(tmp_path / "a.csv")
    check_unpacked(tmp_path / "a.csv", MB)


def test_a_workbook_that_says_it_is_large_is_refused(tmp_path):
    bomb = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("xl/worksheets/sheet1.xml", b"0" * (20 * MB))
    assert bomb.stat().st_size < MB / 10
    with pytest.raises(InvalidInput, match="unpacks to more"):
        check_unpacked(bomb, 10 * MB)


def lying_zip(path, size):
    """A zip whose directory says that a part has ten bytes, and which unpacks to many more."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(b"0" * size) + packer.flush()
    name, crc = b"xl/workbook.xml", zlib.crc32(b"0" * size)
    sizes = struct.pack("<III", crc, len(data), 10)
    local = b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 8, 0, 0) + sizes
    local += struct.pack("<HH", len(name), 0) + name
    entry = b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 0) + sizes
    entry += struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name
    start = len(local) + len(data)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), start, 0)
    path.write_bytes(local + data + entry + end)


def test_a_workbook_that_lies_about_its_size_is_refused(tmp_path):
    bomb = tmp_path / "bomb.xlsx"
    lying_zip(bomb, 50 * MB)
    with pytest.raises(InvalidInput, match=r"not a readable|unpacks to more"):
        check_unpacked(bomb, 10 * MB)


def test_a_workbook_of_too_many_parts_is_refused(tmp_path):
    bomb = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(bomb, "w") as made:
        for place in range(2500):
            made.writestr(f"xl/{place}.xml", b"")
    with pytest.raises(InvalidInput, match="unpacks to more"):
        check_unpacked(bomb, 10 * MB)


def test_a_workbook_with_entities_is_refused(tmp_path):
    source = workbook(tmp_path / "a.xlsx", pd.DataFrame(rows(5)))
    bomb = tmp_path / "bomb.xlsx"
    laughs = b'<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(bomb, "w") as new:
        for part in old.namelist():
            data = old.read(part)
            if part.endswith("sheet1.xml"):
                data = data.replace(b"<worksheet", laughs + b"<worksheet", 1)
            new.writestr(part, data)
    with pytest.raises(InvalidInput, match="save it again"):
        check_unpacked(bomb, 10 * MB)


def test_a_parquet_file_of_endless_repetition_is_refused(tmp_path):
    bomb = tmp_path / "bomb.parquet"
    wide = {f"c{k}": pd.Series(np.zeros(2 * MB, dtype=np.int8)) for k in range(30)}
    pd.DataFrame(wide).to_parquet(bomb)
    assert bomb.stat().st_size < MB
    with pytest.raises(InvalidInput, match="unpacks to more"):
        check_unpacked(bomb, 1000 * MB)


def test_a_text_of_nothing_but_columns_is_refused(tmp_path):
    bomb = tmp_path / "bomb.csv"
    bomb.write_bytes(b"," * MB)
    with pytest.raises(InvalidInput, match="columns"):
        check_unpacked(bomb, 1000 * MB)


# --- over the wire -------------------------------------------------------------------------------


def far_cells(count):
    """A small workbook whose rows each have one cell, the last that a row can have."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append(["id", "x"])
    file = io.BytesIO()
    book.save(file)
    made = io.BytesIO()
    far = "".join(
        f'<row r="{row}"><c r="XFD{row}"><v>1</v></c></row>' for row in range(2, count + 2)
    )
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            data = old.read(part)
            if part.endswith("sheet1.xml"):
                data = data.replace(b"</sheetData>", far.encode() + b"</sheetData>")
            new.writestr(part, data)
    return made.getvalue()


def with_cell(attribute):
    """A workbook of about 5 kB in which one cell says that it lies in the last corner."""
    file, made = io.BytesIO(), io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.save(file)
    cell = f"<row><c {attribute}><v>1</v></c></row></sheetData>"
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            data = old.read(part)
            if part.endswith("sheet1.xml"):
                data = data.replace(b"</sheetData>", cell.encode())
            new.writestr(part, data)
    return made.getvalue()


@pytest.mark.parametrize(
    "attribute",
    [
        'r="XFD1048576"',
        "r='XFD1048576'",
        "s='0' r = 'XFD1048576'",
        "r\n=\n'XFD1048576'",
        "r='xfd1048576'",
        "r='&#88;FD1048576'",
        'r="XFD&#x31;048576"',
    ],
)
def test_a_cell_in_the_last_corner_is_refused_before_the_sheet_is_read(tmp_path, attribute):
    file = tmp_path / "far.xlsx"
    file.write_bytes(with_cell(attribute))
    with pytest.raises(InvalidInput, match=r"far\.xlsx"):
        check_unpacked(file, 400 * MEGABYTE)


def send(client, name, data):
    return client.post("/api/v1/tables", files={"file": (name, data)})


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("nothing.csv", b""),
        ("binary.csv", bytes(range(256)) * 50),
        ("not a workbook.xlsx", b"PK\3\4" + b"x" * 500),
        ("not parquet.parquet", b"PAR1" + b"\0" * 500 + b"PAR1"),
        ("only a header.csv", b"a,b\n"),
        ("ragged.csv", b"a,b\n1,2,3\n"),
        ("numbers.csv", b"1,2\n3,4\n"),
        ("program.py", b"print(1)"),
        ("noname", b"a,b\n1,2\n"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(client, name, data):
    answer = send(client, name, data)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert len(answer.json()["detail"]) > 20
    assert "Traceback" not in answer.text


def test_workbooks_that_fill_the_memory_are_ended(client):
    """Rows whose only cell is the last one possible would unpack to 3·10⁹ cells."""
    data = far_cells(200_000)
    assert len(data) < 3 * MB
    answer = send(client, "far.xlsx", data)
    assert answer.status_code == 422
    assert "too large" in answer.json()["detail"] or "readable" in answer.json()["detail"]
    assert send(client, "fine.csv", b"id,a\nx,1\ny,2\n").status_code == 201  # the next one is read


def test_what_a_table_says_is_only_data(client, local):
    """Script, formulas and templates in cells come back as the text they are."""
    nasty = [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "{{ 7 * 7 }}",
        "=cmd|' /C calc'!A0",
        "javascript:alert(1)",
        "'; DROP TABLE serendip_events; --",
    ]
    table = pd.DataFrame({"id": nasty, "<b>x</b>": range(6), "note": nasty[:3] * 2})
    file = io.StringIO()
    table.to_csv(file, index=False)
    sent = send(client, "<img src=x onerror=alert(1)>.csv", file.getvalue())
    assert sent.status_code == 201
    body = {
        "name": "nasty",
        "label": "y <q>",
        "id": "id",
        "budget": len(nasty),
        "table": sent.json()["table"],
    }
    made = client.post("/api/v1/campaigns", json=body)
    assert made.status_code == 201, made.text
    asked = client.post(
        "/api/v1/campaigns/nasty/ask", json={"count": len(nasty), "who": "<u>me</u>"}
    ).json()
    assert {row["id"] for row in asked["proposals"]} <= set(nasty)
    item = asked["proposals"][0]["id"]
    told = client.post("/api/v1/campaigns/nasty/tell", json={"results": {item: 1.0}})
    assert told.status_code == 200
    pages = [
        "/",
        "/campaigns/nasty",
        "/campaigns/nasty/history",
        "/campaigns/nasty/candidates",
        "/campaigns/nasty/progress",
    ]
    seen = 0
    for path in pages:
        page = client.get(path)
        assert page.status_code == 200, path
        for tag in ("<script>alert", "<img src=x", "<b>x</b>", "<u>me</u>", "<q>"):
            assert tag not in page.text, path
        assert ">49<" not in page.text
        seen += "&lt;script&gt;alert" in page.text
    assert seen >= 2  # it is shown, escaped
    assert json.dumps(item)[1:-1] in client.get("/api/v1/campaigns/nasty/results").text


def test_pools_outlive_the_server_and_the_upload(tmp_path):
    store = tmp_path / "lab.db"
    with Server(store) as server, server.client() as client:
        table = send(client, "pool.csv", pd.DataFrame(rows(20)).to_csv(index=False)).json()["table"]
        body = {"name": "a", "label": "y", "id": "code", "budget": 5, "table": table}
        assert client.post("/api/v1/campaigns", json=body).status_code == 201
    for one in (tmp_path / WAITING).iterdir():
        for file in one.iterdir():
            file.unlink()
        one.rmdir()
    with Server(store) as server, server.client() as client:
        assert client.post("/api/v1/campaigns/a/ask", json={"count": 1}).status_code == 200


def test_the_api_opens_no_file_of_the_computer(client):
    for value in ("/etc/passwd", "../lab.db", "0" * 32):
        for field in ("table", "edges", "prior_data"):
            body = {"name": "x", "label": "y", "budget": 1, "rows": rows(5), field: value}
            answer = client.post("/api/v1/campaigns", json=body)
            assert answer.status_code in (404, 422)
            assert "root:" not in answer.text
    for field in ("pool", "snapshot"):
        body = {"name": "x", "label": "y", "budget": 1, "rows": rows(5), field: "/etc/passwd"}
        assert client.post("/api/v1/campaigns", json=body).status_code == 422


def test_the_page_reads_names_and_results_as_the_commands_do(client):
    """Ids that agree as numbers, an ambiguous result, and per cent in a range of 0 to 100."""
    pool = b"id,a,b\n2.10,1,5\n2.1,2,3\n007,4,4\n12,3,1\n"
    table = send(client, "pool.csv", pool).json()["table"]
    roles = {"role-0": "id", "role-1": "number", "role-2": "number"}
    shown = client.get(f"/new/{table}")
    assert "2.10" in shown.text
    token = re.search(r'name="csrf_token" value="([^"]+)"', shown.text)
    guard = {"csrf_token": token[1]}
    label = {"label": "y", "kind": "number", "low": "0", "high": "100", "better": "larger"}
    form = {**guard, **roles, **label, "name": "lab", "budget": "3", "batch": "2"}
    answer = client.post(f"/new/{table}", data=form)
    assert answer.status_code in (200, 303)
    assert client.get("/api/v1/campaigns/lab").status_code == 200

    def told(data):
        return client.post("/campaigns/lab/upload", files={"table": ("r.csv", data)},
                           data=guard)  # fmt: skip

    refused = told(b"id;y\n007;1.234\n")
    assert refused.status_code == 422
    assert "can be read in two ways" in refused.text
    assert told(b"id,y\n2.10,72%\n2.1,5\n").status_code == 200
    results = client.get("/api/v1/campaigns/lab/results").json()["rows"]
    assert {row["id"]: row["y"] for row in results} == {"2.10": 72, "2.1": 5}
