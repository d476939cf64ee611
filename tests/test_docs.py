"""Every Python example of the documentation runs as it stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]


def examples(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)])
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_screen.csv").write_text(
        "name,a,b,yield\n" + "".join(f"c{i},{i % 7},{i % 5},{(i * 7) % 11}\n" for i in range(60))
    )
    scope = {}
    for example in examples(page):
        exec(example, scope)
    assert len(scope) > 1


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / page).parent.joinpath(target).exists(), f"{page} links to {target}"
