/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `stackmap script`: every event in the order of time, as text in the form of perf script, so that
 * programs that read perf script's output work: a line for the event, one line for each frame,
 * innermost first, and an empty line. Kernel frames come before user frames, and the leaf of a
 * sample before its callers.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "error.h"
#include "format/printable.h"
#include "report/event/origins.h"
#include "report/event/stack_end.h"
#include "report/event/stack_hash.h"
#include "report/event/wait_ends.h"
#include "report/name/frame_names.h"
#include "report/name/process_attributes.h"
#include "script.h"
#include "terminal/message.h"
#include "trace/block/source_name.h"
#include "trace/read/names.h"
#include "view/names.h"
#include "view/recording.h"

#define TEXT_BYTES_MAX (1 << 20)
#define TEXTS_BYTES_MAX (64U << 20)

struct script_values {
	struct recording_values recording;
	struct names_values names;
	bool follow;
	bool ids;
	bool hashes;
	bool show_cgroup;
	bool show_attributes;
};

struct stack_text {
	char *lines; /* lines of text for the frames of the stack; NULL: not made yet */
	size_t bytes;
};

/*
 * Most events have a stack that an earlier event had, so the text of a stack is kept. After a leaf,
 * the first frame of a stack is a return address, whose text may be different: such texts are kept
 * separately. All texts are dropped when they take TEXTS_BYTES_MAX together. A stack whose text
 * alone takes more than TEXT_BYTES_MAX is printed without being kept.
 */
struct stack_texts {
	/* texts of stacks; index: 2 * index of the stack + (1 if the stack follows a leaf) */
	struct stack_text *items;
	size_t count, bytes;
	FILE *maker; /* stream that writes to `made` */
	char *made;
	size_t made_bytes;
};

struct script {
	struct trace_reader *reader;
	const struct event_filter *filter;
	struct frame_naming naming;
	bool lines, show_cgroup, show_attributes;
	int (*print)(const struct script *script, const struct trace_event *event);
	const struct trace_source *sources;
	const struct trace_stack *stacks;
	struct frame_names *names;
	struct wakeups *wakeups;
	struct origins *origins;
	struct stack_hashes *hashes;
	struct stack_texts *texts;
	/* attributes of events as text, since making it takes long (attribute_numbers_slot()) */
	struct attribute_text {
		struct attribute_numbers from; /* all 0: the slot is free */
		char *text;
	} * attributes;
	struct kept_process *kept;
};

/* The kernel part or the user part of an event's stack. */
struct side {
	const char *name;
	const struct trace_stack *stack; /* stack of the part; NULL: the event lacks it */
	const struct stack_end *end;
	u64 leaf; /* leaf frame of the part; 0: the part has no leaf */
};

static struct side choose_stack_or_its_reason(const struct script *script, const char *name,
					      u32 stack, u32 reason)
{
	struct side side = {.name = name};

	if (stack != TRACE_NO_STACK)
		side.stack = &script->stacks[stack];
	side.end = stack_end_of(side.stack, reason);
	return side;
}

static struct side choose_kernel_stack_of_event(const struct script *script,
						const struct trace_event *event)
{
	struct side side =
		choose_stack_or_its_reason(script, "kernel", event->kernel, event->kernel_reason);

	side.leaf = FRAME_IS_KERNEL(event->leaf) ? event->leaf : 0;
	return side;
}

static struct side choose_user_stack_of_event(const struct script *script,
					      const struct trace_event *event)
{
	struct side side =
		choose_stack_or_its_reason(script, "user", event->user, event->user_reason);

	side.leaf = FRAME_IS_KERNEL(event->leaf) ? 0 : event->leaf;
	return side;
}

/* Prints the name and number of the thread: "sh 1234" or "sh-1234". perf's field cgroup follows. */
static void print_task(const struct script *script, const struct trace_event *event, char separator)
{
	const struct trace_task *task = trace_reader_task(script->reader, event->tid, event->time);
	char room[TRACE_CGROUP_ROOM];

	printable_put(task ? task->comm : "<...>", stdout);
	printf("%c%u", separator, TID_SHOWN(event->tid));
	if (!script->show_cgroup)
		return;
	putchar(' ');
	printable_put(trace_cgroup_name(script->reader, task ? task->cgroup : 0, room), stdout);
}

