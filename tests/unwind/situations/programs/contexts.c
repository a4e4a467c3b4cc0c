/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* main -> schedule -> swapcontext(), and on the stack of the context: body -> leaf. No caller has
 * called body(). */
#include <stdlib.h>
#include <ucontext.h>

#include "work.h"

static ucontext_t scheduler, routine;

APART static void body(void)
{
	for (;;) {
		leaf();
		swapcontext(&routine, &scheduler);
	}
}

APART static void schedule(void)
{
	swapcontext(&scheduler, &routine);
	AFTER_CALL();
}

int main(int argc, char **argv)
{
	(void)argc;
	getcontext(&routine);
	routine.uc_stack.ss_size = 65536;
	routine.uc_stack.ss_sp = malloc(65536);
	makecontext(&routine, body, 0);
	while (is_time_left(argv))
		schedule();
	return 0;
}
