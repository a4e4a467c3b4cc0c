/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * moved_code WHAT: moves its own code to anonymous memory at the same addresses, as programs do for
 * large pages, and then works: outer_work() calls middle_work(), and that calls leaf_work().
 *
 *   copy     the memory is mapped over the code, and the code copied into it
 *   remap    a copy of the code is moved over it
 *   differ   a copy that differs in one byte, of a function that is never called
 *   change   copy, and the same byte is written after the work; then later_work()
 *   stay     copy; says so on standard output, and works until it is killed
 *
 * Both kinds of work take a second and a half of CPU time: others may have the CPUs meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#define MOVED APART __attribute__((section("moved_text")))
#define MOVER APART __attribute__((section("mover_text"), aligned(4096)))
#define WORK_SECONDS 1.5
#define AFTER_CALL() __asm__ volatile("" ::: "memory")

extern char __start_moved_text[], __stop_moved_text[];
static volatile unsigned long sink;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

__attribute__((section("moved_text"), aligned(4096), used)) static void never_called(void)
{
	sink = 1;
}

MOVED static void leaf_work(void)
{
	for (int i = 0; i < 100000; i++)
		sink += i * sink;
}

MOVED static void middle_work(void)
{
	leaf_work();
	AFTER_CALL();
}

MOVED static void outer_work(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		middle_work();
}

MOVED static void later_work(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		for (int i = 0; i < 100000; i++)
			sink += i * sink;
}

/* Makes system calls directly, as the stubs of calls to the C library may be moved, too. */
MOVER static long call_kernel(long number, long first, long second, long third, long fourth,
			      long fifth, long sixth)
{
	register long r10 __asm__("r10") = fourth;
	register long r8 __asm__("r8") = fifth;
	register long r9 __asm__("r9") = sixth;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

MOVER static char *map_code(char *at, unsigned long bytes, long flags)
{
	return (char *)call_kernel(SYS_mmap, (long)at, (long)bytes,
				   PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

MOVER static void copy_bytes(char *to, const char *from, unsigned long bytes)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

MOVER static void move_code(char *code, unsigned long bytes, int is_remapped, int is_changed)
{
	char *copy = map_code(NULL, bytes, 0);

	copy_bytes(copy, code, bytes);
	copy[0] ^= is_changed;
	if (is_remapped) {
		call_kernel(SYS_mprotect, (long)copy, (long)bytes, PROT_READ | PROT_EXEC, 0, 0, 0);
		call_kernel(SYS_mremap, (long)copy, (long)bytes, (long)bytes,
			    MREMAP_MAYMOVE | MREMAP_FIXED, (long)code, 0);
		return;
	}
	map_code(code, bytes, MAP_FIXED);
	copy_bytes(code, copy, bytes);
	call_kernel(SYS_mprotect, (long)code, (long)bytes, PROT_READ | PROT_EXEC, 0, 0, 0);
}

MOVER static void change_code(char *code, unsigned long bytes)
{
	call_kernel(SYS_mprotect, (long)code, (long)bytes, PROT_READ | PROT_WRITE | PROT_EXEC, 0, 0,
		    0);
	code[0] ^= 1;
	call_kernel(SYS_mprotect, (long)code, (long)bytes, PROT_READ | PROT_EXEC, 0, 0, 0);
}

int main(int argc, char **argv)
{
	char *code = __start_moved_text;
	unsigned long bytes = (unsigned long)(__stop_moved_text - code + 4095) & ~4095UL;
	const char *what = argc == 2 ? argv[1] : "";

	move_code(code, bytes, !strcmp(what, "remap"), !strcmp(what, "differ"));
	if (!strcmp(what, "stay"))
		puts("moved");
	fflush(stdout);
	outer_work(!strcmp(what, "stay") ? 1e9 : WORK_SECONDS);
	if (!strcmp(what, "change")) {
		change_code(code, bytes);
		later_work(WORK_SECONDS);
	}
	AFTER_CALL();
	return 0;
}
