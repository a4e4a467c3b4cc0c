/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Trace Event Format of Chrome, which Perfetto and chrome://tracing show: a track for each
 * thread, an instant on it for each event. An event whose value is a time (off-CPU) ends when it is
 * recorded, so it is a slice of that length. Slices of a thread must nest: an event whose slice
 * would begin before the thread's last slice has ended is an instant. An event that stands for many
 * is an instant with their number: its value is the sum of theirs, and no length of time.
 *
 * A wait is a slice of whoever waited, and an instant of whoever ended the wait; the arguments of
 * each name the thread at the other end. An interrupt is no thread: its instants are global.
 *
 * chrome://tracing takes the stack from `sf`, a node of the tree in stackFrames, which therefore
 * comes last; Perfetto ignores that member, and shows the stack from the arguments.
 *
 * Events are written as they are read. In memory are the tree and the names of threads.
 */
#include <errno.h>
#include <string.h>

#include "error.h"
#include "event_stack.h"
#include "export_format.h"
#include "format/json_text.h"
#include "frame_tree.h"
#include "intern.h"
#include "json_labels.h"
#include "report/event/wakeups.h"
#include "ring.h"
#include "trace/block/source_name.h"

/* The name of a thread or process as it was written last, and where the thread's slices end. */
struct named_task {
	struct intern_key key; /* id, whether it is a process */
	char comm[16];
	u64 slices_end; /* ns */
};

struct chrome {
	struct trace_reader *reader;
	const struct event_filter *filter;
	const struct trace_source *sources;
	struct event_stacks *stacks;
	struct frame_tree *tree;
	struct json_labels labels;
	struct intern tasks;
	struct wakeups *wakeups;
	const char *before; /* the next event */
	FILE *to;
};

static void begin_event(struct chrome *chrome)
{
	fputs(chrome->before, chrome->to);
	chrome->before = ",\n";
}

static int put_task_name(struct chrome *chrome, const char *event, const struct trace_task *task)
{
	int err;

	begin_event(chrome);
	fprintf(chrome->to,
		"{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", event,
		task->tgid, task->tid);
	err = json_put_text(task->comm, chrome->to);
	fputs("}}", chrome->to);
	return err;
}

/* Once, and again when it has changed. */
static int name_task(struct chrome *chrome, const struct trace_task *task, bool is_process)
{
	const struct intern_key key = {{is_process ? task->tgid : task->tid, is_process}};
	struct named_task *named = intern_entry(&chrome->tasks, &key);

	if (!named)
		return -ENOMEM;
	if (strcmp(named->comm, task->comm) == 0)
		return 0;
	memcpy(named->comm, task->comm, sizeof(named->comm));
	return put_task_name(chrome, is_process ? "process_name" : "thread_name", task);
}

/* A process is called as its first thread. */
static int name_thread(struct chrome *chrome, const struct trace_task *task, u64 time)
{
	const struct trace_task *first = trace_reader_task(chrome->reader, task->tgid, time);
	int err = first && first->tgid == task->tgid ? name_task(chrome, first, true) : 0;

	return err ?: name_task(chrome, task, false);
}

static void put_time(const char *key, u64 ns, FILE *to)
{
	fprintf(to, ",\"%s\":%llu.%03llu", key, (unsigned long long)(ns / 1000),
		(unsigned long long)(ns % 1000));
}

static bool is_interrupt(const struct trace_event *event)
{
	return event->tid == TID_INTERRUPT;
}

/* The length of the event's slice in ns; 0: the event is an instant. The value of a waker is a time
 * of the thread that waited. */
static u64 slice_length(struct chrome *chrome, const struct trace_event *event)
{
	const struct trace_source *source = &chrome->sources[event->kind];
	bool is_time = source->extras & TRACE_EXTRA_VALUE && strcmp(source->value_unit, "ns") == 0;

	if (!is_time || event->repeats || is_interrupt(event) ||
	    wakeups_is_waker(chrome->wakeups, event))
		return 0;
	return event->value < event->time ? event->value : event->time;
}

static int put_when(struct chrome *chrome, const struct trace_event *event)
{
	const struct intern_key key = {{event->tid, false}};
	struct named_task *thread = intern_entry(&chrome->tasks, &key);
	u64 length = slice_length(chrome, event);

	if (!thread)
		return -ENOMEM;
	if (length && event->time - length >= thread->slices_end) {
		fputs(",\"ph\":\"X\"", chrome->to);
		put_time("ts", event->time - length, chrome->to);
		put_time("dur", length, chrome->to);
		thread->slices_end = event->time;
	} else {
		fprintf(chrome->to, ",\"ph\":\"i\",\"s\":\"%c\"", is_interrupt(event) ? 'g' : 't');
		put_time("ts", event->time, chrome->to);
	}
	return 0;
}

/* The thread at the other end of a wait. */
static void put_other_end(struct chrome *chrome, const struct trace_event *event)
{
	bool is_waker = wakeups_is_waker(chrome->wakeups, event);
	u64 time;
	u32 tid;

	if (!wakeups_other(chrome->wakeups, event, &tid, &time))
		return;
	if (tid == TID_INTERRUPT)
		fprintf(chrome->to, ",\"waker\":\"%s\"", TID_INTERRUPT_NAME);
	else
		fprintf(chrome->to, ",\"%s\":%u", is_waker ? "woken" : "waker", tid);
}

static int put_stack(struct chrome *chrome, const struct event_stack *stack)
{
	int err = 0;

	fputs(",\"stack\":[", chrome->to);
	for (u32 i = 0; i < stack->depth && !err; i++) {
		fputs(i ? "," : "", chrome->to);
		err = json_labels_put(&chrome->labels, &stack->frames[i], chrome->to);
	}
	fputc(']', chrome->to);
	return err;
}

