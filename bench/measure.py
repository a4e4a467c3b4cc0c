# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The common part of all bench programs. A bench prints its conditions, runs each side in alternating rounds, and ends with
one line for each figure:

    FIGURE <tab> name <tab> measured <tab> target <tab> met|missed|unclear|too noisy

Sides alternate within a round, so whatever slows the machine slows all of them; only ratios between
sides of one run are compared with a target. Exit: 0 measured, 1 failed, 77 not possible here.

Times are judged by their minima: other work on the machine makes a run longer, never shorter. Beside the
figure stands how far it moves when the rounds are drawn again at random (bootstrap: Efron, "Bootstrap
methods: another look at the jackknife", 1979), its 5th and 95th percentile. If the target lies between the two it is unclear
which side of it the figure is on. If most rounds of the workload alone took over 5 % more than the shortest
one, nothing is judged.
"""
import argparse
import os
import platform
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

SKIP = 77
NOISE_MAX = 0.05  # of the shortest run, by which another one of the same work may be longer
REDRAWS = 1000
STACKMAP = os.environ.get("STACKMAP", "stackmap")
LIVE_MAP = os.environ.get("STACKMAP_LIVE_MAP", "live_map")
TRACEFS = "/sys/kernel/tracing"
BPFFS = "/sys/fs/bpf"


def end_by_exit(signal_number, _frame):
    """A bench that gets SIGTERM cleans up like one that fails."""
    sys.exit(128 + signal_number)


signal.signal(signal.SIGTERM, end_by_exit)


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


def run(command, **options):
    """Returns the command's output; a command that fails ends the bench."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    done = subprocess.run(command, text=True, **{**pipes, **options})
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def works(command):
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def need_stackmap():
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "f")
        if not works([STACKMAP, "record", "-q", "-e", "sched:sched_switch", "-o", file, "--", "true"]):
            skip("stackmap cannot record tracepoints here")


def need_own_engine():
    """Mounts a BPF file system that this program alone sees. An engine there is new and has met no code."""
    if os.environ.get("BENCH_OWN_ENGINE"):
        return
    if os.geteuid():
        skip("a BPF file system of its own takes root")
    os.environ["BENCH_OWN_ENGINE"] = "1"
    mount = f'mount -t bpf bpf {BPFFS}; exec "$@"'
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", mount, "sh", sys.executable] + sys.argv)


def need_perf():
    if not works(["perf", "record", "-q", "-e", "sched:sched_switch", "-o", "/dev/null", "--", "true"]):
        skip("perf is not installed, or cannot record tracepoints here")


def need_tracefs():
    """If tracefs is not mounted, the program starts again with a mount of its own."""
    if os.path.isdir(f"{TRACEFS}/instances"):
        return
    if os.environ.get("BENCH_MOUNTED") or os.geteuid():
        skip(f"tracefs is not mounted at {TRACEFS}")
    mount = f'mount -t tracefs tracefs {TRACEFS}; exec "$@"'
    os.environ["BENCH_MOUNTED"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", mount, "sh", sys.executable] + sys.argv)


def options(rounds, seconds=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=rounds, help="of each side (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="only show that it runs")
    if seconds:
        parser.add_argument("--seconds", type=float, default=seconds, help="of a run (default %(default)s)")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.rounds, chosen.seconds = 1, 0.1
    return chosen


def _processor():
    with open("/proc/cpuinfo") as file:
        lines = file.read().splitlines()
    model = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    virtual = any(line.startswith("flags") and " hypervisor " in line for line in lines)
    return (model[0] if model else platform.machine()) + (", virtual machine" if virtual else "")


def conditions(**more):
    rows = {
        "kernel": platform.release(),
        "processor": f"{os.cpu_count()} x {_processor()}",
        "stackmap": run([STACKMAP, "--version"]).strip(),
        "perf": run(["perf", "--version"]).strip() if works(["perf", "--version"]) else "none",
        "load before": " ".join(f"{load:.1f}" for load in os.getloadavg()),
    }
    for name, value in {**rows, **more}.items():
        print(f"{name + ':':<17}{value}")


@dataclass
class Cost:
    processes: float  # s of CPU, user + system, of the command and all it waited for
    machine: float  # s in which some CPU was not idle
    stolen: float  # s of CPU that other virtual machines had
    wall: float


def _machine():
    """s of CPU: not idle; stolen."""
    with open("/proc/stat") as lines:
        ticks = [int(field) for field in lines.readline().split()[1:9]]
    second = os.sysconf("SC_CLK_TCK")
    return (sum(ticks) - ticks[3] - ticks[4]) / second, ticks[7] / second


def cost(command, **options):
    def processes():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = processes(), *_machine(), time.monotonic()
    run(command, **options)
    after = processes(), *_machine(), time.monotonic()
    return Cost(*(b - a for a, b in zip(before, after)))


def interleave(rounds, sides):
    """sides: name -> function. name -> list of what it returned."""
    results = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            results[name].append(side())
    return results


def median(values):
    return statistics.median(values)


def print_costs(name, costs):
    """Prints a line with the least CPU time of all processes, all rounds, and the other load of the machine."""
    print(f"{name:<34} {least(costs):6.2f} s (" + " ".join(f"{cost.processes:.2f}" for cost in costs) + "), medians: machine "
          f"{median([cost.machine for cost in costs]):.2f} s, stolen {median([cost.stolen for cost in costs]):.2f} s, wall "
          f"{median([cost.wall for cost in costs]):.2f} s")


def least(costs):
    return min(cost.processes for cost in costs)


def disturbed(costs):
    """The number of runs that took more than the shortest run of the same work by over NOISE_MAX."""
    return sum(cost.processes > (1 + NOISE_MAX) * least(costs) for cost in costs)


def interval(runs, function):
    """Between which values function(runs) mostly lies when rounds, of all sides at once, are drawn again at random."""
    count, draw = len(next(iter(runs.values()))), random.Random(1)
    values = []
    for _ in range(REDRAWS):
        rounds = draw.choices(range(count), k=count)
        values.append(function({side: [costs[i] for i in rounds] for side, costs in runs.items()}))
    values.sort()
    return values[REDRAWS // 20], values[-REDRAWS // 20]


def _print_figure(name, measured, relation, target, unit, verdict):
    print(f"FIGURE\t{name}\t{measured}\t{relation} {target:g}{unit}\t{verdict}")


def _is_met(value, relation, target):
    return value <= target if relation == "<=" else value >= target


def judge(name, runs, function, relation, target, unit=""):
    """The figure function(runs). runs: what interleave() returns, Costs of each side, one of which is called "alone"."""
    low, high = interval(runs, function)
    noisy, rounds = disturbed(runs["alone"]), len(runs["alone"])
    verdicts = {_is_met(end, relation, target) for end in (low, high)}
    verdict = "unclear" if len(verdicts) > 1 else "met" if True in verdicts else "missed"
    if 2 * noisy > rounds:
        verdict = f"too noisy: {noisy} of {rounds}"
    _print_figure(name, f"{function(runs):.2f}{unit} ({low:.2f} to {high:.2f})", relation, target, unit, verdict)


def figure(name, measured, relation, target, unit=""):
    verdict = "met" if _is_met(measured, relation, target) else "missed"
    _print_figure(name, f"{measured:.2f}{unit}", relation, target, unit, verdict)
