/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All kinds of frames that a compiler makes from C, between two breakpoints. The program is built
 * in many ways (position-independent and not, optimised, static, with realigned stacks) and
 * single-stepped.
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define noinline __attribute__((noinline, noclone))
#define marker() __asm__ volatile("int3")

volatile long sink;

noinline static long leaf(long a)
{
	return a * 3 + sink;
}

noinline static long recursive(long depth, long a, long b, long c)
{
	if (depth == 0)
		return leaf(a + b + c);
	return recursive(depth - 1, b + leaf(c), c ^ a, a + depth) + leaf(b) + a * c;
}

noinline static long on_the_stack(size_t bytes)
{
	char *memory = alloca(bytes);

	memset(memory, 1, bytes);
	return leaf(memory[bytes / 2]);
}

/* A frame of more than a page, which is found by a register or a large offset. */
noinline static long large(int i)
{
	volatile char array[70000];

	array[i] = 1;
	array[i + 5000] = 2;
	return leaf(array[i] + array[i + 5000]);
}

noinline static long aligned(long n, size_t bytes)
{
	volatile long array[16] __attribute__((aligned(64)));
	char *memory = alloca(bytes);

	memset(memory, 2, bytes);
	for (int i = 0; i < 16; i++)
		array[i] = n * i;
	return leaf(array[n & 15]) + memory[3] + recursive(2, n, array[3], 1);
}

typedef double vector __attribute__((vector_size(32)));

noinline static long vectors(long n)
{
	vector a = {n, 1, 2, 3}, b = {4, 5, 6, n};
	volatile vector c = a * b;

	sink += (long)c[n & 3];
	c = c + a;
	return leaf((long)c[1]) + (long)c[0];
}

noinline static long many_arguments(long a, long b, long c, long d, long e, long f, long g, long h,
				    long i)
{
	return leaf(a + b + c + d) + leaf(e * f) + g - h + i;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - (int)leaf(*(const int *)b) / 3;
}

noinline static long through_libc(void)
{
	int numbers[] = {5, 3, 9, 1, 7, 2};
	char text[32];

	qsort(numbers, 6, sizeof(numbers[0]), compare);
	strcpy(text, "first call resolved by ld.so");
	return numbers[0] + atoi("42") + ffs(16) + (long)strlen(text) + labs(-4);
}

static jmp_buf place;

noinline static void jumps(int depth)
{
	if (depth < 0)
		return;
	if (depth == 0)
		longjmp(place, 1);
	jumps(depth - 1);
	sink++;
}

static void on_signal(int number)
{
	sink += leaf(number);
	recursive(2, number, 1, 2);
}

static void on_signal_info(int number, siginfo_t *info, void *context)
{
	sink += leaf(number) + info->si_signo + (context != NULL);
	if (number == SIGUSR2)
		raise(SIGUSR1);
}

noinline static void signals(void)
{
	static char stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sigaltstack(&alternate, NULL);
	action.sa_sigaction = on_signal_info;
	action.sa_flags = SA_ONSTACK | SA_SIGINFO;
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
}

/* A signal interrupts the first instruction of a function: the interrupted pc is not a return
 * address. */
noinline static void faults(void)
{
	signal(SIGILL, SIG_IGN);
	signal(SIGUSR1, on_signal);
	kill(getpid(), SIGUSR1);
}

noinline static void children(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

/* Code without a file: push %rbp; mov %rsp, %rbp; mov %rdi, %rax; mov %rsi, %rdi; call *%rax; pop
 * %rbp; ret */
noinline static long generated(void)
{
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8,
					     0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};
	long (*function)(long (*)(long), long);
	void *memory = mmap(NULL, sizeof(code), PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 0;
	memcpy(memory, code, sizeof(code));
	memcpy(&function, &memory, sizeof(memory));
	return function(leaf, 5) + sink;
}

int main(void)
{
	marker();
	sink += recursive(6, 1, 2, 3);
	sink += on_the_stack(100 + sink % 2);
	sink += large(7);
	sink += aligned(3, 40);
	sink += vectors(2);
	sink += many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9);
	sink += through_libc();
	if (!setjmp(place))
		jumps(3);
	signals();
	faults();
	children();
	sink += generated();
	marker();
	return 0;
}
