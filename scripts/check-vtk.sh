#!/usr/bin/env bash
# Opens what `lbmc run` writes for ParaView with VTK's own readers (`scripts/check_vtk.py` says what is compared). Run by hand after
# a change of flows/src/output/vtk: VTK comes as a pinned Python wheel of 140 MB.
# usage: check-vtk.sh [LBMC]      by default target/release/lbmc; wheels go into $LBMC_VTK_WHEELS, by default target/vtk-wheels
set -euo pipefail
cd "$(dirname "$0")/.."
lbmc=${1:-target/release/lbmc}
folder=${LBMC_VTK_WHEELS:-target/vtk-wheels}
version=9.7.2
stamp=$folder/.fetched-$version
if [ ! -e "$stamp" ]; then
    # matplotlib, which the wheel names, is for its charts only.
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target "$folder" "vtk==$version" numpy >&2
    touch "$stamp"
fi
PYTHONPATH=$folder python3 scripts/check_vtk.py "$lbmc"
