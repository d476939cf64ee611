"""Workbooks for tests, also such as no library writes."""

import zipfile

import openpyxl

SHEET = "xl/worksheets/sheet1.xml"


def workbook(file, rows, formats=None, merged=None):
    """A workbook of some rows; number formats by cell, and a range of merged cells."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for cell, code in (formats or {}).items():
        book.active[cell].number_format = code
    if merged:
        book.active.merge_cells(merged)
    book.save(file)
    return file


def edited(file, old, new, part=SHEET):
    """The same workbook with another text in one of its parts."""
    with zipfile.ZipFile(file) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    assert old.encode() in parts[part]
    parts[part] = parts[part].replace(old.encode(), new.encode())
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as book:
        for name, data in parts.items():
            book.writestr(name, data)
    return file