static void print_cpu_and_time(const struct trace_event *event)
{
	if (event->is_counted)
		printf(" [%03u] [counted only]: ", event->cpu);
	else
		printf(" [%03u] %llu.%06llu: ", event->cpu,
		       (unsigned long long)(event->time / 1000000000),
		       (unsigned long long)(event->time / 1000 % 1000000));
}

/* Prints the source line of a frame, like perf script's field srcline. */
static void print_source_line(const struct script *script, const struct frame_function *function,
			      FILE *to)
{
	if (!script->lines || !function->file)
		return;
	fputs("  ", to);
	printable_put(function->file, to);
	fprintf(to, ":%u\n", function->line);
}

static int print_frame(const struct script *script, u64 frame, bool return_address, FILE *to)
{
	const struct frame_name *name = frame_names_find(script->names, frame, return_address);

	if (!name)
		return -ENOMEM;
	for (u32 i = 0; i + 1 < name->function_count; i++) {
		fprintf(to, "\t%16llx ", (unsigned long long)name->address);
		printable_put(frame_names_label(script->names, name->functions[i].label), to);
		putc('\n', to);
		print_source_line(script, &name->functions[i], to);
	}
	fprintf(to, "\t%16llx ", (unsigned long long)name->address);
	if (FRAME_IS_OMITTED(name->frame) && name->frame != FRAME_OMITTED_SOME)
		fprintf(to, "[%llu frames omitted]", (unsigned long long)name->address);
	else
		printable_put(frame_names_label(script->names, name->label), to);
	if (name->function && name->size)
		fprintf(to, "+0x%llx", (unsigned long long)name->offset);
	fputs(" (", to);
	printable_put(name->object, to);
	fputs(")\n", to);
	print_source_line(script, &name->functions[name->function_count - 1], to);
	return 0;
}

static void free_cached_stack_texts(struct stack_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		free(texts->items[i].lines);
		texts->items[i].lines = NULL;
	}
	texts->bytes = 0;
}

/* Makes the text of a stack. A text with too many bytes is not kept. -ENOMEM. */
static int make_stack_text(const struct script *script, const struct trace_stack *stack,
			   bool behind_leaf, struct stack_text *text)
{
	struct stack_texts *texts = script->texts;
	int err = 0;

	rewind(texts->maker);
	for (u32 i = 0; i < stack->depth && !err; i++) {
		err = print_frame(script, stack->frames[i], i > 0 || behind_leaf, texts->maker);
		if (ftello(texts->maker) > TEXT_BYTES_MAX)
			return err;
	}
	if (err || fflush(texts->maker))
		return -ENOMEM;
	if (texts->bytes + texts->made_bytes > TEXTS_BYTES_MAX)
		free_cached_stack_texts(texts);
	text->lines = malloc(texts->made_bytes + 1);
	if (!text->lines)
		return -ENOMEM;
	memcpy(text->lines, texts->made, texts->made_bytes);
	text->bytes = texts->made_bytes;
	texts->bytes += text->bytes;
	return 0;
}

static int print_stack(const struct script *script, const struct trace_stack *stack,
		       bool behind_leaf)
{
	struct stack_text *text =
		&script->texts->items[2 * (size_t)(stack - script->stacks) + behind_leaf];
	int err = text->lines ? 0 : make_stack_text(script, stack, behind_leaf, text);

	if (!err && text->lines)
		fwrite(text->lines, 1, text->bytes, stdout);
	else
		for (u32 i = 0; i < stack->depth && !err; i++)
			err = print_frame(script, stack->frames[i], i > 0 || behind_leaf, stdout);
	return err;
}

static int print_stack_part(const struct script *script, struct side side)
{
	int err = side.leaf ? print_frame(script, side.leaf, false, stdout) : 0;

	if (!err && side.stack)
		err = print_stack(script, side.stack, side.leaf);
	if (!err && stack_end_is_cut(side.end)) {
		/* Prints a marker instead of the unknown frames. */
		printf("\t%16x %s ([%s stack])\n", 0, side.end->marker, side.name);
	}
	return err;
}

