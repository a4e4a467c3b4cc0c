/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* System calls without the C library, so that the caller is the innermost frame of the stack. */
#ifndef TESTS_OWN_SYSCALL_H
#define TESTS_OWN_SYSCALL_H

static inline __attribute__((always_inline)) long own_syscall3(long number, long first, long second,
							       long third)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(first), "S"(second), "d"(third)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = first;
	register long x1 __asm__("x1") = second;
	register long x2 __asm__("x2") = third;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#endif
}

static inline __attribute__((always_inline)) long own_syscall(long number, long argument)
{
	return own_syscall3(number, argument, 0, 0);
}

#endif
