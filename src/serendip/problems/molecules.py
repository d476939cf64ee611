"""Molecules read from SMILES, as Morgan fingerprints. The only file that needs RDKit."""

from typing import Any

import numpy as np
import numpy.typing as npt

from serendip.core.arrays import Floats
from serendip.core.errors import InvalidInput

RADIUS = 2


class Fingerprinter:
    """Circular substructures of a molecule, numbered and folded."""

    def __init__(self, n_bits: int) -> None:
        try:
            from rdkit import Chem, RDLogger
            from rdkit.Chem import rdFingerprintGenerator
        except ImportError:
            raise InvalidInput(
                "Molecules need RDKit, which is not installed; run pip install 'serendip[chem]'."
            ) from None
        RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined, no-untyped-call, unused-ignore]
        self._chemistry: Any = Chem
        self._generator: Any = rdFingerprintGenerator.GetMorganGenerator(
            radius=RADIUS, fpSize=n_bits
        )

    def _molecule(self, smiles: str) -> Any:
        text = smiles.strip()
        return self._chemistry.MolFromSmiles(text) if text else None

    def reads(self, smiles: str) -> bool:
        """Whether it is a molecule."""
        return self._molecule(smiles) is not None

    def counts(self, smiles: str) -> Floats | None:
        """(n_bits,) how often each substructure is there; None where the SMILES cannot be read."""
        molecule = self._molecule(smiles)
        if molecule is None:
            return None
        return np.asarray(self._generator.GetCountFingerprintAsNumPy(molecule), dtype=np.float64)

    def bits(self, smiles: str) -> npt.NDArray[np.uint16] | None:
        """The numbers of the bits that are set, increasing; None where it cannot be read."""
        molecule = self._molecule(smiles)
        if molecule is None:
            return None
        found = self._generator.GetFingerprint(molecule).GetOnBits()
        return np.fromiter(found, dtype=np.uint16)
