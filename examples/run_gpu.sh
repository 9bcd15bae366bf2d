#!/usr/bin/env bash
# Builds and runs the examples that need a GPU. Needs nvcc, python3 and cupy; no Rust.
# usage: run_gpu.sh [FOLDER]      also writes FOLDER/examples.txt, by default in $OUT or the current folder
set -euo pipefail
folder=$(realpath "${1:-${OUT:-.}}")
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    nvcc --version | tail -n 2 | head -n 1
    echo "+ cpp_cuda"
    nvcc -std=c++17 -O3 -arch=native -prec-div=false -o "$scratch/taylor_green" cpp_cuda/taylor_green.cu
    "$scratch/taylor_green"
    echo "+ python_cupy"
    python3 python_cupy/taylor_green.py
} 2>&1 | tee "$folder/examples.txt"
