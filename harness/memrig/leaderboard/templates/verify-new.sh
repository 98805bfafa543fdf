#!/usr/bin/env bash
# Verifies the submissions that HEAD adds to the commit $1. Exit code 6 if one does not verify or is
# a copy of a listed one, if something that is listed was changed or removed (a page has a permanent
# address, and every audit record counts), or if submissions come together with other changes.
set -euo pipefail

(($# == 1)) || { echo "usage: verify-new.sh BASE" >&2; exit 2; }
base=$(git merge-base "$1" HEAD) || { echo "no common commit of HEAD and $1" >&2; exit 2; }
added=() others=() failed=0

refuse() {
  printf '%s: %q\n' "$1" "$2" >&2
  failed=6
}

while IFS= read -r -d '' status && IFS= read -r -d '' path; do
  case "$status:$path" in
    A:submissions/*.memrig) added+=("$path") ;;
    A:*) others+=("$path") ;;
    *:submissions/*.memrig | *:submissions/*.audit.json)
      refuse 'is listed already and must stay as it is' "$path"
      ;;
    *) others+=("$path") ;;
  esac
done < <(git diff --name-status --no-renames -z "$base" HEAD)

if ((${#added[@]})); then
  for path in "${others[@]}"; do
    refuse 'comes together with submissions and must come by itself' "$path"
  done
fi
for path in "${added[@]}"; do
  read -r mode _ blob _ < <(git ls-tree HEAD -- ":(literal)$path")
  if [[ $mode != 100644 ]]; then
    refuse "has mode $mode and must be a plain file (100644)" "$path"
    continue
  fi
  if (($(git ls-tree -r --object-only HEAD -- submissions | grep -c "^$blob$") > 1)); then
    refuse 'is a copy of another file' "$path"
  fi
  printf '== %q\n' "$path"
  memrig submission verify "$path" || { code=$?; ((failed == 6)) || failed=$code; }
done
((${#added[@]})) || echo "no new submission"
exit "$failed"
