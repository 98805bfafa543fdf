#!/usr/bin/env bash
# Builds the site into the folder $1. Audit records count that a key of organisers.txt signed.
set -euo pipefail

organisers=()
while read -r key _; do
  if [[ $key =~ ^[0-9a-f]{64}$ ]]; then organisers+=(--organiser "$key"); fi
done < organisers.txt

memrig leaderboard build submissions --out "$1" --title "@TITLE@" "${organisers[@]}"
