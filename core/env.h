/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one place that knows whether the core is compiled for this process, for BPF or for the
 * kernel. Everything else in core/ is the same text in all three worlds; a BPF object includes the
 * .c files, after which it needs nothing to link.
 *
 * BPF offers no memory order by name. What its instructions guarantee (the kernel's LKMM,
 * Documentation/bpf of 5.12+): atomics that fetch (fetch_add, xchg, cmpxchg) are fully ordered,
 * those that do not (add) are relaxed, and plain loads and stores are ordered as the CPU orders
 * them. So on x86-64 (TSO) a load acquires and a store releases by itself, on other CPUs both need
 * an atomic that fetches.
 *
 * | name                      | orders                                            |
 * |---------------------------|---------------------------------------------------|
 * | atomic_load_relaxed       | nothing                                           |
 * | atomic_load_consume       | later accesses whose address comes from the value |
 * | atomic_load_acquire       | all later accesses (BPF, not x86: writes *p back) |
 * | atomic_store_relaxed      | nothing                                           |
 * | atomic_store_release      | all earlier accesses                              |
 * | atomic_add_relaxed        | nothing; returns nothing                          |
 * | atomic_fetch_add_acq_rel  | both                                              |
 * | atomic_exchange_acq_rel   | both                                              |
 * | atomic_cas_acq_rel        | both; returns what was there: success = expected  |
 *
 * All take naturally aligned u32 or u64.
 */
#ifndef CORE_ENV_H
#define CORE_ENV_H

#include <linux/errno.h>

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>
#endif

#include "scalar.h"

#ifndef unlikely /* newer libbpf has it */
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif

/* The compiler may not carry memory contents across it. The CPU may. */
#define barrier_compiler() __asm__ volatile("" ::: "memory")

#define env_volatile(p) (*(volatile __typeof__(*(p)) *)(p))

/*
 * How a function is compiled in BPF; natively those that files share are plain functions. One
 * program may have several embedders of the core: who defines CORE_EMBEDDED and includes the .c
 * files, as BPF objects do, has a copy of its own.
 *
 * CORE_INLINE: part of its caller, so that the verifier knows the sizes behind its pointers.
 *
 * CORE_PART: the same, of one file and natively too.
 *
 * CORE_OUTLINED: of one file, never inlined, to keep what is rare out of the way.
 *
 * CORE_GLOBAL: verified once, by itself, for any arguments of its types. So it has to check itself
 * that its pointers are there (core_is_null) and its counts in range.
 *
 * CORE_GLOBAL_PART: the same, of one file.
 *
 * CORE_SUBPROGRAM: never inlined, verified with each of its callers: where they may sleep, it may.
 */

/*
 * Reads a count anew. After a loop over a count the verifier knows its exact value on each of the
 * ways out, and would verify the rest of the function as often as the loop may run; of a fresh
 * value it knows nothing.
 */
#define core_reload(member) env_volatile(&(member))

/* 1 if a < b, else 0; a and b are below 2^63. Without a branch the verifier follows one path. */
ABI_INLINE u64 is_below(u64 a, u64 b)
{
	return (a - b) >> 63;
}

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

/* Eight bytes at any address, in one load: the compiler must not see how they are aligned. */
#define core_load_u64(p)                                                                           \
	({                                                                                         \
		const u64 *env_word = (const u64 *)(p);                                            \
		core_one_register(env_word);                                                       \
		*env_word;                                                                         \
	})

/* The verifier knows a bound only of the register that was compared: makes the compiler use one
 * register for both. */
#define core_one_register(variable) __asm__ volatile("" : "+r"(variable))

/* A zero that the verifier does not know. With a known constant it follows one branch only, and
 * keeps states apart by it. `seed` is any number that it does not know. */
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

/* body(i, arg) for i = 0, 1, ... count - 1, until it returns 1. The verifier walks the body once.
 */
#define core_loop(count, body, arg) bpf_loop(count, body, arg, 0)

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

#ifdef __KERNEL__

/* The kernel's atomics are of types of its own. */
#define env_is_wide(p) (sizeof(*(p)) == sizeof(u64))
#define env_narrow(p) ((atomic_t *)(void *)(p))
#define env_wide(p) ((atomic64_t *)(void *)(p))

#define atomic_load_relaxed(p) READ_ONCE(*(p))
#define atomic_load_consume(p) READ_ONCE(*(p))
#define atomic_load_acquire(p) smp_load_acquire(p)
#define atomic_store_relaxed(p, value) WRITE_ONCE(*(p), value)
#define atomic_store_release(p, value) smp_store_release(p, value)
#define atomic_add_relaxed(p, value)                                                               \
	(env_is_wide(p) ? atomic64_add(value, env_wide(p)) : atomic_add(value, env_narrow(p)))
#define atomic_and_relaxed(p, value)                                                               \
	(env_is_wide(p) ? atomic64_and(value, env_wide(p)) : atomic_and(value, env_narrow(p)))
#define atomic_fetch_add_acq_rel(p, value)                                                         \
	((__typeof__(*(p)))(env_is_wide(p) ? atomic64_fetch_add(value, env_wide(p))                \
					   : atomic_fetch_add(value, env_narrow(p))))
#define atomic_exchange_acq_rel(p, value) xchg(p, value)
#define atomic_cas_acq_rel(p, expected, value) cmpxchg(p, expected, value)

#else

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

#endif

static inline void core_loop(u32 count, long (*body)(u32 i, void *arg), void *arg)
{
	for (u32 i = 0; i < count; i++)
		if (body(i, arg))
			return;
}

#endif

#endif
