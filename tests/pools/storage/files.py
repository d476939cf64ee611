"""Small pools written to disk for the tests."""

import numpy as np
import pyarrow as pa

from serendip.pools.storage.fingerprints import MARK_ROWS


def npy_file(folder, x, dtype="float64", name="x.npy"):
    """An array as a .npy file, in the order it has in memory."""
    order = "F" if np.isfortran(x) else "C"
    np.save(folder / name, np.asarray(x, dtype=dtype, order=order))
    return folder / name


def arrow_file(folder, x, batch_rows, lists=False, name="x.arrow", **options):
    """An array as an Arrow IPC file: a column of numbers each, or one column of lists."""
    if lists:
        flat = pa.array(np.asarray(x, dtype=np.float32).ravel())
        table = pa.table({"x": pa.FixedSizeListArray.from_arrays(flat, x.shape[1])})
    else:
        table = pa.table({f"x{j}": pa.array(column) for j, column in enumerate(x.T)})
    writing = pa.ipc.IpcWriteOptions(**options)
    with (
        pa.OSFile(str(folder / name), "wb") as file,
        pa.ipc.new_file(file, table.schema, options=writing) as writer,
    ):
        writer.write_table(table, max_chunksize=batch_rows)
    return folder / name


def bit_files(folder, bits):
    """Fingerprints, given as booleans, as the three files of a pool."""
    rows, columns = np.nonzero(bits)
    counts = np.bincount(rows, minlength=len(bits))
    ends = np.concatenate([[0], np.cumsum(counts)])
    arrays = {
        "bits": columns.astype(np.uint16),
        "counts": counts.astype(np.uint16),
        "marks": np.append(ends[:-1][::MARK_ROWS], ends[-1]),
    }
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return tuple(folder / f"{name}.npy" for name in arrays)


def bit_matrix(bits, scale):
    """What such a pool should hold: the bits times the scale, and the constant."""
    return np.concatenate([scale * bits, np.ones((len(bits), 1))], axis=1)
