/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random recordings. The generator is splitmix64: every run of a test sees the same data. */
#include "recording.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULES 3
#define MAPPINGS 5
#define CGROUPS 4 /* the last one has no name */
#define DEPTH_MOST 40

u64 random_next(struct random *random)
{
	u64 z = random->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

u64 random_below(struct random *random, u64 limit)
{
	return random_next(random) % limit;
}

/* Mostly small numbers, sometimes numbers of any magnitude. */
static u64 random_number(struct random *random)
{
	return random_next(random) >> random_below(random, 64);
}

static void *allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);

	if (!memory)
		abort();
	return memory;
}

static char *name(const char *format, u64 number)
{
	char *text;

	if (asprintf(&text, format, (unsigned long long)number) < 0)
		abort();
	return text;
}

static u64 random_frame(struct random *random, bool user)
{
	if (user)
		return FRAME_USER(1 + random_below(random, MAPPINGS),
				  random_below(random, 1 << 22));
	return FRAME_NARROW_TOP | random_below(random, 1 << 24);
}

static void make_stack(struct recording *recording, struct random *random, u32 i)
{
	struct trace_stack *stack = &recording->stacks[i];
	const struct trace_stack *before = i ? &recording->stacks[i - 1] : NULL;
	bool user = random_below(random, 2);
	u64 *frames;

	stack->depth = 1 + (u32)random_below(random, i % 50 ? DEPTH_MOST : STACK_USER_DEPTH_MAX);
	frames = allocate(stack->depth, sizeof(u64));
	for (u32 f = 0; f < stack->depth; f++)
		frames[f] = random_frame(random, user);
	for (u32 root = 1; before && root < stack->depth && root < before->depth / 2; root++)
		frames[stack->depth - root] = before->frames[before->depth - root];
	stack->frames = frames;
	stack->flags = (user ? STACK_USER : 0) | (random_below(random, 9) ? 0 : STACK_TRUNCATED);
	if (user && !random_below(random, 4))
		stack->flags |= (u32)random_below(random, STOP_COUNT) << STACK_STOP_SHIFT;
	stack->generation = i < recording->shape.full_stacks ? 0 : 1 + random_below(random, 3);
	stack->id =
		i < recording->shape.full_stacks ? UINT32_MAX - i : (u32)random_next(random) | 1;
}

static void make_names(struct recording *recording, struct random *random)
{
	for (u32 i = 0; i < recording->shape.sources; i++) {
		recording->sources[i].name = name("sched:event_%llu", i);
		recording->sources[i].extras = i & 3;
		recording->sources[i].value_unit = i & TRACE_EXTRA_VALUE ? "ns" : "";
	}
	for (u32 i = 0; i < MODULES; i++) {
		recording->modules[i].name = name("module_%llu", i);
		recording->modules[i].start = FRAME_NARROW_TOP + random_below(random, 1 << 24);
		recording->modules[i].end =
			recording->modules[i].start + random_below(random, 1 << 20);
		recording->modules[i].build_id_bytes = i * 10;
		memset(recording->modules[i].build_id, 0x40 + (int)i, i * 10);
	}
	for (u32 i = 0; i < MAPPINGS; i++) {
		recording->mappings[i].number = i + 1;
		recording->mappings[i].kind = MAPPING_FILE;
		recording->mappings[i].tgid = (u32)random_number(random);
		recording->mappings[i].base = random_number(random);
		recording->mappings[i].path = name("/usr/lib/lib%llu.so", i);
	}
}

static void make_cgroups(struct recording *recording)
{
	for (u32 i = 0; i < CGROUPS; i++) {
		recording->cgroups[i].id = (1ULL << 33) + i;
		recording->cgroups[i].path =
			i < CGROUPS - 1 ? name("/system.slice/unit-%llu.service", i) : name("", 0);
	}
}

/* The accounts are not random, so the rest of the recording is the same with and without accounts.
 */
static void make_accounts(struct recording *recording)
{
	for (u32 i = 0; i < recording->shape.times; i++) {
		struct thread_account *account = &recording->accounts[i];

		*account = (struct thread_account){
			.begin = 1000000 + i,
			.end = 1000000 + i,
			.stolen = (u64)(i % 2 ? -(s64)i : (s64)i),
			.tid = i * 77,
			.tgid = 77,
		};
		for (u32 state = 0; state < TIME_STATES; state++) {
			account->spent[state] = i * state * 12345678901ULL;
			account->end += account->spent[state];
		}
	}
}

