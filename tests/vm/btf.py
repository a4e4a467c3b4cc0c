# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
BTF, the types of a kernel or of a BPF object, read from its bytes (Linux: Documentation/bpf/btf.rst), and what an object
asks of a kernel: kfuncs, and the CO-RE relocations of its .BTF.ext. Small enough to read all of a kernel in a second: a
type is decoded when it is looked at.
"""
import struct
from collections import defaultdict

(INT, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC, FUNC_PROTO, VAR, DATASEC, FLOAT,
 DECL_TAG, TYPE_TAG, ENUM64) = range(1, 20)
BYTES_OF_ONE = {INT: 4, ARRAY: 12, VAR: 4, DECL_TAG: 4}  # behind the header of 12 bytes
BYTES_OF_EACH = {STRUCT: 12, UNION: 12, ENUM: 8, FUNC_PROTO: 8, DATASEC: 12, ENUM64: 12}
TRANSPARENT = {TYPEDEF, VOLATILE, CONST, RESTRICT, TYPE_TAG}


def without_flavour(name):
    """libbpf's rule: what follows three underscores tells variants of one type apart."""
    return name.split("___")[0] if not name.startswith("___") else name


class Btf:
    def __init__(self, data):
        magic, _, _, header, types, types_size, strings, strings_size = struct.unpack_from("<HBBIIIII", data)
        if magic != 0xEB9F:
            raise ValueError("no BTF")
        self.data, self.strings = data, data[header + strings:header + strings + strings_size]
        self.offsets, self.by_name = [0], defaultdict(list)
        at, end = header + types, header + types + types_size
        while at < end:
            name, info, _ = struct.unpack_from("<III", data, at)
            kind, count = info >> 24 & 0x1F, info & 0xFFFF
            if name:
                self.by_name[name].append((kind, len(self.offsets)))
            self.offsets.append(at)
            at += 12 + BYTES_OF_ONE.get(kind, 0) + BYTES_OF_EACH.get(kind, 0) * count
        self.by_name = {self.string(name): found for name, found in self.by_name.items()}

    def string(self, offset):
        return self.strings[offset:self.strings.index(b"\0", offset)].decode()

    def kind(self, number):
        return struct.unpack_from("<I", self.data, self.offsets[number] + 4)[0] >> 24 & 0x1F if number else 0

    def name(self, number):
        return self.string(struct.unpack_from("<I", self.data, self.offsets[number])[0]) if number else "void"

    def target(self, number):
        """The type that a pointer, typedef, qualifier or function refers to; the return type of a prototype."""
        return struct.unpack_from("<I", self.data, self.offsets[number] + 8)[0]

    def find(self, name, *kinds):
        return [number for kind, number in self.by_name.get(name, ()) if kind in kinds]

    def each(self, number):
        """The entries behind a type: members, parameters, enumerators, variables."""
        at = self.offsets[number]
        info = struct.unpack_from("<I", self.data, at + 4)[0]
        size = BYTES_OF_EACH[info >> 24 & 0x1F]
        return struct.iter_unpack(f"<{size // 4}I", self.data[at + 12:at + 12 + size * (info & 0xFFFF)])

    def plain(self, number):
        """Without typedefs and qualifiers."""
        while self.kind(number) in TRANSPARENT:
            number = self.target(number)
        return number

    def members(self, number):
        """Yields name and type; those of an anonymous member as if they were the outer one's."""
        for name, inner, _ in self.each(number):
            inner = self.plain(inner)
            if name:
                yield self.string(name), inner
            elif self.kind(inner) in (STRUCT, UNION):
                yield from self.members(inner)

    def text(self, number):
        """A type as C writes it, or nearly, so that two kernels' can be compared: sizes of integers for their names."""
        number = self.plain(number)
        kind = self.kind(number)
        if kind == PTR:
            return self.text(self.target(number)) + " *"
        if kind == FUNC_PROTO:
            parameters = ", ".join(self.text(each) for _, each in self.each(number))
            return f"{self.text(self.target(number))} ({parameters})"
        if kind == INT:
            bits, = struct.unpack_from("<I", self.data, self.offsets[number] + 12)
            return ("s" if bits >> 24 & 1 else "u") + str(bits & 0xFF)
        word = {STRUCT: "struct ", FWD: "struct ", UNION: "union ", ENUM: "enum ", ENUM64: "enum "}.get(kind, "")
        return word + without_flavour(self.name(number))

    def prototype(self, function):
        return self.text(self.target(function))


