"""``python -m oraclerag``."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from oraclerag.cli import app

    app()


if __name__ == "__main__":
    main()
