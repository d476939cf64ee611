"""Users' files in: CSV, TSV, XLSX and Parquet; ids kept, columns encoded, bad rows named."""

from serendip.tables.cells import MISSING
from serendip.tables.columns import ids_of, labels_of
from serendip.tables.encoding import Encoded, encode_features
from serendip.tables.reading import CURRENT, read_table

__all__ = ["CURRENT", "MISSING", "Encoded", "encode_features", "ids_of", "labels_of", "read_table"]
