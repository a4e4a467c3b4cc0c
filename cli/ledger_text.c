/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One line for the sum, one for each cause that occurred. */
#include "ledger_text.h"

#define X(id, name, meaning) {name, meaning},
static const struct cause {
	const char *name, *meaning;
} lost_causes[] = {LEDGER_LOST(X)}, reasons[] = {STACK_REASONS(X)}, notes[] = {LEDGER_NOTES(X)};
#undef X

static unsigned long long lost_sum(const struct trace_ledger *ledger)
{
	unsigned long long sum = 0;

	for (int i = 0; i < LOST_COUNT; i++)
		sum += ledger->lost[i];
	return sum;
}

/* A stack that was not asked for, or is not there to be had, is no loss. */
static void print_reasons(const u64 *counts, const char *side, const char *prefix, FILE *to)
{
	for (int i = REASON_UNREADABLE; i < REASON_COUNT; i++)
		if (counts[i])
			fprintf(to, "%swithout %s stack: %llu, %s: %s\n", prefix, side,
				(unsigned long long)counts[i], reasons[i].name, reasons[i].meaning);
}

void ledger_print(const struct trace_ledger *ledger, const char *prefix, FILE *to)
{
	fprintf(to, "%s%llu events = %llu recorded + %llu lost\n", prefix,
		(unsigned long long)ledger->produced, (unsigned long long)ledger->recorded,
		lost_sum(ledger));
	for (int i = 0; i < LOST_COUNT; i++)
		if (ledger->lost[i])
			fprintf(to, "%slost: %llu, %s: %s\n", prefix,
				(unsigned long long)ledger->lost[i], lost_causes[i].name,
				lost_causes[i].meaning);
	print_reasons(ledger->kernel_reasons, "kernel", prefix, to);
	print_reasons(ledger->user_reasons, "user", prefix, to);
	for (int i = 0; i < NOTE_COUNT; i++)
		if (ledger->notes[i])
			fprintf(to, "%s%llu %s\n", prefix, (unsigned long long)ledger->notes[i],
				notes[i].meaning);
}
