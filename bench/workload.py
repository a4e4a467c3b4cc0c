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
    sources = "core/[des]*.c" if scale else "core/stack_*.c"
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


def _with_file(bytes, command):
    """A command that reads a file of noise, $file. The shell makes the file, so the samples of the command do not count its making."""
    return f"file=$(mktemp) && head -c {bytes} /dev/urandom >$file && {command}; rm -rf $file $file.*"


def encode_x264(scale):
    """x264, half of whose time is assembler without tables, in one thread."""
    return _with_file(345600 * (8 * scale or 8), "x264 --quiet --threads 1 --input-res 640x360 -o $file.264 $file 2>/dev/null")


def encode_x265(scale):
    return _with_file(345600 * (3 * scale or 3), "x265 --log-level none --preset superfast --input-res 640x360 --fps 25 $file $file.265 2>/dev/null")


def decode_dav1d(scale):
    """A film that aomenc makes."""
    film = "aomenc --quiet --cpu-used=9 --rt --passes=1 --limit=8 --ivf --i420 -w 640 -h 360 -o $file.ivf $file 2>/dev/null"
    return _with_file(345600 * 8, f"{film} && for i in $(seq {20 * scale or 4}); do dav1d -q -i $file.ivf -o $file.md5 --muxer md5; done")


def calculate_gmp(scale):
    """Big numbers of Python's gmpy2."""
    program = ("import gmpy2, sys\n"
               "for i in range(int(sys.argv[1])):\n"
               "  n = gmpy2.fac(20000 + i)\n"
               "  gmpy2.isqrt(n); gmpy2.powmod(3, 1 << 1500, (1 << 1521) - 1); n.digits()")
    return f"/usr/bin/python3 -c {shlex.quote(program)} {20 * scale or 5}"


def hash_nettle(scale):
    """Key derivation and hashes of libnettle."""
    return (_with_file(30000000 * (scale or 1), "for name in sha1 sha256 sha512 sha3_256 md5; do nettle-hash -a $name $file >/dev/null; done") +
            f"; echo word | nettle-pbkdf2 -i {200000 * scale or 50000} salt >/dev/null")


def pack_jpeg(scale):
    """libjpeg-turbo, there and back."""
    image = "(printf 'P6 1000 1000 255\\n'; head -c 3000000 $file) >$file.ppm"
    turn = "cjpeg -quality 80 $file.ppm >$file.jpg && djpeg $file.jpg >/dev/null"
    return _with_file(3000000, f"{image} && for i in $(seq {10 * scale or 5}); do {turn}; done")


def time_openssl(scale):
    """openssl speed: hand-written code of libcrypto, on the fixed time that it has."""
    names = "rsa2048", "ecdsap256", "sha256", "-evp aes-256-gcm", "-evp chacha20-poly1305"
    return "; ".join(f"openssl speed -seconds {scale or 1} {name} >/dev/null 2>&1" for name in names)


def run_go(scale):
    """A Go program: JSON, strings, sorting."""
    source = shlex.quote(os.path.join(ROOT, "bench/programs/go_work.go"))
    build = f"GOCACHE=$file.cache HOME=$file.cache go build -o $file.program {source}"
    return _with_file(0, f"{build} && $file.program {1000 * scale or 200}")


def call_musl(scale):
    """A program of musl: sorting, copying, printing, allocating, calculating."""
    source = shlex.quote(os.path.join(ROOT, "tests/unwind/situations/programs/library_calls.c"))
    return _with_file(0, f"musl-gcc -O2 -g {source} -o $file.program -lm && $file.program {1000 * scale or 200}")


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
