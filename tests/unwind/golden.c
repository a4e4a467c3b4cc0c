/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program that stops at markers and knows its true stack there (shadow.h): recursion, odd frame
 * sizes, realigned frames, generated code, signals, threads, and depths just below and above the
 * limit.
 */
#define SHADOW_KEPT
#include "shadow.h"

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "rule.h"

#define DEPTH_MAX 511  /* frames, the innermost one included */
#define START_FRAMES 4 /* at most so many frames before main() */

/* SFrame of version 1 cannot say where the caller of a realigned frame is. */
#ifndef REALIGNED
#define REALIGNED 1
#endif

static volatile long sink;

noinline static long leaf(long a)
{
	marker(0, STOP_ROOT);
	return a * 3 + sink;
}

noinline static long recursive(long depth, long a, long b)
{
	if (depth == 0)
		return leaf(a + b);
	return recursive(depth - 1, b ^ a, a + depth) + a * b;
}

noinline static long odd_frames(long n, size_t bytes)
{
	volatile long array[16] __attribute__((aligned(64)));
	char *memory = alloca(bytes);

	memset(memory, 2, bytes);
	for (int i = 0; i < 16; i++)
		array[i] = n * i;
	return leaf(array[n & 15]) + memory[3] + recursive(2, array[3], 1);
}

noinline static long large(int i)
{
	volatile char array[70000];

	array[i] = 1;
	return leaf(array[i]);
}

/* Makes a stack of `frames` frames, not counting those before main(). */
noinline static void deep(unsigned frames, unsigned reason)
{
	if (shadow.depth + 1 < frames)
		deep(frames, reason);
	else
		marker(0, reason);
	sink++;
}

noinline static long from_generated(long a)
{
	return leaf(a) + recursive(1, a, 2);
}

/* push %rbp; mov %rsp, %rbp; mov %rdi, %rax; mov %rsi, %rdi; call *%rax; pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8,
				     0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};

noinline static long generated(void)
{
	void *memory = mmap(NULL, sizeof(code), PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long result, function = (long)from_generated, argument = 5;

	if (memory == MAP_FAILED)
		return 0;
	memcpy(memory, code, sizeof(code));
	__asm__ volatile("lea 1f(%%rip), %%rax\n\t"
			 "mov %%rax, %1\n\t"
			 "call *%4\n"
			 "1:"
			 : "=&a"(result), "=m"(shadow.frame[shadow.depth++]), "+D"(function),
			   "+S"(argument)
			 : "r"(memory)
			 : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
	shadow.depth--;
	return result;
}

noinline static void in_handler(void)
{
	sink += leaf(1) + recursive(2, 1, 1);
}

/* The frames of the interrupted instruction and of the trampoline are pc + 1 (abi/stack.h). The
 * handler skips the interrupted instruction. */
plain static void on_fault(int number, siginfo_t *info, void *context)
{
	greg_t *rip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)number;
	(void)info;
	shadow_push((char *)*rip + 1);
	shadow_push((char *)__builtin_return_address(0) + 1);
	in_handler();
	shadow.depth -= 2;
	*rip += 2;
}

noinline static long faults(long a)
{
	__asm__ volatile("ud2" ::: "memory");
	return a + sink;
}

/* Faults at its first instruction, whose address is not a return address. */
void faults_at_once(void);
__asm__(".type faults_at_once, @function\n"
	".globl faults_at_once\n"
	"faults_at_once:\n"
	".cfi_startproc\n"
	"ud2\n"
	"ret\n"
	".cfi_endproc\n");

noinline static void calls_what_faults_at_once(void)
{
	__asm__ volatile("lea 1f(%%rip), %%rax\n\t"
			 "mov %%rax, %0\n\t"
			 "call faults_at_once\n"
			 "1:"
			 : "=m"(shadow.frame[shadow.depth++])
			 :
			 : "rax", "memory", "cc");
	shadow.depth--;
}

noinline static void signals(void)
{
	static char stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	sigaction(SIGILL, &action, NULL);
	sink += faults(1);
	calls_what_faults_at_once();
	sigaltstack(&alternate, NULL);
	action.sa_flags |= SA_ONSTACK;
	sigaction(SIGILL, &action, NULL);
	sink += faults(2);
}

noinline static void *thread(void *arg)
{
	sink += recursive(3, (long)arg, 2);
	return NULL;
}

noinline static void threads(void)
{
	pthread_t id;

	if (!pthread_create(&id, NULL, thread, NULL))
		pthread_join(id, NULL);
}

int main(void)
{
	sink += recursive(6, 1, 2);
	if (REALIGNED)
		sink += odd_frames(3, 40 + sink % 2);
	sink += large(7);
	sink += generated();
	signals();
	threads();
	deep(DEPTH_MAX - START_FRAMES, STOP_ROOT);
	deep(DEPTH_MAX + 1, STOP_DEPTH);
	deep(SHADOW_FRAMES - 8, STOP_DEPTH);
	return 0;
}
