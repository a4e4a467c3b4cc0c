/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap script`: every event in the order of time. The text is that of perf script, so that
 * what reads that reads this: a head line, one line a frame from the innermost out, an empty line.
 * Kernel frames come before user frames, and the leaf of a sample before its callers.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "error.h"
#include "message.h"
#include "recording.h"
#include "report/frame_names.h"
#include "terminal.h"

struct script_values {
	struct filter_values filter;
	bool ids;
	bool no_demangle;
};

struct script {
	struct trace_reader *reader;
	struct event_filter filter;
	const struct trace_source *sources;
	const struct trace_stack *stacks;
	struct frame_names *names;
};

/* One side of an event's stack. */
struct side {
	const char *name;
	u32 stack;
	u32 reason;
	u64 leaf; /* 0: none on this side */
};

static const char *const reason_names[REASON_COUNT] = {
#define X(id, name, meaning) name,
	STACK_REASONS(X)
#undef X
};

static struct side kernel_side(const struct trace_event *event)
{
	return (struct side){
		.name = "kernel",
		.stack = event->kernel,
		.reason = event->kernel_reason,
		.leaf = FRAME_IS_KERNEL(event->leaf) ? event->leaf : 0,
	};
}

static struct side user_side(const struct trace_event *event)
{
	return (struct side){
		.name = "user",
		.stack = event->user,
		.reason = event->user_reason,
		.leaf = FRAME_IS_KERNEL(event->leaf) ? 0 : event->leaf,
	};
}

static void print_task(const struct script *script, const struct trace_event *event)
{
	const struct trace_task *task = trace_reader_task(script->reader, event->tid, event->time);

	terminal_put_name(task ? task->comm : "<...>", stdout);
}

static void print_place(const struct trace_event *event)
{
	printf(" [%03u] %llu.%06llu: ", event->cpu, (unsigned long long)(event->time / 1000000000),
	       (unsigned long long)(event->time / 1000 % 1000000));
}

static int print_frame(const struct script *script, u64 frame, bool return_address)
{
	const struct frame_name *name = frame_names_find(script->names, frame, return_address);

	if (!name)
		return -ENOMEM;
	printf("\t%16llx ", (unsigned long long)name->address);
	terminal_put_name(frame_names_label(script->names, name->label), stdout);
	if (name->function)
		printf("+0x%llx", (unsigned long long)name->offset);
	printf(" (");
	terminal_put_name(name->object, stdout);
	printf(")\n");
	return 0;
}

static void print_missing(const struct side *side, const char *why)
{
	printf("\t%16x [%s stack %s] ([unknown])\n", 0, side->name, why);
}

static int print_frames(const struct script *script, const struct side *side)
{
	const struct trace_stack *stack = &script->stacks[side->stack];
	int err = 0;

	for (u32 i = 0; i < stack->depth && !err; i++)
		err = print_frame(script, stack->frames[i], i > 0 || side->leaf);
	if (!err && stack->flags & STACK_TRUNCATED)
		print_missing(side, "truncated");
	return err;
}

static int print_side(const struct script *script, struct side side)
{
	int err = side.leaf ? print_frame(script, side.leaf, false) : 0;

	if (err)
		return err;
	if (side.stack != TRACE_NO_STACK)
		return print_frames(script, &side);
	if (side.reason == REASON_UNREADABLE || side.reason == REASON_NO_ROOM)
		print_missing(&side, reason_names[side.reason]);
	return 0;
}

static int print_with_stacks(const struct script *script, const struct trace_event *event)
{
	const struct trace_source *source = &script->sources[event->kind];
	int err;

	print_task(script, event);
	printf(" %u", event->tid);
	print_place(event);
	if (source->extras & TRACE_EXTRA_VALUE)
		printf("%llu ", (unsigned long long)event->value);
	terminal_put_name(source->name, stdout);
	printf(":\n");
	err = print_side(script, kernel_side(event));
	if (!err)
		err = print_side(script, user_side(event));
	putchar('\n');
	return err;
}

/* A tracepoint goes by its own name here, as in ftrace: "sched_switch", not "sched:sched_switch".
 */
static const char *short_name(const char *name)
{
	const char *colon = strchr(name, ':');
	size_t prefix = colon ? (size_t)(colon - name) : 0;

	if (!colon || strchr(colon + 1, ':') || strchr(name, '/'))
		return name;
	if ((prefix == 1 && strchr("uk", *name)) || (prefix == 2 && name[1] == 'r'))
		return name;
	return colon + 1;
}

static void print_id(const struct script *script, const struct side *side, const char *tag)
{
	if (side->stack != TRACE_NO_STACK)
		printf(" <%s %u>", tag, script->stacks[side->stack].id);
	else if (side->reason == REASON_UNREADABLE || side->reason == REASON_NO_ROOM)
		printf(" <no %s: %s>", tag, reason_names[side->reason]);
}

static int print_leaf(const struct script *script, u64 leaf)
{
	const struct frame_name *name = frame_names_find(script->names, leaf, false);

	if (!name)
		return -ENOMEM;
	printf(" <leaf ");
	terminal_put_name(frame_names_label(script->names, name->label), stdout);
	if (name->function)
		printf("+0x%llx/0x%llx", (unsigned long long)name->offset,
		       (unsigned long long)name->size);
	putchar('>');
	return 0;
}

static int print_with_ids(const struct script *script, const struct trace_event *event)
{
	struct side kernel = kernel_side(event), user = user_side(event);
	int err = 0;

	print_task(script, event);
	printf("-%u", event->tid);
	print_place(event);
	terminal_put_name(short_name(script->sources[event->kind].name), stdout);
	putchar(':');
	print_id(script, &kernel, "stack_id");
	print_id(script, &user, "user_stack_id");
	if (event->leaf)
		err = print_leaf(script, event->leaf);
	putchar('\n');
	return err;
}

static int filtered(const struct script *script, const struct trace_event *event,
		    int (*print)(const struct script *script, const struct trace_event *event))
{
	if (!event_filter_passes(&script->filter, script->reader, event))
		return 0;
	if (ferror(stdout))
		return 1;
	return print(script, event);
}

static int each_with_stacks(void *script, const struct trace_event *event)
{
	return filtered(script, event, print_with_stacks);
}

static int each_with_ids(void *script, const struct trace_event *event)
{
	return filtered(script, event, print_with_ids);
}

/* An output that failed ends it early; main() says so. */
static int print_events(struct script *script, const struct script_values *values,
			struct stackmap_error *error)
{
	int err = frame_names_create(script->reader, !values->no_demangle, &script->names);

	trace_reader_sources(script->reader, &script->sources);
	trace_reader_stacks(script->reader, &script->stacks);
	if (!err)
		err = trace_reader_events(script->reader,
					  values->ids ? each_with_ids : each_with_stacks, script,
					  error);
	if (err == -ENOMEM)
		error_set(error, ENOMEM, "script: not enough memory");
	frame_names_free(&script->names);
	return err > 0 ? 0 : err;
}

static int script_run(const void *arg, int count, char **operands)
{
	const struct script_values *values = arg;
	struct script script = {0};
	struct stackmap_error error;
	int err;

	(void)count;
	if (recording_filter(&values->filter, &script.filter))
		return EXIT_USAGE;
	script.reader = recording_open(operands, &script.filter);
	if (!script.reader)
		return EXIT_FAILED;
	err = print_events(&script, values, &error);
	return recording_close(&script.reader, err, &error);
}

static const struct option_row rows[] = {
	{.name = "ids",
	 .type = OPTION_FLAG,
	 .target = offsetof(struct script_values, ids),
	 .group = "Output",
	 .help = "one line an event, with the ids of its stacks"},
	{.name = "no-demangle",
	 .type = OPTION_FLAG,
	 .target = offsetof(struct script_values, no_demangle),
	 .group = "Output",
	 .help = "names as in the symbol table"},
	FILTER_ROWS(struct script_values, filter),
	{0},
};

const struct command script_command = {
	.name = "script",
	.operands = "[FILE]",
	.operands_max = 1,
	.summary = "show every event of a recording with its stacks",
	.rows = rows,
	.values_bytes = sizeof(struct script_values),
	.defaults = &(const struct script_values){.filter = FILTER_DEFAULTS},
	.run = script_run,
};
