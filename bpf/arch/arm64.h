/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef BPF_ARCH_ARM64_H
#define BPF_ARCH_ARM64_H

#define PSTATE_32_BIT 0x10
#define TIF_32BIT 22
#define BREAKPOINT_BYTES 4
#define INSTRUCTION_BYTES_MAX 4
#define MEMORY_PAGE_BITS (12 + config.page_scale)
#define SKIP_PROGRAM 3 /* the kernel's stack walk lists the frame of the BPF program twice */
#define EVENT_PC(ctx) ((ctx)->regs.pc)
#define FRAME_POINTER 29
#define data_address address_without_tag
#define LINK 30
#define COMPAT_SP 13
#define RETURNS_ARE_ON_STACK 0

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs___kernel {
	unsigned long regs[31];
	unsigned long sp;
	unsigned long pc;
	unsigned long pstate;
	s32 syscallno;
};

struct thread_info {
	unsigned long flags;
	u32 cpu;
};

/* The CPU's part of a task. tp_value is the thread pointer of the task's last switch away from a
 * CPU, or that with which clone() made the thread. */
struct thread_struct {
	struct {
		unsigned long tp_value;
	} uw;
};

#pragma clang attribute pop

static __always_inline u64 regs_pc(const struct pt_regs___kernel *regs)
{
	return regs->pc;
}

static __always_inline bool regs_are_compat(const struct pt_regs___kernel *regs)
{
	return regs->pstate & PSTATE_32_BIT;
}

/* The stack pointer of 32-bit code is R13. */
static __always_inline u64 regs_sp(const struct pt_regs___kernel *regs)
{
	return regs_are_compat(regs) ? regs->regs[COMPAT_SP] : data_address(regs->sp);
}

static __always_inline u64 regs_frame_pointer(const struct pt_regs___kernel *regs)
{
	return data_address(regs->regs[FRAME_POINTER]);
}

static __always_inline u64 regs_link(const struct pt_regs___kernel *regs)
{
	return regs->regs[LINK];
}

static __always_inline u64 *link_register_slot(u64 *value)
{
	return &value[REGISTER_LINK];
}

static __always_inline s64 regs_syscall(const struct pt_regs___kernel *regs)
{
	return regs->syscallno;
}

static __always_inline u32 read_syscall_number(const struct pt_regs___kernel *regs)
{
	return BPF_CORE_READ(regs, syscallno);
}

/* struct unwind_registers has no place for x16 to x18. */
static __always_inline void regs_copy_masked(const struct pt_regs___kernel *regs, u64 *value,
					     u64 code_mask)
{
	for (u32 i = 0; i < REGISTER_CODE_MASK; i++)
		value[i] = regs->regs[i];
	for (u32 i = REGISTER_THREAD + 1; i <= REGISTER_LINK; i++)
		value[i] = regs->regs[i];
	value[REGISTER_CODE_MASK] = code_mask;
	value[REGISTER_FP] = regs_frame_pointer(regs);
	value[REGISTER_PC] = regs->pc;
	value[REGISTER_THREAD] = 0;
	value[REGISTER_SP] = regs_sp(regs);
}

#define regs_copy(regs, value) regs_copy_masked(regs, value, config.code_mask)

/* Distance from the thread pointer to the address of glibc's vector of thread-local blocks. */
#define THREAD_VECTOR_AT 0

/* The thread pointer, unless the task has changed it since it began to run, as a program does once
 * when it starts. */
static __always_inline u64 thread_pointer_of(const struct thread_struct *thread)
{
	return thread->uw.tp_value;
}

static __always_inline bool is_compat_syscall(const struct thread_info *info)
{
	return info->flags >> TIF_32BIT & 1;
}

/*
 * At a function's entry the return address is in x30, and the kernel's walk goes from the pc to the
 * frame record that x29 points to, which is the caller's. The instructions between the function's
 * first one and a probe belong to the function tracer, or are a landing pad (BTI).
 */
#define ENTRY_BYTES 32

/* The registers in the context of a BPF program, as programs see them: struct user_pt_regs. */
struct context_registers {
	u64 regs[31];
	u64 sp;
	u64 pc;
};

static __always_inline u64 entry_return_address(void *ctx)
{
	const struct context_registers *regs = ctx;

	return regs->pc - bpf_get_func_ip(ctx) < ENTRY_BYTES ? regs->regs[LINK] : 0;
}

/*
 * Always false: on arm64 the pc of a breakpoint's trap is the address of the breakpoint, not the
 * address after it.
 */
static __always_inline bool is_after_breakpoint(u64 pc)
{
	(void)pc;
	return false;
}

/* Signatures of return addresses lie in the bits above the address space (Arm ARM, D8.10). */
#define code_address(address) ((address)&config.code_mask)

/*
 * The kernel keeps a list of the return addresses that probes took, with the stack pointer at the
 * entry of each function (`stack`), the innermost function first. The function's frame record, with
 * the word `word`, lies at a lower address than `stack`.
 */
static __always_inline bool is_probed_return_word(u64 stack, u64 word)
{
	return stack > word;
}

#endif
