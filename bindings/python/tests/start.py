"""Measures, in new processes, how long it takes to import the package, to open a small tree and to make
the first search. Prints medians in milliseconds."""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 21
PROGRAM = """
import sys, time
start = time.perf_counter()
import ripkit
imported = time.perf_counter()
answer = ripkit.Toolkit(sys.argv[1]).call("search", {"pattern": "file 77"})
assert answer.data["matches"] == 20, answer.text
print((imported - start) * 1000, (time.perf_counter() - start) * 1000)
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as root:
        for number in range(100):
            (Path(root) / f"{number}.md").write_text(f"file {number}\n" * 20)
        command = [sys.executable, "-c", PROGRAM, root]
        rounds = [
            list(map(float, subprocess.check_output(command, text=True).split()))
            for _ in range(ROUNDS)
        ]
    imported, searched = (statistics.median(times) for times in zip(*rounds))
    print(f"import ripkit: {imported:.1f} ms")
    print(f"import ripkit, opening a tree of 100 files, and the first search: {searched:.1f} ms")


if __name__ == "__main__":
    main()