/* Prints how many events a summed event stands for. */
static void print_event_count(const struct trace_event *event)
{
	if (!event_is_single(event))
		printf(" x%llu", (unsigned long long)event_stands_for(event));
}

/*
 * Prints the other thread of a wait after the event's name, where perf has the fields of the
 * tracepoint.
 */
static void print_other_thread(const struct script *script, const struct trace_event *event)
{
	const struct trace_event *other = wakeups_other_event_of_wait(script->wakeups, event);
	const struct trace_task *task;

	if (wakeups_wait_began_before_recording(script->wakeups, event))
		printf(" since before");
	if (!other)
		return;
	task = trace_reader_task(script->reader, other->tid, other->time);
	fputs(wakeups_is_waker(script->wakeups, event)	  ? " woke "
	      : wakeups_is_holder(script->wakeups, event) ? " holds a lock of "
	      : wakeups_is_holder(script->wakeups, other) ? " lock held by "
							  : " woken by ",
	      stdout);
	printable_put(task ? task->comm : "<...>", stdout);
	printf(" %u", TID_SHOWN(other->tid));
}

/* Prints the name of the thread that has queued the event's work, or begun the span. */
static void print_origin(const struct script *script, const struct trace_event *origin)
{
	const struct trace_task *task =
		origin ? trace_reader_task(script->reader, origin->tid, origin->time) : NULL;

	if (!origin)
		return;
	fputs(origins_is_begin(script->origins, origin) ? " begun by " : " queued by ", stdout);
	printable_put(origin->tid == TID_INTERRUPT ? TID_INTERRUPT_NAME
		      : task			   ? task->comm
						   : "<...>",
		      stdout);
	printf(" %u", TID_SHOWN(origin->tid));
}

#define ATTRIBUTE_TEXTS 4096

/* Returns what a process and a thread publish as text, " NAME=VALUE" for each attribute; NULL: no
 * memory. */
static char *make_attribute_text(const struct script *script, struct attribute_numbers from)
{
	struct process_attributes published;
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	int err;

	if (!to)
		return NULL;
	err = event_attributes_read(script->kept, script->reader, from, &published);
	for (u32 i = 0; i < published.count; i++) {
		putc(' ', to);
		printable_put(published.items[i].key, to);
		putc('=', to);
		printable_put(published.items[i].value, to);
	}
	if (published.left_out && from.thread)
		fprintf(to, " (%u attributes are not shown)", published.left_out);
	process_attributes_clear(&published);
	if (!fclose(to) && !err)
		return text;
	free(text);
	return NULL;
}

/* Prints what the process and the thread of the event publish. */
static int print_attributes(const struct script *script, const struct trace_event *event)
{
	const struct trace_task *task;
	struct attribute_numbers from;
	struct attribute_text *made;

	if (!script->show_attributes)
		return 0;
	task = trace_reader_task(script->reader, event->tid, event->time);
	from = trace_reader_attribute_numbers(script->reader, event, task);
	if (!from.process && !from.thread)
		return 0;
	made = &script->attributes[attribute_numbers_slot(from, ATTRIBUTE_TEXTS)];
	if (memcmp(&made->from, &from, sizeof(from)) != 0) {
		free(made->text);
		made->from = from;
		made->text = make_attribute_text(script, from);
	}
	if (!made->text)
		return -ENOMEM;
	fputs(made->text, stdout);
	return 0;
}

static int print_event_with_stacks(const struct script *script, const struct trace_event *event)
{
	const struct trace_source *source = &script->sources[event->kind];
	const struct trace_event *origin = origins_find(script->origins, event);
	const struct trace_context *context = trace_reader_context(script->reader, event);
	char room[CONTEXT_NAME_ROOM];
	int err;

	print_task(script, event, ' ');
	print_cpu_and_time(event);
	if (source->extras & TRACE_EXTRA_VALUE)
		printf("%llu ", (unsigned long long)event->value);
	printable_put(source->name, stdout);
	putchar(':');
	print_other_thread(script, event);
	print_origin(script, origin);
	if (source->extras & TRACE_EXTRA_FURTHER) {
		/* The second value of the event does not count as its weight. */
		printf(" and %llu ", (unsigned long long)event->further);
		printable_put(source->further_unit, stdout);
	}
	if (context && context_has_ids(context)) {
		printf(" trace %s", format_trace_id_name(context, room));
		printf(" span %s", format_span_id_name(context, room));
	}
	print_event_count(event);
	err = print_attributes(script, event);
	putchar('\n');
	err = err ?: print_stack_part(script, choose_kernel_stack_of_event(script, event));
	if (!err)
		err = print_stack_part(script, choose_user_stack_of_event(script, event));
	if (!err && origin) {
		/*
		 * The stacks of the thread that queued the work are printed after those of the
		 * work, as if that thread had called it.
		 */
		printf("\t%16x [%s by] ([origin])\n", 0,
		       origins_is_begin(script->origins, origin) ? "begun" : "queued");
		err = print_stack_part(script, choose_kernel_stack_of_event(script, origin))
			      ?: print_stack_part(script,
						  choose_user_stack_of_event(script, origin));
	}
	putchar('\n');
	return err;
}

