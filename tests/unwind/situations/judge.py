# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Is a stack right? A program's truth is the call paths that its source allows, from main() to the innermost function:

    "main outer middle leaf"

    name     one frame of this function         *   any frames of libraries
    name+    one or more                        _   one frame of the program that has no name

A frame of the program that has no name may be any function. A path says of each of its functions who calls it. A stack is right if, from the outermost frame on, it has frames of the
start of a program or a thread, then the beginning of a path, frame by frame, then frames of libraries. A recorder that knows
where a stack ends early says so (a mark). So a stack is

    whole    it reaches the start, and is right
    cut      it is marked, or it does not reach the start, and it is a part of a path
    guess    it is marked as guessed, and the frames before the guess are a part of a path
    wrong    all others: a function that has not called the next one, or an end that is said to be the start

The text is that of `perf script`: a line for each event, a line for each frame (address, name, file), an empty line.
"""
import collections
import functools
import os
import re
import struct

HEAD = re.compile(r"^ *(.*?) +\d+(?: \[\d+\])? +[0-9.]+: ")
LINE = re.compile(r"^\t? *([0-9a-f]+) (.*) \((.*)\)$")
ADDITIONS = re.compile(r"\+0x[0-9a-f]+$|@@\w.*|::h[0-9a-f]{16}$|\.(constprop|isra|part|cold|lto_priv|actor|abi0)(\.\d+)*$|\[clone .*")
# Files of libraries and mappings of the kernel. All other code is the program's own.
FOREIGN = re.compile(r"/usr/|/lib|/opt/|.*/ld-|\[vdso\]|.*\.so")
OMITTED = re.compile(r"\[\d* ?frames omitted\]$")

# Where programs and threads begin, and the C library's functions between there and main(). Go's scheduler begins a stack of its own
# at mcall() and morestack(), where Go's own profiles end, too.
STARTS = {"_start", "clone", "__clone", "clone3", "__clone3", "__GI___clone3", "runtime.goexit", "runtime.mstart", "runtime.rt0_go",
          "runtime.clone", "runtime.mcall", "runtime.morestack", "_rt0_amd64_linux"}
AFTER_START = {"__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main", "start_thread"}

# exit() at the end of a thread, where the C library has begun it.
THREAD_END = {"x86_64": b"\xb8\x3c\0\0\0\x0f\x05", "aarch64": b"\xa8\x0b\x80\xd2\x01\0\0\xd4"}[os.uname().machine]
NEAR = 64

NAMELESS = re.compile(r"\+0x([0-9a-f]+)\.\.0x([0-9a-f]+)")  # a function of a stripped file: begin, end
PYTHON_PART_BYTES = 50000

Event = collections.namedtuple("Event", "comm frames mark")
Frame = collections.namedtuple("Frame", "name object is_guessed address")
Verdict = collections.namedtuple("Verdict", "kind reason is_unnamed")


def events_of(text):
    """Frames of user mode, outermost first; the mark is the reason why a stack ends early, or None."""
    for part in text.split("\n\n"):
        lines = part.strip("\n").split("\n")
        head = HEAD.match(lines[0])
        if not head:
            continue
        frames, mark = [], None
        for line in lines[1:]:
            found = LINE.match(line)
            if not found or int(found[1], 16) >> 63 or found[3] == "[kernel.kallsyms]":
                continue
            name, file = found[2], found[3]
            if file == "[user stack]":
                mark = name.strip("[]")
            elif name == "[unknown]" and file == "[unknown]":
                mark = mark or "no_code"  # a word of the stack that is no address of code
            elif not mark:
                frames.append(Frame(name.removeprefix("? "), file, name.startswith("? "), int(found[1], 16)))
        yield Event(head[1], frames[::-1], mark)


def is_unnamed(frame):
    file = frame.object.rsplit("/", 1)[-1]
    return frame.name == "[unknown]" or bool(re.match(r"0x[0-9a-f]+$|" + re.escape(file) + r"\+0x", frame.name))


def is_own(frame):
    return not FOREIGN.match(frame.object)


@functools.lru_cache(maxsize=None)
def entry_offset(path):
    """Where in a file its program, or the loader, begins."""
    with open(path, "rb") as file:
        data = file.read()
    is_wide = data[4] == 2
    entry, first = struct.unpack_from("=QQ" if is_wide else "=II", data, 24)
    size, count = struct.unpack_from("=HH", data, 54 if is_wide else 42)
    for at in range(first, first + count * size, size):
        if is_wide:
            kind, _, offset, address, _, length = struct.unpack_from("=IIQQQQ", data, at)
        else:
            kind, offset, address, _, length = struct.unpack_from("=IIIII", data, at)
        if kind == 1 and address <= entry < address + length:
            return entry - address + offset
    return -NEAR


@functools.lru_cache(maxsize=None)
def is_start_at(path, offset):
    """True if a program, or a thread of the C library, begins there: for functions without a name."""
    if not os.path.isfile(path) or offset > os.path.getsize(path):
        return False
    with open(path, "rb") as file:
        file.seek(max(offset - NEAR, 0))
        return THREAD_END in file.read(2 * NEAR) or 0 <= offset - entry_offset(path) < NEAR


def function(name):
    """The name as a source has it: no offset, no arguments, no suffix of a compiler."""
    last = None
    while name != last:
        last, name = name, ADDITIONS.sub("", name).rstrip()
    name = re.sub(r"(?<=.)\(.*\)( const)?$", "", name)
    return re.sub(r"_\d+$", "", name) if name.startswith("caml") else name


def is_python_loop(frame):
    """Compilers move a large part of the loop away, which has no name in a stripped file; no other function is as large."""
    match = NAMELESS.search(frame.name) if "python3" in frame.object else None
    return "_PyEval_EvalFrameDefault" in frame.name or bool(match) and int(match[2], 16) - int(match[1], 16) > PYTHON_PART_BYTES


class RubyLoop:
    """The loop of a library, which exports no name: the function that begins with mov 16(%rdi), %r15 (3.4: %rbx) and mov (%r15), %r14."""

    def __init__(self):
        self.places = {}

    def is_in(self, frame):
        match = NAMELESS.search(frame.name)
        if not match or "libruby" not in frame.object:
            return False
        if frame.object not in self.places:
            with open(frame.object, "rb") as file:
                code = file.read()
            for begin in rb"\x4c\x8b\x7f\x10.{0,16}\x4d\x8b\x37", rb"\x4c\x8b\x7b\x10\x4d\x8b\x37":
                places = [found.start() for found in re.finditer(begin, code, re.DOTALL)]
                if len(places) == 1:
                    break
            assert len(places) == 1, "the code of the loop has changed"
            self.places[frame.object] = places[0]
        return int(match[1], 16) <= self.places[frame.object] < int(match[2], 16)


class Truth:
    def __init__(self, paths, program="", starts=()):
        """program: the file, for stacks whose frames have no names; starts: functions, or files whose functions have no names,
        where a stack may end besides the start of a program or a thread."""
        self.paths = [path.split() for path in ([paths] if isinstance(paths, str) else paths)]
        self.program = program
        self.starts = STARTS | set(starts)
        self.names = {token.rstrip("+") for path in self.paths for token in path} - {"*", "_"}
        inner = "(?:~;)*(?:_;)?(?:~;)*$"  # one stub may have no name
        begun = [self._begun(path) for path in self.paths]
        self._whole = re.compile("(?:_;(?=~;))?(?:~;)*(?:" + "|".join(begun) + ")" + inner)
        parts = [self._begun(path[i:]) for path in self.paths for i in range(len(path))]
        self._part = re.compile("(?:[~_];)*(?:" + "|".join(parts) + ")" + inner)

    @staticmethod
    def _begun(path):
        """Matches each beginning of a path."""
        pattern = ""
        for token in reversed(path):
            one = "(?:~;)*" if token == "*" else "(?:(?:%s|_);)%s" % (re.escape(token.rstrip("+")), "+" if token.endswith("+") else "")
            pattern = "(?:%s%s)?" % (one, pattern)
        return pattern

    def _tokens(self, frames):
        tokens = []
        for frame in frames:
            name = function(frame.name)
            if OMITTED.match(frame.name):
                continue
            tokens.append(name if name in self.names else "_" if is_own(frame) and is_unnamed(frame) else "~")
        return "".join(token + ";" for token in tokens)

    def is_right(self, frames):
        return bool(self._whole.match(self._tokens(frames)))

    def is_part(self, frames):
        return bool(self._part.match(self._tokens(frames)))

    def reaches_start(self, frames, is_marking):
        """Does a program or a thread begin in the outermost frame? That of a loader does before its names are known. A recorder
        without marks may end some frames before the start, or have no name for it; one with marks shows offsets in files."""
        last = frames[0]
        file = last.object.rsplit("/", 1)[-1]
        if function(last.name) in self.starts or file.startswith("ld-"):
            return True
        if is_marking and is_unnamed(last):
            return file in self.starts or is_start_at(self.program if is_own(last) else last.object, last.address)
        return not is_marking and any(function(frame.name) in AFTER_START for frame in frames[:2])

    def judge(self, event, is_marking):
        unnamed = any(is_own(frame) and is_unnamed(frame) for frame in event.frames)
        certain = event.frames
        guesses = [i for i, frame in enumerate(event.frames) if frame.is_guessed]
        if guesses:
            certain = event.frames[guesses[-1] + 1:]
        is_beyond_start = event.mark == "no_code" and event.frames and self.reaches_start(event.frames, is_marking)
        if event.mark and not is_beyond_start or guesses:
            kind = "guess" if guesses or event.mark == "guessed" else "cut"
            return Verdict(kind if self.is_part(certain) else "wrong", event.mark or "guessed", unnamed)
        if not event.frames:
            return Verdict("cut", "no_frames", unnamed)
        if self.reaches_start(event.frames, is_marking):
            return Verdict("whole" if self.is_right(event.frames) else "wrong", "path", unnamed)
        if is_marking:
            return Verdict("wrong", "no_start", unnamed)
        return Verdict("cut" if self.is_part(event.frames) else "wrong", "unmarked_end", unnamed)
