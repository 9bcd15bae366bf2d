#!/usr/bin/env bash
# Fetches the CUDA compilers (nvcc, ptxas, NVRTC) as pinned Python wheels; no GPU and no driver are needed.
# usage: fetch-cuda.sh            installs into $LBMC_CUDA_WHEELS, by default target/cuda-wheels
# Prints the folder with bin/nvcc and lib/libnvrtc.so.13. Does nothing where it has run before.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${LBMC_CUDA_WHEELS:-target/cuda-wheels}
wheels=(nvidia-cuda-nvcc nvidia-cuda-nvrtc nvidia-cuda-crt nvidia-cuda-runtime nvidia-nvvm)
version=13.0.88
stamp=$folder/.fetched-$version
if [ ! -e "$stamp" ]; then
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target "$folder" \
        "${wheels[@]/%/==$version}" >&2
    touch "$stamp"
fi
echo "$(cd "$folder" && pwd)/nvidia/cu13"
