/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * known_stack [line] WHAT [ARGUMENT]...: goes through outer(), middle() and inner() into one
 * function that enters the kernel in the way that WHAT names, so the correct stack is known. Built
 * without frame pointers. With `line` the program first waits for a byte of its input, in main().
 *
 *   faults N       one system call that meets N pages not there yet
 *   wait           until its input ends, in read()
 *   threads N      the same in N threads
 *   exec FILE...   becomes another program
 *   thread_exec FILE...   the same from a thread that is not the first
 *   signals N      N signals
 *   returns N      one signal, and N times back to where it came, by rt_sigreturn called from here
 *   exit           ends in here
 *   deep N         two system calls below N calls of again()
 *   lost           a system call while the way back is overwritten by an address without code
 *   spin           turns for a second of CPU time
 *   thread_spin N  the same in N threads
 *   calls N        N calls each of pushes() and adds(), which begin with a push (that the kernel
 *                  runs itself if a probe is there) and with another instruction
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../own_syscall.h"

#define APART __attribute__((noinline, noclone))
#define AFTER_CALL()                                                                               \
	__asm__ volatile("" ::                                                                     \
				 : "memory") /* the call is not the function's last act            \
					      */
#define THREADS_MAX 64

typedef void (*in_kernel)(char **arguments);

static APART void meet_faults(char **arguments)
{
	size_t bytes = (size_t)atol(arguments[0]) * (size_t)sysconf(_SC_PAGESIZE);
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise(memory, bytes, MADV_NOHUGEPAGE))
		exit(1);
	own_syscall3(SYS_getrandom, (long)memory, (long)bytes, 0);
	AFTER_CALL();
}

static APART void wait_for_end(char **arguments)
{
	char bytes[16];

	(void)arguments;
	while (own_syscall3(SYS_read, STDIN_FILENO, (long)bytes, sizeof(bytes)) > 0)
		;
	AFTER_CALL();
}

static APART void become(char **arguments)
{
	char *environment[] = {NULL};

	own_syscall3(SYS_execve, (long)arguments[0], (long)arguments, (long)environment);
	AFTER_CALL();
	exit(1);
}

static void on_signal(int number)
{
	(void)number;
}

static APART void take_signals(char **arguments)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGUSR1, &action, NULL);
	for (long n = atol(arguments[0]); n; n--)
		own_syscall3(SYS_tgkill, getpid(), gettid(), SIGUSR1);
	AFTER_CALL();
}

#if defined(__x86_64__)
/* Makes the system call on the stack `rsp`, from which rt_sigreturn takes the registers. All calls
 * come from one address, so the rule that the first call caches is used by the others. */
long call_on(void *stack, long number);
__asm__(".pushsection .text\n"
	".type call_on, @function\n"
	"call_on:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"mov %rdi, %rsp\n"
	"mov %rsi, %rax\n"
	"syscall\n"
	"leave\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size call_on, . - call_on\n"
	".popsection\n");

static ucontext_t interrupted;

static void keep_context(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	interrupted = *(ucontext_t *)context;
	interrupted.uc_mcontext.fpregs = NULL;
}

static APART void take_returns(char **arguments)
{
	struct sigaction action = {.sa_sigaction = keep_context, .sa_flags = SA_SIGINFO};
	static volatile long calls;

	sigaction(SIGUSR1, &action, NULL);
	own_syscall3(SYS_tgkill, getpid(), gettid(), SIGUSR1);
	while (calls < 2 * atol(arguments[0]))
		call_on(&interrupted, calls++ % 2 ? SYS_rt_sigreturn : SYS_getppid);
	AFTER_CALL();
}
#else
static void take_returns(char **arguments)
{
	(void)arguments;
	exit(77);
}
#endif

static APART void end_here(char **arguments)
{
	(void)arguments;
	own_syscall(SYS_exit_group, 0);
	AFTER_CALL();
}

static APART long turn(long value)
{
	for (long i = 0; i < 100000; i++)
		__asm__ volatile("" : "+r"(value));
	return value + 1;
}

static APART void spin(char **arguments)
{
	struct timespec used = {0};
	long value = arguments[0] != NULL;

	while (!used.tv_sec) {
		value = turn(value);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	}
	AFTER_CALL();
}

static APART void pushes(void)
{
#ifdef __x86_64__
	__asm__ volatile("" ::: "rbx");
#endif
}

static APART long adds(long left)
{
	__asm__ volatile("" : "+r"(left));
	return left - 1;
}

static APART void call_often(char **arguments)
{
	for (long left = atol(arguments[0]); left; left = adds(left))
		pushes();
	AFTER_CALL();
}

static APART void again(long left)
{
	if (left > 1)
		again(left - 1);
	else
		for (int i = 0; i < 2; i++)
			own_syscall(SYS_getppid, 0);
	AFTER_CALL();
}

static APART void call_again(char **arguments)
{
	again(atol(arguments[0]));
	AFTER_CALL();
}

static APART void lose_caller(char **arguments)
{
	void *caller = __builtin_return_address(0);
	void *volatile here = NULL;
	void *volatile *place = &here;

	(void)arguments;
	while (*place != caller)
		place++;
	*place = (void *)4096;
	own_syscall(SYS_getppid, 0);
	*place = caller;
	AFTER_CALL();
}

static APART void inner(in_kernel last, char **arguments)
{
	last(arguments);
	AFTER_CALL();
}

static APART void middle(in_kernel last, char **arguments)
{
	volatile char frame[200];

	frame[0] = 0;
	(void)frame[0];
	inner(last, arguments);
	AFTER_CALL();
}

static APART void outer(in_kernel last, char **arguments)
{
	middle(last, arguments);
	AFTER_CALL();
}

static const struct way {
	const char *name;
	in_kernel last;
	int in_threads; /* 1: in one other thread; 2: in so many threads as the first argument says
			 */
} ways[] = {
	{"faults", meet_faults, 0},   {"wait", wait_for_end, 0},  {"threads", wait_for_end, 2},
	{"exec", become, 0},	      {"thread_exec", become, 1}, {"signals", take_signals, 0},
	{"returns", take_returns, 0}, {"exit", end_here, 0},	  {"spin", spin, 0},
	{"thread_spin", spin, 2},     {"deep", call_again, 0},	  {"lost", lose_caller, 0},
	{"calls", call_often, 0},
};

struct start {
	in_kernel last;
	char **arguments;
};

static void *thread(void *argument)
{
	const struct start *start = argument;

	outer(start->last, start->arguments);
	return NULL;
}

static void run_threads(struct start *start, long count)
{
	pthread_t threads[THREADS_MAX];

	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, thread, start))
			exit(1);
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void run(const struct way *way, char **arguments)
{
	struct start start = {way->last, arguments};

	if (way->in_threads == 2)
		run_threads(&start, atol(arguments[0]) % THREADS_MAX);
	else if (way->in_threads)
		run_threads(&start, 1);
	else
		outer(way->last, arguments);
}

static void wait_for_line(void)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) != 1)
		exit(1);
}

int main(int argc, char **argv)
{
	char **words = argv + 1;

	if (argc > 1 && !strcmp(*words, "line")) {
		wait_for_line();
		words++;
	}
	for (size_t i = 0; *words && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(*words, ways[i].name)) {
			run(&ways[i], words + 1);
			return 0;
		}
	return 2;
}
