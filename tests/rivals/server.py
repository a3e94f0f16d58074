"""Starts, calls and kills a server of the Model Context Protocol, with a time limit for each step."""

import json
import os
import queue
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

# Time limit of an ordinary call on a busy machine, in seconds.
PATIENCE = 30.0

OPEN = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "rivals", "version": "1"},
}


class Silence(Exception):
    """There was no answer within the time limit."""


class Answer:
    """The answer of a tool call."""

    def __init__(self, message: dict) -> None:
        result = message.get("result", {})
        self.failed = "error" in message or bool(result.get("isError"))
        self.text = json.dumps(message, ensure_ascii=False)


class Server:
    """A server process in a process group of its own, and its root."""

    def __init__(self, words: list[str], root: Path) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            words,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            cwd=root,
            start_new_session=True,
        )
        self.next = 0
        self.waiting: dict[int, queue.Queue] = {}
        threading.Thread(target=self.listen, daemon=True).start()
        self.wait(self.send("initialize", OPEN), PATIENCE)
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(timeout=PATIENCE)

    def listen(self) -> None:
        for line in self.process.stdout:
            message = json.loads(line)
            # The server may ask for roots; it gets no answer, and needs none.
            if "method" not in message and message.get("id") in self.waiting:
                self.waiting[message["id"]].put(message)

    def write(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, parameters: dict) -> int:
        self.next += 1
        self.waiting[self.next] = queue.Queue()
        message = {"jsonrpc": "2.0", "id": self.next, "method": method, "params": parameters}
        self.write(message)
        return self.next

    def wait(self, number: int, patience: float) -> dict:
        try:
            return self.waiting[number].get(timeout=patience)
        except queue.Empty:
            raise Silence from None
        finally:
            del self.waiting[number]

    def begin(self, call: tuple[str, dict]) -> int:
        """Calls a tool without waiting for the answer."""
        return self.send("tools/call", {"name": call[0], "arguments": call[1]})

    def end(self, number: int, patience: float = PATIENCE) -> Answer:
        return Answer(self.wait(number, patience))

    def call(self, call: tuple[str, dict], patience: float = PATIENCE) -> Answer:
        return self.end(self.begin(call), patience)

    def timed(self, call: tuple[str, dict], patience: float = PATIENCE) -> tuple[float, Answer]:
        """Calls a tool; returns the seconds until the answer, and the answer."""
        begun = time.monotonic()
        answer = self.call(call, patience)
        return time.monotonic() - begun, answer

    def megabytes(self, name: str) -> float:
        """Memory of the process as the kernel reports it: `VmRSS` is the current, `VmHWM` the peak value."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)
        return int(found[1]) / 1024 if found else 0.0
