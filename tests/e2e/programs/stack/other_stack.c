/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * other_stack WHAT: code on another stack than its caller, with complete call frame information;
 * a system call (getppid) and 0.4 seconds of CPU time in at_end().
 *
 *   above       main() calls at_end() on a stack that lies above that of the thread
 *   fiber       main() starts fiber() on a stack in the heap, which calls at_end() on the stack of
 *               the thread
 *   nested      the same, twice: fiber() starts inner_fiber() on a third stack
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#define AFTER_CALL() __asm__ volatile("" ::: "memory")
#define STACK_BYTES (1UL << 20)

/* Calls `function` on the stack that ends at `top`; *left gets the caller's rsp. */
void call_on(char *top, void (*function)(void), char **left);

__asm__(".text\n"
	".globl call_on\n"
	".type call_on, @function\n"
	"call_on:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp, -16\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	"	mov %rsp, (%rdx)\n"
	"	mov %rdi, %rsp\n"
	"	call *%rsi\n"
	"	mov %rbp, %rsp\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size call_on, . - call_on\n");

static char *stacks, *of_thread, *unused;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static APART void at_end(void)
{
	double end = now() + 0.4;

	syscall(SYS_getppid);
	while (now() < end)
		AFTER_CALL();
}

/* Calls at_end() on the thread's stack, below the frames that the stack holds. */
static APART void on_thread_stack(void)
{
	call_on((char *)(((unsigned long)of_thread - 4096) & ~15UL), at_end, &unused);
	AFTER_CALL();
}

static APART void fiber(void)
{
	on_thread_stack();
	AFTER_CALL();
}

static APART void start_inner(void)
{
	call_on(stacks + STACK_BYTES, fiber, &unused);
	AFTER_CALL();
}

static APART void start(char *top, void (*function)(void))
{
	call_on(top, function, &of_thread);
	AFTER_CALL();
}

/* The thread's stack lies in the middle of an area, with room for another one on both sides. */
static void *thread(void *what)
{
	if (!strcmp(what, "above"))
		start(stacks + 4 * STACK_BYTES, at_end);
	else if (!strcmp(what, "fiber"))
		start(stacks + STACK_BYTES, fiber);
	else
		start(stacks + 4 * STACK_BYTES, start_inner);
	return what;
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t id;

	stacks = mmap(NULL, 4 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (argc != 2 || stacks == MAP_FAILED || pthread_attr_init(&attributes) ||
	    pthread_attr_setstack(&attributes, stacks + 2 * STACK_BYTES, STACK_BYTES) ||
	    pthread_create(&id, &attributes, thread, argv[1]))
		return 1;
	return pthread_join(id, NULL);
}
