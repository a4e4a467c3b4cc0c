/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef BPF_ARCH_X86_64_H
#define BPF_ARCH_X86_64_H

#define USER32_CS 0x23
#define TS_COMPAT 2
#define BREAKPOINT 0xcc
#define BREAKPOINT_BYTES 1
#define INSTRUCTION_BYTES_MAX 15
#define MEMORY_PAGE_BITS 12
#define SKIP_PROGRAM 2
#define RETURNS_ARE_ON_STACK 1
#define entry_return_address(ctx) 0
#define EVENT_PC(ctx) ((ctx)->regs.rip)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/*
 * struct pt_regs with the field names that the kernel uses inside; headers of user space have other
 * names for these fields.
 */
struct pt_regs___kernel {
	unsigned long r15;
	unsigned long r14;
	unsigned long r13;
	unsigned long r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long r11;
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long ax;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long cs;
	unsigned long sp;
};

struct thread_info {
	u32 status;
	u32 cpu;
};

/*
 * The CPU's part of a task. fsbase is the value of the last system call that set it, or of the last
 * time that the task was switched out.
 */
struct thread_struct {
	unsigned long fsbase;
};

#pragma clang attribute pop

static __always_inline u64 regs_pc(const struct pt_regs___kernel *regs)
{
	return regs->ip;
}

static __always_inline u64 regs_sp(const struct pt_regs___kernel *regs)
{
	return regs->sp;
}

static __always_inline u64 regs_frame_pointer(const struct pt_regs___kernel *regs)
{
	return regs->bp;
}

static __always_inline u64 regs_link(const struct pt_regs___kernel *regs)
{
	(void)regs;
	return 0;
}

static __always_inline u64 *link_register_slot(u64 *value)
{
	(void)value;
	return NULL;
}

static __always_inline s64 regs_syscall(const struct pt_regs___kernel *regs)
{
	return regs->orig_ax;
}

static __always_inline u32 read_syscall_number(const struct pt_regs___kernel *regs)
{
	return BPF_CORE_READ(regs, orig_ax);
}

static __always_inline bool regs_are_compat(const struct pt_regs___kernel *regs)
{
	return regs->cs == USER32_CS;
}

static __always_inline void regs_copy(const struct pt_regs___kernel *regs, u64 *value)
{
	value[REGISTER_RAX] = regs->ax;
	value[REGISTER_RDX] = regs->dx;
	value[REGISTER_RCX] = regs->cx;
	value[REGISTER_RBX] = regs->bx;
	value[REGISTER_RSI] = regs->si;
	value[REGISTER_RDI] = regs->di;
	value[REGISTER_RBP] = regs->bp;
	value[REGISTER_RSP] = regs->sp;
	value[REGISTER_R8] = regs->r8;
	value[REGISTER_R9] = regs->r9;
	value[REGISTER_R10] = regs->r10;
	value[REGISTER_R11] = regs->r11;
	value[REGISTER_R12] = regs->r12;
	value[REGISTER_R13] = regs->r13;
	value[REGISTER_R14] = regs->r14;
	value[REGISTER_R15] = regs->r15;
	value[REGISTER_RIP] = regs->ip;
}

/* Distance from the thread pointer to the address of glibc's vector of thread-local blocks. */
#define THREAD_VECTOR_AT 8

/* The fs base, unless the task has changed it by wrfsbase since it began to run. */
static __always_inline u64 thread_pointer_of(const struct thread_struct *thread)
{
	return bpf_core_field_exists(thread->fsbase) ? thread->fsbase : 0;
}

static __always_inline bool is_compat_syscall(const struct thread_info *info)
{
	return info->status & TS_COMPAT;
}

/*
 * True if `pc` is after a breakpoint whose instruction has not run yet. Also true after an
 * instruction of one byte that the kernel has just run in the breakpoint's place: the pc is right
 * only after the kernel is done with the probe.
 */
static __always_inline bool is_after_breakpoint(u64 pc)
{
	u8 code[2];

	return !bpf_probe_read_user(code, sizeof(code), (void *)pc - 1) && code[0] == BREAKPOINT &&
	       code[1] != BREAKPOINT;
}

static __always_inline u64 code_address(u64 address)
{
	return address;
}

static __always_inline u64 data_address(u64 address)
{
	return address;
}

/*
 * The kernel keeps a list of the return addresses that probes took, each with the address of the
 * stack word that held it (`stack`).
 */
static __always_inline bool is_probed_return_word(u64 stack, u64 word)
{
	return stack == word;
}

#endif
