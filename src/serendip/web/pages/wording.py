"""Sentences that speak of commands, in the words of the page."""

import re

from serendip.core.errors import SerendipError

_WORDS: tuple[tuple[str, str], ...] = (
    (r"`serendip budget NAME N` makes it larger", "change the budget to go on"),
    (r"or take them back with `serendip undo`", "or undo them"),
    (r"--retry-failed proposes failed ones again", "Those that failed may be proposed again"),
    (
        r"add --correct if the new one is right, or undo the first",
        "correct it in the list of results if the new one is right",
    ),
    (
        r"undo the first with `serendip undo NAME --item .*?`",
        "take the first back in the list of results",
    ),
    (
        r"`serendip export NAME --what events` shows which there are",
        "the history shows which there are",
    ),
    (
        r"leave the column out with --ignore, or choose --missing impute",
        "do not use the column, or let empty cells be filled in",
    ),
    (r"leave (?:it|the column) out with --ignore", "do not use the column"),
    (r"add --range LOW HIGH, --categories or --binary", "give a range, words, or 0 and 1"),
    (r"name it as --id \S+ or --ignore \S+?([.;]|$)", r"make it the name, or do not use it\1"),
    (r"(?:use|add it to) --ignore(?: \S+?)?([.;]|$)", r"do not use it\1"),
    (
        r"needs --rows and --columns, the two columns of the table that name",
        "needs two columns of the table that name",
    ),
    (r"needs --edges, a table of two columns of ids", "needs a table of two columns of names"),
    (r"or say where it is with `serendip doctor NAME --pool FILE`", "under the same name"),
    (r"with the results so far as --prior-data", "with the results so far"),
)


def said(problem: SerendipError) -> str:
    """The sentence of an error, without options of commands."""
    text = str(problem)
    for command, words in _WORDS:
        text = re.sub(command, words, text)
    return text
