/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every event as `perf script -F comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso` prints it.
 * Readers of that text use regular expressions: the task name ends where a number follows, the
 * event name begins after the last space of its line, the object is the last text in parentheses
 * without a space. Spaces in these names therefore become `_`, as those readers would make them.
 * The readers fold stacks with `;`, so `;` becomes `:` in every name.
 *
 * The period is the value of the event if the events of its source have values, else 1. Readers
 * weigh events by the period. The period of an event of a summary, which stands for many events, is
 * therefore the sum of their values, or else their number.
 */
#include <errno.h>

#include "error.h"
#include "event_stack.h"
#include "export_format.h"
#include "format/printable.h"

struct printer {
	struct trace_reader *reader;
	const struct event_filter *filter;
	const struct trace_source *sources;
	struct event_stacks *stacks;
	FILE *to;
};

/* Writes a name with `space` in place of each space and ":" in place of each ";". */
static void put_name_without_separators(const char *name, const char *space, FILE *to)
{
	while (*name) {
		const char *shown = *name == ' ' ? space : *name == ';' ? ":" : name;

		name += printable_put_next(shown, to);
	}
}

static void write_object_in_parentheses(const char *object, FILE *to)
{
	fputs(" (", to);
	put_name_without_separators(object, "_", to);
	fputs(")\n", to);
}

/* For an inlined function perf prints " (inlined)" in place of the object. The label of an inlined
 * function ends with this text already. */
static void put_frame(const struct event_frame *frame, FILE *to)
{
	fprintf(to, "\t%16llx ", frame->name ? (unsigned long long)frame->name->address : 0);
	if (frame->name && !frame->inlined) {
		if (frame->name->function)
			put_name_without_separators(frame->label, " ", to);
		else
			fputs("[unknown]", to);
		if (frame->name->function && frame->name->size)
			fprintf(to, "+0x%llx", (unsigned long long)frame->name->offset);
		write_object_in_parentheses(frame->name->object, to);
		return;
	}
	put_name_without_separators(frame->label, " ", to);
	if (frame->inlined)
		fputc('\n', to);
	else
		write_object_in_parentheses(frame->in_kernel ? "[kernel.kallsyms]" : "[unknown]",
					    to);
}

static int put_event(void *arg, const struct trace_event *event)
{
	const struct printer *printer = arg;
	struct event_stack stack;
	const struct trace_task *task;
	const char *comm;
	const struct trace_source *source;
	u64 period;

	if (!event_filter_passes(printer->filter, printer->reader, event))
		return 0;
	if (ferror(printer->to))
		return 1;
	if (event_stacks_find(printer->stacks, event, &stack))
		return -ENOMEM;
	task = trace_reader_task(printer->reader, event->tid, event->time);
	comm = task && task->comm[0] ? task->comm : "[unknown]";
	source = &printer->sources[event->kind];
	period = source->extras & TRACE_EXTRA_VALUE ? event->value : event_stands_for(event);
	put_name_without_separators(comm, "_", printer->to);
	/* Readers expect at least two characters, so a name of one character is padded with a
	 * space. */
	fprintf(printer->to, comm[1] ? " %u/%u" : "  %u/%u",
		TID_SHOWN(task ? task->tgid : event->tid), TID_SHOWN(event->tid));
	fprintf(printer->to, " [%03u] %5llu.%06llu: %10llu ", event->cpu,
		(unsigned long long)(event->time / 1000000000),
		(unsigned long long)(event->time / 1000 % 1000000), (unsigned long long)period);
	put_name_without_separators(source->name, "_", printer->to);
	fputs(": \n", printer->to);
	for (u32 i = 0; i < stack.depth; i++)
		put_frame(&stack.frames[i], printer->to);
	fputc('\n', printer->to);
	return 0;
}

static int perf_script_write(struct trace_reader *reader, const struct export_options *options,
			     FILE *to, struct stackmap_error *error)
{
	struct printer printer = {.reader = reader, .filter = &options->filter, .to = to};
	int err = event_stacks_create(reader, &options->naming, &printer.stacks);

	trace_reader_sources(reader, &printer.sources);
	if (!err)
		err = trace_reader_events(reader, put_event, &printer, error);
	if (err == -ENOMEM)
		error_set(error, ENOMEM, "perf-script: not enough memory");
	event_stacks_free(&printer.stacks);
	return err > 0 ? 0 : err;
}

const struct export_format perf_script_format = {
	.name = "perf-script",
	.write = perf_script_write,
};
