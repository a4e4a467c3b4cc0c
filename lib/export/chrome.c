/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Trace Event Format of Chrome, which Perfetto and chrome://tracing show: each thread has a
 * track, each event is an instant on the track. An event whose value is a time (off-CPU) ends when
 * it is recorded, so the event becomes a slice of that length. Slices of a thread must nest: an
 * event whose slice would begin before the thread's last slice has ended is an instant. An event of
 * a summary, which stands for many events, is an instant with the number of events: its value is a
 * sum and not the length of one slice.
 *
 * A wait is a slice of the thread that waited. The wake-up is a slice of 1 ns of the thread that
 * ended the wait, and an arrow leads from the wake-up into the wait. The arguments of both slices
 * name the other thread. An interrupt is not a thread, so its instants are global.
 *
 * A recording made with --time has an event for each state of a thread except running. The gaps
 * between these events are written as slices "running", so the slices of a thread are its states.
 * Other events of such a recording are instants. If events were lost, or if the options choose
 * events, the thread may have waited in a gap, so gaps are not written.
 *
 * chrome://tracing takes the stack from `sf`, the number of a node of the tree in stackFrames. The
 * tree is written last, when all nodes are known. Perfetto ignores stackFrames and shows the stack
 * from the arguments.
 *
 * Events are written as they are read. Only the tree and the names of threads are kept in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "event_stack.h"
#include "export_format.h"
#include "format/json_text.h"
#include "intern.h"
#include "order.h"
#include "report/event/origins.h"
#include "report/event/wait_ends.h"
#include "ring.h"
#include "trace/block/source_name.h"

#define WAKE_SLICE_NS 1

/* The time that a state event of a thread covers. */
struct interval {
	u32 tid;
	u64 begin, end; /* begin and end of the time, ns */
};

struct chrome {
	struct trace_reader *reader;
	const struct event_filter *filter;
	const struct trace_source *sources;
	struct event_stacks *stacks;
	struct frame_tree *tree;
	char **labels; /* by label id: the label as a JSON string; NULL: not encoded yet */
	u32 label_room;
	struct intern tasks;
	struct wakeups *wakeups;
	struct origins *origins;
	bool has_states; /* true: the recording has state events (--time), so only states become
			    slices */
	struct interval *waits; /* times of all state events of the recording */
	u32 wait_count, wait_room;
	const char *before; /* separator to write before the next event */
	FILE *to;
};

/* Each label is encoded once, however often it is written. */
static int put_label(struct chrome *chrome, const struct event_frame *frame)
{
	char **label, *text = NULL;
	size_t bytes;
	FILE *memory;
	int err;

	if (array_make_zeroed(chrome->labels, frame->label_id + 1UL, chrome->label_room))
		return -ENOMEM;
	label = &chrome->labels[frame->label_id];
	if (!*label) {
		memory = open_memstream(&text, &bytes);
		err = memory ? json_put_text(frame->label, memory) : -ENOMEM;
		if ((memory && fclose(memory)) || err) {
			free(text);
			return -ENOMEM;
		}
		*label = text;
	}
	fputs(*label, chrome->to);
	return 0;
}

static void begin_json_event(struct chrome *chrome)
{
	fputs(chrome->before, chrome->to);
	chrome->before = ",\n";
}

/* Writes the name of a task at its first event, and again at the first event after a change. */
static int put_task_name(struct chrome *chrome, const struct trace_task *task, bool is_process)
{
	const struct intern_key key = {{is_process ? task->tgid : task->tid, is_process}};
	struct named_task *named = intern_find_or_add_entry(&chrome->tasks, &key);
	int err;

	if (!named)
		return -ENOMEM;
	if (strcmp(named->comm, task->comm) == 0)
		return 0;
	memcpy(named->comm, task->comm, sizeof(named->comm));
	begin_json_event(chrome);
	fprintf(chrome->to,
		"{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":",
		is_process ? "process_name" : "thread_name", task->tgid, task->tid);
	err = json_put_text(task->comm, chrome->to);
	fputs("}}", chrome->to);
	return err;
}

/* Writes the names of a thread and of its process, which has the name of its first thread. */
static int put_thread_names(struct chrome *chrome, const struct trace_task *task, u64 time)
{
	const struct trace_task *first = trace_reader_task(chrome->reader, task->tgid, time);
	int err = first && first->tgid == task->tgid ? put_task_name(chrome, first, true) : 0;

	return err ?: put_task_name(chrome, task, false);
}

