#!/usr/bin/env bash
# Runs every command of the README and of docs/ that begins with `cargo`, as it is written, identical ones once; the first
# that fails ends it. (Commands that begin with `lbmc` are run by lbmc/tests/all/docs.rs.)
# usage: docs-commands.sh           runs them in the root of this checkout
#        docs-commands.sh --list    prints them
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t commands < <(awk '
    FNR == 1 { shell = 0 }
    /^```/   { shell = ($0 == "```sh"); next }
    shell && /^cargo / && !seen[$0]++' README.md docs/*.md)
if [ "${1:-}" = --list ]; then
    printf '%s\n' "${commands[@]}"
    exit
fi
for command in "${commands[@]}"; do
    echo "+ $command"
    start=$SECONDS
    bash -c "$command"
    echo "  took $((SECONDS - start)) s"
done
