/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwinds a stopped process by the product's unwinder and by elfutils at very many points, and
 * compares frame by frame.
 *
 *   test_live step LIMIT PERMILLE PROGRAM...       single steps from one int3 of the program to the
 * next test_live calls EVERY STEPS LIMIT PERMILLE PROGRAM... at each EVERY-th system call, then
 * STEPS single steps from there
 *
 * At most LIMIT stacks. At least PERMILLE of 1000 have to be equal or confirmed; differences are
 * printed, by the function in which they begin. Exit: 0, 1, 77 ptrace is not possible here.
 *
 * Where elfutils may be wrong (stubs without tables, the resolver of ld.so), a stack is confirmed
 * if it follows from the stack one instruction before, which was equal or confirmed: one
 * instruction changes the innermost pc, or calls, or returns.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#include "reference.h"

#define SKIP 77
#define DIFFERENCES_SHOWN 12
#define CALL_BYTES_MAX 8 /* of a call instruction */

static const char *const stop_names[] = {
#define X(id, name, meaning) name,
	STOP_REASONS(X)
#undef X
};

struct comparison {
	struct traced traced;
	struct reference *reference;
	struct unwind unwind;
	u64 image_generation;
	u64 expected[UNWIND_FRAMES];
	u32 expected_depth;
	u64 previous[UNWIND_FRAMES]; /* the stack one instruction before */
	u32 previous_depth;	     /* 0: no previous stack, or a wrong one */
	u64 stacks, equal, confirmed, different, frames;
	u64 stops[STOP_COUNT];
	u32 shown;
	u64 shown_at[DIFFERENCES_SHOWN];
};

static void unwind_here(struct comparison *comparison)
{
	struct unwind *unwind = &comparison->unwind;
	struct traced *traced = &comparison->traced;

	if (comparison->image_generation != traced->generation)
		unwind_drop_mapping_and_tables(unwind);
	comparison->image_generation = traced->generation;
	unwind->memory = traced;
	unwind->registers = traced->registers;
	unwind->is_compat = traced->is_compat;
	unwind->budget = UNWIND_BUDGET;
	unwind_stack(unwind, STACK_USER_DEPTH_MAX);
}

/* Drops the reference's last frame if its address has no code, which is the result of a wrong
 * table. */
static void drop_frame_without_code(struct comparison *comparison)
{
	u32 depth = comparison->expected_depth;

	if (depth > 1 && !unwind_find_mapping(&comparison->unwind, comparison->expected[depth - 1]))
		comparison->expected_depth--;
}

static u32 equal_frames(const struct comparison *comparison)
{
	u32 i = 0;

	while (i < comparison->unwind.depth && i < comparison->expected_depth &&
	       comparison->unwind.frame[i] == comparison->expected[i])
		i++;
	return i;
}

static bool is_new(struct comparison *comparison, u64 address)
{
	for (u32 i = 0; i < comparison->shown; i++)
		if (comparison->shown_at[i] == address)
			return false;
	if (comparison->shown == DIFFERENCES_SHOWN)
		return false;
	comparison->shown_at[comparison->shown++] = address;
	return true;
}

static void show(struct comparison *comparison, const char *what, u32 equal)
{
	const struct unwind *unwind = &comparison->unwind;
	u64 last = equal ? unwind->frame[equal - 1] : 0;

	if (!is_new(comparison, last))
		return;
	printf("  %s after frame %u, %#llx %s: ", what, equal, (unsigned long long)last,
	       reference_name(comparison->reference, last));
	printf("own %u frames, then %s", unwind->depth, stop_names[unwind->stop]);
	if (equal < unwind->depth)
		printf(" (next %#llx)", (unsigned long long)unwind->frame[equal]);
	printf("; elfutils %u", comparison->expected_depth);
	if (equal < comparison->expected_depth)
		printf(" (next %#llx)", (unsigned long long)comparison->expected[equal]);
	printf("\n");
}

static bool same_callers(const u64 *a, u32 a_depth, const u64 *b, u32 b_depth)
{
	return a_depth == b_depth && !memcmp(a, b, a_depth * sizeof(*a));
}

static bool is_confirmed(const struct comparison *comparison)
{
	const u64 *now = comparison->unwind.frame, *before = comparison->previous;
	u32 depth = comparison->unwind.depth, depth_before = comparison->previous_depth;

	if (depth < 1 || depth_before < 1 || comparison->unwind.stop != STOP_ROOT)
		return false;
	if (same_callers(now + 1, depth - 1, before + 1, depth_before - 1))
		return true;
	if (depth >= 2 && now[1] > before[0] && now[1] <= before[0] + CALL_BYTES_MAX &&
	    same_callers(now + 2, depth - 2, before + 1, depth_before - 1))
		return true;
	return same_callers(now, depth, before + 1, depth_before - 1);
}

