# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Real programs at work. Each workload is a shell command that does a fixed amount of work, `scale`
times over, so that what a recorder costs shows as time and not as work left undone. A scale of 0
is some of that work: enough for any recorder to have events.
"""
import os
import shlex
import sysconfig

from measure import cost

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CPUS = sorted(os.sched_getaffinity(0))[:2]


def pipes(scale):
    """A pair of tasks on each of two CPUs, waking each other."""
    pair = f"taskset -c %d perf bench sched pipe -l {5000 * scale or 1000} >/dev/null & "
    return "".join(pair % cpu for cpu in CPUS) + "wait"


def archive(scale):
    """tar over some of Python's library, into a pipe."""
    folder = shlex.quote(sysconfig.get_path("stdlib"))
    return f"cd {folder} && for i in $(seq {scale or 1}); do tar cf - encodings asyncio | cat >/dev/null; done"


def compile(scale):
    """The C compiler over sources of this tree."""
    flags = "-O2 -D_GNU_SOURCE -std=gnu11 -Iabi -Icore -Iinclude -Ilib -Ilib/trace -Ilib/symbol"
    sources = "core/*.c core/unwind/*.c lib/trace/*/*.c lib/symbol/*/*.c" if scale else "core/stack_*.c"
    return (f"cd {shlex.quote(ROOT)} && object=$(mktemp) && for i in $(seq {scale or 1}); do "
            f"for f in {sources}; do cc {flags} -c $f -o $object; done; done; rm $object")


def interpret(scale):
    """Python compiling its own library, in memory."""
    program = ("import ast, glob, sys, sysconfig\n"
               "for i in range(int(sys.argv[1])):\n"
               "  for f in sorted(glob.glob(sysconfig.get_path('stdlib') + '/*.py'))[:int(sys.argv[2])]:\n"
               "    ast.parse(open(f, 'rb').read())")
    return f"python3 -c {shlex.quote(program)} {scale or 1} {40 if scale else 8}"


def start_node(scale):
    """Node.js starting, with all modules that it brings."""
    program = "require('module').builtinModules.forEach(name => { try { require(name) } catch {} })"
    return f"for i in $(seq {scale or 1}); do node -e {shlex.quote(program)} 2>/dev/null; done"


def run_node(scale):
    """Node.js at work: compiled code that calls built-in functions."""
    program = ("const counts = new Map()\n"
               "for (let turn = 0; turn < process.argv[1]; turn++) {\n"
               "  const numbers = Array.from({length: 2000}, (_, i) => i * 7919 % 1009).sort((a, b) => a - b)\n"
               "  for (const n of numbers) counts.set('k' + n, (counts.get('k' + n) || 0) + n)\n"
               "  JSON.stringify([...counts].filter(([key]) => key.includes('1')))\n"
               "}")
    return f"node -e {shlex.quote(program)} {100 * scale or 20}"


def copy(scale):
    """dd: large and small blocks."""
    return (f"dd if=/dev/zero of=/dev/null bs=1M count={400 * scale or 100} 2>/dev/null; "
            f"dd if=/dev/zero of=/dev/null bs=512 count={100000 * scale or 30000} 2>/dev/null")


def everything(scale):
    """All of them, one after the other."""
    return "; ".join(f"({part(scale)})" for part in (pipes, archive, compile, interpret, copy))


def shell(text):
    return ["sh", "-c", text]


def alone(text):
    """Without a shell: of one that is a single command."""
    return shlex.split(text)


def scale_for(workload, seconds):
    """The scale at which the workload alone takes about `seconds` of CPU time: a busy machine makes
    runs longer, never shorter."""
    scale, once = 1, 0
    while once < min(1, seconds):
        once = cost(shell(workload(scale))).processes
        scale *= 4
    return max(1, round(seconds / once * scale / 4))
