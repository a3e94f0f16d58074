"""The trials. Each creates a tree, calls a server, and returns a description of the result."""

import os
import queue
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from server import Server, Silence

# Concurrent requests during an attack, and the number of rounds.
OPEN_AT_ONCE = 32
ROUNDS = 94
SECRET = "SECRET"
# A call without an answer after this time counts as hanging, in seconds.
HANGS = 10.0
# A server that uses more memory is killed, in MB.
TOO_MUCH = 4000.0


@contextmanager
def swapping(root: Path) -> Iterator[Path]:
    """Swaps a directory `d` with a link to a directory outside; yields the outside directory."""
    outside = root.parent / "outside"
    outside.mkdir()
    (root / "d").mkdir()
    for slot in range(OPEN_AT_ONCE):
        (outside / f"f{slot}.txt").write_text(SECRET)
        (root / "d" / f"f{slot}.txt").write_text("inside")
    (root / "link").symlink_to(outside)
    words = [sys.executable, str(Path(__file__).parent / "swapper.py"), "d", "link"]
    with subprocess.Popen(words, cwd=root, stdout=subprocess.PIPE) as swapper:
        try:
            swapper.stdout.readline()
            yield outside
        finally:
            swapper.kill()


def swapped_reads(dialect, root: Path) -> str:
    escapes = served = 0
    with Server(dialect.words(root), root) as server, swapping(root):
        for _ in range(ROUNDS):
            paths = [root / "d" / f"f{slot}.txt" for slot in range(OPEN_AT_ONCE)]
            for number in [server.begin(dialect.read(path)) for path in paths]:
                answer = server.end(number)
                escapes += SECRET in answer.text
                served += not answer.failed
    return f"{escapes} ({served} served)"


def swapped_writes(dialect, root: Path) -> str:
    escapes = served = 0
    with Server(dialect.words(root), root) as server, swapping(root) as outside:
        for _ in range(ROUNDS):
            names = [f"f{slot}.txt" for slot in range(OPEN_AT_ONCE)]
            calls = [dialect.write(root / "d" / name, "written") for name in names]
            for number in [server.begin(call) for call in calls]:
                served += not server.end(number).failed
            for name in names:
                if (outside / name).read_text() != SECRET:
                    escapes += 1
                    (outside / name).write_text(SECRET)
        strays = len(list(outside.iterdir())) - OPEN_AT_ONCE
    return f"{escapes} ({served} served)" + (f", {strays} strays outside" if strays else "")


def shown(server: Server, call: tuple[str, dict] | None) -> str:
    """The time of one call, or a note that it hangs."""
    if call is None:
        return "no such tool"
    try:
        seconds, answer = server.timed(call, HANGS)
    except Silence:
        return f"hangs (over {HANGS:.0f} s)"
    return f"{seconds * 1000:.0f} ms" + (", refused" if answer.failed else "")


def fifo_read(dialect, root: Path) -> str:
    os.mkfifo(root / "fifo")
    with Server(dialect.words(root), root) as server:
        return shown(server, dialect.read(root / "fifo"))


def fifo_search(dialect, root: Path) -> str:
    (root / "file").write_text("a needle in hay\n")
    with Server(dialect.words(root), root) as server:
        search = dialect.search(root, "needle")
        if search and "needle in hay" not in server.call(search).text:
            return "finds nothing without one"
        os.mkfifo(root / "fifo")
        return shown(server, search)


def beside_fifos(dialect, root: Path) -> str:
    for number in range(8):
        os.mkfifo(root / f"fifo{number}")
    (root / "file").write_text("text\n")
    with Server(dialect.words(root), root) as server:
        server.call(dialect.read(root / "file"))
        for number in range(8):
            server.begin(dialect.read(root / f"fifo{number}"))
        time.sleep(0.5)
        return shown(server, dialect.read(root / "file"))


def concurrent_edits(dialect, root: Path) -> str:
    count = 120
    path = root / "file"
    path.write_text("".join(f"line <{line}> old\n" for line in range(count)))
    with Server(dialect.words(root), root) as server:
        edits = [
            dialect.edit(path, f"line <{line}> old", f"line <{line}> new") for line in range(count)
        ]
        numbers = [server.begin(edit) for edit in edits]
        applied = sum(not server.end(number).failed for number in numbers)
    present = path.read_bytes().count(b" new\n")
    return f"{max(applied - present, 0)} lost, {present} in the file, {count - applied} errors"


