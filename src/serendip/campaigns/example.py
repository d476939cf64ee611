"""A settings file to start from."""

from collections.abc import Iterable
from textwrap import wrap

from serendip.models.registry import REGISTRY as MODELS
from serendip.policies.registry import REGISTRY as POLICIES


def _one_of(names: Iterable[str]) -> str:
    """Two lines of comment beside a setting."""
    return "\n".join(f"#     {line}" for line in wrap(", ".join(names), 90))


EXAMPLE = f"""\
# A serendip campaign. Edit, then run:  serendip init campaign.toml
# Paths are relative to this file. Lines that begin with # are not read.

name = "first-screen"

# The table of candidates: CSV, TSV, XLSX or Parquet, one candidate a row.
pool = "candidates.csv"

# The column results are written in. The pool need not have it; where it has, labels that are there
# count as known already and cost nothing.
label = "yield"

# How many experiments there is money for. Failed ones count, excluded candidates do not.
budget = 40

# The column that names the candidates. Without it they are called "row 2", "row 3", …
id = "id"

# How many candidates `serendip ask` proposes unless told.
batch = 8

# --- labels: numbers of any size, unless one of these is given ---
# minimize = true                            # smaller is better
# range = [0, 100]                           # the smallest and the largest there can be
# categories = ["low", "medium", "high"]     # words, worst first
# binary = true                              # 0 or 1

# --- what is known already: a table with the ids and the label column ---
# prior_data = "last-year.csv"

# --- columns of the pool: numbers are standardised, words become categories ---
# features = ["temperature", "ligand"]       # by default all but the id and the label
# ignore = ["comment"]
# nominal = ["plate"]                        # numbers that are names
# missing = "impute"                         # empty cells are an error unless you say this

# --- other kinds of candidates ---
# smiles = "structure"                       # molecules; needs pip install 'serendip[chem]'
# rows = ["base", "solvent"]                 # a table of rows × columns; what describes a row or
# columns = ["substrate"]                    # a column is found among the other columns
# rank = 4                                   # the most its rank may be; it is inferred
# edges = "edges.csv"                        # a graph: two columns of ids

# --- rarely needed ---
# model = "auto"                             # by default what fits; or one of these:
{_one_of(MODELS.titles(installed=False))}
# policy = "ids"                             # or one of these:
{_one_of(POLICIES.titles(installed=False))}
# seed = 0                                   # the same seed and history give the same proposals
# snapshot = true                            # keep a copy of the pool beside the store
"""
