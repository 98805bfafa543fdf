#!/usr/bin/env bash
# Builds the site into the folder $1. Audit records count that a key of organisers.txt signed.
set -euo pipefail

(($# == 1)) || { echo "usage: build-site.sh FOLDER" >&2; exit 2; }
organisers=() number=0
while read -r key _ || [[ -n $key ]]; do
  number=$((number + 1)) key=${key%$'\r'}
  [[ -z $key || $key == \#* ]] && continue
  if [[ ! $key =~ ^[0-9a-fA-F]{64}$ ]]; then
    echo "organisers.txt, line $number: is no public key: give the 64 hex digits of memrig key show" >&2
    exit 2
  fi
  organisers+=(--organiser "${key,,}")
done < organisers.txt

if [[ -z $(find submissions -name '*.memrig' -print -quit) ]]; then  # a new leaderboard's first push
  mkdir -p "$1"
  printf '<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Leaderboard</title>\n%s\n' \
    '<p>This leaderboard has no submission yet.</p></html>' >"$1/index.html"
  exit 0
fi
memrig leaderboard build submissions --out "$1" --title "@TITLE@" "${organisers[@]}"
