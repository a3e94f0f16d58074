# Writes a small project with a large log, generated and minified files, and Windows line ends.
mkdir -p .git src/net generated dist config logs
printf 'dist/\ngenerated/\n' >.gitignore
cat >src/main.py <<'END'
# SPDX-License-Identifier: MIT
import sys

from net.client import Client
from net.retry import with_retries


def main():
    client = Client("https://example.org")
    answer = with_retries(client.fetch, 3)
    print(answer)


if __name__ == "__main__":
    sys.exit(main())
END
cat >src/net/client.py <<'END'
# SPDX-License-Identifier: MIT
from net.retry import with_retries

TIMEOUT = 30


class Client:
    def __init__(self, base):
        self.base = base

    def fetch(self):
        return with_retries(self.request, 2)

    def request(self):
        return {"url": self.base, "timeout": TIMEOUT}
END
cat >src/net/retry.py <<'END'
import time


def with_retries(call, attempts):
    for attempt in range(attempts):
        try:
            return call()
        except OSError:
            time.sleep(2**attempt)
    raise RuntimeError("all attempts failed")
END
: >src/net/__init__.py
cat >config/app.conf <<'END'
# The address to listen on.
listen = 0.0.0.0:8080

# Seconds.
timeout = 30

# Attempts.
retries = 3

# Where logs go.
log = logs/app.log
END
printf 'SCHEMA_VERSION = 41\n\n\ndef schema_version():\n    return SCHEMA_VERSION\n' >generated/schema.py
sed 's/$/\r/' >src/Client.cs <<'END'
namespace Example
{
    public class Client
    {
        private int retries = 3;
        private int timeout = 30;
    }
}
END
printf 'to do\n- check the retry policy\n' >notes.txt
# A bundle in one line of 400 KB.
awk 'BEGIN {
    for (n = 0; n < 9000; n++) {
        if (n == 6000) printf "function trackingId(e){return e.tid||\"UA-31337\"}"
        printf "function f%d(a,b){return a+b*%d};", n, n
    }
}' >dist/app.min.js
# 200,000 lines, of which few are errors; the cause stands before the first of them.
awk 'BEGIN {
    for (n = 0; n < 200000; n++) {
        printf "2026-03-01T%02d:%02d:%02d ", int(n / 10000), int(n / 60) % 60, n % 60
        if (n == 150000) print "WARN pool: certificate of db-3 expired at 2026-03-01T15:00:00"
        else if (n == 150003 || n == 150007) print "ERROR worker=3 query failed code=E_TLS"
        else if (n == 170000) print "ERROR worker=5 query failed code=E_TIMEOUT"
        else printf "INFO worker=%d request=%d ok\n", n % 8, n
    }
}' >logs/app.log