static void print_stack_id(const struct side *side, const char *tag)
{
	if (side->stack)
		printf(" <%s %u>", tag, side->stack->id);
	else if (stack_end_is_cut(side->end))
		printf(" <no %s: %s>", tag, side->end->name);
}

/* Prints the beginning of an event's line. */
static void print_event_head(const struct script *script, const struct trace_event *event)
{
	print_task(script, event, '-');
	print_cpu_and_time(event);
	printable_put(trace_source_short_name(script->sources[event->kind].name), stdout);
	putchar(':');
	print_event_count(event);
}

static int print_event_with_hash(const struct script *script, const struct trace_event *event)
{
	struct stack_hash hash = stack_hashes_of_event(script->hashes, event);
	int err;

	print_event_head(script, event);
	printf(" <stack ");
	for (u32 i = 0; i < sizeof(hash.byte); i++)
		printf("%02x", hash.byte[i]);
	putchar('>');
	err = print_attributes(script, event);
	putchar('\n');
	return err;
}

static int print_event_with_ids(const struct script *script, const struct trace_event *event)
{
	struct side kernel = choose_kernel_stack_of_event(script, event),
		    user = choose_user_stack_of_event(script, event);
	const struct frame_name *leaf =
		event->leaf ? frame_names_find(script->names, event->leaf, false) : NULL;
	int err;

	print_event_head(script, event);
	print_stack_id(&kernel, "stack_id");
	print_stack_id(&user, "user_stack_id");
	if (leaf) {
		printf(" <leaf ");
		printable_put(frame_names_label(script->names, leaf->label), stdout);
		if (leaf->function)
			printf("+0x%llx/0x%llx", (unsigned long long)leaf->offset,
			       (unsigned long long)leaf->size);
		putchar('>');
	}
	err = print_attributes(script, event);
	putchar('\n');
	return event->leaf && !leaf ? -ENOMEM : err;
}

static int print_event(void *arg, const struct trace_event *event)
{
	const struct script *script = arg;

	if (!event_filter_passes(script->filter, script->reader, event))
		return 0;
	if (ferror(stdout))
		return 1;
	return script->print(script, event);
}

/* Prints all events. If the output fails, the loop ends; main() reports the failure. */
static int print_events(struct script *script, struct stackmap_error *error)
{
	struct kept_process kept = {};
	struct stack_texts texts = {};
	int err = frame_names_create(script->reader, &script->naming, &script->names)
			  ?: wakeups_create(script->reader, &script->wakeups)
			  ?: origins_create(script->reader, &script->origins)
			  ?: stack_hashes_create(script->reader, &script->hashes);

	trace_reader_sources(script->reader, &script->sources);
	script->texts = &texts;
	script->kept = &kept;
	texts.count = 2 * (size_t)trace_reader_stacks(script->reader, &script->stacks);
	texts.items = calloc(texts.count + 1, sizeof(*texts.items));
	texts.maker = open_memstream(&texts.made, &texts.made_bytes);
	script->attributes = calloc(ATTRIBUTE_TEXTS, sizeof(*script->attributes));
	if (!err && (!texts.items || !texts.maker || !script->attributes))
		err = -ENOMEM;
	if (!err)
		err = trace_reader_events(script->reader, print_event, script, error);
	if (err == -ENOMEM)
		error_set(error, ENOMEM, "script: not enough memory");
	frame_names_free(&script->names);
	wakeups_free(&script->wakeups);
	origins_free(&script->origins);
	stack_hashes_free(&script->hashes);
	if (texts.items)
		free_cached_stack_texts(&texts);
	if (texts.maker)
		fclose(texts.maker);
	free(texts.made);
	free(texts.items);
	for (u32 i = 0; script->attributes && i < ATTRIBUTE_TEXTS; i++)
		free(script->attributes[i].text);
	free(script->attributes);
	kept_process_clear(&kept);
	return err > 0 ? 0 : err;
}

