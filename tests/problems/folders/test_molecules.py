"""SMILES files: fingerprints as RDKit makes them, bad lines named, one end however interrupted."""

import numpy as np
import pytest

from needs import need_package
from problems.folders.tables import contents
from serendip.core.errors import InvalidInput
from serendip.core.reductions.folds import everything
from serendip.problems.folders import molecules, writing
from serendip.problems.folders.molecules import MoleculeOptions, import_molecules
from serendip.problems.folders.opening import open_folder

need_package("rdkit")

SMILES = ["CCO", "c1ccccc1", "CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "C", "CCN"]


def written(path, count=60, names=True):
    """A file of molecules, one a line."""
    lines = []
    for place in range(count):
        smiles = "C" * (place // len(SMILES)) + SMILES[place % len(SMILES)]
        lines.append(f"{smiles} mol {place}" if names else smiles)
    path.write_text("\n".join(lines) + "\n")
    return [line.split(" ")[0] for line in lines]


def bits_of(smiles, n_bits):
    from rdkit import Chem
    from rdkit.Chem import rdFingerprintGenerator

    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=n_bits)
    return np.array([generator.GetFingerprintAsNumPy(Chem.MolFromSmiles(one)) for one in smiles])


@pytest.mark.parametrize("n_bits", [64, 2048])
def test_fingerprints_equal_those_of_rdkit(tmp_path, n_bits, monkeypatch):
    monkeypatch.setattr(molecules, "_PIECE", 200)
    smiles = written(tmp_path / "a.smi")
    made = import_molecules([tmp_path / "a.smi"], tmp_path / "out", MoleculeOptions(n_bits), jobs=1)
    opened = open_folder(tmp_path / "out")
    bits = bits_of(smiles, n_bits)
    scale = np.sqrt(bits.size / bits.sum())
    assert (made.n, made.d) == (60, n_bits + 1)
    x = everything(opened.pool).x
    np.testing.assert_allclose(x[:, :-1], scale * bits, rtol=1e-6)
    np.testing.assert_array_equal(x[:, -1], 1.0)
    np.testing.assert_allclose((x[:, :-1] ** 2).mean(), 1.0, rtol=1e-5)
    assert opened.names[7] == "mol 7"
    assert opened.names.place("mol 59") == 59
    assert opened.names.beside(np.array([0, 59])) == {"smiles": [smiles[0], smiles[59]]}


def test_processes_and_pieces_do_not_change_the_result(tmp_path, monkeypatch):
    written(tmp_path / "a.smi", 40)
    (tmp_path / "b.smi").write_text("smiles\tname\n\nCCCl\tother\nCCBr\tmore")
    files, options = [tmp_path / "a.smi", tmp_path / "b.smi"], MoleculeOptions(128)
    import_molecules(files, tmp_path / "one", options, jobs=1)
    monkeypatch.setattr(molecules, "_PIECE", 300)
    import_molecules(files, tmp_path / "two", options, jobs=2)
    import_molecules(files, tmp_path / "three", options, jobs=1)
    assert contents(tmp_path / "two") == contents(tmp_path / "three")
    one, two = open_folder(tmp_path / "one"), open_folder(tmp_path / "two")
    np.testing.assert_array_equal(everything(one.pool).x, everything(two.pool).x)
    assert one.names[41] == two.names[41] == "more"
    assert [source.rows for source in one.manifest.sources] == [40, 2]


def test_lines_that_are_no_molecules(tmp_path, monkeypatch):
    monkeypatch.setattr(molecules, "_PIECE", 8)
    (tmp_path / "a.smi").write_text("CCO a\nCCN b\nC1CC c\n\nnonsense d\nCCC e\n")
    files = [tmp_path / "a.smi"]
    with pytest.raises(InvalidInput, match=r"Line 3 of .*a\.smi holds 'C1CC'"):
        import_molecules(files, tmp_path / "out", MoleculeOptions(64), jobs=1)
    made = import_molecules(files, tmp_path / "out", MoleculeOptions(64, skip=True), jobs=1)
    assert made.notes == ("2 lines could not be read and were left out.",)
    opened = open_folder(tmp_path / "out")
    assert [opened.names[item] for item in range(3)] == ["a", "b", "e"]


def test_molecules_without_names_are_numbered(tmp_path):
    written(tmp_path / "a.smi", 5, names=False)
    import_molecules([tmp_path / "a.smi"], tmp_path / "out", MoleculeOptions(64), jobs=1)
    names = open_folder(tmp_path / "out").names
    assert [names[item] for item in range(5)] == ["0", "1", "2", "3", "4"]


def test_files_without_molecules_and_options_that_make_no_sense(tmp_path):
    (tmp_path / "a.smi").write_text("\n\n")
    with pytest.raises(InvalidInput, match="no molecules"):
        import_molecules([tmp_path / "a.smi"], tmp_path / "out", MoleculeOptions(64), jobs=1)
    with pytest.raises(InvalidInput, match="8 to 65536 bits"):
        MoleculeOptions(4)
    (tmp_path / "b.smi").write_text("C same\nCC same\n")
    with pytest.raises(InvalidInput, match="'same' stands in molecule 1 and in molecule 2"):
        import_molecules([tmp_path / "b.smi"], tmp_path / "out", MoleculeOptions(64), jobs=1)


class Killed(BaseException):
    """Ends the work at once, as a kill would."""


def test_an_interrupted_import_ends_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(molecules, "_PIECE", 150)
    monkeypatch.setattr(writing, "_COMMIT_SECONDS", -1.0)
    written(tmp_path / "a.smi")
    files, options = [tmp_path / "a.smi"], MoleculeOptions(256)
    import_molecules(files, tmp_path / "straight", options, jobs=1)
    append, left = molecules.append, [0]

    def dying(file, array):
        left[0] -= 1
        append(file, array[: len(array) // 2])
        if left[0] == 0:
            file.flush()
            raise Killed
        append(file, array[len(array) // 2 :])

    monkeypatch.setattr(molecules, "append", dying)
    kills, done = 0, False
    while not done:
        left[0] = 3 + kills % 4
        try:
            import_molecules(files, tmp_path / "out", options, jobs=1)
            done = True
        except Killed:
            kills += 1
    assert kills > 3
    assert contents(tmp_path / "out") == contents(tmp_path / "straight")
