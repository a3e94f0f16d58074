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

# Rewrites the expectations of fixtures/cases to what is answered now.
bless:
    BLESS=1 cargo test --test it cases

# The documentation, with broken links as errors.
doc:
    RUSTDOCFLAGS='-D warnings' cargo doc --no-deps --all-features

# Format and lints as the build server sees them.
lint:
    cargo fmt --check
    cargo clippy --all-targets --all-features -- -D warnings
    cargo clippy --lib --no-default-features -- -D warnings

# Licences, advisories and doubled crates; needs cargo-deny.
deny:
    cargo deny check

# The random tests with many more seeds.
long rounds="500":
    RIPKIT_ROUNDS={{rounds}} cargo test --release --test it -- properties differential machine

# Every system call of every change failing or killed; needs strace.
faults:
    RIPKIT_ROUNDS=1000 cargo test --test it -- --nocapture faults::g

# Kills, concurrent edits and link swaps, counted: `kills N`, `edits` or `swaps N [TOOL]`.
torture *words:
    cargo run --release --example torture -- {{words}}

# Speed and numbers of results beside rg and fd on a tree of yours; `--big` adds a file of 1 GiB.
compare tree="." rounds="7" *flags:
    cargo build --release
    cargo run --release --example compare -- {{quote(tree)}} {{rounds}} {{flags}}

# The benchmarks, on a generated tree or on `just bench DIR`.
bench tree="":
    {{ if tree == "" { "" } else { "RIPKIT_BENCH_TREE=" + quote(tree) } }} cargo bench

# All that the build server runs.
ci:
    .ci/run
