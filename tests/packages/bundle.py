"""Unpacks a bundle, starts the server as its manifest says, and searches through it.

    bundle.py BUNDLE
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile


def main(bundle):
    with tempfile.TemporaryDirectory() as scratch:
        unpacked = pathlib.Path(scratch, "bundle")
        root = pathlib.Path(scratch, "root")
        root.mkdir()
        (root / "notes.md").write_text("TODO one\n")
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(unpacked)
            for entry in archive.infolist():
                # The standard library does not restore the modes.
                (unpacked / entry.filename).chmod(entry.external_attr >> 16)
        manifest = json.loads((unpacked / "manifest.json").read_text())
        assert (unpacked / manifest["server"]["entry_point"]).is_file(), "no entry point"
        dead = re.findall(r"\]\(([^):#]+)[)#]", (unpacked / "README.md").read_text())
        assert not dead, f"dead links in README.md: {dead}"
        config = manifest["server"]["mcp_config"]

        def filled(text):
            text = text.replace("${__dirname}", str(unpacked))
            return text.replace("${user_config.root}", str(root))

        messages = [
            {"id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"}}},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/list"},
            {"id": 3, "method": "tools/call",
             "params": {"name": "search", "arguments": {"pattern": "TODO"}}},
        ]
        answers = {}
        with subprocess.Popen(
                ["timeout", "60", filled(config["command"]), *map(filled, config["args"])],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **config["env"]},
                text=True) as server:
            for message in messages:
                server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            server.stdin.flush()
            # The end of its input ends the server, so its answers are read before.
            while 3 not in answers:
                line = server.stdout.readline()
                assert line, f"the server ended after {answers}"
                answer = json.loads(line)
                answers[answer.get("id")] = answer.get("result")
            server.stdin.close()
        assert server.returncode == 0, f"status {server.returncode}"
        assert answers[1]["serverInfo"]["version"] == manifest["version"], answers[1]
        offered = [tool["name"] for tool in answers[2]["tools"]]
        named = [tool["name"] for tool in manifest["tools"]]
        assert offered == named, f"{offered}, not {named}"
        found = answers[3]["content"][0]["text"]
        assert found == "notes.md\n1:TODO one", found
        print(f"   {pathlib.Path(bundle).name}: {len(offered)} tools")


main(sys.argv[1])
