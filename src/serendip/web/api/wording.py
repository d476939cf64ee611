"""Sentences that speak of commands, in the words of the API."""

import re
from collections.abc import Callable

_WORDS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"`serendip budget NAME N`", "POST budget"),
    (r"`serendip undo NAME --item (.*?)`", r"POST undo and item \1"),
    (r"`serendip undo`", "POST undo"),
    (r"`serendip export NAME --what events`", "GET events"),
    (r"--rows\b", "rows_column"),
    (r"--columns\b", "columns_column"),
    (r"(?<![\w'\"-])--([a-z][a-z-]*)", lambda found: found[1].replace("-", "_")),
)


def in_words_of_the_api(sentence: str) -> str:
    """The sentence with fields of requests for options of commands."""
    for command, words in _WORDS:
        sentence = re.sub(command, words, sentence)
    return sentence