static void put_microseconds(const char *key, u64 ns, FILE *to)
{
	fprintf(to, ",\"%s\":%llu.%03llu", key, (unsigned long long)(ns / 1000),
		(unsigned long long)(ns % 1000));
}

static bool is_interrupt(const struct trace_event *event)
{
	return event->tid == TID_INTERRUPT;
}

static bool is_thread_state(const struct chrome *chrome, const struct trace_event *event)
{
	return trace_source_state(chrome->sources[event->kind].name);
}

/* The length of the event's slice in ns; 0: the event is an instant. The value of a waker's or
 * holder's event is not the length of a slice, since it is the time that the other thread
 * waited. */
static u64 event_slice_length(struct chrome *chrome, const struct trace_event *event)
{
	const struct trace_source *source = &chrome->sources[event->kind];
	bool is_time = source->extras & TRACE_EXTRA_VALUE && strcmp(source->value_unit, "ns") == 0;

	if (!is_time || !event_is_single(event) || is_interrupt(event) ||
	    wakeups_is_holder(chrome->wakeups, event))
		return 0;
	if (wakeups_is_waker(chrome->wakeups, event))
		return WAKE_SLICE_NS;
	if (chrome->has_states && !is_thread_state(chrome, event))
		return 0;
	return event->value < event->time ? event->value : event->time;
}

static int put_event_type_and_time(struct chrome *chrome, const struct trace_event *event)
{
	const struct intern_key key = {{event->tid, false}};
	struct named_task *thread = intern_find_or_add_entry(&chrome->tasks, &key);
	u64 length = event_slice_length(chrome, event);
	bool is_waker = wakeups_is_waker(chrome->wakeups, event);
	u64 begin = is_waker ? event->time : event->time - length;

	if (!thread)
		return -ENOMEM;
	if (length && begin >= thread->slices_end) {
		fputs(",\"ph\":\"X\"", chrome->to);
		put_microseconds("ts", begin, chrome->to);
		put_microseconds("dur", length, chrome->to);
		thread->slices_end = begin + length;
	} else {
		fprintf(chrome->to, ",\"ph\":\"i\",\"s\":\"%c\"", is_interrupt(event) ? 'g' : 't');
		put_microseconds("ts", event->time, chrome->to);
	}
	return 0;
}

static int put_event_arguments(struct chrome *chrome, const struct trace_event *event,
			       const struct event_stack *stack)
{
	const struct trace_source *source = &chrome->sources[event->kind];
	int err = 0;
	const struct trace_event *origin;
	const struct trace_event *other;
	bool is_waker;

	fprintf(chrome->to, ",\"args\":{\"cpu\":%u", event->cpu);
	if (source->extras & TRACE_EXTRA_VALUE)
		fprintf(chrome->to, ",\"value\":%llu", (unsigned long long)event->value);
	if (!event_is_single(event))
		fprintf(chrome->to, ",\"count\":%llu", (unsigned long long)event_stands_for(event));
	if (is_interrupt(event))
		fprintf(chrome->to, ",\"task\":\"%s\"", TID_INTERRUPT_NAME);
	/* Writes the thread at the other end of a wait as an argument, if it is known. */
	other = wakeups_other_event_of_wait(chrome->wakeups, event);
	is_waker = wakeups_is_waker(chrome->wakeups, event);
	if (other) {
		if (is_interrupt(other))
			fprintf(chrome->to, ",\"waker\":\"%s\"", TID_INTERRUPT_NAME);
		else
			fprintf(chrome->to, ",\"%s\":%u",
				is_waker				    ? "woken"
				: wakeups_is_holder(chrome->wakeups, event) ? "waiter"
				: wakeups_is_holder(chrome->wakeups, other) ? "holder"
									    : "waker",
				other->tid);
	}
	/* Writes the thread that has queued the event's work, or begun the span, if it is known. */
	origin = origins_find(chrome->origins, event);
	if (origin)
		fprintf(chrome->to, ",\"%s\":",
			origins_is_begin(chrome->origins, origin) ? "begun_by" : "queued_by");
	if (origin && is_interrupt(origin))
		fprintf(chrome->to, "\"%s\"", TID_INTERRUPT_NAME);
	else if (origin)
		fprintf(chrome->to, "%u", origin->tid);
	fputs(",\"stack\":[", chrome->to);
	for (u32 i = 0; i < stack->depth && !err; i++) {
		fputs(i ? "," : "", chrome->to);
		err = put_label(chrome, &stack->frames[i]);
	}
	fputs("]}}", chrome->to);
	return err;
}

