"""Which real data sets there are, with the checksum of every file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Dataset:
    """One data set as it should be."""

    name: str
    title: str
    kind: Literal["features", "matrix", "graph"]
    n_rows: int
    n_pools: int
    n_features: str
    licence: str
    files: Mapping[str, str]
    """SHA-256 by path below the data folder; all are needed."""
    extras: Mapping[str, str]
    """SHA-256 by path; checks made when the files were prepared, which loading does not need."""


def _registry(*sets: Dataset) -> dict[str, Dataset]:
    return {one.name: one for one in sets}


DATASETS: Mapping[str, Dataset] = _registry(
    Dataset(
        "cncci",
        "C-N cross-coupling with isoxazole additives (Ahneman et al. 2018)",
        "features",
        330,
        9,
        "10 or 46",
        "MIT",
        {
            "cncci/yields.csv": "9d4af572a79d0fd8d628cfca7931ed82a41ccec903be2b0ab8c1731f6230dbc4",
            "cncci/descriptors10.csv": (
                "678e51b8dc9698a56c76b8c16334d4dd92ecbc149b4efb86d704c2b0f28b4ab9"
            ),
            "cncci/descriptors46.csv": (
                "34675ad1f89dddef6ae4e8d91144055813f7946bbd11f93c71663d46a8b76262"
            ),
            "cncci/ligand_descriptors.csv": (
                "8ae857e808f7e168c82b5071020b4858250616d6c6011689a303cec756cf9bec"
            ),
            "cncci/base_descriptors.csv": (
                "faacd2ca69d6877c20997f26dcc7ef004f856a1d4190804057319f548cfe8a88"
            ),
        },
        {
            "cncci/random_regret_check.csv": (
                "3337234341d497667777fea499ab76618ce76f6509267b6dc3dd709460ef8c22"
            )
        },
    ),
    Dataset(
        "pndc",
        "Photoredox / nickel C-N coupling of informer molecules (Dreher and Krska 2021)",
        "features",
        80,
        11,
        "5",
        "MIT (repository)",
        {
            "pndc/yields.csv": "3a143ea27641b18cdc75aa6c63742f396211e80c5ea27f3b31631de654ecbbe0",
            "pndc/descriptors.csv": (
                "e6ee00504a26366c70cd66e8f7ea425032f414e1970d002fe431a7045f602d4b"
            ),
        },
        {
            "pndc/random_regret_check.csv": (
                "9acb0b302296085c353bc35e82e5c5018be7b036a5124bcaaed12d09f90c7770"
            )
        },
    ),
    Dataset(
        "amidation",
        "Amide coupling, 96 conditions × 10 nucleophiles (Wang et al. 2024)",
        "matrix",
        960,
        1,
        "names",
        "CC BY 4.0",
        {
            "hte_matrices/amidation.csv": (
                "79711fedea9336b41bc24ff1f2da7324ffa8d4423e6d4ccf34291cf34916bfc0"
            )
        },
        {},
    ),
    Dataset(
        "deoxyfluorination",
        "Deoxyfluorination, 20 conditions × 37 alcohols (Nielsen et al. 2018)",
        "matrix",
        740,
        1,
        "names",
        "CC BY 4.0",
        {
            "hte_matrices/deoxyfluorination.csv": (
                "d20fa06876ba6fc4093da2a1e46497d5e5bcf4c2ce6229091a494a9562abc245"
            )
        },
        {},
    ),
    Dataset(
        "enamine10k",
        "Enamine molecules with docking scores (Graff et al. 2021)",
        "features",
        10446,
        1,
        "59",
        "MIT",
        {
            "enamine_docking/enamine10k.parquet": (
                "e67c8f5f883f013a09d2f75fb1cf56ba7cfb4b48f44836a0b4acbc0e2c63e73f"
            )
        },
        {},
    ),
    Dataset(
        "citeseerx",
        "CiteSeerX citation graph, one pool per venue (Garnett et al. 2012)",
        "graph",
        39788,
        50,
        "graph",
        "MIT",
        {
            "citeseerx/nodes.csv": (
                "69f4696b04732cdd4370b92566a686468ddee3a80656114db4eb4719b227b28b"
            ),
            "citeseerx/edges.csv": (
                "8ce4c7e44c394e7cbe8dad6b0fbdd154694ae4bd3d4c3aa1998b107dc0711341"
            ),
        },
        {},
    ),
)
