/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * interrupted N: N times, a fault interrupts the first instruction of stores_at_once(), which
 * follows ends_before() without a gap. The handler is in getpriority() then. Built with frame
 * pointers.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static char page[8192] __attribute__((aligned(4096)));
static volatile int sink;

void stores_at_once(char *to);
__asm__(".text\n"
	".type ends_before, @function\n"
	"ends_before:\n"
	".cfi_startproc\n"
	"ret\n"
	".cfi_endproc\n"
	".size ends_before, . - ends_before\n"
	".type stores_at_once, @function\n"
	"stores_at_once:\n"
	".cfi_startproc\n"
	"movb $1, (%rdi)\n"
	"ret\n"
	".cfi_endproc\n"
	".size stores_at_once, . - stores_at_once\n");

static APART void calls_it(char *to)
{
	stores_at_once(to);
	sink++;
}

static APART void on_fault(int number)
{
	(void)number;
	syscall(SYS_getpriority, 0, 1);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	sink++;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;

	signal(SIGSEGV, on_fault);
	for (int i = 0; i < count; i++) {
		mprotect(page, 4096, PROT_READ);
		calls_it(page);
	}
	return 0;
}
