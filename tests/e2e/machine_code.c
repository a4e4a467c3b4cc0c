/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * machine_code jit N: writes a function into anonymous memory, as JIT compilers do, and calls
 * counted() through it N times; prints the address that the call returns to. jit_map: and names
 * it in a perf map, behind a name that it had before. machine_code vdso N: asks for the time N
 * times, which runs in the kernel's shared object.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
static const unsigned char code[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0xff, 0xd7,	  /* call *%rdi */
	0x5d,		  /* pop %rbp */
	0xc3,		  /* ret */
};
#define CALL_END 6
#elif defined(__aarch64__)
static const unsigned int code[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xd63f0000, /* blr x0 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
#define CALL_END 12
#endif

static __attribute__((noinline)) void leaf(void)
{
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void counted(void)
{
	leaf();
	__asm__ volatile("" ::: "memory");
}

static void *write_code(void)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	memcpy(memory, code, sizeof(code));
	if (mprotect(memory, bytes, PROT_READ | PROT_EXEC))
		exit(1);
	__builtin___clear_cache(memory, (char *)memory + sizeof(code));
	return memory;
}

static void name_code(const void *memory)
{
	unsigned long start = (unsigned long)memory;
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map)
		exit(1);
	fprintf(map, "%lx 40 overwritten\n0x%lx 0x%zx generated code\n", start - 8, start,
		sizeof(code));
	fclose(map);
}

static void run_code(long n, int is_named)
{
	char *memory = write_code();
	void (*call)(void (*function)(void)) = (void (*)(void (*)(void)))memory;

	if (is_named)
		name_code(memory);
	printf("%lx\n", (unsigned long)(memory + CALL_END));
	while (n--)
		call(counted);
}

static void ask_time(long n)
{
	struct timespec now;

	while (n--)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "vdso"))
		run_code(atol(argv[2]), !strcmp(argv[1], "jit_map"));
	else
		ask_time(atol(argv[2]));
	return 0;
}
