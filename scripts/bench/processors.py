"""Figures of a processor with AVX2 alone, measured on one that has AVX-512 or VNNI, too.

ONNX Runtime asks the processor what it has (the instruction CPUID) and has no setting to overrule the answer. A copy of it gets an
illegal instruction in the place of each CPUID, and a small library, loaded before it, answers in its stead: what the processor says,
without AVX-512, VNNI and AMX. Its kernels are then those of AVX2, at their real speed. PyTorch and NumPy have settings of their own.
"""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from convinse.support.errors import ConvinseError

_AVX2 = "CONVINSE_BENCH_AVX2"  # set in a process that computes with AVX2 alone
_CPUID, _ILLEGAL = b"\x0f\xa2", b"\x0f\x0b"  # of the same length
_ANSWERS = r"""
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <ucontext.h>
#define BIT(n) (1u << (n))

static void answer(int number, siginfo_t *info, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  unsigned char *code = (unsigned char *)registers[REG_RIP];
  unsigned leaf = registers[REG_RAX], part = registers[REG_RCX], a, b, c, d;
  if (code[0] != 0x0f || code[1] != 0x0b) { signal(SIGILL, SIG_DFL); return; }
  __cpuid_count(leaf, part, a, b, c, d);
  if (leaf == 7 && part == 0) {  /* AVX-512 of all kinds, AMX */
    b &= ~(BIT(16) | BIT(17) | BIT(21) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31));
    c &= ~(BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14));
    d &= ~(BIT(2) | BIT(3) | BIT(8) | BIT(22) | BIT(23) | BIT(24) | BIT(25));
  }
  if (leaf == 7 && part == 1) {  /* VNNI without AVX-512, bf16, AMX */
    a &= ~(BIT(4) | BIT(5) | BIT(21) | BIT(23));
    d &= ~(BIT(4) | BIT(5) | BIT(10));
  }
  registers[REG_RAX] = a; registers[REG_RBX] = b; registers[REG_RCX] = c; registers[REG_RDX] = d;
  registers[REG_RIP] += 2;
}

__attribute__((constructor)) static void start(void) {
  struct sigaction action = {0};
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, 0);
}
"""
_SETTINGS = {
    "ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "OPENBLAS_CORETYPE": "Haswell",
}  # fmt: skip


def has_avx2_alone() -> bool:
    """Whether this process was started with the settings of `as_avx2`."""
    return _AVX2 in os.environ


def instructions() -> str:
    """The instructions that decide how fast models are computed, as figures name them: of this processor, but for `as_avx2`."""
    if has_avx2_alone():
        return "AVX2, without AVX-512 and VNNI"
    try:
        flags = set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
    except OSError:
        return ""
    names = {"avx2": "AVX2", "avx512f": "AVX-512", "avx_vnni": "VNNI", "avx512_vnni": "VNNI", "asimddp": "dot product"}
    return ", ".join(dict.fromkeys(name for flag, name in names.items() if flag in flags))


def as_avx2(folder: Path) -> Mapping[str, str]:
    """Write what makes ONNX Runtime compute with AVX2 alone to a folder; return the settings of a process that does.

    Raises:
        ConvinseError: this is no Linux on x86-64 with AVX2, or ONNX Runtime, a C compiler or objdump is missing.
    """
    spec = importlib.util.find_spec("onnxruntime")
    has_tools = all(map(shutil.which, ("cc", "objdump")))
    if "AVX2" not in instructions() or spec is None or spec.origin is None or not has_tools:
        raise ConvinseError("--processor avx2 needs Linux on x86-64 with AVX2, ONNX Runtime, cc and objdump")
    package, shim = folder / "onnxruntime", folder / "answers.so"
    shutil.copytree(Path(spec.origin).parent, package)
    library = next(package.glob("capi/onnxruntime_pybind11_state*.so"))
    code = bytearray(library.read_bytes())
    for place in _places(library):
        if code[place : place + 2] != _CPUID:
            raise ConvinseError(f"--processor avx2: {library.name} is not laid out as objdump says")
        code[place : place + 2] = _ILLEGAL
    library.write_bytes(code)
    source = shim.with_suffix(".c")
    source.write_text(_ANSWERS, encoding="utf-8")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(shim), str(source)], check=True)
    before = {"LD_PRELOAD": shim, "PYTHONPATH": folder}  # of what is set already
    paths = {name: os.pathsep.join(filter(None, [str(path), os.environ.get(name)])) for name, path in before.items()}
    return {**_SETTINGS, **paths, _AVX2: "1"}


def _places(library: Path) -> list[int]:
    """The places of the instruction CPUID in a library's file."""
    said = subprocess.run(["objdump", "-h", str(library)], capture_output=True, text=True, check=True).stdout
    section = re.search(r"\.text +\w+ +(\w+) +\w+ +(\w+)", said)
    if section is None:
        raise ConvinseError(f"--processor avx2: {library.name} has no section of code")
    shift = int(section[2], 16) - int(section[1], 16)
    shown = ["objdump", "--disassemble", "--no-show-raw-insn", "-j", ".text", str(library)]
    with subprocess.Popen(shown, stdout=subprocess.PIPE, text=True) as lines:
        assert lines.stdout is not None
        return [int(line.split(":")[0], 16) + shift for line in lines.stdout if line.rstrip().endswith("\tcpuid")]
