/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * machine_code jit N: writes a function into anonymous memory, as JIT compilers do, and calls
 * counted() through it N times; prints the address that the call returns to. jit_map: and names
 * it in a perf map, behind a name that it had before. jit_shared: the same in memory that is
 * mapped twice. file: the same in a file of the current folder, as V8 has a part of its own mapped
 * a second time, where no header is near. file_written: and may write to it. jit_dump: and names it
 * in a jitdump in the current folder, and moves it half-way. machine_code vdso N: asks for the time
 * N times, which runs in the kernel's shared object.
 */
#include <fcntl.h>
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

/* Writes the code to a file without a name, at an offset. */
static void *write_shared_code(void)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	int file = memfd_create("code", MFD_CLOEXEC);
	void *memory;

	if (file < 0 || ftruncate(file, 3 * bytes) ||
	    pwrite(file, code, sizeof(code), 2 * bytes) != sizeof(code))
		exit(1);
	memory = mmap(NULL, bytes, PROT_READ | PROT_EXEC, MAP_SHARED, file, 2 * bytes);
	return memory == MAP_FAILED ? NULL : memory;
}

/* Writes the code behind the place of a file's header. */
static void *write_code_file(int protection)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	int file = open("code", O_CREAT | O_TRUNC | O_RDWR, 0700);
	void *memory;

	if (file < 0 || ftruncate(file, 3 * bytes) ||
	    pwrite(file, code, sizeof(code), 2 * bytes) != sizeof(code))
		exit(1);
	memory = mmap(NULL, bytes, protection, MAP_PRIVATE, file, 2 * bytes);
	if (memory == MAP_FAILED)
		exit(1);
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

static void write_all(int file, const void *bytes, size_t count)
{
	if (write(file, bytes, count) != (ssize_t)count)
		exit(1);
}

/* Maps the jitdump, as tracers find it by this mapping. */
static int begin_dump(void)
{
	const unsigned int header[10] = {0x4a695444, 1, sizeof(header), 0, 0, getpid()};
	char path[64];
	int file;

	snprintf(path, sizeof(path), "jit-%d.dump", getpid());
	file = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	if (file < 0 ||
	    mmap(NULL, sizeof(header), PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED)
		exit(1);
	write_all(file, header, sizeof(header));
	return file;
}

static void dump_load(int file, const void *memory, unsigned long index, const char *name)
{
	unsigned long start = (unsigned long)memory, bytes = strlen(name) + 1 + sizeof(code);
	const unsigned int head[6] = {0, 56 + bytes, 0, 0, getpid(), getpid()};
	const unsigned long place[4] = {start, start, sizeof(code), index};

	write_all(file, head, sizeof(head));
	write_all(file, place, sizeof(place));
	write_all(file, name, strlen(name) + 1);
	write_all(file, code, sizeof(code));
}

static void dump_move(int file, const void *from, const void *to, unsigned long index)
{
	const unsigned int head[6] = {1, 64, 0, 0, getpid(), getpid()};
	const unsigned long place[5] = {(unsigned long)to, (unsigned long)from, (unsigned long)to,
					sizeof(code), index};

	write_all(file, head, sizeof(head));
	write_all(file, place, sizeof(place));
}

typedef void (*generated)(void (*function)(void));

static void run_dumped(long n)
{
	const void *memory = write_code(), *moved = write_code();
	int file = begin_dump();
	long i;

	dump_load(file, (const char *)memory - 4, 0, "overwritten");
	dump_load(file, memory, 1, "generated code");
	for (i = 0; i < n / 2; i++)
		((generated)memory)(counted);
	dump_move(file, memory, moved, 1);
	for (; i < n; i++)
		((generated)moved)(counted);
}

static void run_code(char *memory, long n, int is_named)
{
	generated call = (generated)memory;

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
	if (!strcmp(argv[1], "vdso"))
		ask_time(atol(argv[2]));
	else if (!strcmp(argv[1], "jit_dump"))
		run_dumped(atol(argv[2]));
	else if (!strcmp(argv[1], "jit_shared"))
		run_code(write_shared_code(), atol(argv[2]), 1);
	else if (!strcmp(argv[1], "file"))
		run_code(write_code_file(PROT_READ | PROT_EXEC), atol(argv[2]), 0);
	else if (!strcmp(argv[1], "file_written"))
		run_code(write_code_file(PROT_READ | PROT_WRITE | PROT_EXEC), atol(argv[2]), 0);
	else
		run_code(write_code(), atol(argv[2]), !strcmp(argv[1], "jit_map"));
	return 0;
}
