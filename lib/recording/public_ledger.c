/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Causes have names, so that a program that knows fewer causes than the library shows all of
 * them. */
#include "recording/public_ledger.h"

#include "report/event/stack_end.h"

#define X(id, name, meaning) {name, meaning, 0},
static const struct stackmap_count lost_causes[] = {LEDGER_LOST(X)}, notes[] = {LEDGER_NOTES(X)};
#undef X

static struct stackmap_count count_of(const struct stack_end *end, u64 count)
{
	return (struct stackmap_count){end->name, end->meaning, count};
}

static void set_causes(struct stackmap_count *to, const struct stackmap_count *causes,
		       const u64 *counts, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		to[i] = causes[i];
		to[i].count = counts[i];
	}
	to[count] = (struct stackmap_count){};
}

static void set_reasons(struct stackmap_count *to, const u64 *counts)
{
	for (u32 i = 0; i < REASON_COUNT; i++)
		to[i] = count_of(stack_end_of_reason(i), counts[i]);
	to[REASON_COUNT] = (struct stackmap_count){};
}

static void set_stops(struct stackmap_count *to, const u64 *counts)
{
	for (u32 i = 0; i < STOP_COUNT; i++)
		to[i] = count_of(stack_end_of_stop(i), counts[i]);
	to[STOP_COUNT] = (struct stackmap_count){};
}

void public_ledger_set(struct public_ledger *public, const struct trace_ledger *ledger)
{
	set_causes(public->lost, lost_causes, ledger->lost, LOST_COUNT);
	set_causes(public->notes, notes, ledger->notes, NOTE_COUNT);
	set_reasons(public->without_kernel, ledger->kernel_reasons);
	set_reasons(public->without_user, ledger->user_reasons);
	set_stops(public->user_ends, ledger->user_stops);
	public->ledger = (struct stackmap_ledger){
		.produced = ledger->produced,
		.recorded = ledger->recorded,
		.lost = public->lost,
		.without_kernel = public->without_kernel,
		.without_user = public->without_user,
		.user_ends = public->user_ends,
		.notes = public->notes,
	};
}
