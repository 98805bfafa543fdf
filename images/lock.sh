#!/bin/sh
# Locks what the images install: requirements.in -> requirements.lock, with the hash of every file.
# Run as `make image-locks`; `make image-locks ARGS=--upgrade` moves to newer versions. Needs uv.
# `ONLY=bm25 make image-locks` locks one image alone.
# What requirements-nodeps.in names is locked and installed alone, without what it asks for itself.
set -eu
cd "$(dirname "$0")"
check=$(mktemp)
trap 'rm -f "$check"' EXIT

python_of() { # folder
    spec=$1/base.toml
    [ -f "$spec" ] || spec=base/base.toml
    sed -n 's/^python = "\(.*\)"$/\1/p' "$spec"
}

compile() { # platform, output, source, further arguments
    platform=$1 output=$2 source=$3
    shift 3
    case $source in *-nodeps.in) set -- --no-deps "$@" ;; esac
    uv pip compile --quiet --no-config --generate-hashes --no-annotate --no-emit-index-url \
        --custom-compile-command "make image-locks" --python-version "$(python_of "$(dirname "$source")")" \
        --python-platform "$platform" --only-binary :all: "$@" -o "$output" "$source" >/dev/null
}

for source in */requirements.in */requirements-nodeps.in ../tests/images/*/requirements.in; do
    [ -f "$source" ] || continue
    [ -z "${ONLY:-}" ] || [ "${source%%/*}" = "$ONLY" ] || continue
    lock=${source%.in}.lock
    compile x86_64-manylinux_2_28 "$lock" "$source" "$@"
    # One lock serves both architectures, so both must come to the same versions.
    cp "$lock" "$check"
    compile aarch64-manylinux_2_28 "$check" "$source"
    cmp "$lock" "$check" || { echo "$source resolves differently on aarch64" >&2; exit 1; }
    echo "locked $lock"
done
# What `memrig adapter new` gives a new image to install is what images/none installs.
cp none/requirements.lock ../harness/memrig/kit/templates/python/requirements.lock