static void make_tasks(struct recording *recording, struct random *random)
{
	for (u32 i = 0; i < recording->shape.tasks; i++) {
		struct trace_task *task = &recording->tasks[i];

		task->time = i * 1000;
		task->tid = 100 + i % 7;
		task->tgid = (u32)random_number(random);
		task->cgroup = i % (CGROUPS + 1);
		snprintf(task->comm, sizeof(task->comm), "task-%u", i % 100000);
	}
}

static void make_symbols(struct recording *recording, struct random *random)
{
	u64 start = 0;

	for (u32 i = 0; i < recording->shape.symbols; i++) {
		struct trace_symbol *symbol = &recording->symbols[i];

		symbol->mapping = i * 3 / recording->shape.symbols;
		if (i && symbol[-1].mapping != symbol->mapping)
			start = 0;
		symbol->size = 1 + random_below(random, 5000);
		symbol->start = start + random_below(random, 3);
		symbol->address = symbol->mapping ? symbol->start + 0x1000 * symbol->mapping : 0;
		symbol->name =
			i % 5 == 3 ? name("", 0)
				   : name("_ZN5space8function%lluEv", random_below(random, 100000));
		start = symbol->start + symbol->size;
	}
}

static u32 random_stack(const struct recording *recording, struct random *random, u8 *reason)
{
	if (!recording->shape.stacks || random_below(random, 5) == 0) {
		*reason = (u8)random_below(random, REASON_COUNT);
		return TRACE_NO_STACK;
	}
	return (u32)random_below(random, recording->shape.stacks);
}

static void make_events(struct recording *recording, struct random *random)
{
	u64 time = 1000000;

	for (u32 i = 0; i < recording->shape.events; i++) {
		struct trace_event *event = &recording->events[i];

		time += 1 + (random_below(random, 1000) ? random_below(random, 4000)
							: random_number(random) >> 20);
		event->time = time;
		event->tid = (u32)random_below(random, 50);
		event->kind = (u16)random_below(random, recording->shape.sources);
		event->cpu = (u16)random_below(random, recording->shape.cpus);
		event->kernel = random_stack(recording, random, &event->kernel_reason);
		event->user = random_stack(recording, random, &event->user_reason);
		if (recording->sources[event->kind].extras & TRACE_EXTRA_LEAF)
			event->leaf = random_frame(random, random_below(random, 2));
		if (recording->sources[event->kind].extras & TRACE_EXTRA_VALUE)
			event->value = random_number(random);
	}
}

static void make_placeholder(struct recording *recording, struct random *random,
			     struct recording_placeholder *placeholder)
{
	const struct recording_shape *shape = &recording->shape;
	struct trace_resolution *resolution = &placeholder->resolution;

	placeholder->before_stack = (u32)random_below(random, shape->stacks + 1);
	placeholder->after_event = (u32)random_below(random, shape->events + shape->events / 4 + 1);
	if (placeholder->after_event >= shape->events) {
		resolution->stack = TRACE_NO_STACK;
		resolution->reason = REASON_UNANSWERED;
		return;
	}
	resolution->stack = random_stack(recording, random, &resolution->reason);
	resolution->leaf = random_below(random, 3) ? 0 : random_frame(random, true);
}

/* A stack replaces the leaf unless the leaf is a kernel address; a reason keeps the leaf. */
static u64 leaf_as_resolved(u64 leaf, const struct trace_resolution *resolution)
{
	if (!leaf)
		return resolution->leaf;
	return resolution->stack == TRACE_NO_STACK || leaf >> 63 ? leaf : resolution->leaf;
}

static void defer_user_stack(struct recording *recording, struct random *random, u32 event)
{
	u32 number = (u32)random_below(random, recording->shape.placeholders);
	const struct recording_placeholder *placeholder = &recording->placeholders[number];

	if (event > placeholder->after_event || random_below(random, 2))
		return;
	recording->placeholder_of[event] = number;
	recording->events[event].user = placeholder->resolution.stack;
	recording->events[event].user_reason = placeholder->resolution.reason;
	recording->events[event].leaf =
		leaf_as_resolved(recording->events[event].leaf, &placeholder->resolution);
}

static void make_placeholders(struct recording *recording, struct random *random)
{
	for (u32 i = 0; i < recording->shape.placeholders; i++)
		make_placeholder(recording, random, &recording->placeholders[i]);
	for (u32 i = 0; i < recording->shape.events; i++) {
		recording->placeholder_of[i] = NO_PLACEHOLDER;
		if (recording->shape.placeholders)
			defer_user_stack(recording, random, i);
	}
}

