# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Kernel features that the BPF programs need and not every kernel has, with the versions that have them and the behaviour
without them. Only these differences between kernels are allowed: all other features must exist on all of them."""
from dataclasses import dataclass

EVER = (999, 0)


@dataclass
class Need:
    names: tuple  # any one of them will do
    since: tuple
    before: tuple
    without: str  # what the programs do where it is missing

    def is_due(self, version):
        return self.since <= version < self.before


KFUNCS = [
    Need(("bpf_task_work_schedule_resume_impl", "bpf_task_work_schedule_resume"), (6, 18), EVER,
         "the recorder finishes user stacks from copies of registers and stack"),
    Need(("bpf_rcu_read_lock",), (6, 2), EVER, "programs that may sleep use the stack map without it"),
    Need(("bpf_rcu_read_unlock",), (6, 2), EVER, "programs that may sleep use the stack map without it"),
    Need(("bpf_task_from_pid",), (6, 2), EVER, "nothing is deferred there"),
    Need(("bpf_task_release",), (6, 2), EVER, "nothing is deferred there"),
]

# Accesses begin with one of the names.
FIELDS = [
    Need(("mm_struct.mm_lock_seq",), (6, 4), EVER, "mappings are walked for each event anew"),
    Need(("vm_area_struct.vm_lock_seq",), (6, 4), EVER, "a change of moved code is not noticed"),
    Need(("mm_struct.mmap_lock.count", "mm_struct___rt.mmap_lock.rwbase"), (0, 0), EVER,
         "one of the two forms is there, the second with PREEMPT_RT"),
    Need(("task_struct___rt.softirq_disable_cnt",), EVER, EVER, "soft interrupts are not preempted"),
    Need(("inode___mtime.i_mtime",), (0, 0), (6, 7), "one of the three forms is there"),
    Need(("inode___hidden_mtime.__i_mtime",), (6, 7), (6, 11), "one of the three forms is there"),
    Need(("inode___split_mtime.i_mtime_",), (6, 11), EVER, "one of the three forms is there"),
    Need(("trace_event_raw_sched_prepare_exec",), (6, 10), EVER, "an execve is noticed at its end"),
]

TRACEPOINTS = [
    Need(("sched_prepare_exec",), (6, 10), EVER, "an execve is noticed at its end"),
]
