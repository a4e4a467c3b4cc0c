# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The situations: how each program is built, what its truth is (judge.py), and which events are recorded.

Build commands run in an empty folder of their own and make ./program; $P is the folder of the sources, $S that of this
file. A command that fails skips the situation. {ms} of the command is how long it works.

Whole stacks are expected: 99 of 100, and none that is wrong. A situation that does not reach this has `share`, what is reached, and
`wrong`, what is known to be wrong, with the reason.
"""
import dataclasses

CHAIN = "main outer middle leaf"
ALL = ("samples", "syscall", "entry ./program:leaf")


@dataclasses.dataclass
class Situation:
    name: str
    build: str
    truth: object = CHAIN  # a path, or a list of paths
    command: str = "./program {ms}"
    events: tuple = ("samples",)
    starts: tuple = ()  # functions where its stacks may end besides the start of a program or a thread; files for those without a name
    share: float = 0.99  # of the stacks that are whole, at least
    why: str = ""  # of a share that is less
    wrong: float = 0  # share that is wrong, at most: a known fault
    is_late: bool = False  # its code is analysed while it runs already: few stacks say nothing of the share


def c(source, flags="", compiler="gcc -O2 -g"):
    return "%s $P/%s.c -o program %s" % (compiler, source, flags)


def with_index(form):
    """-O2 has the tables, and `spare` has room for others."""
    return ("echo 'const char spare[8192] = {1};' >spare.c && gcc -O2 -g $P/chain.c spare.c -o usual && "
            "$S/edit_index.py usual program " + form)


LATE = "the first stacks come before the code is analysed"
COMPAT = "32-bit code is unwound by frame pointers, which i386's C library does not keep"
SIGRETURN = "behind rt_sigreturn the registers are those of the interrupted code, the stack is gone"
NO_LIBC = "-nostdlib -static -fno-stack-protector -DNO_LIBC -ffunction-sections -Wl,"
FRAMES = [
    ("alloca", "main of_alloca leaf"), ("vla", "main of_vla leaf"), ("large", "main of_large leaf"), ("realigned", "main of_realigned leaf"),
    ("tail", "main of_tail leaf"), ("callback", "main of_callback * compare leaf"), ("jump", ["main of_jump leaf", "main of_jump jump+ *"]),
    ("switched", "main of_switched leaf"),
]
TASKS = [("thread", "thread outer leaf"), ("clone", "child outer leaf"), ("fork", "main serve outer leaf"), ("vfork", "main spawn outer leaf")]
FROM_MEMORY = """python3 -c "import os, sys
file = os.memfd_create('program')
os.write(file, open('program', 'rb').read())
os.execv('/proc/self/fd/%d' % file, ['program', '{ms}'])" """
DELETED = """python3 -c "import os, shutil
shutil.copy('program', 'gone')
file = os.open('gone', os.O_RDONLY)
os.set_inheritable(file, True)
os.unlink('gone')
os.execv('/proc/self/fd/%d' % file, ['program', '{ms}'])" """
OVERLAY = """unshare --mount sh -c 'mount -t tmpfs tmpfs /mnt && mkdir /mnt/upper /mnt/work /mnt/merged &&
mount -t overlay overlay -o lowerdir=.,upperdir=/mnt/upper,workdir=/mnt/work /mnt/merged && cd /mnt/merged && exec ./program {ms}'"""

