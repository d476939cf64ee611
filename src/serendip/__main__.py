"""`python -m serendip`: the same as the command `serendip`."""

from serendip.cli.main import run

if __name__ == "__main__":
    run()
