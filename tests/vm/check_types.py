#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Compares what BPF objects ask of a kernel with the types of that kernel, without booting it: the prototype of each kfunc,
each field and type that CO-RE relocates, each tracepoint. A kernel may differ only where kernel_needs.py says so. Then
the same once more with single names of that kernel spoiled: the check has to see each of them.

usage: check_types.py SERIES OBJECT.bpf.o...
"""
import lzma
import os
import re
import shutil
import struct
import subprocess
import sys

from btf import FUNC, TYPEDEF, BpfObject, Btf, section
from kernel_needs import FIELDS, KFUNCS, TRACEPOINTS

HERE = os.path.dirname(os.path.realpath(__file__))


def image_of(series):
    found = subprocess.run([os.path.join(HERE, "fetch-kernel"), series], stdout=subprocess.PIPE, text=True, check=False)
    if found.returncode:
        print(found.stdout, end="")
        sys.exit(found.returncode)
    return found.stdout.strip()


def unpack(payload):
    if payload.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        if not shutil.which("zstd"):
            print("zstd is missing, which this kernel is packed with (./setup check installs it)")
            sys.exit(77)
        return subprocess.run(["zstd", "-dcq"], input=payload, stdout=subprocess.PIPE, check=True).stdout
    raise SystemExit(f"a compression of kernels that this does not know: begins with {payload[:6].hex()}")


def read_image(path):
    """A bzImage (Linux: Documentation/arch/x86/boot.rst) -> its version and the bytes of its BTF."""
    with open(path, "rb") as file:
        data = file.read()
    version = data[struct.unpack_from("<H", data, 0x20E)[0] + 0x200:].split(b"\0", 1)[0].decode()
    offset, length = struct.unpack_from("<II", data, 0x248)
    begin = (data[0x1F1] + 1) * 512 + offset
    vmlinux = unpack(data[begin:begin + length - 4])  # its last word is the size of what was packed
    return version.split()[0], section(vmlinux, ".BTF")


class Check:
    def __init__(self, release, kernel, objects):
        self.kernel, self.objects, self.faults = kernel, objects, []
        self.version = tuple(map(int, re.match(r"(\d+)\.(\d+)", release).groups()))

    def all(self):
        for name, each in self.objects.items():
            self.kfuncs(name, dict(each.kfuncs()))
            self.fields(name, each.relocations())
            self.tracepoints(name, each.tracepoints())
        return self.faults

    def fault(self, where, what):
        self.faults.append(f"{where}: {what}")

    def kfunc_differs(self, name, wanted):
        """None, or what is there instead."""
        there = {self.kernel.prototype(number) for number in self.kernel.find(name, FUNC)}
        if there == {wanted}:
            return None
        return f"{name} is {' or '.join(there)} and not {wanted}" if there else f"there is no {name}, which is {wanted}"

    def kfuncs(self, where, declared):
        for need in KFUNCS:
            asked = {name: declared.pop(name) for name in need.names if name in declared}
            differ = list(filter(None, (self.kfunc_differs(name, wanted) for name, wanted in asked.items())))
            if asked and len(differ) == len(asked) and need.is_due(self.version):
                self.fault(where, "kfunc: " + "; ".join(differ))
        for name, wanted in declared.items():
            if differs := self.kfunc_differs(name, wanted):
                self.fault(where, f"kfunc, which kernel_needs.py does not know: {differs}")

    def is_optional(self, name, needs):
        need = next((need for need in needs if name.startswith(need.names)), None)
        return need and not need.is_due(self.version)

    @staticmethod
    def has_another(name, there):
        """Whether the kernel has it by another name."""
        need = next((need for need in FIELDS if name.startswith(need.names)), None)
        others = tuple(other for other in need.names if not name.startswith(other)) if need else ()
        return any(each.startswith(others) for each in there)

    def fields(self, where, relocations):
        accesses = list(relocations)
        there = {str(access) for access in accesses if access.found_in(self.kernel)}
        for name in sorted({str(access) for access in accesses} - there):
            if not self.is_optional(name, FIELDS) and not self.has_another(name, there):
                self.fault(where, f"no {name}")

    def tracepoints(self, where, names):
        for name in names:
            if not self.kernel.find("btf_trace_" + name, TYPEDEF) and not self.is_optional(name, TRACEPOINTS):
                self.fault(where, f"no tracepoint {name}")


def spoil(data, name):
    """The same BTF without a type, function or member of that name."""
    return data.replace(b"\0" + name.encode() + b"\0", b"\0" + b"?" * len(name) + b"\0")


def spoiled_names(check):
    """One of each kind: a kfunc if the kernel has to have one, a field, a tracepoint."""
    for need in KFUNCS:
        if need.is_due(check.version):
            yield "kfunc", next(name for name in need.names if check.kernel.find(name, FUNC)), need.names
    yield "field", "vm_pgoff", ()
    yield "tracepoint", "btf_trace_sched_process_fork", ()


def prove(release, data, objects):
    for kind, name, alternatives in spoiled_names(Check(release, Btf(data), objects)):
        spoiled = data
        for each in alternatives or (name,):
            spoiled = spoil(spoiled, each)
        faults = Check(release, Btf(spoiled), objects).all()
        if not any(name.removeprefix("btf_trace_") in fault for fault in faults):
            yield f"the {kind} {name} renamed: the check does not see it"


def main():
    series, paths = sys.argv[1], sys.argv[2:]
    release, data = read_image(image_of(series))
    objects = {os.path.basename(path): BpfObject(path) for path in paths}
    faults = Check(release, Btf(data), objects).all() or list(prove(release, data, objects))
    for fault in faults:
        print(f"kernel {release}: {fault}")
    sys.exit(bool(faults))


main()
