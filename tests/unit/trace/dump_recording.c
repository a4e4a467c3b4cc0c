/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints what the reader finds in a recording, one line a stack, symbol, cgroup, task, account and
 * event, to be compared with read_by_page.py. */
#include <inttypes.h>
#include <stdio.h>

#include "trace/read/names.h"
#include "trace/read/reader.h"

static void print_stack(const struct trace_stack *stack)
{
	printf("stack %u %u %" PRIu64, stack->id, stack->flags, (uint64_t)stack->generation);
	for (u32 i = 0; i < stack->depth; i++)
		printf(" %" PRIx64, (uint64_t)stack->frames[i]);
	printf("\n");
}

static void print_symbol(const struct trace_symbol *symbol)
{
	printf("symbol %u %" PRIx64 " %" PRIu64 " %" PRIx64 " %s\n", symbol->mapping,
	       (uint64_t)symbol->start, (uint64_t)symbol->size, (uint64_t)symbol->address,
	       symbol->name);
}

static void print_mapping(const struct trace_mapping *mapping)
{
	printf("mapping %u %u %u %" PRIx64 " %u %s\n", mapping->number, mapping->kind,
	       mapping->tgid, (uint64_t)mapping->base, mapping->build_id_bytes, mapping->path);
}

static void print_cgroups_and_tasks(const struct trace_reader *reader)
{
	const struct trace_cgroup *cgroups;
	const struct trace_task *tasks;
	u32 cgroup_count = trace_reader_cgroups(reader, &cgroups);
	u32 task_count = trace_reader_tasks(reader, &tasks);

	for (u32 i = 0; i < cgroup_count; i++)
		printf("cgroup %" PRIu64 " %s\n", (uint64_t)cgroups[i].id, cgroups[i].path);
	for (u32 i = 0; i < task_count; i++)
		printf("task %" PRIu64 " %u %u %u %s\n", (uint64_t)tasks[i].time, tasks[i].tid,
		       tasks[i].tgid, tasks[i].cgroup, tasks[i].comm);
}

static void print_accounts(const struct trace_reader *reader)
{
	const struct thread_account *accounts;
	u32 count = trace_reader_accounts(reader, &accounts);

	for (u32 i = 0; i < count; i++) {
		printf("time %" PRIu64 " %" PRIu64, (uint64_t)accounts[i].begin,
		       (uint64_t)accounts[i].end);
		for (u32 state = 0; state < TIME_STATES; state++)
			printf(" %" PRIu64, (uint64_t)accounts[i].spent[state]);
		printf(" %" PRId64 " %u %u\n", (int64_t)accounts[i].stolen, accounts[i].tid,
		       accounts[i].tgid);
	}
}

static void print_index(const char *what, u32 index, u8 reason)
{
	if (index == TRACE_NO_STACK)
		printf(" %s-%u", what, reason);
	else
		printf(" %s%u", what, index);
}

static int print_event(void *arg, const struct trace_event *event)
{
	const struct trace_context *context = trace_reader_context(arg, event);
	char room[CONTEXT_NAME_ROOM];

	printf("event %" PRIu64 " %u %u %u", (uint64_t)event->time, event->cpu, event->tid,
	       event->kind);
	print_index("k", event->kernel, event->kernel_reason);
	print_index("u", event->user, event->user_reason);
	printf(" %" PRIx64 " %" PRIu64 " x%" PRIu64, (uint64_t)event->leaf, (uint64_t)event->value,
	       (uint64_t)event_stands_for(event));
	printf(" %s", format_trace_id_name(context, room));
	printf(" %s", format_span_id_name(context, room));
	printf(" %" PRIu64 " ", (uint64_t)event->further);
	if (!context || !context->attributes)
		putchar('-');
	else {
		const struct trace_attributes *attributes;

		trace_reader_attributes(arg, &attributes);
		attributes += context->attributes - 1;
		for (u32 i = 0; i < attributes->bytes; i++)
			printf("%02x", attributes->data[i]);
	}
	putchar('\n');
	return 0;
}

static void print_counters(const u64 *counters, u32 count)
{
	for (u32 i = 0; i < count; i++)
		printf(" %" PRIu64, (uint64_t)counters[i]);
}

static void print_ledger(const struct trace_ledger *ledger)
{
	printf("ledger %" PRIu64 " %" PRIu64, (uint64_t)ledger->produced,
	       (uint64_t)ledger->recorded);
	print_counters(ledger->lost, LOST_COUNT);
	print_counters(ledger->kernel_reasons, REASON_COUNT);
	print_counters(ledger->user_reasons, REASON_COUNT);
	print_counters(ledger->user_stops, STOP_COUNT);
	printf("\n");
}

static void print_definitions(const struct trace_reader *reader)
{
	const struct trace_mapping *mappings;
	const struct trace_stack *stacks;
	const struct trace_symbol *symbols;
	const struct trace_source_ledger *sources;
	u32 source_count = trace_reader_source_ledgers(reader, &sources);
	u32 mapping_count = trace_reader_mappings(reader, &mappings);
	u32 stack_count = trace_reader_stacks(reader, &stacks);
	u32 symbol_count = trace_reader_symbols(reader, &symbols);

	for (u32 i = 0; i < mapping_count; i++)
		print_mapping(&mappings[i]);
	print_cgroups_and_tasks(reader);
	print_accounts(reader);
	for (u32 i = 0; i < stack_count; i++)
		print_stack(&stacks[i]);
	for (u32 i = 0; i < symbol_count; i++)
		print_symbol(&symbols[i]);
	if (trace_reader_ledger(reader))
		print_ledger(trace_reader_ledger(reader));
	for (u32 i = 0; i < source_count; i++)
		printf("losses %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		       (uint64_t)sources[i].recorded, (uint64_t)sources[i].counted,
		       (uint64_t)sources[i].lost);
}

int main(int argc, char **argv)
{
	struct trace_reader *reader;

	if (argc != 2 || trace_reader_open(argv[1], &reader, NULL))
		return 1;
	print_definitions(reader);
	trace_reader_events(reader, print_event, reader, NULL);
	trace_reader_close(&reader);
	return 0;
}
