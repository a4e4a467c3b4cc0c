/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's atomics in a process, as far as the kernel's stack map uses them: a test runs the
 * kernel's stack map beside the one of core/. */
#ifndef KERNEL_HOST_ATOMIC_H
#define KERNEL_HOST_ATOMIC_H

#include "scalar.h"

typedef struct {
	s64 counter;
} atomic64_t;

#define noinline __attribute__((noinline))
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_CONSUME)
#define xchg(p, value) __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST)
#define cmpxchg(p, old, new)                                                                       \
	({                                                                                         \
		__typeof__(*(p)) host_old = (old);                                                 \
		__atomic_compare_exchange_n(p, &host_old, new, 0, __ATOMIC_SEQ_CST,                \
					    __ATOMIC_SEQ_CST);                                     \
		host_old;                                                                          \
	})
#define atomic64_read(a) __atomic_load_n(&(a)->counter, __ATOMIC_RELAXED)
#define atomic64_set(a, value) __atomic_store_n(&(a)->counter, value, __ATOMIC_RELAXED)
#define atomic64_inc(a) (void)__atomic_fetch_add(&(a)->counter, 1, __ATOMIC_RELAXED)
#define atomic64_add(value, a) (void)__atomic_fetch_add(&(a)->counter, value, __ATOMIC_RELAXED)
#define atomic64_fetch_add(value, a) __atomic_fetch_add(&(a)->counter, value, __ATOMIC_SEQ_CST)

#endif
