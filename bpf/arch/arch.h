/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of BPF programs that differ between architectures. Each header of this folder defines
 * the same names:
 *
 * struct pt_regs___kernel, struct thread_info, struct thread_struct: the fields that are read
 * SKIP_PROGRAM: number of frames that a BPF program and its caller have in the kernel stack
 * EVENT_PC(): the pc of a perf event's context
 * MEMORY_PAGE_BITS: a page of memory has 2^MEMORY_PAGE_BITS bytes; the program has `config`
 * regs_pc(), regs_sp(), regs_frame_pointer(): user registers at an entry into the kernel, without
 *     tags (TBI)
 * regs_syscall(): the number of the system call; NO_SYSCALL in an exception or interrupt
 * read_syscall_number(): the same of registers that only bpf_probe_read_kernel() can read
 * regs_are_compat(): true if the registers are those of 32-bit code
 * regs_copy(): all registers, by their places in struct unwind_registers; the program has `config`
 * THREAD_VECTOR_AT: distance from the thread pointer to the address of glibc's vector of blocks
 * thread_pointer_of(): the address of a task's thread-local storage
 * is_compat_syscall(): true if a task is in a system call of 32-bit code
 * is_after_breakpoint(): true if a pc of the current task lies after a breakpoint
 * entry_return_address(ctx): the return address that the kernel's own stack walk leaves out at a
 *     probe in a kernel function, from the pt_regs of the probe; 0: the walk leaves out none
 * regs_link(): the return address at the first instruction of a function; 0: the stack has it
 * code_address(): an address of code without the bits that may sign a return address; the program
 *     has `config`
 * data_address(): an address of data without a tag that the CPU ignores (TBI)
 * RETURNS_ARE_ON_STACK: 1 if the kernel's list of return addresses that probes took names the stack
 *     word that held each of them
 * link_register_slot(): in an array of registers, the one with the return address of a function
 *     without a frame; NULL: return addresses are on the stack only
 * is_probed_return_word(): true if a return probe took the return address of the stack word
 *
 * All may be called from any context. Addresses are those of the current task's address space.
 */
#ifndef BPF_ARCH_H
#define BPF_ARCH_H

#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "rule.h"
#include "scalar.h"

#define NO_SYSCALL (-1)

#ifdef __TARGET_ARCH_arm64
#include "arch/arm64.h"
#else
#include "arch/x86_64.h"
#endif

#endif
