"""The program ends with its client: promptly, with status 0 and without output."""

import json
import signal
import subprocess
import sys
import time

OPEN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "ending", "version": "1"},
    },
}
SEARCH = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "search", "arguments": {"pattern": r"(a[ab]{30}){9}z|[^b]bb"}},
}


def ends(program: str, root: str, how: str) -> float:
    """Opens a session with a long search, ends it, and returns how many seconds that took."""
    pipe = subprocess.PIPE
    words = [program, "mcp", "--root", root]
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as server:
        server.stdin.write(json.dumps(OPEN) + "\n" + json.dumps(SEARCH) + "\n")
        server.stdin.flush()
        assert '"protocolVersion"' in server.stdout.readline()
        time.sleep(0.2)
        begun = time.monotonic()
        if how == "closed input":
            server.stdin.close()
        else:
            server.send_signal(signal.Signals[how])
        status = server.wait(timeout=10)
        took = time.monotonic() - begun
        errors = server.stderr.read()
    assert status == 0, f"{how}: status {status}"
    assert errors == "", f"{how}: {errors}"
    return took


def main() -> None:
    for how in ["closed input", "SIGTERM", "SIGINT"]:
        took = ends(sys.argv[1], sys.argv[2], how)
        print(f"   end by {how}: {took * 1000:.0f} ms")


main()
