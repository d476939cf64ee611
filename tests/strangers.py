"""A package that is not ours, as pip would install it: modules, and metadata with entry points."""

from pathlib import Path

MODULE = '''
"""A laboratory's own policy and model."""

from pathlib import Path

Path(__file__).with_name("imported").touch()

from serendip.models.linear.model import LinearModel
from serendip.policies.index import choose_by


class Cautious:
    """Take what is least in doubt."""

    def choose(self, posterior, pool, remaining, rng):
        return choose_by(pool, posterior.moments(), least, rng)


def least(mean, deviation):
    return -deviation


def plane(n_features):
    return LinearModel(n_features)
'''

POINTS = """
[serendip.policies]
cautious = {name}:Cautious

[serendip.models]
plane = {name}:plane
"""


class Package:
    """A package in a folder that stands on the path, and whether anything imported it."""

    def __init__(self, folder, name="laboratory", points=POINTS):
        self.name, self.folder = name, Path(folder)
        (self.folder / name).mkdir(parents=True)
        (self.folder / name / "__init__.py").write_text(MODULE)
        info = self.folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(points.format(name=name))

    @property
    def was_imported(self):
        return (self.folder / self.name / "imported").exists()

    def forget(self):
        """As if it had never been imported."""
        (self.folder / self.name / "imported").unlink(missing_ok=True)