/* Writes the start or the end of the arrow from a wake-up to the wait. Both have a slice at the
 * time of the wake-up. The id of the arrow is the begin of the wait. */
static void write_end_of_wake_up_arrow(struct chrome *chrome, const char *half, u64 number, u32 tid,
				       u64 time)
{
	const struct trace_task *task = trace_reader_task(chrome->reader, tid, time);

	begin_json_event(chrome);
	fprintf(chrome->to,
		"{\"name\":\"wake-up\",\"cat\":\"wake-up\",\"ph\":%s,\"id\":\"%llx\",\"pid\":%u,"
		"\"tid\":%u",
		half, (unsigned long long)number, task ? task->tgid : tid, tid);
	put_microseconds("ts", time, chrome->to);
	fputc('}', chrome->to);
}

static int put_event(struct chrome *chrome, const struct trace_event *event)
{
	const struct trace_task *task = trace_reader_task(chrome->reader, event->tid, event->time);
	struct event_stack stack;
	int err = event_stacks_find(chrome->stacks, event, &stack);
	const struct trace_source *source;
	u32 node;

	if (!err && task && !is_interrupt(event))
		err = put_thread_names(chrome, task, event->time);
	if (err)
		return err;
	begin_json_event(chrome);
	/*
	 * An event is named after its innermost function, or after its source if it has no stack. A
	 * state event has the name of the state.
	 */
	source = &chrome->sources[event->kind];
	err = frame_tree_add(chrome->tree, &stack, &node);
	fputs("{\"name\":", chrome->to);
	if (!err)
		err = stack.depth && !is_thread_state(chrome, event)
			      ? put_label(chrome, &stack.frames[0])
			      : json_put_text(trace_source_short_name(source->name), chrome->to);
	fputs(",\"cat\":", chrome->to);
	err = err ?: json_put_text(source->name, chrome->to);
	if (!err && node)
		fprintf(chrome->to, ",\"sf\":%u", node);
	if (!is_interrupt(event))
		fprintf(chrome->to, ",\"pid\":%u,\"tid\":%u", task ? task->tgid : event->tid,
			event->tid);
	err = err ?: put_event_type_and_time(chrome, event) ?: put_event_arguments(chrome, event, &stack);
	if (!err) {
		const struct trace_event *waker =
			wakeups_other_event_of_wait(chrome->wakeups, event);

		if (wakeups_is_wait(chrome->wakeups, event) && waker && !is_interrupt(waker) &&
		    wakeups_is_waker(chrome->wakeups, waker) && waker->time <= event->time &&
		    event_filter_passes(chrome->filter, chrome->reader, waker)) {
			write_end_of_wake_up_arrow(chrome, "\"s\"", wait_begin_time(event),
						   waker->tid, waker->time);
			write_end_of_wake_up_arrow(chrome, "\"f\",\"bp\":\"e\"",
						   wait_begin_time(event), event->tid, waker->time);
		}
	}
	return err;
}

/* --- states of threads --- */

static int compare_intervals_by_thread_and_begin(const void *left, const void *right)
{
	const struct interval *a = left, *b = right;

	return order(a->tid, b->tid) ?: order(a->begin, b->begin);
}

static int put_running_slice(struct chrome *chrome, const struct thread_account *account, u64 begin,
			     u64 end)
{
	const struct trace_task *task = trace_reader_task(chrome->reader, account->tid, end);
	int err = task ? put_thread_names(chrome, task, end) : 0;

	begin_json_event(chrome);
	fprintf(chrome->to,
		"{\"name\":\"running\",\"cat\":\"" TRACE_STATE_PREFIX "running\","
		"\"pid\":%u,\"tid\":%u,\"ph\":\"X\"",
		account->tgid, account->tid);
	put_microseconds("ts", begin, chrome->to);
	put_microseconds("dur", end - begin, chrome->to);
	fputs(",\"args\":{}}", chrome->to);
	return err;
}

/* Writes a slice for each gap between the states of a thread. */
static int put_running_slices(struct chrome *chrome, const struct thread_account *account)
{
	const struct interval key = {.tid = account->tid, .begin = account->begin};
	u64 at = account->begin;
	int err = 0;

	for (size_t i = bisect(chrome->wait_count, j,
			       compare_intervals_by_thread_and_begin(&chrome->waits[j], &key) < 0);
	     i < chrome->wait_count && chrome->waits[i].tid == account->tid &&
	     chrome->waits[i].end <= account->end && !err;
	     i++) {
		if (chrome->waits[i].begin > at)
			err = put_running_slice(chrome, account, at, chrome->waits[i].begin);
		at = chrome->waits[i].end > at ? chrome->waits[i].end : at;
	}
	return err || at >= account->end ? err
					 : put_running_slice(chrome, account, at, account->end);
}

