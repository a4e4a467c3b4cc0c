/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwinds a program at its markers, and expects the frames and the stop reason that the program
 * itself tells (shadow.h): no other unwinder has a say.
 *
 *   test_golden [--every-stop] PROGRAM...
 *
 * With --every-stop each stop reason there is has to be met. Exit: 0, 1 a stack is wrong, 77 ptrace
 * is not possible here.
 */
#include "shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "traced.h"

#define SKIP 77
#define SMALL_BUDGET 300

static const char *const stop_names[] = {
#define X(id, name, meaning) name,
	STOP_REASONS(X)
#undef X
};

static struct traced traced;
static struct unwind unwind;
static struct shadow shadow;
static u64 stops[STOP_COUNT];

static void unwind_here(void)
{
	unwind_forget(&unwind);
	unwind.memory = &traced;
	unwind.registers = traced.registers;
	unwind.is_compat = traced.is_compat;
	unwind.budget = shadow.stop == STOP_BUDGET ? SMALL_BUDGET : UNWIND_BUDGET;
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
}

/* How many frames of the truth the unwinder has to have, after the pc itself. */
static u32 expected_callers(void)
{
	u32 callers = shadow.depth - shadow.base;

	if (shadow.stop == STOP_DEPTH)
		return STACK_USER_DEPTH_MAX - 1;
	if (shadow.stop == STOP_BUDGET)
		return unwind.depth ? unwind.depth - 1 : 0;
	return callers;
}

/* How many of the callers are the true ones. */
static u32 true_callers(void)
{
	u32 i = 0;

	while (i + 1 < unwind.depth && i < shadow.depth &&
	       unwind.frame[i + 1] == shadow.frame[shadow.depth - 1 - i])
		i++;
	return i;
}

static bool is_right(void)
{
	u32 callers = expected_callers(), found = true_callers();

	if (unwind.stop != shadow.stop || found < callers ||
	    unwind.frame[0] != traced.registers.value[REGISTER_RIP])
		return false;
	return shadow.stop == STOP_ROOT || unwind.depth == 1 + callers;
}

static bool check(void)
{
	if (!traced_read(&traced, traced.registers.value[REGISTER_RBX], &shadow, sizeof(shadow)) ||
	    shadow.depth > SHADOW_FRAMES || shadow.stop >= STOP_COUNT) {
		printf("a marker without a shadow\n");
		return false;
	}
	traced_maps(&traced);
	unwind_here();
	stops[unwind.stop]++;
	if (is_right())
		return true;
	printf("wrong at %#llx: %u frames, %u callers are right of %u, stop %s, expected %s\n",
	       (unsigned long long)traced.registers.value[REGISTER_RIP], unwind.depth,
	       true_callers(), expected_callers(), stop_names[unwind.stop],
	       stop_names[shadow.stop]);
	return false;
}

static u32 missing_stops(void)
{
	u32 missing = 0;

	for (u32 i = STOP_ROOT; i < STOP_COUNT; i++) {
		if (stops[i])
			continue;
		printf("no walk ended by %s\n", stop_names[i]);
		missing++;
	}
	return missing;
}

int main(int argc, char **argv)
{
	bool every_stop = argc > 1 && !strcmp(argv[1], "--every-stop");
	u32 markers = 0, wrong = 0;
	enum traced_stop stop;

	if (argc < 2 + every_stop)
		return 2;
	if (!traced_start(&traced, argv + 1 + every_stop)) {
		printf("skipped: %s cannot be traced\n", argv[1 + every_stop]);
		return SKIP;
	}
	while ((stop = traced_resume(&traced, PTRACE_CONT)) != TRACED_EXITED) {
		if (stop != TRACED_MARKER)
			continue;
		markers++;
		wrong += !check();
	}
	printf("%u stacks, %u wrong\n", markers, wrong);
	traced_end(&traced);
	return !markers || wrong || (every_stop && missing_stops());
}
