"""Models by the names that people write, and which is meant where none is named."""

from collections.abc import Mapping

MODELS: Mapping[str, str] = {
    "auto": "several models, trusted by how well they foretell labels left out",
    "linear": "linear regression, its scales inferred",
    "logistic": "logistic regression for labels between 0 and 1, its width inferred",
    "sparse": "linear regression in which few features matter, how few inferred",
    "gp": "Gaussian processes, their kernel, noise and scale inferred",
    "forest": "randomised trees, calibrated by labels left out",
    "neural": "small neural networks, calibrated by labels left out (needs PyTorch)",
    "low-rank": "a table of rows × columns, its rank, noise and scales inferred",
    "graph": "labels of a node, with those of its neighbours",
}
"""Every model by the name that commands use."""


def usual_model(
    rows: object, columns: object, edges: object, *, binary: bool = False, folder: bool = False
) -> str:
    """The model that fits what the user has told, where they named none.

    Args:
        rows: What names the rows of a matrix, if anything does.
        columns: Likewise its columns.
        edges: Of a graph, if there is one.
        binary: Whether labels are 0 or 1.
        folder: Whether the pool is a folder, which is made for more candidates than `auto` is.
    """
    if rows or columns:
        return "low-rank"
    if edges is not None:
        return "graph"
    if binary:
        return "logistic"
    return "linear" if folder else "auto"
