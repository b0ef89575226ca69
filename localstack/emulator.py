"""Runs MiniStack, the emulator of AWS, in the one version that Mash is tested against.

Its own main does the work; this file is where whatever has to be adjusted in it will stand. It therefore refuses every
other version, whose inside may differ.
"""

import importlib.metadata
import sys

MADE_FOR = "1.5.33"


def main() -> None:
    found = importlib.metadata.version("ministack")
    if found != MADE_FOR:
        sys.exit(f"localstack/emulator.py is made for MiniStack {MADE_FOR} and found {found}")
    from ministack.app import main as serve

    serve()


if __name__ == "__main__":
    main()
