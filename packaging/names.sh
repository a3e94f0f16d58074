# Names that the recipes in this directory share. Sourced in the root of the repository.

# The value of a key of Cargo.toml, the first with this name.
of_crate() { sed -n "s/^$1 = \"\(.*\)\"$/\1/p" Cargo.toml | head -n 1; }

version="$(of_crate version)"
repository="$(of_crate repository)"
# On Linux with musl, which is linked statically, and whose licence asks for no more than a notice.
target="${RIPKIT_TARGET:-$(rustc -vV | sed -n 's/^host: //p' | sed 's/-linux-gnu$/-linux-musl/')}"
extension=''
case "$target" in *-windows-*) extension=.exe ;; esac
name="ripkit-$version-$target"
program="$(realpath -m "${CARGO_TARGET_DIR:-target}")/static/$target/dist/ripkit$extension"
out="$(realpath -m "${CARGO_TARGET_DIR:-target}")/packages"

# The time of the files in archives: the time of the commit, so that two archives of one commit are the
# same.
commit_time() {
    [ -z "${SOURCE_DATE_EPOCH:-}" ] || { printf '%s' "$SOURCE_DATE_EPOCH" && return; }
    # Git does not read a repository of another user by itself, such as that of a mounted directory.
    git -c safe.directory="$PWD" log -1 --format=%ct || {
        printf 'no time of the commit: set SOURCE_DATE_EPOCH\n' >&2
        return 1
    }
}

# Writes the checksum of a file beside it.
write_checksum() { (cd "$(dirname "$1")" && sha256sum "${1##*/}" >"${1##*/}.sha256"); }

# Copies pages of the repository to a directory, with links to the repository at this version in place of
# relative ones, which lead nowhere there.
copy_pages() {
    local to="$1" page
    shift
    for page in "$@"; do
        sed -E "s@\]\(([^):#]+\.svg)\)@]($repository/raw/v$version/\1)@g
            s@\]\(([^):#]+)(#[^)]*)?\)@]($repository/blob/v$version/\1\2)@g" "$page" >"$to/$page"
    done
}
