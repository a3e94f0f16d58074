//! The trees that tasks are played in.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::BoxError;

/// Copies a repository at its commit.
pub(crate) fn clone(repository: &Path, to: &Path) -> Result<(), BoxError> {
    let status = Command::new("git")
        .args(["clone", "--quiet", "--local", "--no-hardlinks"])
        .args([repository, to])
        .status()?;
    if !status.success() {
        return Err(format!("{} cannot be cloned", repository.display()).into());
    }
    Ok(())
}

/// Writes a small project with a large log, generated and minified files, and Windows line ends.
pub(crate) fn generate(root: &Path) -> Result<(), BoxError> {
    for directory in [".git", "src/net", "generated", "dist", "config", "logs"] {
        fs::create_dir_all(root.join(directory))?;
    }
    let files = [
        (".gitignore", "dist/\ngenerated/\n"),
        ("src/main.py", MAIN),
        ("src/net/client.py", CLIENT),
        ("src/net/retry.py", RETRY),
        ("src/net/__init__.py", ""),
        ("config/app.conf", CONFIG),
        (
            "generated/schema.py",
            "SCHEMA_VERSION = 41\n\n\ndef schema_version():\n    return SCHEMA_VERSION\n",
        ),
        ("src/Client.cs", CLIENT_CS),
        ("notes.txt", "to do\n- check the retry policy\n"),
    ];
    for (path, text) in files {
        fs::write(root.join(path), text)?;
    }
    fs::write(root.join("dist/app.min.js"), minified())?;
    fs::write(root.join("logs/app.log"), log())?;
    Ok(())
}

const MAIN: &str = "# SPDX-License-Identifier: MIT\n\
import sys\n\nfrom net.client import Client\nfrom net.retry import with_retries\n\n\n\
def main():\n    client = Client(\"https://example.org\")\n    \
answer = with_retries(client.fetch, 3)\n    print(answer)\n\n\n\
if __name__ == \"__main__\":\n    sys.exit(main())\n";

const CLIENT: &str = "# SPDX-License-Identifier: MIT\n\
from net.retry import with_retries\n\nTIMEOUT = 30\n\n\n\
class Client:\n    def __init__(self, base):\n        self.base = base\n\n    \
def fetch(self):\n        return with_retries(self.request, 2)\n\n    \
def request(self):\n        return {\"url\": self.base, \"timeout\": TIMEOUT}\n";

const RETRY: &str = "import time\n\n\n\
def with_retries(call, attempts):\n    for attempt in range(attempts):\n        try:\n            \
return call()\n        except OSError:\n            time.sleep(2**attempt)\n    \
raise RuntimeError(\"all attempts failed\")\n";

const CONFIG: &str = "# The address to listen on.\nlisten = 0.0.0.0:8080\n\n\
# Seconds.\ntimeout = 30\n\n# Attempts.\nretries = 3\n\n# Where logs go.\nlog = logs/app.log\n";

const CLIENT_CS: &str = "namespace Example\r\n{\r\n    public class Client\r\n    {\r\n        \
private int retries = 3;\r\n        private int timeout = 30;\r\n    }\r\n}\r\n";

/// A bundle in one line of 400 KB.
fn minified() -> String {
    let mut text = String::new();
    for number in 0..9000 {
        if number == 6000 {
            text.push_str("function trackingId(e){return e.tid||\"UA-31337\"}");
        }
        let _ = write!(text, "function f{number}(a,b){{return a+b*{number}}};");
    }
    text
}

/// 200,000 lines, of which few are errors; the cause stands before the first of them.
fn log() -> String {
    let mut text = String::new();
    for line in 0..200_000_u32 {
        let (minute, second) = (line / 60 % 60, line % 60);
        let _ = write!(text, "2026-03-01T{:02}:{minute:02}:{second:02} ", line / 10_000);
        let _ = match line {
            150_000 => {
                writeln!(text, "WARN pool: certificate of db-3 expired at 2026-03-01T15:00:00")
            }
            150_003 | 150_007 => writeln!(text, "ERROR worker=3 query failed code=E_TLS"),
            170_000 => writeln!(text, "ERROR worker=5 query failed code=E_TIMEOUT"),
            _ => writeln!(text, "INFO worker={} request={line} ok", line % 8),
        };
    }
    text
}