/* Events with 1 repeat, a few repeats, and the largest number of repeats. */
static void make_repeats(struct recording *recording, struct random *random)
{
	for (u32 i = 0; i < recording->shape.events; i++)
		recording->events[i].repeats =
			(u32)(random_below(random, 1ULL << 32) >> random_below(random, 33));
	if (recording->shape.events)
		recording->events[0].repeats = UINT32_MAX;
}

/* Contexts do not depend on the random numbers either. */
static void make_contexts(struct recording *recording)
{
	u32 count = recording->shape.contexts;

	for (u32 i = 0; i < count; i++) {
		memset(recording->contexts[i].trace, 1 + (int)(i / 3), 16);
		memcpy(recording->contexts[i].span, &(u64){i + 1}, 8);
		if (recording->shape.has_attributes)
			recording->contexts[i].attributes = i % 3;
	}
	for (u32 i = 0; count && i < recording->shape.events; i++) {
		recording->events[i].has_context = i % 3 != 0;
		recording->events[i].context = i % 3 ? i * 7 % count : 0;
	}
}

/* Values of all magnitudes, each with the value 0 of every third event before it. */
static void make_further(struct recording *recording)
{
	for (u32 i = 0; recording->shape.has_further && i < recording->shape.events; i++)
		recording->events[i].further = i % 3 ? ~0ULL >> i % 64 : 0;
	for (u32 i = 0; recording->shape.has_further && i < recording->shape.sources; i++) {
		recording->sources[i].extras |= TRACE_EXTRA_VALUE | TRACE_EXTRA_FURTHER;
		recording->sources[i].further_unit = "further";
		recording->sources[i].value_name = "one";
		recording->sources[i].further_name = "other";
	}
}

static void make_ledger(struct recording *recording, struct random *random)
{
	recording->ledger.produced = random_number(random);
	recording->ledger.recorded = recording->shape.events;
	for (u32 i = 0; i < NOTE_COUNT; i++)
		recording->ledger.notes[i] = random_number(random);
	for (u32 i = 0; i < LOST_COUNT; i++)
		recording->ledger.lost[i] = random_number(random);
	for (u32 i = 0; i < REASON_COUNT; i++) {
		recording->ledger.kernel_reasons[i] = random_number(random);
		recording->ledger.user_reasons[i] = random_number(random);
	}
	for (u32 i = 0; i < STOP_COUNT; i++)
		recording->ledger.user_stops[i] = random_number(random);
	for (u32 i = 0; i < recording->shape.cpus; i++) {
		recording->cpu_ledgers[i].cpu = i;
		recording->cpu_ledgers[i].produced = random_number(random);
		recording->cpu_ledgers[i].recorded = random_number(random);
		recording->cpu_ledgers[i].lost[LOST_OVERWRITTEN] = random_number(random);
	}
}

static void make_info(struct recording *recording)
{
	recording->info = (struct trace_info){
		.start_realtime = 1700000000123456789ULL,
		.start_monotonic = 987654321,
		.frequency = 999,
		.cpus = recording->shape.cpus,
		.bits = 14,
		.address_shown = 1,
		.is_summary = recording->shape.is_summary,
		.has_times = recording->shape.times != 0,
		.has_contexts = recording->shape.contexts != 0,
		.has_attributes = recording->shape.has_attributes,
		.has_further = recording->shape.has_further,
		.has_losses = recording->shape.has_losses,
		.has_counted = recording->shape.has_aggregates,
		.has_aggregates = recording->shape.has_aggregates,
		.hostname = "host",
		.kernel = "6.18.0",
		.machine = "x86_64",
		.command = "stackmap record -a",
		.version = "0.1.0",
	};
}

struct recording *recording_create(const struct recording_shape *shape)
{
	struct recording *recording = allocate(1, sizeof(*recording));
	struct random random = {.state = shape->seed};

