"""The skeletons of CONTRIBUTING.md, as modules: a model and a policy as outsiders write them."""

import re
from pathlib import Path

GUIDE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def skeleton(title, kind="python"):
    """The code of a section of the guide."""
    section = GUIDE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return re.search(rf"```{kind}\n(.*?)```", section, re.DOTALL)[1]


for _title in ("How to add a model", "How to add a policy"):
    exec(skeleton(_title), globals())