def sections(data):
    """Yields name, place and length of each section of a 64-bit ELF file."""
    offset, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, offset + size * i) for i in range(count)]
    for name, _, _, _, start, length in headers:
        at = headers[names][4] + name
        yield data[at:data.index(b"\0", at)].decode(), start, length


def section(data, wanted):
    """The bytes of a section."""
    return next(data[start:start + length] for name, start, length in sections(data) if name == wanted)


class Relocation:
    """One access as the program has written it: `path` is the names from the type on."""
    FIELD_EXISTS, TYPE_EXISTS, ENUMVAL_EXISTS = 2, 8, 10
    OF_TYPE, OF_ENUM = {6, 7, 8, 9, 12}, {10, 11}

    def __init__(self, btf, number, access, kind):
        self.kind, self.root, self.root_kind = kind, btf.name(btf.plain(number)), btf.kind(btf.plain(number))
        steps = [int(step) for step in access.split(":")]
        self.path = [] if kind in self.OF_TYPE else list(self.names(btf, btf.plain(number), steps))

    def names(self, btf, number, steps):
        if self.kind in self.OF_ENUM:
            yield btf.string(list(btf.each(number))[steps[0]][0])
            return
        for step in steps[1:]:
            if btf.kind(number) == ARRAY:
                number = btf.plain(struct.unpack_from("<I", btf.data, btf.offsets[number] + 12)[0])
                continue
            name, inner, _ = list(btf.each(number))[step]
            if name:
                yield btf.string(name)
            number = btf.plain(inner)

    @property
    def is_question(self):
        return self.kind in (self.FIELD_EXISTS, self.TYPE_EXISTS, self.ENUMVAL_EXISTS)

    def __str__(self):
        return ".".join([self.root, *self.path])

    def found_in(self, kernel):
        return any(self.leads_through(kernel, number)
                   for number in kernel.find(without_flavour(self.root), self.root_kind))

    def leads_through(self, kernel, number):
        if self.kind in self.OF_ENUM:
            return self.path[0] in (kernel.string(entry[0]) for entry in kernel.each(number))
        for name in self.path:
            while kernel.kind(number) == ARRAY:
                number = kernel.plain(struct.unpack_from("<I", kernel.data, kernel.offsets[number] + 12)[0])
            if kernel.kind(number) not in (STRUCT, UNION):
                return False
            number = next((inner for member, inner in kernel.members(number) if member == name), None)
            if number is None:
                return False
        return True


class BpfObject:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.btf, self.extension = Btf(section(data, ".BTF")), section(data, ".BTF.ext")
        self.sections = {name for name, _, _ in sections(data)}

    def tracepoints(self):
        return {name.partition("/")[2] for name in self.sections if name.startswith(("raw_tp/", "stackmap.raw_tp/", "tp_btf/"))}

    def kfuncs(self):
        """Yields name and prototype of each function that the kernel has to have."""
        for number in self.btf.find(".ksyms", DATASEC):
            for entry, _, _ in self.btf.each(number):
                if self.btf.kind(entry) == FUNC:
                    yield self.btf.name(entry), self.btf.prototype(entry)

    def relocations(self):
        """Yields each access that libbpf has to relocate, once."""
        header, _, _, _, _, start, length = struct.unpack_from("<IIIIIII", self.extension, 4)
        at, end, seen = header + start, header + start + length, set()
        if not length:
            return
        size, = struct.unpack_from("<I", self.extension, at)
        at += 4
        while at < end:
            _, count = struct.unpack_from("<II", self.extension, at)
            for index in range(count):
                seen.add(struct.unpack_from("<IIII", self.extension, at + 8 + size * index)[1:])
            at += 8 + size * count
        for number, access, kind in sorted(seen):
            yield Relocation(self.btf, number, self.btf.string(access), kind)