static int put_all_running_slices(struct chrome *chrome)
{
	const struct trace_ledger *ledger = trace_reader_ledger(chrome->reader);
	const struct event_filter *filter = chrome->filter;
	const struct thread_account *accounts;
	u32 count = trace_reader_accounts(chrome->reader, &accounts);
	int err = 0;

	/* If events were lost or left out, the thread may have waited in the gaps. */
	if (!chrome->has_states || !ledger || ledger->produced != ledger->recorded ||
	    filter->from || filter->to || filter->cpus.count || filter->events.count)
		return 0;
	if (chrome->wait_count)
		qsort(chrome->waits, chrome->wait_count, sizeof(*chrome->waits),
		      compare_intervals_by_thread_and_begin);
	for (u32 i = 0; i < count && !err; i++)
		if (accounts[i].tid && event_filter_passes_thread(chrome->filter, chrome->reader,
								  accounts[i].tid, accounts[i].end))
			err = put_running_slices(chrome, &accounts[i]);
	return err;
}

static int export_event(void *arg, const struct trace_event *event)
{
	struct chrome *chrome = arg;

	if (!event_filter_passes(chrome->filter, chrome->reader, event))
		return 0;
	if (ferror(chrome->to))
		return 1;
	if (is_thread_state(chrome, event) && event_is_single(event)) {
		if (array_make_room(chrome->waits, chrome->wait_count, chrome->wait_room))
			return -ENOMEM;
		chrome->waits[chrome->wait_count++] = (struct interval){
			.tid = event->tid, .begin = wait_begin_time(event), .end = event->time};
	}
	return put_event(chrome, event);
}

static int put_frame_node(void *arg, const struct frame_node *node)
{
	struct chrome *chrome = arg;
	const struct frame_name *name = node->frame.name;
	int err;

	fprintf(chrome->to, "%s\"%u\":{\"name\":", node->number > 1 ? ",\n" : "", node->number);
	err = put_label(chrome, &node->frame);
	fputs(",\"category\":", chrome->to);
	err = err ?: json_put_text(name ? name->object : "", chrome->to);
	if (node->parent)
		fprintf(chrome->to, ",\"parent\":%u", node->parent);
	fputc('}', chrome->to);
	return err;
}

static int chrome_write(struct trace_reader *reader, const struct export_options *options, FILE *to,
			struct stackmap_error *error)
{
	struct chrome chrome = {.reader = reader,
				.filter = &options->filter,
				.has_states = trace_reader_info(reader)->has_times,
				.before = "",
				.to = to};
	const struct trace_info *info = trace_reader_info(reader);
	int err = event_stacks_create(chrome.reader, &options->naming, &chrome.stacks);

	chrome.tasks = INTERN(struct named_task);
	err = err ?: wakeups_create(chrome.reader, &chrome.wakeups)
		       ?: origins_create(chrome.reader, &chrome.origins)
		       ?: frame_tree_create(&chrome.tree);
	trace_reader_sources(reader, &chrome.sources);
	if (!err) {
		fputs("{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"command\":", to);
		err = json_put_text(info->command, to);
		fputs(",\"hostname\":", to);
		err = err ?: json_put_text(info->hostname, to);
		fputs(",\"kernel\":", to);
		err = err ?: json_put_text(info->kernel, to);
		fputs("},\n\"traceEvents\":[\n", to);
		err = err ?: trace_reader_events(reader, export_event, &chrome, error);
		err = err ?: put_all_running_slices(&chrome);
		fputs("],\n\"stackFrames\":{\n", to);
		err = err ?: frame_tree_each(chrome.tree, put_frame_node, &chrome);
		fputs("}}\n", to);
	}
	if (err == -ENOMEM)
		error_set(error, ENOMEM, "chrome: not enough memory");
	intern_clear(&chrome.tasks);
	wakeups_free(&chrome.wakeups);
	origins_free(&chrome.origins);
	for (u32 i = 0; i < chrome.label_room; i++)
		free(chrome.labels[i]);
	free(chrome.labels);
	free(chrome.waits);
	frame_tree_free(&chrome.tree);
	event_stacks_free(&chrome.stacks);
	return err > 0 ? 0 : err;
}

const struct export_format chrome_format = {
	.name = "chrome",
	.write = chrome_write,
};
