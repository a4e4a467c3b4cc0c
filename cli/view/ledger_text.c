/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints one line for the sum and one line for each cause of loss that occurred. */
#include "ledger_text.h"

#include <stdio.h>
#include <time.h>

#include "report/event/stack_end.h"
#include "terminal/message.h"

#define X(id, name, meaning) {name, meaning},
static const struct cause {
	const char *name, *meaning;
} lost_causes[] = {LEDGER_LOST(X)}, notes[] = {LEDGER_NOTES(X)};
#undef X

static void print_incomplete_stacks(u64 count, const struct stack_end *end, const char *what,
				    const char *prefix, FILE *to)
{
	if (count && stack_end_is_cut(end))
		fprintf(to, "%s%s: %llu, %s: %s\n", prefix, what, (unsigned long long)count,
			end->name, end->meaning);
}

/* Formats the sum of a ledger: "12 events = 9 recorded + 1 counted only + 2 lost" */
static size_t format_balance(const struct trace_ledger *ledger, char *text, size_t bytes)
{
	unsigned long long lost = 0;
	char counted[48] = "";

	for (int i = 0; i < LOST_COUNT; i++)
		lost += ledger->lost[i];
	if (ledger->counted)
		snprintf(counted, sizeof(counted), " + %llu counted only",
			 (unsigned long long)ledger->counted);
	return snprintf(text, bytes, "%llu events = %llu recorded%s + %llu lost",
			(unsigned long long)ledger->produced, (unsigned long long)ledger->recorded,
			counted, lost);
}

void ledger_print(const struct trace_ledger *ledger, const char *prefix, FILE *to)
{
	char balance[160];

	format_balance(ledger, balance, sizeof(balance));
	fprintf(to, "%s%s\n", prefix, balance);
	if (ledger->counted)
		fprintf(to,
			"%scounted only: %llu, at their stacks, without a time: the ring was "
			"full, or the kernel aggregates\n",
			prefix, (unsigned long long)ledger->counted);
	for (int i = 0; i < LOST_COUNT; i++)
		if (ledger->lost[i])
			fprintf(to, "%slost: %llu, %s: %s\n", prefix,
				(unsigned long long)ledger->lost[i], lost_causes[i].name,
				lost_causes[i].meaning);
	for (int i = 0; i < REASON_COUNT; i++)
		print_incomplete_stacks(ledger->kernel_reasons[i], stack_end_of_reason(i),
					"without kernel stack", prefix, to);
	for (int i = 0; i < REASON_COUNT; i++)
		print_incomplete_stacks(ledger->user_reasons[i], stack_end_of_reason(i),
					"without user stack", prefix, to);
	for (int i = 0; i < STOP_COUNT; i++)
		print_incomplete_stacks(ledger->user_stops[i], stack_end_of_stop(i),
					"user stack ends early", prefix, to);
	if (ledger->user_stops[STOP_NONE])
		fprintf(to, "%suser stack of unknown end: %llu, %s\n", prefix,
			(unsigned long long)ledger->user_stops[STOP_NONE],
			stack_end_of_stop(STOP_NONE)->meaning);
	for (int i = 0; i < NOTE_COUNT; i++)
		if (ledger->notes[i])
			fprintf(to, "%s%llu %s\n", prefix, (unsigned long long)ledger->notes[i],
				notes[i].meaning);
}

void ledger_format_line(const struct trace_ledger *ledger, char *text, size_t bytes)
{
	const char *mark = ":";
	size_t used = format_balance(ledger, text, bytes);

	for (int i = 0; i < LOST_COUNT && used < bytes; i++) {
		if (!ledger->lost[i])
			continue;
		used += snprintf(text + used, bytes - used, "%s %llu %s", mark,
				 (unsigned long long)ledger->lost[i], lost_causes[i].name);
		mark = ",";
	}
}

const char *format_time_of_self_stop(const struct self_stop *stop, char *text, size_t bytes)
{
	time_t seconds = stop->realtime / 1000000000;
	struct tm local;
	size_t length = 0;

	if (localtime_r(&seconds, &local))
		length = strftime(text, bytes, "%F %T", &local);
	snprintf(text + length, bytes - length, ".%06u", (u32)(stop->realtime / 1000 % 1000000));
	return text;
}

void report_new_self_stop(struct capture *capture, const char *instance, u64 *told)
{
	struct self_stop stop;
	char time[48];

	self_stop_read(capture_loaded(capture), &stop);
	if (!stop.is_over || stop.time == *told)
		return;
	*told = stop.time;
	message("%s: stopped by %s at %s; 'stackmap resume %s' starts it again", instance,
		stop.name, format_time_of_self_stop(&stop, time, sizeof(time)), instance);
}

void report_self_stop_of_instance(struct capture *capture, const char *instance)
{
	u64 told = 0;

	report_new_self_stop(capture, instance, &told);
}
