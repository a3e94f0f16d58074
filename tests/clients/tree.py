"""Creates the tree for the clients."""

import base64
import os
import sys
from pathlib import Path

DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="
)


def main() -> None:
    root = Path(sys.argv[1])
    (root / "src").mkdir(parents=True)
    (root / "long").mkdir()
    (root / "src/main.rs").write_text("fn main() {}\n// TODO one\n")
    (root / "notes.md").write_text("nothing\n")
    (root / "dot.png").write_bytes(base64.b64decode(DOT))
    skill = root / ".agents/skills/count-lines"
    (skill / "scripts").mkdir(parents=True)
    front = "name: count-lines\ndescription: Counts lines.\nmetadata:\n  version: 1.0\n"
    (skill / "SKILL.md").write_text(f"---\n{front}---\n# How\n")
    (skill / "scripts/count it.py").write_text("print(1)\n")
    # For a search that takes many seconds without much space: one file with many hard links.
    (root / "long/0").write_text(("ab" * 500 + "\n") * 65536)
    for name in range(1, 400):
        os.link(root / "long/0", root / "long" / str(name))


main()
