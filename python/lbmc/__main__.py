"""The command `lbmc`, and `python -m lbmc`: the program as it is without Python."""

from __future__ import annotations

import signal
import sys

from . import _lbmc


def main() -> None:
    """Runs the command with the arguments of this process, and ends with its status."""
    # Ctrl-C has the effect that it has on programs, where Python would raise an exception.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_lbmc.command(["lbmc", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
