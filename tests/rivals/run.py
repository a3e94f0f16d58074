"""Runs the same trials with several servers; see `run.py --help`.

The status is 1 if ripkit let anything escape.
"""

import argparse
import shutil
import sys
import tempfile
from datetime import date
from pathlib import Path

from dialects import Official, Ripkit, RustMcp
from server import Silence
from trials import TRIALS


def outcome(trial, dialect) -> str:
    """Runs a trial in a tree of its own; returns the result."""
    above = Path(tempfile.mkdtemp(prefix="rivals-"))
    root = above / "root"
    root.mkdir()
    try:
        return trial(dialect, root)
    except Silence:
        return "an ordinary call had no answer"
    except (BrokenPipeError, ProcessLookupError, FileNotFoundError) as trouble:
        return f"the server is gone ({type(trouble).__name__})"
    finally:
        shutil.rmtree(above, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ripkit", type=Ripkit, help="the program")
    parser.add_argument("--official", type=Official, help="the directory of its node_modules")
    parser.add_argument("--rust-mcp", type=RustMcp, help="the program")
    parser.add_argument("words", nargs="*", help="only trials whose names have one of them")
    wanted = parser.parse_args()
    dialects = [wanted.ripkit, wanted.official, wanted.rust_mcp]
    dialects = [dialect for dialect in dialects if dialect]
    print(f"On {date.today()}:\n")
    print("| trial | " + " | ".join(dialect.version() for dialect in dialects) + " |")
    print("|---" * (len(dialects) + 1) + "|", flush=True)
    kept = True
    for name, trial in TRIALS.items():
        if wanted.words and not any(word in name for word in wanted.words):
            continue
        told = [outcome(trial, dialect) for dialect in dialects]
        escaped = "escapes" in name and not told[0].startswith("0 ")
        kept &= not (escaped and dialects[0] is wanted.ripkit)
        print(f"| {name} | " + " | ".join(told) + " |", flush=True)
    return 0 if kept else 1


sys.exit(main())
