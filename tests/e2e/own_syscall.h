/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A system call without the C library, so that the caller is the innermost frame of the stack. */
#ifndef TESTS_OWN_SYSCALL_H
#define TESTS_OWN_SYSCALL_H

static inline __attribute__((always_inline)) long own_syscall(long number, long argument)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(argument)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = argument;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8) : "memory");
	return x0;
#endif
}

#endif