static int put_arguments(struct chrome *chrome, const struct trace_event *event,
			 const struct event_stack *stack)
{
	const struct trace_source *source = &chrome->sources[event->kind];
	int err;

	fprintf(chrome->to, ",\"args\":{\"cpu\":%u", event->cpu);
	if (source->extras & TRACE_EXTRA_VALUE)
		fprintf(chrome->to, ",\"value\":%llu", (unsigned long long)event->value);
	if (event->repeats)
		fprintf(chrome->to, ",\"count\":%llu", (unsigned long long)event_stands_for(event));
	if (is_interrupt(event))
		fprintf(chrome->to, ",\"task\":\"%s\"", TID_INTERRUPT_NAME);
	put_other_end(chrome, event);
	err = put_stack(chrome, stack);
	fputs("}}", chrome->to);
	return err;
}

static int put_name(struct chrome *chrome, const struct trace_source *source,
		    const struct event_stack *stack)
{
	if (stack->depth)
		return json_labels_put(&chrome->labels, &stack->frames[0], chrome->to);
	return json_put_text(trace_source_short_name(source->name), chrome->to);
}

static int put_what(struct chrome *chrome, const struct trace_source *source,
		    const struct event_stack *stack)
{
	u32 node;
	int err = frame_tree_add(chrome->tree, stack, &node);

	fputs("{\"name\":", chrome->to);
	err = err ?: put_name(chrome, source, stack);
	fputs(",\"cat\":", chrome->to);
	err = err ?: json_put_text(source->name, chrome->to);
	if (!err && node)
		fprintf(chrome->to, ",\"sf\":%u", node);
	return err;
}

static int put_event(struct chrome *chrome, const struct trace_event *event)
{
	const struct trace_task *task = trace_reader_task(chrome->reader, event->tid, event->time);
	const struct trace_source *source = &chrome->sources[event->kind];
	struct event_stack stack;
	int err = event_stacks_find(chrome->stacks, event, &stack);

	if (!err && task && !is_interrupt(event))
		err = name_thread(chrome, task, event->time);
	if (err)
		return err;
	begin_event(chrome);
	err = put_what(chrome, source, &stack);
	if (!is_interrupt(event))
		fprintf(chrome->to, ",\"pid\":%u,\"tid\":%u", task ? task->tgid : event->tid,
			event->tid);
	return err ?: put_when(chrome, event) ?: put_arguments(chrome, event, &stack);
}

static int each_event(void *arg, const struct trace_event *event)
{
	struct chrome *chrome = arg;

	if (!event_filter_passes(chrome->filter, chrome->reader, event))
		return 0;
	return ferror(chrome->to) ? 1 : put_event(chrome, event);
}

static int put_node(void *arg, const struct frame_node *node)
{
	struct chrome *chrome = arg;
	const struct frame_name *name = node->frame.name;
	int err;

	fprintf(chrome->to, "%s\"%u\":{\"name\":", node->number > 1 ? ",\n" : "", node->number);
	err = json_labels_put(&chrome->labels, &node->frame, chrome->to);
	fputs(",\"category\":", chrome->to);
	err = err ?: json_put_text(name ? name->object : "", chrome->to);
	if (node->parent)
		fprintf(chrome->to, ",\"parent\":%u", node->parent);
	fputc('}', chrome->to);
	return err;
}

static int put_recording(const struct trace_info *info, FILE *to)
{
	int err;

	fputs("{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"command\":", to);
	err = json_put_text(info->command, to);
	fputs(",\"hostname\":", to);
	err = err ?: json_put_text(info->hostname, to);
	fputs(",\"kernel\":", to);
	err = err ?: json_put_text(info->kernel, to);
	fputs("},\n", to);
	return err;
}

static int put_file(struct chrome *chrome, struct stackmap_error *error)
{
	int err = put_recording(trace_reader_info(chrome->reader), chrome->to);

	fputs("\"traceEvents\":[\n", chrome->to);
	err = err ?: trace_reader_events(chrome->reader, each_event, chrome, error);
	fputs("],\n\"stackFrames\":{\n", chrome->to);
	err = err ?: frame_tree_each(chrome->tree, put_node, chrome);
	fputs("}}\n", chrome->to);
	return err;
}

static int chrome_open(struct chrome *chrome, const struct frame_naming *naming)
{
	int err = event_stacks_create(chrome->reader, naming, &chrome->stacks);

	chrome->tasks = INTERN(struct named_task);
	return err ?: wakeups_create(chrome->reader, &chrome->wakeups)
		       ?: frame_tree_create(&chrome->tree);
}

static void chrome_close(struct chrome *chrome)
{
	intern_clear(&chrome->tasks);
	wakeups_free(&chrome->wakeups);
	json_labels_clear(&chrome->labels);
	frame_tree_free(&chrome->tree);
	event_stacks_free(&chrome->stacks);
}

static int chrome_write(struct trace_reader *reader, const struct export_options *options, FILE *to,
			struct stackmap_error *error)
{
	struct chrome chrome = {
		.reader = reader, .filter = &options->filter, .before = "", .to = to};
	int err = chrome_open(&chrome, &options->naming);

	trace_reader_sources(reader, &chrome.sources);
	err = err ?: put_file(&chrome, error);
	if (err == -ENOMEM)
		error_set(error, ENOMEM, "chrome: not enough memory");
	chrome_close(&chrome);
	return err > 0 ? 0 : err;
}

const struct export_format chrome_format = {
	.name = "chrome",
	.write = chrome_write,
};
