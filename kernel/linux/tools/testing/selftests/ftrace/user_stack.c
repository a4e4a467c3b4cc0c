// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program whose user stack is known: innermost() makes each system call,
 * middle() calls innermost(), outer() calls middle(). The flags of the compiler
 * and KEPT keep these calls and their frames.
 *
 * usage: user_stack functions     the functions in the file, as "NAME 0xOFFSET"
 *        user_stack number CALL   the number of one of the system calls below
 *        user_stack calls COUNT   getppid() COUNT times
 *        user_stack calls-below FRAMES COUNT
 *                                 the same below that many frames
 *        user_stack sleeps        nanosleep(), for long
 *        user_stack exits         exit_group()
 *        user_stack executes FILE execve()
 *        user_stack executes-frameless FILE
 *                                 execve() with a frame pointer of zero, as a
 *                                 new program has
 *        user_stack sleeps-below  pause(), with a stack pointer below all stacks
 *        user_stack calls-vdso    getppid() by the vdso of 32-bit tasks
 *        user_stack is-signalled  a signal handler returns, by rt_sigreturn()
 *        user_stack loses-frame   the same with another frame pointer than the
 *                                 interrupted code
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if __has_attribute(noipa)
#define KEPT __attribute__((noipa))
#else
#define KEPT
#endif

/* The bare instruction, because syscall() of the C library has no frame */
static KEPT long innermost(long number, long a, long b, long c)
{
	long answer;

	/* A leaf function has a frame if it asks for the address of it. */
#if defined(__x86_64__)
	asm volatile("syscall"
		     : "=a"(answer)
		     : "0"(number), "D"(a), "S"(b), "d"(c),
		       "m"(*(long *)__builtin_frame_address(0))
		     : "rcx", "r11", "memory");
#elif defined(__i386__)
	asm volatile("int $0x80"
		     : "=a"(answer)
		     : "0"(number), "b"(a), "c"(b), "d"(c),
		       "m"(*(long *)__builtin_frame_address(0))
		     : "memory");
#else
	answer = syscall(number, a, b, c);
#endif
	return answer;
}

static KEPT long middle(long number, long a, long b, long c)
{
	return innermost(number, a, b, c);
}

static KEPT long outer(long number, long a, long b, long c)
{
	return middle(number, a, b, c);
}

static KEPT void call_below(int frames, int count)
{
	if (frames)
		call_below(frames - 1, count);
	else
		for (int i = 0; i < count; i++)
			outer(SYS_getppid, 0, 0, 0);
	/* Not a tail call */
	asm volatile("");
}

static void handle(int number)
{
	(void)number;
}

#if defined(__x86_64__)
/* The restorer of a signal handler, which clears the frame pointer */
static __attribute__((naked)) void return_without_frame(void)
{
	asm volatile("xor %ebp, %ebp\n"
		     "mov $15, %eax\n" /* rt_sigreturn */
		     "syscall\n");
}

static void execute_frameless(const char *path)
{
	char *const arguments[] = {(char *)path, NULL};
	char *const nothing[] = {NULL};

	asm volatile("xor %%ebp, %%ebp\n"
			 "syscall\n"
			 "hlt\n"
			 :
			 : "a"(SYS_execve), "D"(path), "S"(arguments), "d"(nothing)
			 : "rcx", "r11", "memory");
}

/* The frame pointer is right below the stack, where it could grow to. */
static int sleep_below(void)
{
	unsigned long stack = 0;
	char line[256];
	FILE *file = fopen("/proc/self/maps", "r");

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "[stack]"))
			stack = strtoul(line, NULL, 16);
	if (!stack)
		return 2;
	asm volatile("mov %0, %%rbp\n"
			 "mov $4096, %%esp\n"
			 "syscall\n"
			 "hlt\n"
			 :
			 : "r"(stack - 256), "a"(SYS_pause)
			 : "rcx", "r11", "memory");
	return 2;
}

/* By the system call, because the C library sets a restorer of its own */
static int handle_without_frame(void)
{
	const struct {
		void (*handler)(int number);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} action = {handle, 0x04000000 /* SA_RESTORER */, return_without_frame, 0};

	return syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, sizeof(action.mask));
}

static int call_vdso(void)
{
	return 2;
}
#else
static void execute_frameless(const char *path)
{
	(void)path;
}

static int sleep_below(void)
{
	return 2;
}

static int handle_without_frame(void)
{
	return -1;
}

static int call_vdso(void)
{
	long answer;

	asm volatile("call *%1"
			 : "=a"(answer)
			 : "r"(getauxval(AT_SYSINFO)), "0"(SYS_getppid)
			 : "memory");
	return answer < 0;
}
#endif

static void show(const char *name, const void *function)
{
	/* The program headers are in the first page of the file. */
	unsigned long begin = getauxval(AT_PHDR) & ~0xfffUL;

	printf("%s 0x%lx\n", name, (unsigned long)function - begin);
}

static void show_functions(void)
{
	show("innermost", innermost);
	show("middle", middle);
	show("outer", outer);
}

static const struct {
	const char *name;
	int number;
} numbers[] = {
	{"getppid", SYS_getppid},	{"nanosleep", SYS_nanosleep},
	{"exit_group", SYS_exit_group}, {"execve", SYS_execve},
	{"rt_sigreturn", SYS_rt_sigreturn},
#ifdef SYS_pause
	{"pause", SYS_pause},
#endif
};

static int show_number(const char *name)
{
	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!strcmp(numbers[i].name, name))
			return printf("%d\n", numbers[i].number) < 0;
	return 2;
}

int main(int argc, char **argv)
{
	struct timespec long_time = {.tv_sec = 1000};
	char *const arguments[] = {argc > 2 ? argv[2] : NULL, NULL};
	char *const nothing[] = {NULL};

	if (argc == 2 && !strcmp(argv[1], "functions")) {
		show_functions();
	} else if (argc == 3 && !strcmp(argv[1], "number")) {
		return show_number(argv[2]);
	} else if (argc == 3 && !strcmp(argv[1], "calls")) {
		for (int i = 0; i < atoi(argv[2]); i++)
			outer(SYS_getppid, 0, 0, 0);
	} else if (argc == 4 && !strcmp(argv[1], "calls-below")) {
		call_below(atoi(argv[2]), atoi(argv[3]));
	} else if (argc == 2 && !strcmp(argv[1], "sleeps")) {
		outer(SYS_nanosleep, (long)&long_time, 0, 0);
	} else if (argc == 2 && !strcmp(argv[1], "exits")) {
		outer(SYS_exit_group, 0, 0, 0);
	} else if (argc == 3 && !strcmp(argv[1], "executes")) {
		outer(SYS_execve, (long)argv[2], (long)arguments, (long)nothing);
	} else if (argc == 3 && !strcmp(argv[1], "executes-frameless")) {
		execute_frameless(argv[2]);
	} else if (argc == 2 && !strcmp(argv[1], "sleeps-below")) {
		return sleep_below();
	} else if (argc == 2 && !strcmp(argv[1], "calls-vdso")) {
		return call_vdso();
	} else if (argc == 2 && !strcmp(argv[1], "is-signalled")) {
		signal(SIGUSR1, handle);
		raise(SIGUSR1);
	} else if (argc == 2 && !strcmp(argv[1], "loses-frame") &&
		   !handle_without_frame()) {
		raise(SIGUSR1);
	} else {
		return 2;
	}
	return 0;
}
