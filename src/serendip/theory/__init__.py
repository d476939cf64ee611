"""The paper's theory as functions of your own problem   [ASD §3–4, App.]

Information ratios of distributions, of choices and of whole runs; entropies of the best candidates;
the printed regret bounds; coherence; how exploratory a pool is. The numbers of a
graph are in `serendip.theory.graph_numbers`.

The bounds hide universal constants (the paper's ≲): each function returns the printed expression,
which says how regret grows, not how large it is. Where the printed expression and its proof part,
the docstring says so in a line and docs/theory.md says more.
"""

from serendip.theory.bounds import (
    exact_entropy,
    generic_bound,
    glm_bound,
    glm_ratio_bound,
    graph_bound,
    linear_entropy_bound,
    low_rank_bound,
    low_rank_ratio_bound,
    low_rank_value_bound,
    optima_entropy,
    sparse_bound,
    structural_bound,
    structural_ratio_bound,
    tuple_entropy_bound,
)
from serendip.theory.coherence import (
    Coherence,
    coherence,
    subspace_coherence,
)
from serendip.theory.exploration import (
    Exploration,
    exploration,
)
from serendip.theory.ratios import (
    ExactRatioWatch,
    ItemRatio,
    RatioWatch,
    exact_ratio,
    information_ratio,
    sampled_ratio,
    worst_ratio,
)

__all__ = [
    "Coherence",
    "ExactRatioWatch",
    "Exploration",
    "ItemRatio",
    "RatioWatch",
    "coherence",
    "exact_entropy",
    "exact_ratio",
    "exploration",
    "generic_bound",
    "glm_bound",
    "glm_ratio_bound",
    "graph_bound",
    "information_ratio",
    "linear_entropy_bound",
    "low_rank_bound",
    "low_rank_ratio_bound",
    "low_rank_value_bound",
    "optima_entropy",
    "sampled_ratio",
    "sparse_bound",
    "structural_bound",
    "structural_ratio_bound",
    "subspace_coherence",
    "tuple_entropy_bound",
    "worst_ratio",
]
