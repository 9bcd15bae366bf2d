#!/usr/bin/env python3
"""Compiles CUDA files with NVRTC for several architectures; any message of the compiler is a failure.

usage: nvrtc-check.py TOOLKIT ARCH[,ARCH...] FILE...      (TOOLKIT as printed by fetch-cuda.sh, ARCH as 90: text is compiled as far as PTX)
"""

import ctypes
import pathlib
import sys

toolkit, archs, files = pathlib.Path(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]
ctypes.CDLL(str(toolkit / "lib/libnvrtc-builtins.so.13.0"), mode=ctypes.RTLD_GLOBAL)
nvrtc = ctypes.CDLL(str(toolkit / "lib/libnvrtc.so.13"))
failures = 0
for file in files:
    text = pathlib.Path(file).read_bytes()
    for arch in archs:
        program = ctypes.c_void_p()
        nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"kernels.cu", 0, None, None)
        flags = ["--std=c++17", "--prec-div=false", "--prec-sqrt=false", "--gpu-architecture=compute_" + arch]
        options = (ctypes.c_char_p * len(flags))(*[flag.encode() for flag in flags])
        result = nvrtc.nvrtcCompileProgram(program, len(flags), options)
        size = ctypes.c_size_t()
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        message = log.value.decode().strip()
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        if result != 0 or message:
            failures += 1
            print(f"{file} for compute_{arch}: result {result}\n{message}")
sys.exit(1 if failures else 0)
