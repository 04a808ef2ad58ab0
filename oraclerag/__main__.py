"""``python -m oraclerag``."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from oraclerag.cli import main as run

    run()


if __name__ == "__main__":
    main()
