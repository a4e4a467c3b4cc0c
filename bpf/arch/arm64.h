/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwinder does not know this architecture's registers: user stacks are taken by frame pointers
 * (lib/capture/load/plan.c). A frame record is the caller's x29 and the return address, as on
 * x86-64, but a function that makes no calls keeps its return address in x30 and has no record.
 */
#ifndef BPF_ARCH_ARM64_H
#define BPF_ARCH_ARM64_H

#define PSTATE_32_BIT 0x10
#define TIF_32BIT 22
#define BREAKPOINT_BYTES 4
#define INSTRUCTION_BYTES_MAX 4
#define SKIP_PROGRAM 3 /* the kernel lists the program's own frame twice */
#define EVENT_PC(ctx) ((ctx)->regs.pc)
#define FRAME_POINTER 29
#define LINK 30
#define CODE_ADDRESS_BITS 48

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

struct thread_struct {
	unsigned long fault_address;
};

#pragma clang attribute pop

static __always_inline u64 regs_pc(const struct pt_regs___kernel *regs)
{
	return regs->pc;
}

static __always_inline u64 regs_sp(const struct pt_regs___kernel *regs)
{
	return regs->sp;
}

static __always_inline u64 regs_frame_pointer(const struct pt_regs___kernel *regs)
{
	return regs->regs[FRAME_POINTER];
}

static __always_inline u64 regs_link(const struct pt_regs___kernel *regs)
{
	return regs->regs[LINK];
}

static __always_inline s64 regs_syscall(const struct pt_regs___kernel *regs)
{
	return regs->syscallno;
}

static __always_inline u32 syscall_of(const struct pt_regs___kernel *regs)
{
	return BPF_CORE_READ(regs, syscallno);
}

static __always_inline bool regs_are_compat(const struct pt_regs___kernel *regs)
{
	return regs->pstate & PSTATE_32_BIT;
}

/* Only what a walk begins with has a place. */
static __always_inline void regs_copy(const struct pt_regs___kernel *regs, u64 *value)
{
	value[REGISTER_RBP] = regs->regs[FRAME_POINTER];
	value[REGISTER_RSP] = regs->sp;
	value[REGISTER_RIP] = regs->pc;
}

static __always_inline u64 thread_pointer_of(const struct thread_struct *thread)
{
	(void)thread;
	return 0;
}

static __always_inline bool is_compat_syscall(const struct thread_info *info)
{
	return BPF_CORE_READ(info, flags) >> TIF_32BIT & 1;
}

/* The pc of the trap is that of the breakpoint itself. */
static __always_inline bool is_behind_breakpoint(u64 pc)
{
	(void)pc;
	return false;
}

/*
 * The kernel maps nothing above 48 bits that a process has not asked for there, and signatures of
 * return addresses lie in the bits above (Arm ARM, D8.10).
 */
static __always_inline u64 code_address(u64 address)
{
	return address & ((1ULL << CODE_ADDRESS_BITS) - 1);
}

/*
 * The kernel's list has the stack pointer at the function's entry, innermost first. The function's
 * frame record lies below.
 */
static __always_inline bool is_taken_return(u64 stack, u64 word)
{
	return stack > word;
}

#endif
