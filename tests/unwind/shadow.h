/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The true stack of a program, as the program itself keeps it: compiled with
 * -finstrument-functions, each function notes its return address when it begins and takes it back
 * when it ends, whichever way it ends. A marker is a breakpoint with the shadow's address in rbx.
 */
#ifndef TESTS_UNWIND_SHADOW_H
#define TESTS_UNWIND_SHADOW_H

#define SHADOW_FRAMES 1024

struct shadow {
	unsigned depth;
	unsigned base; /* the walk ends above what was noted before this */
	unsigned stop; /* why, enum stop_reason; STOP_ROOT, STOP_GUESSED: it goes on, as the program
			  was started */
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

/* The unwinder has to find all frames noted since `from`, and then to end by this reason. */
#define marker(from, reason)                                                                       \
	do {                                                                                       \
		shadow.base = (from);                                                              \
		shadow.stop = (reason);                                                            \
		__asm__ volatile("int3" ::"b"(&shadow) : "memory");                                \
	} while (0)

#endif

#endif
