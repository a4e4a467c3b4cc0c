/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * This is the only header that differs by whether the core is compiled for a process or for BPF.
 * The rest of core/ is the same text for both; kernel/flavour generates the form for the kernel's
 * own tree. A BPF object includes the .c files and then needs no linker.
 *
 * BPF offers no memory order by name. Its instructions guarantee (the kernel's LKMM,
 * Documentation/bpf of 5.12+): atomics that fetch (fetch_add, xchg, cmpxchg) are fully ordered,
 * atomics that do not fetch (add) are relaxed, and plain loads and stores are ordered as the CPU
 * orders them. On x86-64 (TSO) a plain load acquires and a plain store releases; on other CPUs both
 * need an atomic that fetches.
 *
 * | name                      | orders                                            |
 * |---------------------------|---------------------------------------------------|
 * | atomic_load_relaxed       | no access                                         |
 * | atomic_load_consume       | later accesses whose address comes from the value |
 * | atomic_load_acquire       | all later accesses (BPF, not x86: writes *p back) |
 * | atomic_store_relaxed      | no access                                         |
 * | atomic_store_release      | all earlier accesses                              |
 * | atomic_add_relaxed        | no access; returns no value                       |
 * | atomic_fetch_add_acq_rel  | all accesses; returns the former value            |
 * | atomic_exchange_acq_rel   | all accesses; returns the former value            |
 * | atomic_cas_acq_rel        | all accesses; returns the former value: it is     |
 * |                           | `expected` on success                             |
 *
 * All take naturally aligned u32 or u64.
 */
#ifndef CORE_ENV_H
#define CORE_ENV_H

#include <linux/errno.h>

#include "scalar.h"

#ifndef unlikely /* newer versions of libbpf define unlikely() */
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif

/* The compiler moves no memory access across this barrier. The CPU still may. */
#define barrier_compiler() __asm__ volatile("" ::: "memory")

#define env_volatile(p) (*(volatile __typeof__(*(p)) *)(p))

/*
 * Attributes of functions in BPF. Natively, functions that files share are plain functions. A
 * program may have several embedders of the core: an embedder that defines CORE_EMBEDDED and
 * includes the .c files, as BPF objects do, has its own copy.
 *
 * CORE_INLINE: inlined, so that the verifier knows the sizes of the objects that the function's
 * pointers point to.
 *
 * CORE_PART: the same, private to one file and inlined natively too.
 *
 * CORE_OUTLINED: private to one file, never inlined, to keep rare code out of the way.
 *
 * CORE_GLOBAL: verified once, by itself, for any arguments of its types. The function must check
 * that its pointers are not NULL (core_is_null) and its counts are in range.
 *
 * CORE_GLOBAL_PART: the same, private to one file.
 *
 * CORE_SUBPROGRAM: never inlined, verified with each of its callers. The function may sleep where
 * its caller may.
 */

/*
 * Reads a count from memory again. After a loop over a count, the verifier knows an exact value of
 * the count for each exit of the loop, and would verify the rest of the function once for each
 * exit. The verifier knows no value of a fresh read.
 */
#define core_reload(member) env_volatile(&(member))

#ifdef __bpf__

#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#if !defined(__TARGET_ARCH_x86) && !defined(__TARGET_ARCH_arm64)
#error "compile BPF objects with -D__TARGET_ARCH_x86 or -D__TARGET_ARCH_arm64"
#endif

#define CORE_INLINE static inline __attribute__((always_inline, unused))
#define CORE_GLOBAL __attribute__((noinline))
#define CORE_GLOBAL_PART CORE_GLOBAL
#define CORE_OUTLINED static __attribute__((noinline))
#define CORE_SUBPROGRAM static __attribute__((noinline, unused))
#define CORE_PART static inline __attribute__((always_inline))

#define core_is_null(pointer) (!(pointer))

/*
 * Loads eight bytes at any address in one instruction: the asm hides the alignment from the
 * compiler.
 */
#define core_load_u64(p)                                                                           \
	({                                                                                         \
		const u64 *env_word = (const u64 *)(p);                                            \
		core_one_register(env_word);                                                       \
		*env_word;                                                                         \
	})

/*
 * Makes the compiler keep a variable in one register. When a register is compared with a bound, the
 * verifier knows the bound for that register alone, so the comparison and the use must share it.
 */
#define core_one_register(variable) __asm__ volatile("" : "+r"(variable))

/*
 * A zero whose value the verifier does not know. With a known constant the verifier follows one
 * branch only, and keeps states apart by the constant. `seed` is any number unknown to the
 * verifier.
 */
