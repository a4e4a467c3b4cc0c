/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits for its input to end, then calls write() three times through rare() and five times through
 * frequent(). Built without frame pointers.
 */
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
/* Keeps the call from becoming a jump; the different instructions keep the linker from merging
 * equal functions. */
#define AFTER_CALL(instruction) __asm__ volatile(instruction ::: "memory")

static APART void emit(void)
{
	if (write(STDOUT_FILENO, "x", 1) != 1)
		_exit(1);
	AFTER_CALL("");
}

static APART void rare(void)
{
	emit();
	AFTER_CALL("");
}

static APART void frequent(void)
{
	emit();
	AFTER_CALL("nop");
}

int main(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	for (volatile int i = 0; i < 3; i++)
		rare();
	for (volatile int i = 0; i < 5; i++)
		frequent();
	return 0;
}
