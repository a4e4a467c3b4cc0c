/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The true stack of a program, kept by the program itself: with -finstrument-functions each
 * function pushes its return address to a shadow stack at its start, and pops it at each of its
 * exits. A marker is a breakpoint with the shadow's address in rbx.
 */
#ifndef TESTS_UNWIND_SHADOW_H
#define TESTS_UNWIND_SHADOW_H

#define SHADOW_FRAMES 1024

struct shadow {
	unsigned depth;
	unsigned base; /* index of the outermost frame that the walk must find */
	unsigned stop; /* enum stop_reason; with STOP_ROOT and STOP_GUESSED the walk goes on to the
			  start */
	unsigned reserved;
	unsigned long long frame[SHADOW_FRAMES]; /* return addresses, outermost first */
};

#ifdef SHADOW_KEPT

#define plain __attribute__((no_instrument_function))
#define noinline __attribute__((noinline))

#ifdef __x86_64__
static __thread struct shadow shadow;
#else
static struct shadow shadow;
#endif

#ifdef __cplusplus
extern "C" {
#endif
plain void __cyg_profile_func_enter(void *function, void *site);
plain void __cyg_profile_func_exit(void *function, void *site);
#ifdef __cplusplus
}
#endif

plain static inline void shadow_push(const void *address)
{
	shadow.frame[shadow.depth++] = (unsigned long)address;
}

void __cyg_profile_func_enter(void *function, void *site)
{
	(void)function;
	shadow_push(site);
}

void __cyg_profile_func_exit(void *function, void *site)
{
	(void)function;
	(void)site;
	shadow.depth--;
}

/* The unwinder must find all frames that were pushed since `from`, and then stop with this reason.
 */
#define marker(from, reason)                                                                       \
	do {                                                                                       \
		shadow.base = (from);                                                              \
		shadow.stop = (reason);                                                            \
		__asm__ volatile("int3" ::"b"(&shadow) : "memory");                                \
	} while (0)

#endif

#endif
