"""The command line of each server, and the names of its tools."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

Call = tuple[str, dict]


@dataclass
class Ripkit:
    program: str

    def version(self) -> str:
        told = subprocess.run([self.program, "--version"], capture_output=True, text=True)
        return told.stdout.split("\n")[0]

    def words(self, root: Path) -> list[str]:
        return [self.program, "mcp", "--root", str(root)]

    def read(self, path: Path) -> Call:
        return "read_file", {"path": str(path)}

    def write(self, path: Path, content: str) -> Call:
        return "write_file", {"path": str(path), "content": content}

    def edit(self, path: Path, old: str, new: str) -> Call:
        return "edit_file", {"path": str(path), "old_text": old, "new_text": new}

    def find(self, root: Path, glob: str) -> Call:
        return "find_files", {"pattern": glob, "path": str(root)}

    def search(self, root: Path, text: str) -> Call | None:
        return "search", {"pattern": text, "path": str(root)}


@dataclass
class Official:
    """`@modelcontextprotocol/server-filesystem`."""

    directory: str

    def package(self) -> Path:
        names = "node_modules/@modelcontextprotocol/server-filesystem"
        return Path(self.directory) / names

    def version(self) -> str:
        package = json.loads((self.package() / "package.json").read_text())
        return f"server-filesystem {package['version']}"

    def words(self, root: Path) -> list[str]:
        return ["node", str(self.package() / "dist/index.js"), str(root)]

    def read(self, path: Path) -> Call:
        return "read_text_file", {"path": str(path)}

    def write(self, path: Path, content: str) -> Call:
        return "write_file", {"path": str(path), "content": content}

    def edit(self, path: Path, old: str, new: str) -> Call:
        return "edit_file", {"path": str(path), "edits": [{"oldText": old, "newText": new}]}

    def find(self, root: Path, glob: str) -> Call:
        return "search_files", {"path": str(root), "pattern": glob}

    def search(self, root: Path, text: str) -> Call | None:
        return None


@dataclass
class RustMcp(Official):
    """`rust-mcp-filesystem`, whose tools have the names of the official server."""

    def version(self) -> str:
        told = subprocess.run([self.directory, "--version"], capture_output=True, text=True)
        return told.stdout.split("\n")[0]

    def words(self, root: Path) -> list[str]:
        return [self.directory, "--allow-write", str(root)]

    def search(self, root: Path, text: str) -> Call | None:
        return "search_files_content", {"path": str(root), "pattern": "**/*", "query": text}
