#!/usr/bin/env bash
# Makes a stand-in for libgcc_s, to link with in place of the one of the target, and prints its path.
#
#   packaging/unwinder.sh TARGET
#
# Zig would link an unwinder of its own into a module, and glibc unwinds a thread that ends (`pthread_exit`)
# with that of libgcc_s. A process that has both crashes there: Python ends threads in this manner when it
# ends itself.
set -euo pipefail
cd "$(dirname "$0")/.."
system="${1:?a target}"
tools="$(packaging/zig.sh)"
out="$(realpath -m "${CARGO_TARGET_DIR:-target}")/unwinder/$system"
mkdir -p "$out"
# The functions that the standard library of Rust calls; the C library finds the real ones at run time.
for name in Backtrace DeleteException FindEnclosingFunction GetCFA GetDataRelBase GetIP GetIPInfo \
    GetLanguageSpecificData GetRegionStart GetTextRelBase RaiseException Resume SetGR SetIP; do
    printf 'void _Unwind_%s(void) {}\n' "$name"
done >"$out/unwinder.c"
"$tools/bin/python" -m ziglang cc -target "${system%%-*}-linux-gnu.2.17" -shared -nostdlib -O1 \
    -Wl,-soname,libgcc_s.so.1 "$out/unwinder.c" -o "$out/libgcc_s.so.1" >&2
printf '%s\n' "$out/libgcc_s.so.1"