static int print_window(void *arg, struct trace_reader *reader, struct stackmap_error *error)
{
	struct script *script = arg;
	int err = event_filter_check(script->filter, reader, error);

	script->reader = reader;
	return err ?: print_events(script, error);
}

static int print_recording(const struct script_values *values,
			   const struct recording_choice *choice, struct script *script)
{
	struct stackmap_error error;
	int err;

	if (values->follow) {
		if (choice->is_instance)
			return show_live_events_until_end(choice->name, print_window, script);
		message("--follow: a file does not grow, name an instance with --instance");
		return EXIT_USAGE;
	}
	script->reader = recording_open(choice);
	if (!script->reader)
		return EXIT_FAILED;
	err = print_events(script, &error);
	return recording_close(&script->reader, choice, err, &error);
}

static int script_run(const void *arg, int count, char **operands)
{
	const struct script_values *values = arg;
	struct recording_choice choice;
	struct script script = {.filter = &choice.filter,
				.lines = values->names.lines,
				.show_cgroup = values->show_cgroup,
				.show_attributes = values->show_attributes,
				.print = values->hashes ? print_event_with_hash
					 : values->ids	? print_event_with_ids
							: print_event_with_stacks};
	struct names_values names = values->names;
	int status;

	(void)count;
	if (choose_recording_by_options(&values->recording, operands, &choice))
		return EXIT_USAGE;
	choice.store.question.no_inlined = values->names.no_inline;
	choice.store.question.by_cgroup = values->show_cgroup;
	set_time_step_of_query(&choice.store);
	names.no_inline |= values->follow;
	names.lines &= !values->follow;
	status = recording_names_open(&names, &choice, &script.naming);
	if (status)
		return status;
	status = print_recording(values, &choice, &script);
	names_close(&script.naming);
	return status;
}

static const struct option_row rows[] = {
	{.name = "follow",
	 .letter = 'f',
	 .type = OPTION_FLAG,
	 .target = offsetof(struct script_values, follow),
	 .group = "Output",
	 .help = "with --instance: take events as they come, until Ctrl-C or its end"},
	{.name = "ids",
	 .type = OPTION_FLAG,
	 .target = offsetof(struct script_values, ids),
	 .group = "Output",
	 .help = "one line an event, with the ids of its stacks"},
	{.name = "hashes",
	 .type = OPTION_FLAG,
	 .target = offsetof(struct script_values, hashes),
	 .group = "Output",
	 .help = "one line an event, with a hash of its stack: the same on all machines"},
	{.name = "lines",
	 .letter = 'l',
	 .type = OPTION_FLAG,
	 .target = offsetof(struct script_values, names.lines),
	 .group = "Output",
	 .help = "below each frame its line of source (srcline of perf)"},
	{.name = "show-cgroup",
	 .type = OPTION_FLAG,
	 .target = offsetof(struct script_values, show_cgroup),
	 .group = "Output",
	 .help = "behind the thread its cgroup"},
	{.name = "show-attributes",
	 .type = OPTION_FLAG,
	 .target = offsetof(struct script_values, show_attributes),
	 .group = "Output",
	 .help = "what the process publishes of itself, such as service.name (record --trace-ids)"},
	NAMES_ROWS(struct script_values, names),
	VALUE_ROW(struct script_values, recording.value),
	RECORDING_ROWS(struct script_values, recording),
	{0},
};

const struct command script_command = {
	.name = "script",
	.operands = "[FILE]",
	.operands_max = 1,
	.summary = "show every event of a recording with its stacks",
	.rows = rows,
	.values_bytes = sizeof(struct script_values),
	.run = script_run,
};
