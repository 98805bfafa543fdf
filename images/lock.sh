#!/bin/sh
# Locks what the images install: requirements.in -> requirements.lock, with the hash of every file.
# Run as `make image-locks`; `make image-locks ARGS=--upgrade` moves to newer versions. Needs uv.
set -eu
cd "$(dirname "$0")"
python=$(sed -n 's/^python = "\(.*\)"$/\1/p' base/base.toml)
check=$(mktemp)
trap 'rm -f "$check"' EXIT

compile() { # platform, output, source, further arguments
    platform=$1 output=$2 source=$3
    shift 3
    uv pip compile --quiet --no-config --generate-hashes --no-annotate --no-emit-index-url \
        --custom-compile-command "make image-locks" --python-version "$python" \
        --python-platform "$platform" --only-binary :all: "$@" -o "$output" "$source" >/dev/null
}

for source in */requirements.in ../tests/images/*/requirements.in; do
    lock=${source%.in}.lock
    compile x86_64-manylinux_2_28 "$lock" "$source" "$@"
    # One lock serves both architectures, so both must come to the same versions.
    cp "$lock" "$check"
    compile aarch64-manylinux_2_28 "$check" "$source"
    cmp "$lock" "$check" || { echo "$source resolves differently on aarch64" >&2; exit 1; }
    echo "locked $lock"
done
