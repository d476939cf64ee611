"""From a table or a pool folder to a pool and a model: `Columns`, `frame_problem`."""
