#!/usr/bin/env bash
# Everything that needs a GPU, in one go: agreement of the kernels, the suites of `lbmc bench`, a flow, sanitizers.
#   benchmarks/h200.sh LBMC OUT     LBMC: a release build of lbmc; OUT: where the results go
set -uo pipefail
lbmc=$(realpath "$1") out=$(realpath "$2")
cd "$(dirname "$0")/.."
failed=0
step() { echo "== $1"; shift; "$@" || { echo "FAILED ($?): $*"; failed=1; }; }

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
step agreement python3 scripts/agree.py "$lbmc" c cuda
step walls python3 scripts/agree_walls.py "$lbmc"
step uniform "$lbmc" bench uniform --all --target cuda --gib 8 --out "$out"
for suite in refined adaptive papers; do
    step "$suite" "$lbmc" bench "$suite" --target cuda --out "$out"
done
step cavity "$lbmc" run cases/cavity2d.toml --set target=cuda --out "$out/cavity"
for tool in memcheck racecheck initcheck; do
    step "$tool" compute-sanitizer --tool "$tool" --error-exitcode 9 --log-file "$out/$tool.txt" \
        "$lbmc" run cases/cavity3d.toml --set target=cuda --set domain.size=[8,8,8] --set steps=20 --set check_every=10 \
        --out "$out/small"
done
exit $failed
