"""Figures beside the pages of results."""

import shutil
from pathlib import Path

from serendip.experiments.catalogue import EXPERIMENTS


def copy_figures(runs: Path, figures: Path) -> None:
    """Figures of the runs, under the names that the pages have for them."""
    figures.mkdir(parents=True, exist_ok=True)
    for name in EXPERIMENTS:
        if (picture := runs / name / "figure.png").exists():
            shutil.copyfile(picture, figures / f"reproduce-{name}.png")
    for picture in (*runs.glob("table/*.png"), *runs.glob("*.png")):
        shutil.copyfile(picture, figures / f"reproduce-{picture.name}")


def picture_of(name: str, title: str, docs: Path) -> list[str]:
    """The line that shows a figure, where there is one."""
    file = f"figures/reproduce-{name}.png"
    return [f"![{title}]({file})", ""] if (docs / file).exists() else []
