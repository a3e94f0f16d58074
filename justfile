# Lists the recipes.
[private]
default:
    @just --list

# Type-checks all targets.
check:
    cargo check --all-targets --all-features

# Runs all tests with the default features.
test:
    cargo test

# Accepts the current answers, descriptions, help and table of the README as expected.
bless:
    BLESS=1 cargo test --all-features --test it -- cases specs cli_help readme

# Builds the documentation; broken links are errors.
doc:
    RUSTDOCFLAGS='-D warnings' cargo doc --no-deps --all-features

# Checks format and lints as CI does.
lint:
    cargo fmt --check
    cargo clippy --all-targets --all-features -- -D warnings
    cargo clippy --all-targets -- -D warnings
    cargo clippy --lib --no-default-features -- -D warnings
    cargo clippy --all-targets --no-default-features --features cli -- -D warnings
    cargo clippy --lib --no-default-features --features mcp -- -D warnings

# Checks licences, advisories and duplicate crates; needs cargo-deny.
deny:
    cargo deny check

# Runs the random tests with many more seeds.
long rounds="500":
    RIPKIT_ROUNDS={{rounds}} cargo test --release --test it -- properties differential machine

# Injects a failure and a kill at every system call of every change; needs strace.
faults:
    RIPKIT_ROUNDS=1000 cargo test --test it -- --nocapture faults::g

# Tests with real MCP clients; needs python3 and the package registries.
clients:
    cargo build
    tests/clients.sh

# Builds a statically linked program, without a dynamic C library; Linux.
static:
    RUSTFLAGS='-C target-feature=+crt-static' cargo build --profile dist --bin ripkit \
        --target "$(rustc -vV | sed -n 's/^host: //p')" \
        --target-dir "${CARGO_TARGET_DIR:-target}/static"

# Runs the static program in an empty root directory; needs strace.
empty-root: static
    tests/empty_root.sh

# Tests the adapters for agent frameworks.
adapters:
    cd examples/adapters && cargo test --locked

# Compares speed and numbers of results with rg and fd on a tree; `--big`, `--index-only`.
compare tree="." rounds="7" *flags:
    cargo build --profile dist
    cargo run --profile dist --example compare -- {{quote(tree)}} {{rounds}} {{flags}}

# Runs the benchmarks on a generated tree, or on DIR with `just bench DIR`.
bench tree="":
    {{ if tree == "" { "" } else { "RIPKIT_BENCH_TREE=" + quote(tree) } }} cargo bench

# Runs everything that CI runs.
ci:
    .ci/run

# Runs Miri on the parsing of forged indexes and on the pool and the locks, with one interleaving of
# threads per seed; needs nightly with miri. Miri cannot map files, so `os/mapping.rs` is not covered.
miri seeds="8":
    cargo +nightly miri test --no-default-features --lib -- that_lie
    MIRIFLAGS='-Zmiri-many-seeds=0..{{seeds}} -Zmiri-preemption-rate=0.1' \
        cargo +nightly miri test --no-default-features --lib -- pool:: lock::

# Explores all interleavings of threads in the pool and in the locks of names, with loom.
models:
    RUSTFLAGS="${RUSTFLAGS:-} --cfg ripkit_loom" \
        cargo test --lib --no-default-features \
        --target-dir "${CARGO_TARGET_DIR:-target}/models" -- --nocapture models::

# Runs ThreadSanitizer on the code that threads share; needs nightly with rust-src.
sanitize *filters="pool:: lock:: walk:: index:: concurrent:: f8_":
    RUSTFLAGS='-Zsanitizer=thread' cargo +nightly test -Zbuild-std --no-default-features \
        --features watch --lib --test it --target "$(rustc -vV | sed -n 's/^host: //p')" \
        --target-dir "${CARGO_TARGET_DIR:-target}/sanitize" -- {{filters}}

# Checks that ten thousand calls and a thousand toolkits leave nothing in their host.
neutral rounds="10":
    RIPKIT_ROUNDS={{rounds}} cargo test --test it -- --nocapture neutrality::

# Measures the results in SECURITY.md, or some: `just proof swaps`; `--full` for its counts.
proof *words:
    cargo run --release --example proof -- {{words}}

# Replays edits of real commits, exact and with typical mistakes of models; needs git.
replay +words:
    cargo run --release --example replay -- {{words}}

# Replays tasks of a coding agent with ripkit and with a shell, in a clone of casey/just at 4f41f609.
agent-tasks repository:
    cargo run --release --example agent_tasks -- {{repository}}

# Runs the same trials with other file servers; needs python3, node, npm and the registries.
rivals *words:
    cargo build --release --bin ripkit
    tests/rivals.sh {{words}}

# Fuzzes all targets for that many seconds in total, or the named ones for that long each; nightly.
fuzz seconds="60" *targets:
    fuzz/run {{seconds}} {{targets}}
