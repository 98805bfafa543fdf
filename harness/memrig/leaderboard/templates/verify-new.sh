#!/usr/bin/env bash
# Verifies the submissions that HEAD adds to the commit $1. Exit code 6 if one does not verify, if
# one that is listed was changed or removed (its page has a permanent address), or if submissions
# come together with other changes.
set -euo pipefail

base=$(git merge-base "$1" HEAD)
added=() others=() failed=0

while IFS= read -r -d '' status && IFS= read -r -d '' path; do
  case "$status:$path" in
    A:submissions/*.memrig) added+=("$path") ;;
    *:submissions/*.memrig)
      printf 'is listed already and must stay as it is: %q\n' "$path" >&2
      failed=6
      ;;
    *) others+=("$path") ;;
  esac
done < <(git diff --name-status --no-renames -z "$base" HEAD)

if ((${#added[@]} && ${#others[@]})); then
  printf 'comes together with submissions and must come by itself: %q\n' "${others[@]}" >&2
  failed=6
fi
for path in "${added[@]}"; do
  printf '== %q\n' "$path"
  memrig submission verify "$path" || failed=$?
done
exit "$failed"