	recording->shape = *shape;
	recording->sources = allocate(shape->sources, sizeof(*recording->sources));
	recording->modules = allocate(MODULES, sizeof(*recording->modules));
	recording->module_count = MODULES;
	recording->mappings = allocate(MAPPINGS, sizeof(*recording->mappings));
	recording->mapping_count = MAPPINGS;
	recording->cgroups = allocate(CGROUPS, sizeof(*recording->cgroups));
	recording->cgroup_count = CGROUPS;
	recording->stacks = allocate(shape->stacks, sizeof(*recording->stacks));
	recording->tasks = allocate(shape->tasks, sizeof(*recording->tasks));
	recording->accounts = allocate(shape->times, sizeof(*recording->accounts));
	recording->contexts = allocate(shape->contexts, sizeof(*recording->contexts));
	recording->symbols = allocate(shape->symbols, sizeof(*recording->symbols));
	recording->events = allocate(shape->events, sizeof(*recording->events));
	recording->cpu_ledgers = allocate(shape->cpus, sizeof(*recording->cpu_ledgers));
	recording->placeholders = allocate(shape->placeholders, sizeof(*recording->placeholders));
	recording->placeholder_of = allocate(shape->events, sizeof(u32));
	recording->file_index = allocate(shape->stacks, sizeof(u32));
	make_info(recording);
	make_names(recording, &random);
	for (u32 i = 0; i < shape->stacks; i++)
		make_stack(recording, &random, i);
	make_cgroups(recording);
	make_tasks(recording, &random);
	make_accounts(recording);
	make_symbols(recording, &random);
	make_events(recording, &random);
	make_placeholders(recording, &random);
	make_ledger(recording, &random);
	if (shape->is_summary)
		make_repeats(recording, &random);
	make_contexts(recording);
	make_further(recording);
	return recording;
}

void recording_free(struct recording **recording)
{
	struct recording *old = *recording;

	for (u32 i = 0; i < old->shape.sources; i++)
		free((void *)old->sources[i].name);
	for (u32 i = 0; i < MODULES; i++)
		free((void *)old->modules[i].name);
	for (u32 i = 0; i < MAPPINGS; i++)
		free((void *)old->mappings[i].path);
	for (u32 i = 0; i < CGROUPS; i++)
		free((void *)old->cgroups[i].path);
	for (u32 i = 0; i < old->shape.stacks; i++)
		free((void *)old->stacks[i].frames);
	for (u32 i = 0; i < old->shape.symbols; i++)
		free((void *)old->symbols[i].name);
	free(old->sources);
	free(old->modules);
	free(old->mappings);
	free(old->cgroups);
	free(old->stacks);
	free(old->tasks);
	free(old->accounts);
	free(old->contexts);
	free(old->symbols);
	free(old->events);
	free(old->cpu_ledgers);
	free(old->placeholders);
	free(old->placeholder_of);
	free(old->file_index);
	free(old);
	*recording = NULL;
}

static int write_placeholders_before(const struct recording *recording, struct trace_writer *writer,
				     u32 stack)
{
	int err = 0;

	for (u32 i = 0; i < recording->shape.placeholders && !err; i++)
		if (recording->placeholders[i].before_stack == stack)
			err = trace_writer_placeholder(writer, &recording->placeholders[i].name);
	return err;
}

static int write_stacks(const struct recording *recording, struct trace_writer *writer)
{
	int err = write_placeholders_before(recording, writer, 0);

	for (u32 i = 0; i < recording->shape.stacks && !err; i++) {
		struct trace_stack stack = recording->stacks[i];

		if (!stack.generation)
			stack.id = 0;
		err = trace_writer_stack(writer, &stack, &recording->file_index[i]);
		if (!err)
			err = write_placeholders_before(recording, writer, i + 1);
	}
	return err;
}

/* Writes each cgroup before the first task that names it. */
static int write_tasks(const struct recording *recording, struct trace_writer *writer)
{
	u32 written = 0;
	int err = 0;

	for (u32 i = 0; i < recording->shape.tasks && !err; i++) {
		if (recording->tasks[i].cgroup > written)
			err = trace_writer_cgroup(writer, &recording->cgroups[written], &written);
		err = err ? err : trace_writer_task(writer, &recording->tasks[i]);
	}
	return err;
}

static int write_definitions(const struct recording *recording, struct trace_writer *writer)
{
	int err = 0;

	for (u32 i = 0; i < recording->shape.sources && !err; i++)
		err = trace_writer_source(writer, &recording->sources[i]);
	for (u32 i = 0; i < MODULES && !err; i++)
		err = trace_writer_module(writer, &recording->modules[i]);
	for (u32 i = 0; i < MAPPINGS && !err; i++)
		err = trace_writer_mapping(writer, &recording->mappings[i]);
	if (!err)
		err = write_tasks(recording, writer);
	for (u32 i = 0; i < recording->shape.times && !err; i++)
		err = trace_writer_thread_account(writer, &recording->accounts[i]);
	for (u32 i = 0, number; recording->shape.has_attributes && i < 2 && !err; i++)
		err = trace_writer_attributes(
			writer,
			&(struct trace_attributes){.bytes = (u16)(3 + i),
						   .data = (const u8 *)"\0\2abc"},
			&number);
	for (u32 i = 0, number; i < recording->shape.contexts && !err; i++)
		err = trace_writer_context(writer, &recording->contexts[i], &number);
	for (u32 i = 0; i < recording->shape.contexts && i < 3 && !err; i++)
		err = trace_writer_process(writer,
					   &(struct trace_process){.tgid = 1 + i / 2,
								   .since = i,
								   .bytes = i,
								   .message = (const u8 *)"ab"});
	return err ? err : write_stacks(recording, writer);
}

