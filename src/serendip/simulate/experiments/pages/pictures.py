"""Figures beside the pages of results."""

from pathlib import Path


def picture_of(name: str, title: str, docs: Path) -> list[str]:
    """The lines that show a figure, where there is one."""
    file = f"figures/reproduce-{name}.png"
    return [f"![{title}]({file})", ""] if (docs / file).exists() else []
