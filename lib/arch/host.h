/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of user-space code that differ between architectures (bpf/arch/arch.h is for BPF).
 * Each header of this folder defines the same names:
 *
 * code_address_mask(): the bits that addresses of user-space code use; the other bits of a return
 *     address may hold a signature (pointer authentication)
 * LIBRARY_CACHE_FLAGS: the flags of this architecture's libraries in /etc/ld.so.cache
 * THREAD_HEAD_BYTES: bytes from the thread pointer to the program's block of thread-local memory;
 *     0: the block ends at the thread pointer
 * RELOCATION_THREAD_...: relocations of thread-local variables: distance to the thread pointer,
 *     descriptor, number of the module
 * FUNCTION_ARGUMENTS, SYSCALL_ARGUMENTS: the offsets of a function's and of a system call's first
 *     six arguments in the kernel's pt_regs
 * SYSCALL_EVENTS: the system calls whose events have other names on this architecture alone, each
 *     with the event's name
 * RESULT_OFFSET: the offset of a function's or system call's result in pt_regs
 * CALL_CONVENTION: the calling convention (symbol/dwarf/call_words.h)
 * ARGUMENT_REGISTERS: the registers of a function's arguments, by their numbers in DWARF
 * DWARF_REGISTERS, DWARF_REGISTER_OFFSETS: how many registers DWARF numbers; their offsets in the
 *     kernel's pt_regs
 * STACK_REGISTER: the number of the stack pointer in DWARF
 * ENTRY_STACK_BYTES: bytes between the stack pointer and the arguments on the stack, at the
 *     function's first instruction
 * COMPAT_IS_PROBED: 1: the kernel runs probes in 32-bit programs; 0: it never runs them, silently
 * USDT_REGISTERS: the names of registers in the arguments of USDT probes, each with the register's
 *     offset in the kernel's pt_regs
 * registers_here(): sets the registers that a call keeps, at one instruction of the function that
 *     the macro is used in
 */
#ifndef ARCH_HOST_H
#define ARCH_HOST_H

#if defined(__x86_64__)
#include "arch/host_x86_64.h"
#elif defined(__aarch64__)
#include "arch/host_arm64.h"
#else
#error "stackmap runs on x86-64 and arm64: a header of this folder would have to describe others"
#endif

/* A page of memory has 4096 << page_scale() bytes. For users that include <unistd.h>. */
#define page_scale() ((unsigned int)__builtin_ctzl(sysconf(_SC_PAGESIZE)) - 12)

#endif
