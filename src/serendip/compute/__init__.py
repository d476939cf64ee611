"""Where folds and runs are carried out: `Engine`, `run_all`, processes, a Ray cluster, a GPU."""