SITUATIONS = [
    # How a C program is compiled and linked.
    Situation("gcc -O2", c("chain"), events=ALL),
    Situation("gcc -O0", c("chain", "-O0")),
    Situation("gcc -O3 -mavx2 -mstackrealign", c("chain", "-O3 -mavx2 -mstackrealign")),
    Situation("frame pointers", c("chain", "-fno-omit-frame-pointer"), events=ALL),
    Situation("CET", c("chain", "-fcf-protection=full -Wl,-z,ibtplt"), events=ALL),
    Situation("LTO", c("chain", "-flto")),
    Situation("retpolines", c("chain", "-mindirect-branch=thunk -mfunction-return=thunk")),
    Situation("-fpatchable-function-entry", c("chain", "-fpatchable-function-entry=16,8"), events=ALL),
    Situation("DWARF 4", c("chain", "-gdwarf-4")),
    Situation("DWARF 5", c("chain", "-gdwarf-5")),
    Situation("split DWARF", c("chain", "-gsplit-dwarf")),
    Situation("debug sections compressed", c("chain", "-gz=zlib")),
    Situation("stripped, names exported", c("chain", "-rdynamic -s")),
    Situation("stripped", c("chain", "-s")),
    Situation("no build id", c("chain", "-Wl,--build-id=none")),
    Situation("no PIE", c("chain", "-no-pie -fno-pie")),
    Situation("static", c("chain", "-static"), events=ALL),
    Situation("static PIE", c("chain", "-static-pie -fPIE"), events=ALL),
    Situation("one segment (-z noseparate-code)", c("chain", "-Wl,-z,noseparate-code")),
    Situation("bound at start (-z now)", c("chain", "-Wl,-z,now")),
    Situation("gold", c("chain", "-fuse-ld=gold")),
    Situation("lld", c("chain", "-fuse-ld=lld")),
    Situation("clang -O2", c("chain", compiler="clang -O2 -g -Wno-unknown-attributes"), events=ALL),
    Situation("clang -O0", c("chain", compiler="clang -O0 -g -Wno-unknown-attributes")),
    Situation("AddressSanitizer", c("chain", "-fsanitize=address"), events=ALL,
              share=0.95, why="a thread of the leak check, made by a clone() that has no table, has no known start"),
    Situation("UndefinedBehaviorSanitizer", c("chain", "-fsanitize=undefined")),
    Situation("ThreadSanitizer", c("chain", "-fsanitize=thread")),
    Situation("32 bits, frame pointers", c("chain", "-m32 -fno-omit-frame-pointer"), share=0, why=COMPAT),
    Situation("32 bits, no frame pointers", c("chain", "-m32"), events=("samples", "entry ./program:leaf"), share=0, why=COMPAT),
    Situation("32 bits, static", c("chain", "-m32 -static"), share=0, why=COMPAT),
    Situation("32 bits, static, frame pointers", c("chain", "-m32 -static -fno-omit-frame-pointer"), events=("samples", "entry ./program:leaf"), share=0, why=COMPAT),
    *(Situation("32 bits, frame: %s%s" % (what, ", frame pointers" if pointers else ""), c("frames", "-m32 " + pointers), truth,
                "./program {ms} " + what, share=0, why=COMPAT)
      for what, truth in FRAMES if what != "switched" for pointers in ("", "-fno-omit-frame-pointer")),
    *(Situation("32 bits, recursion%s" % (", frame pointers" if pointers else ""), c("deep", "-m32 " + pointers),
                ["main often again+ leaf", "main seldom again+ leaf"], "./program {ms} 100", ("samples", "entry ./program:leaf"), share=0, why=COMPAT)
      for pointers in ("", "-fno-omit-frame-pointer")),
    *(Situation("32 bits, signal: " + what, c("signals", "-m32 -fno-omit-frame-pointer"), truth, "./program {ms} " + what, share=0, why=COMPAT)
      for what, truth in (("raised", "main interrupted * handler leaf"), ("stack", "main interrupted * handler leaf"))),
    Situation("32 bits, thread", c("tasks", "-m32 -pthread -fno-omit-frame-pointer"), "thread outer leaf", "./program {ms} thread", share=0,
              why=COMPAT, starts=("libc.so.6",)),

    # Tables in unusual places and forms, and code without tables.
    Situation("no index (--no-eh-frame-hdr)", c("chain", "-Wl,--no-eh-frame-hdr")),
    Situation("index without a table", with_index("none")),
    Situation("index of 0 entries", with_index("empty")),
    Situation("index not sorted", with_index("unsorted")),
    Situation("index of 8-byte entries", with_index("wide")),
    Situation("ELF header not loaded (ld -N)", c("chain", NO_LIBC + "-N")),
    Situation("ELF header not loaded (ld -n)", c("chain", NO_LIBC + "-n")),
    Situation("nine code segments, no index", c("chain", NO_LIBC + "-T,$P/segments.ld,--no-eh-frame-hdr")),
    Situation("only .debug_frame", c("chain", "-fno-asynchronous-unwind-tables"), events=ALL, is_late=True),
    Situation("no tables", c("chain", "-fno-asynchronous-unwind-tables -g0"), events=ALL, is_late=True),
    Situation("no tables, frame pointers", c("chain", "-fno-asynchronous-unwind-tables -g0 -fno-omit-frame-pointer"), events=ALL, is_late=True),
    Situation("no tables, -O0", c("chain", "-fno-asynchronous-unwind-tables -g0 -O0"), events=ALL, is_late=True),
    Situation("no tables, static", c("chain", "-fno-asynchronous-unwind-tables -g0 -static"), events=ALL,
              share=0.9, why=LATE, is_late=True),
    *(Situation("assembler, %s%s" % (kernel, ", called with frame pointers" if pointers else ""),
                "gcc -O2 -g -DLARGE %s $P/kernels.c $P/assembler.S -o program" % pointers,
                "main outer of_%s kernel_%s%s" % (kernel, kernel, " leaf" if kernel.startswith("frame") else ""),
                "./program {ms} " + kernel, ("samples", "entry ./program:kernel_" + kernel),
                share=0.9, why=LATE, is_late=True)
      for kernel in ("leaf", "pushing", "aligned", "zero", "framed", "frameless") for pointers in ("", "-fno-omit-frame-pointer")),
    Situation("assembler, pushing, less than 512 bytes", "gcc -O2 -g $P/kernels.c $P/assembler.S -o program",
              "main outer of_pushing kernel_pushing", "./program {ms} pushing", share=0.9, why=LATE, is_late=True),
    Situation("assembler, frameless, less than 512 bytes", "gcc -O2 -g -fno-omit-frame-pointer $P/kernels.c $P/assembler.S -o program",
              "main outer of_frameless kernel_frameless leaf", "./program {ms} frameless", share=0.9, why=LATE, is_late=True),
    Situation("assembler, rsp is a number", "gcc -O2 -g $P/kernels.c $P/assembler.S -o program", "main outer of_lost kernel_lost",
              "./program {ms} lost", share=0, why="the caller is in no register that a profiler gets"),
    *(Situation("musl, " + kind, "musl-gcc -O2 -g %s $P/library_calls.c -o program -lm" % flags,
                ["main sorting * compare leaf", "main copying memcpy", "main printing * memcpy", "main allocating *", "main calculating *"],
                events=("samples", "syscall", "entry %s:malloc" % where), share=0.9, why=LATE, is_late=True)
      for kind, flags, where in (("dynamic", "", "/lib/ld-musl-x86_64.so.1"), ("static", "-static", "./program"))),
    Situation("glibc at work", c("library_calls", "-lm -fno-builtin"),
              ["main sorting * compare leaf", "main copying *", "main printing *", "main allocating *", "main calculating *"],
              events=("samples", "syscall", "entry ./program:allocating")),

    # Frames.
    *(Situation("frame: " + what, c("frames"), truth, "./program {ms} " + what, ALL) for what, truth in FRAMES),
    Situation("recursion, 100 frames", c("deep"), ["main often again+ leaf", "main seldom again+ leaf"], "./program {ms} 100", ALL),
    Situation("recursion, 2,000 frames", c("deep"), ["main often again+ leaf", "main seldom again+ leaf"], "./program {ms} 2000", ALL),
    Situation("recursion, 10,000 frames", c("deep"), ["main often again+ leaf", "main seldom again+ leaf"], "./program {ms} 10000", ALL),
    Situation("C++ exceptions in flight", "g++ -O2 -g $P/throws.cc -o program", "main catching deep+ * guard::~guard leaf", events=ALL),
    Situation("C++20 coroutine", "g++ -std=c++20 -fcoroutines -O2 -g $P/coroutine.cc -o program", "main drive routine leaf", events=("samples", "syscall")),
    *(Situation("signal: " + what, c("signals"), truth, "./program {ms} " + what, ALL, share=0.95, why=SIGRETURN)
      for what, truth in (("raised", "main interrupted * handler leaf"), ("stack", "main interrupted * handler leaf"),
                          ("nested", "main interrupted * handler * inner_handler leaf"))),
    Situation("signal: timer", c("signals"), ["main interrupted * handler leaf", "main * handler leaf"], "./program {ms} timer", ("samples", "syscall")),

    # Stacks.
    *(Situation("task: " + what, c("tasks"), truth, "./program {ms} " + what, ALL) for what, truth in TASKS),
    Situation("makecontext()", c("contexts"), ["main schedule *", "body leaf"], events=ALL, starts=("__start_context", "libc.so.6")),
    Situation("fiber of Boost.Context", "g++ -O2 -g $P/boost_fiber.cc -o program -lboost_context", ["main *", "* body leaf"],
              events=("samples", "syscall"), starts=("make_fcontext", "libboost_context.so.1.74.0")),
    *(Situation("another stack: " + what, c("../../../e2e/programs/stack/other_stack", "-pthread"), "thread " + truth, "./program " + what,
                ("samples", "syscall"))
      for what, truth in (("above", "start call_on at_end *"), ("fiber", "start call_on fiber on_thread_stack call_on at_end *"),
                          ("nested", "start call_on start_inner call_on fiber on_thread_stack call_on at_end *"))),

    # Code that moves, comes and goes.
    Situation("generated code, frame pointer", c("generated"), "main run _ leaf", "./program {ms} framed", ALL),
    Situation("text moved to anonymous memory", c("generated"), CHAIN, "./program {ms} moved", ("samples", "syscall"), share=0, why="no file is mapped there"),
    Situation("vdso", c("generated"), "main ask *", "./program {ms} clock"),
    Situation("library: stubs of lld, retpolines", "gcc -O2 -g -fPIC -shared $P/library.c -o libopened.so && gcc -O2 -g $P/libraries.c -o program "
              "./libopened.so -fuse-ld=lld -Wl,-z,retpolineplt", "main call_tiny * library_tiny", "./program {ms} stubs"),
    *(Situation("library: " + what, "gcc -O2 -g -fPIC -shared $P/library.c -o libopened.so && gcc -O2 -g $P/libraries.c -o program "
                "./libopened.so" + (" -Wl,--as-needed -ldl" if what == "opened" else ""), truth, "./program {ms} " + what, events)
      for what, truth, events in (("called", "main through of_library leaf", ALL), ("stubs", "main call_tiny * library_tiny", ("samples", )),
                                  ("opened", ["main open_and_call through of_library leaf", "main open_and_call *"], ALL))),
    Situation("program in a memfd", c("chain"), command=FROM_MEMORY, events=("samples", "syscall")),
    Situation("program deleted", c("chain"), command=DELETED, events=("samples", "syscall")),
    Situation("overlay file system", c("chain"), command=OVERLAY, events=("samples", "syscall")),

    # Other languages.
    Situation("Go", "GOCACHE=$PWD/cache HOME=$PWD go build -o program $P/chain.go", "main.main main.outer main.middle main.leaf",
              events=("samples", "entry ./program:main.leaf"), share=0.97, why="the first stacks come before the file's table"),
    Situation("Go, signals", "GOCACHE=$PWD/cache HOME=$PWD go build -o program $P/signals.go", "main.main main.outer main.leaf",
              share=0.9, why="the first stacks come before the file's table"),
    Situation("Go that calls C", "GOCACHE=$PWD/cache HOME=$PWD go build -o program $P/calls_c.go", "main.main main.outer * c_outer c_inner",
              share=0.95, why="the first stacks come before the file's table"),
    Situation("Rust", "rustc -O -g $P/chain.rs -o program", "chain::main chain::outer chain::middle chain::leaf"),
    Situation("OCaml", "cp $P/chain.ml . && ocamlopt -g chain.ml -o program",
              "camlChain__entry camlChain__outer camlChain__middle camlChain__leaf"),
    Situation("Pascal (fpc)", "cp $P/chain.pas . && fpc -O2 -gw chain.pas -oprogram", "main P$CHAIN_$$_OUTER$INT64 P$CHAIN_$$_MIDDLE$INT64 P$CHAIN_$$_LEAF$INT64",
              starts=("SI_PRC_$$__FPC_PROC_START",), share=0.7, why=LATE, is_late=True),
]