#define core_unknown_zero(seed)                                                                    \
	({                                                                                         \
		u64 env_one = (seed), env_same = env_one;                                          \
		core_one_register(env_one);                                                        \
		core_one_register(env_same);                                                       \
		env_one - env_same;                                                                \
	})

#define atomic_load_relaxed(p) env_volatile(p)
#define atomic_load_consume(p) env_volatile(p)
#define atomic_store_relaxed(p, value) (void)(env_volatile(p) = (value))
#define atomic_add_relaxed(p, value) (void)__sync_fetch_and_add(p, value)
#define atomic_and_relaxed(p, value) (void)__sync_fetch_and_and(p, value)
#define atomic_fetch_add_acq_rel(p, value) __sync_fetch_and_add(p, value)
#define atomic_exchange_acq_rel(p, value) __sync_lock_test_and_set(p, value)
#define atomic_cas_acq_rel(p, expected, value) __sync_val_compare_and_swap(p, expected, value)

#ifdef __TARGET_ARCH_x86
#define atomic_load_acquire(p)                                                                     \
	({                                                                                         \
		__typeof__(*(p)) env_value = env_volatile(p);                                      \
		barrier_compiler();                                                                \
		env_value;                                                                         \
	})
#define atomic_store_release(p, value)                                                             \
	({                                                                                         \
		barrier_compiler();                                                                \
		(void)(env_volatile(p) = (value));                                                 \
	})
#else
#define atomic_load_acquire(p) __sync_fetch_and_or(p, 0)
#define atomic_store_release(p, value) (void)__sync_lock_test_and_set(p, value)
#endif

/*
 * Calls body(i, arg) for i = 0, 1, ... count - 1, until it returns 1. The verifier walks the body
 * once.
 */
#define core_loop(count, body, arg) bpf_loop(count, body, arg, 0)

/*
 * Flags of bpf_loop() for a loop that few events reach. If the verifier knew that the flags are 0,
 * the kernel would write the loop into the program, and would move all instructions after the
 * loop. The flags are in a variable, whose value the verifier does not know.
 */
static volatile u64 core_no_flags __attribute__((unused));

#define core_rare_loop(count, body, arg) bpf_loop(count, body, arg, core_no_flags)

#else

#ifdef CORE_EMBEDDED
#define CORE_INLINE static __attribute__((unused))
#define CORE_GLOBAL static __attribute__((unused))
#define CORE_SUBPROGRAM static __attribute__((unused))
#else
#define CORE_INLINE
#define CORE_GLOBAL
#define CORE_SUBPROGRAM
#endif
#define CORE_OUTLINED static __attribute__((__noinline__))
#define CORE_GLOBAL_PART static
#define CORE_PART static inline __attribute__((always_inline))

#define core_is_null(pointer) 0

static inline u64 core_load_u64(const void *p)
{
	u64 value;

	__builtin_memcpy(&value, p, sizeof(value));
	return value;
}

#define core_one_register(variable) ((void)0)
#define core_unknown_zero(seed) 0

#define atomic_load_relaxed(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define atomic_load_consume(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define atomic_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define atomic_store_relaxed(p, value) __atomic_store_n(p, value, __ATOMIC_RELAXED)
#define atomic_store_release(p, value) __atomic_store_n(p, value, __ATOMIC_RELEASE)
#define atomic_add_relaxed(p, value) (void)__atomic_fetch_add(p, value, __ATOMIC_RELAXED)
#define atomic_and_relaxed(p, value) (void)__atomic_fetch_and(p, value, __ATOMIC_RELAXED)
#define atomic_fetch_add_acq_rel(p, value) __atomic_fetch_add(p, value, __ATOMIC_ACQ_REL)
#define atomic_exchange_acq_rel(p, value) __atomic_exchange_n(p, value, __ATOMIC_ACQ_REL)
#define atomic_cas_acq_rel(p, expected, value)                                                     \
	({                                                                                         \
		__typeof__(*(p)) env_old = (expected);                                             \
		__atomic_compare_exchange_n(p, &env_old, value, 0, __ATOMIC_ACQ_REL,               \
					    __ATOMIC_ACQUIRE);                                     \
		env_old;                                                                           \
	})

static inline void core_loop(u32 count, long (*body)(u32 i, void *arg), void *arg)
{
	for (u32 i = 0; i < count; i++)
		if (body(i, arg))
			return;
}

#define core_rare_loop core_loop

#endif

/*
 * 1 if a < b, else 0; a and b are below 2^63. The function has no branch, so the verifier follows
 * one path. A compiler that knows more about a and b would make a branch.
 */
ABI_INLINE u64 is_below(u64 a, u64 b)
{
	u64 difference = a - b;

	core_one_register(difference);
	return difference >> 63;
}

#endif
