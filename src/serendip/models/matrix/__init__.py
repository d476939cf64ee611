"""Tables of rows × columns: `MatrixModel`, `LowRankModel`, `RecodedModel`."""
