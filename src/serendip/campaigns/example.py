"""A settings file to start from: every setting with what is told of it."""

import json
from textwrap import fill

from serendip.campaigns.spec import Settings
from serendip.core.settings import Section, Setting, Where, offered

_HEAD = """\
# A serendip campaign. Edit, then run:  serendip init campaign.toml
# Paths are relative to this file. Lines that begin with # are not read; take the # away from a
# setting to make it count.
"""


def example() -> str:
    """The file; what is needed, and what is often given, counts as it stands."""
    parts = [_HEAD]
    settings = offered(Settings, Where.file)
    for section in Section:
        given = section is Section.aim
        if not given:
            parts.append(f"# --- {section} ---\n")
        parts += [_entry(one, given) for one in settings if one.about.section is section]
    return "\n".join(parts)


def _entry(setting: Setting, given: bool) -> str:
    about = setting.about
    told = setting.told(setting.help(), about.more)
    told = fill(told, 100, initial_indent="# ", subsequent_indent="# ")
    value = f"{setting.word} = {json.dumps(about.example)}"
    return f"{told}\n{value if given else f'# {value}'}\n"