# Each with the bytes before and after the edited text.
EXACT = {
    "CRLF": (b"one\r\ntwo ", b" end\r\nthree\r\n"),
    "mixed": (b"one\r\ntwo\nthree ", b" end\r\nfour\nfive\r\n"),
    "CR": (b"one\rtwo ", b" end\rthree\r"),
    "Latin-1": (b"caf\xe9\nna\xefve ", b" end\n\xff\n"),
    "BOM": (b"\xef\xbb\xbfone\ntwo ", b" end\nthree\n"),
    "no last line end": (b"one\ntwo ", b" end\nthree"),
}


def exact_edits(dialect, root: Path) -> str:
    wrong = []
    with Server(dialect.words(root), root) as server:
        for kind, (before, after) in EXACT.items():
            path = root / "file"
            path.write_bytes(before + b"old" + after)
            answer = server.call(dialect.edit(path, "old", "new"))
            content = path.read_bytes()
            if answer.failed and content == before + b"old" + after:
                wrong.append(f"{kind} refused")
            elif content != before + b"new" + after:
                wrong.append(f"{kind} damaged")
    return f"{len(EXACT) - len(wrong)} of {len(EXACT)}" + "".join(f"; {what}" for what in wrong)


def metadata(dialect, root: Path) -> str:
    told = []
    path, link = root / "file", root / "link"
    with Server(dialect.words(root), root) as server:
        for what, call in [
            ("edit", dialect.edit(path, "old", "new")),
            ("write", dialect.write(path, "new\n")),
        ]:
            kept = set()
            for linked in [False, True]:
                path.write_text("old\n")
                os.setxattr(path, "user.rivals", b"kept")
                os.chown(path, 1234, 1234)
                path.chmod(0o640)
                if linked:
                    os.link(path, link)
                server.call(call)
                status = path.stat()
                if linked:
                    kept |= {"hard link"} if status.st_ino == link.stat().st_ino else set()
                    link.unlink()
                else:
                    kept |= {"mode"} if status.st_mode & 0o7777 == 0o640 else set()
                    kept |= {"owner"} if status.st_uid == 1234 else set()
                    kept |= {"attribute"} if "user.rivals" in os.listxattr(path) else set()
                path.unlink()
            lost = [name for name in ["mode", "owner", "attribute", "hard link"] if name not in kept]
            told.append(f"{what} {len(kept)} of 4" + (f" (not {', '.join(lost)})" if lost else ""))
    return "; ".join(told)


def worst_glob(dialect, root: Path) -> str:
    (root / ("a" * 60)).write_text("text\n")
    with Server(dialect.words(root), root) as server:
        return shown(server, dialect.find(root, "*a" * 25 + "b"))


def sparse_read(dialect, root: Path) -> str:
    with open(root / "sparse", "wb") as file:
        file.truncate(8 << 30)
    with Server(dialect.words(root), root) as server:
        before = server.megabytes("VmRSS")
        number = server.begin(dialect.read(root / "sparse"))
        begun = time.monotonic()
        while time.monotonic() - begun < HANGS:
            try:
                answer = server.end(number, 0.05)
                took = f"{(time.monotonic() - begun) * 1000:.0f} ms"
                took += ", refused" if answer.failed else ""
                break
            except Silence:
                server.waiting[number] = queue.Queue()
            if server.megabytes("VmRSS") > TOO_MUCH:
                took = "killed"
                break
        else:
            took = f"hangs (over {HANGS:.0f} s)"
        return f"{took}, {server.megabytes('VmHWM') - before:.0f} MB"


def hostile_ignores(dialect, root: Path) -> str:
    told = []
    for what in ["FIFO", "/dev/zero"]:
        place = root / what.strip("/").replace("/", "-")
        place.mkdir()
        (place / "file.txt").write_text("needle\n")
        if what == "FIFO":
            os.mkfifo(place / ".gitignore")
        else:
            (place / ".gitignore").symlink_to(what)
        with Server(dialect.words(place), place) as server:
            call = dialect.search(place, "needle") or dialect.find(place, "**/*.txt")
            told.append(f"{what} {shown(server, call)}, {server.megabytes('VmHWM'):.0f} MB")
    return "; ".join(told)


TRIALS = {
    f"escapes in {ROUNDS * OPEN_AT_ONCE} reads while links are swapped": swapped_reads,
    f"escapes in {ROUNDS * OPEN_AT_ONCE} writes while links are swapped": swapped_writes,
    "read of a FIFO": fifo_read,
    "search of contents where a FIFO is": fifo_search,
    "ordinary read after 8 reads of FIFOs": beside_fifos,
    "120 edits of 120 lines, sent at once": concurrent_edits,
    "byte-exact edits": exact_edits,
    "mode, owner, attribute, hard link kept": metadata,
    "find `*a` 25 times and `b`, one name of 60 bytes": worst_glob,
    "read of a sparse file of 8 GB": sparse_read,
    "search (or find) where `.gitignore` is hostile": hostile_ignores,
}
