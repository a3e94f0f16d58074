# `just` lists these.
[private]
default:
    @just --list

# Types and lints of everything that is built.
check:
    cargo check --all-targets --all-features

# All tests; the command of the README.
test:
    cargo test

# Rewrites the expectations of fixtures/cases and fixtures/specs to what is answered now.
bless:
    BLESS=1 cargo test --all-features --test it -- cases specs

# The documentation, with broken links as errors.
doc:
    RUSTDOCFLAGS='-D warnings' cargo doc --no-deps --all-features

# Format and lints as the build server sees them.
lint:
    cargo fmt --check
    cargo clippy --all-targets --all-features -- -D warnings
    cargo clippy --lib --no-default-features -- -D warnings
    cargo clippy --all-targets --no-default-features --features cli -- -D warnings
    cargo clippy --lib --no-default-features --features mcp -- -D warnings

# Licences, advisories and doubled crates; needs cargo-deny.
deny:
    cargo deny check

# The random tests with many more seeds.
long rounds="500":
    RIPKIT_ROUNDS={{rounds}} cargo test --release --test it -- properties differential machine

# Every system call of every change failing or killed; needs strace.
faults:
    RIPKIT_ROUNDS=1000 cargo test --test it -- --nocapture faults::g

# Real clients of the Model Context Protocol; needs python3 and the registries.
clients:
    cargo build
    tests/clients.sh

# The program as one file that needs nothing beside it, not even a C library; Linux.
static:
    RUSTFLAGS='-C target-feature=+crt-static' cargo build --profile dist --bin ripkit \
        --target "$(rustc -vV | sed -n 's/^host: //p')" \
        --target-dir "${CARGO_TARGET_DIR:-target}/static"

# The same, run where nothing else is; needs strace.
empty-root: static
    tests/empty_root.sh

# The adapters for agent frameworks, with their tests.
adapters:
    cd examples/adapters && cargo test --locked

# Speed and numbers of results beside rg and fd on a tree of yours; `--big`, `--index-only`.
compare tree="." rounds="7" *flags:
    cargo build --profile dist
    cargo run --profile dist --example compare -- {{quote(tree)}} {{rounds}} {{flags}}

# The benchmarks, on a generated tree or on `just bench DIR`.
bench tree="":
    {{ if tree == "" { "" } else { "RIPKIT_BENCH_TREE=" + quote(tree) } }} cargo bench

# All that the build server runs.
ci:
    .ci/run

# Miri: a forged index in memory, and who leaves, ends and waits, in one order of threads a seed;
# needs nightly with miri. It maps no files, so `os/mapping.rs` itself is beyond it.
miri seeds="8":
    cargo +nightly miri test --no-default-features --lib -- that_lie
    MIRIFLAGS='-Zmiri-many-seeds=0..{{seeds}} -Zmiri-preemption-rate=0.1' \
        cargo +nightly miri test --no-default-features --lib -- pool:: locks::

# Every order of threads, by loom: who ends, waits and leaves in the pool, who holds which names.
models:
    RUSTFLAGS="${RUSTFLAGS:-} --cfg ripkit_loom" \
        cargo test --lib --no-default-features \
        --target-dir "${CARGO_TARGET_DIR:-target}/models" -- --nocapture models::

# ThreadSanitizer over everything that threads share; needs nightly with rust-src.
sanitize *filters="pool:: locks:: walk:: index:: concurrent:: f8_":
    RUSTFLAGS='-Zsanitizer=thread' cargo +nightly test -Zbuild-std --no-default-features \
        --features watch --lib --test it --target "$(rustc -vV | sed -n 's/^host: //p')" \
        --target-dir "${CARGO_TARGET_DIR:-target}/sanitize" -- {{filters}}

# Ten thousand calls and a thousand toolkits, and what is left of them in their host.
neutral rounds="10":
    RIPKIT_ROUNDS={{rounds}} cargo test --test it -- --nocapture neutrality::

# The figures of SECURITY.md, or some of them: `just proof swaps`; `--full` for its counts.
proof *words:
    cargo run --release --example proof -- {{words}}

# Edits of real commits, as they are and with the mistakes that models make; needs git.
replay +words:
    cargo run --release --example replay -- {{words}}

# The same trials for us and for other file servers; needs python3, node, npm and the registries.
rivals *words:
    cargo build --release --bin ripkit
    tests/rivals.sh {{words}}

# The fuzz targets for so many seconds together, or those that are named for so long each; nightly.
fuzz seconds="60" *targets:
    fuzz/run {{seconds}} {{targets}}
