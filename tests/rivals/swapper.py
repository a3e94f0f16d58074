"""Swaps a directory and a link until it is killed: `swapper.py DIRECTORY LINK`."""

import ctypes
import os
import sys

EXCHANGE = 2
HERE = -100


def main() -> None:
    exchange = ctypes.CDLL(None, use_errno=True).renameat2
    one, other = (os.fsencode(word) for word in sys.argv[1:3])
    print("ready", flush=True)
    # Ends if its parent has ended, since nothing else would kill it.
    parent = os.getppid()
    while os.getppid() == parent:
        for _ in range(1000):
            exchange(HERE, one, HERE, other, EXCHANGE)


main()