static u32 stack_index_in_file(const struct recording *recording, u32 stack)
{
	return stack == TRACE_NO_STACK ? stack : recording->file_index[stack];
}

u64 recording_leaf_in_file(const struct recording *recording, u32 event)
{
	u64 leaf = recording->events[event].leaf;
	u32 number = recording->placeholder_of[event];
	const struct trace_resolution *resolution;

	if (number == NO_PLACEHOLDER)
		return leaf;
	resolution = &recording->placeholders[number].resolution;
	if (leaf != resolution->leaf)
		return leaf;
	return resolution->stack != TRACE_NO_STACK && event % 2 ? FRAME_USER(1, event) : 0;
}

static int write_event(const struct recording *recording, struct trace_writer *writer, u32 i)
{
	struct trace_event event = recording->events[i];
	u32 number = recording->placeholder_of[i];

	event.kernel = stack_index_in_file(recording, event.kernel);
	event.user = number == NO_PLACEHOLDER ? stack_index_in_file(recording, event.user)
					      : recording->placeholders[number].name;
	event.leaf = recording_leaf_in_file(recording, i);
	return trace_writer_event(writer, &event);
}

static int write_resolutions_after(const struct recording *recording, struct trace_writer *writer,
				   u32 event)
{
	int err = 0;

	for (u32 i = 0; i < recording->shape.placeholders && !err; i++) {
		const struct recording_placeholder *placeholder = &recording->placeholders[i];
		struct trace_resolution resolution = placeholder->resolution;

		if (placeholder->after_event != event)
			continue;
		resolution.stack = stack_index_in_file(recording, resolution.stack);
		err = trace_writer_resolve(writer, placeholder->name, &resolution);
	}
	return err;
}

static int write_events(const struct recording *recording, struct trace_writer *writer)
{
	int err = 0;

	for (u32 i = 0; i < recording->shape.events; i++) {
		int failed = write_event(recording, writer, i);

		if (!failed)
			failed = write_resolutions_after(recording, writer, i);
		if (recording->shape.flush_every && i % recording->shape.flush_every == 0)
			failed = trace_writer_flush(writer);
		err = err ? err : failed;
	}
	return err;
}

static int write_summary(const struct recording *recording, struct trace_writer *writer)
{
	int err = 0;

	for (u32 i = recording->shape.symbols; i-- && !err;)
		err = trace_writer_symbol(writer, &recording->symbols[i]);
	if (!err)
		err = trace_writer_ledger(writer, &recording->ledger, recording->cpu_ledgers,
					  recording->shape.cpus);
	if (!err && recording->shape.has_losses)
		err = trace_writer_losses(writer, recording->ledger.lost);
	return err;
}

int recording_write(const struct recording *recording, const char *path, u64 *recorded, u64 *lost)
{
	struct trace_writer *writer;
	int err = trace_writer_create(path, &recording->info, &writer, NULL);
	int closed;

	if (err)
		return err;
	err = trace_writer_publish(writer, NULL) ?: write_definitions(recording, writer);
	if (!err || recording->shape.sources)
		err = write_events(recording, writer);
	if (!err)
		err = write_summary(recording, writer);
	if (recorded)
		*recorded = trace_writer_recorded(writer);
	if (lost)
		*lost = trace_writer_lost(writer);
	closed = trace_writer_close(&writer);
	return err ? err : closed;
}

u8 *file_read(const char *path, size_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	u8 *data;

	if (fd < 0 || fstat(fd, &status))
		abort();
	*bytes = (size_t)status.st_size;
	data = allocate(*bytes, 1);
	if (read(fd, data, *bytes) != status.st_size)
		abort();
	close(fd);
	return data;
}

void file_write(const char *path, const u8 *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
		abort();
	close(fd);
}
