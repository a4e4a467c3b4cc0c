// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The true stack (shadow.h) while an exception is on its way: in destructors, in a handler, in one
// that throws again, and within a signal.
#define SHADOW_KEPT
#include "shadow.h"

#include <csignal>
#include <ucontext.h>

#define _Static_assert static_assert
#include "rule.h"

static volatile long sink;

noinline static void here(long n)
{
	marker(0, STOP_ROOT);
	sink = sink + n;
}

struct guard {
	long n;

	noinline explicit guard(long value) : n(value)
	{
	}
	noinline ~guard()
	{
		here(n);
	}
};

noinline static long thrower(int depth)
{
	guard held(depth);

	if (depth == 0)
		throw 42;
	return thrower(depth - 1) + held.n;
}

noinline static long rethrower(int depth)
{
	try {
		return thrower(depth);
	} catch (int) {
		guard held(7);

		here(1);
		throw;
	}
}

noinline static void catcher(int depth)
{
	try {
		sink = sink + rethrower(depth);
	} catch (int n) {
		here(n);
	}
}

// The frames of what a signal interrupts, and of the trampoline, are the pc + 1 (abi/stack.h).
plain static void on_fault(int, siginfo_t *, void *context)
{
	greg_t *rip = &static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP];

	shadow_push(reinterpret_cast<char *>(*rip) + 1);
	shadow_push(static_cast<char *>(__builtin_return_address(0)) + 1);
	catcher(2);
	shadow.depth -= 2;
	*rip += 2;
}

noinline static void faults()
{
	__asm__ volatile("ud2" ::: "memory");
	here(2);
}

int main()
{
	struct sigaction action {
	};

	catcher(4);
	action.sa_sigaction = on_fault;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGILL, &action, nullptr);
	faults();
}