static void remember(struct comparison *comparison, bool is_right)
{
	comparison->previous_depth = is_right ? comparison->unwind.depth : 0;
	memcpy(comparison->previous, comparison->unwind.frame,
	       comparison->unwind.depth * sizeof(u64));
}

static void compare(struct comparison *comparison)
{
	struct unwind *unwind = &comparison->unwind;
	u32 equal;

	unwind_here(comparison);
	comparison->expected_depth = reference_unwind(comparison->reference, &comparison->traced,
						      comparison->expected, STACK_USER_DEPTH_MAX);
	drop_frame_without_code(comparison);
	equal = equal_frames(comparison);
	comparison->stacks++;
	comparison->frames += unwind->depth;
	comparison->stops[unwind->stop]++;
	if (equal == unwind->depth && equal == comparison->expected_depth) {
		comparison->equal++;
		if (unwind->stop != STOP_ROOT)
			show(comparison, "equal, but incomplete", equal);
	} else if (is_confirmed(comparison)) {
		comparison->confirmed++;
		show(comparison, "confirmed", equal);
	} else {
		comparison->different++;
		show(comparison, "different", equal);
		remember(comparison, false);
		return;
	}
	remember(comparison, true);
}

static bool at_syscall(const struct comparison *comparison)
{
	u16 code;

	return traced_read(&comparison->traced, comparison->traced.registers.value[REGISTER_RIP],
			   &code, sizeof(code)) &&
	       (code == 0x050f || code == 0x80cd || code == 0x340f);
}

/* Steps one instruction, which may be a system call that changes the mappings. */
static enum traced_stop step(struct comparison *comparison)
{
	bool is_syscall = at_syscall(comparison);
	enum traced_stop stop = traced_resume(&comparison->traced, PTRACE_SINGLESTEP);

	if (is_syscall && stop != TRACED_EXITED)
		traced_maps(&comparison->traced);
	return stop;
}

static void compare_steps(struct comparison *comparison, u64 limit)
{
	enum traced_stop stop;

	do
		stop = traced_resume(&comparison->traced, PTRACE_CONT);
	while (stop != TRACED_MARKER && stop != TRACED_EXITED);
	traced_maps(&comparison->traced);
	while (stop != TRACED_EXITED && comparison->stacks < limit) {
		compare(comparison);
		stop = step(comparison);
		if (stop == TRACED_MARKER)
			break;
	}
}

static bool compare_some(struct comparison *comparison, u32 steps, u64 limit)
{
	traced_maps(&comparison->traced);
	comparison->previous_depth = 0;
	for (u32 i = 0; i <= steps && comparison->stacks < limit; i++) {
		compare(comparison);
		if (step(comparison) == TRACED_EXITED)
			return false;
	}
	return true;
}

static void compare_calls(struct comparison *comparison, u32 every, u32 steps, u64 limit)
{
	u64 calls = 0;

	while (comparison->stacks < limit) {
		enum traced_stop stop = traced_resume(&comparison->traced, PTRACE_SYSCALL);

		if (stop == TRACED_EXITED)
			return;
		if (stop == TRACED_SYSCALL && ++calls % every == 0 &&
		    !compare_some(comparison, steps, limit))
			return;
	}
}

static int report(const struct comparison *comparison, u64 permille)
{
	printf("%llu stacks, %llu frames: %llu equal, %llu confirmed, %llu different\n",
	       (unsigned long long)comparison->stacks, (unsigned long long)comparison->frames,
	       (unsigned long long)comparison->equal, (unsigned long long)comparison->confirmed,
	       (unsigned long long)comparison->different);
	for (u32 i = 0; i < STOP_COUNT; i++)
		if (comparison->stops[i])
			printf("  %s: %llu\n", stop_names[i],
			       (unsigned long long)comparison->stops[i]);
	if (!comparison->stacks) {
		printf("no stack was compared\n");
		return 1;
	}
	return (comparison->equal + comparison->confirmed) * 1000 < comparison->stacks * permille;
}

int main(int argc, char **argv)
{
	static struct comparison comparison;
	bool by_calls = argc > 6 && !strcmp(argv[1], "calls");
	char **program = by_calls ? argv + 6 : argv + 4;
	int status;

	if (argc < 5) {
		fprintf(stderr, "usage: test_live step|calls ...\n");
		return 2;
	}
	if (!traced_start(&comparison.traced, program)) {
		printf("skipped: %s cannot be traced\n", program[0]);
		return SKIP;
	}
	comparison.reference = reference_create();
	if (by_calls)
		compare_calls(&comparison, atoi(argv[2]), atoi(argv[3]), atoll(argv[4]));
	else
		compare_steps(&comparison, atoll(argv[2]));
	status = report(&comparison, atoll(by_calls ? argv[5] : argv[3]));
	reference_free(&comparison.reference);
	traced_end(&comparison.traced);
	return status;
}
