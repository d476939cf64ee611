"""Simulators and replays: each gives a pool, an oracle and the truth the oracle keeps to itself."""
