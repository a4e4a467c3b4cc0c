/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared code of all programs here. A program works for as many milliseconds as its first argument
 * says; its innermost function is leaf(), which works for a while and makes one system call,
 * getppid. All functions of this file are inlined and use no library, so the stack of a program has
 * only the frames that its own source shows.
 */
#ifndef SITUATIONS_WORK_H
#define SITUATIONS_WORK_H

#define APART __attribute__((noinline, noclone))
#define INLINED static inline __attribute__((always_inline))
/* Code after a call, so that the compiler does not turn the call into a jump. */
#define AFTER_CALL() __asm__ volatile("" ::: "memory")

static volatile unsigned long sink;
static unsigned long deadline; /* ms of CPU time; 0 = not yet set */

#ifdef __x86_64__
#define TIMES 100
#define GETPPID 110

INLINED long system_call(long number, long first, void *second)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(first), "S"(second)
			 : "rcx", "r11", "memory");
	return result;
}
#else
#define TIMES 43
#define GETPPID 64

INLINED long system_call(long number, long first, void *second)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(first), "c"(second)
			 : "memory");
	return result;
}
#endif

/* CPU time of the process and of its children that have ended. */
INLINED unsigned long milliseconds(void)
{
	long ticks[4] = {0};

	system_call(TIMES, (long)ticks, 0);
	return (unsigned long)(ticks[0] + ticks[1] + ticks[2] + ticks[3]) * 10;
}

/* False once the program has worked for the requested time. */
INLINED int is_time_left(char **argv)
{
	unsigned long duration = 0;

	for (const char *digit = argv[1]; digit && *digit; digit++)
		duration = duration * 10 + (unsigned long)(*digit - '0');
	if (!deadline)
		deadline = milliseconds() + duration;
	return milliseconds() < deadline;
}

INLINED void work(void)
{
	for (int i = 0; i < 50000; i++)
		sink += (unsigned long)i * sink;
}

#ifdef __cplusplus
extern "C" void leaf(void);
#endif
APART void leaf(void);
void leaf(void)
{
	work();
	system_call(GETPPID, 0, 0);
	AFTER_CALL();
}

#endif
