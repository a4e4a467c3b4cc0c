/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * coroutine WHAT: a stack that begins in the middle of a program, with complete call frame
 * information; a system call (getppid) and 0.4 seconds of CPU time in at_end().
 *
 *   context      makecontext() starts body()
 *   null         body() begins on a stack whose first return address and registers are 0
 *   null_end     the same, with the end of the stack in rbp
 *   overwritten  no coroutine: the return address of lose_return() is 0 while at_end() runs
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#define AFTER_CALL() __asm__ volatile("" ::: "memory")
#define STACK_BYTES (1UL << 18)
#define SAVED 6

/* Saves the registers and the stack in *from, and switches to those of `to`. */
void coroutine_switch(unsigned long **from, unsigned long *to);
void lose_return(void);
void at_end(void);

__asm__(".text\n"
	".globl coroutine_switch\n"
	".type coroutine_switch, @function\n"
	"coroutine_switch:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %r12\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %r13\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %r14\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push %r15\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size coroutine_switch, . - coroutine_switch\n"
	".globl lose_return\n"
	".type lose_return, @function\n"
	"lose_return:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbx, -16\n"
	"	mov 8(%rsp), %rbx\n"
	"	movq $0, 8(%rsp)\n"
	"	call at_end\n"
	"	mov %rbx, 8(%rsp)\n"
	"	pop %rbx\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size lose_return, . - lose_return\n");

static ucontext_t main_context, body_context;
static unsigned long *main_stack, *body_stack;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

APART void at_end(void)
{
	double end = now() + 0.4;

	syscall(SYS_getppid);
	while (now() < end)
		AFTER_CALL();
}

/* Never returns, as the stack begins with this function. */
static APART void body(void)
{
	at_end();
	if (body_stack)
		coroutine_switch(&body_stack, main_stack);
	else
		swapcontext(&body_context, &main_context);
	abort();
}

static void run_context(char *stack)
{
	getcontext(&body_context);
	body_context.uc_stack.ss_sp = stack;
	body_context.uc_stack.ss_size = STACK_BYTES;
	body_context.uc_link = &main_context;
	makecontext(&body_context, body, 0);
	swapcontext(&main_context, &body_context);
}

static void run_null(char *stack, unsigned long is_end_kept)
{
	unsigned long *end = (unsigned long *)(stack + STACK_BYTES);

	body_stack = end - 2 - SAVED;
	end[-1] = 0;
	end[-2] = (unsigned long)body;
	end[-3] = is_end_kept * (unsigned long)end;
	coroutine_switch(&main_stack, body_stack);
}

int main(int argc, char **argv)
{
	char *stack = aligned_alloc(4096, STACK_BYTES);

	if (argc != 2 || !stack)
		return 1;
	memset(stack, 0, STACK_BYTES);
	if (!strcmp(argv[1], "context"))
		run_context(stack);
	else if (!strcmp(argv[1], "overwritten"))
		lose_return();
	else
		run_null(stack, !strcmp(argv[1], "null_end"));
	return 0;
}
