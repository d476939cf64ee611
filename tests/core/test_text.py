import pytest

from serendip.core.errors import InvalidInput
from serendip.core.text import checked_line, checked_text, escaped


@pytest.mark.parametrize("text", ["ann", "Zoë 🧪", "no\u00a0break", "क्‍ष", "x" * 200])
def test_names_of_people_are_taken_as_they_are(text):
    assert checked_line("A name", text) == text
    assert escaped(text) == text


@pytest.mark.parametrize(
    "text", ["ann\udcff", "\ud83e", "a\nb", "\x1b[2J", "\x00", "\x85", "\u2028", " ", "x" * 201]
)
def test_what_cannot_be_shown_is_refused_in_one_printable_line(text):
    with pytest.raises(InvalidInput, match="A name") as caught:
        checked_line("A name", text)
    assert str(caught.value).isprintable()
    str(caught.value).encode()


def test_columns_may_break_the_line_but_must_be_text():
    assert checked_text("A column", "yield\n(%)") == "yield\n(%)"
    with pytest.raises(InvalidInput, match="UTF-8"):
        checked_text("A column", "yield\udcff")


def test_what_is_written_out_can_be_stored_and_read():
    assert escaped("a\udcff\x07\u2028") == r"a\udcff\x07\u2028"
    assert escaped("a\n\udcff", control=False) == "a\n" + r"\udcff"
