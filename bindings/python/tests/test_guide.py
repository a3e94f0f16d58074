"""Runs the programs of the guide, as they are pasted."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
PAGES = ["docs/python.md", "bindings/python/README.md"]


class Guide(unittest.TestCase):
    def test_every_program_runs_without_a_word_on_standard_error(self) -> None:
        programs = 0
        for page in PAGES:
            text = (REPOSITORY / page).read_text()
            for program in re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
                programs += 1
                with self.subTest(program=program), tempfile.TemporaryDirectory() as directory:
                    (Path(directory) / "src").mkdir()
                    (Path(directory) / "src" / "main.rs").write_text("// TODO: todo\n")
                    command = [sys.executable, "-c", program]
                    ended = subprocess.run(command, cwd=directory, capture_output=True, text=True)
                    self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertGreaterEqual(programs, 6)


if __name__ == "__main__":
    unittest.main()
