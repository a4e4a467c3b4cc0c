/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * generated MS WHAT: machine code that the program itself has written.
 *
 *   framed     main -> run -> (code with a frame pointer) -> leaf
 *   moved      main -> outer -> middle -> leaf, after the program's text was moved to anonymous
 *              memory at the same addresses, as start-up code for large pages does
 *   clock      main -> ask -> the kernel's shared object
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "work.h"

extern char __executable_start[], etext[];

APART static void middle(void)
{
	leaf();
	AFTER_CALL();
}

APART static void outer(void)
{
	middle();
	AFTER_CALL();
}

APART static void ask(void)
{
	struct timespec time;

	for (int i = 0; i < 10000; i++)
		clock_gettime(CLOCK_MONOTONIC, &time);
	sink += (unsigned long)time.tv_nsec;
}

APART static void run(void *code)
{
	((void (*)(void (*)(void)))(uintptr_t)code)(leaf);
	AFTER_CALL();
}

/* push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret */
static void *write_code(void)
{
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(memory, code, sizeof(code));
	mprotect(memory, 4096, PROT_READ | PROT_EXEC);
	return memory;
}

/* The function lies in another page than the code that it moves. */
__attribute__((section(".mover"), aligned(4096), noinline)) static void move_text(void)
{
	char *from = (char *)((uintptr_t)leaf & ~4095UL);
	size_t bytes = ((uintptr_t)etext - (uintptr_t)from + 4095) & ~4095UL;
	char *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(copy, from, bytes);
	mprotect(copy, bytes, PROT_READ | PROT_EXEC);
	mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, from);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "framed";
	void *code = write_code();

	if (!strcmp(what, "moved"))
		move_text();
	while (is_time_left(argv)) {
		if (!strcmp(what, "framed"))
			run(code);
		else if (!strcmp(what, "moved"))
			outer();
		else
			ask();
	}
	return 0;
}
