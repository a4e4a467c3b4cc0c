/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The trace writer. Builders collect definitions (sources, modules, mappings, stacks, tasks) and
 * events. All definitions are written before each block of events, so readers meet a definition
 * before its first use.
 *
 * The first failure is kept in `error` and ends all writing. Events are counted when they are given
 * (`given`) and when their block is whole in the file (`recorded`); the difference is lost.
 */
#include "trace/write/writer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "array.h"
#include "error.h"
#include "order.h"
#include "output/output.h"
#include "scalar.h"
#include "thread_context.h"
#include "trace/block/event_block.h"
#include "trace/block/record_block.h"
#include "trace/block/resolution_block.h"
#include "trace/block/stack_block.h"
#include "trace/bytes/byte_buffer.h"
#include "trace/event.h"
#include "trace/write/placeholders.h"
#include "trace/write/recorded_sets.h"
#include "trace_file.h"

/* the definitions of one kind are written when they have this size */
#define DEFINITIONS_BYTES_MAX (1U << 20)
#define SOURCES_MAX KIND_SOURCES
#define STACKS_MAX (1U << 30)

/*
 * Events waiting for their block, by CPU. All CPUs together hold about TRACE_EVENTS_BUFFERED
 * events. On a machine with many CPUs blocks get shorter, so writer and reader need no more memory.
 * A buffer grows to the size of one block and is then written out.
 */
struct event_buffer {
	struct trace_event *events;
	u32 count;
	u32 room;
};

struct event_buffers {
	struct event_buffer *cpu; /* buffer of each CPU; index: number of the CPU */
	u32 cpus;
	u32 most; /* most events in one buffer */
};

#define TRACE_EVENTS_BUFFERED (1U << 20)
#define EVENTS_MIN 1024U
#define ROOM_MIN 32U /* a CPU without events takes little memory */

/* `cpus` is the expected number; further CPUs are added when they occur. */
static void event_buffers_init(struct event_buffers *buffers, u32 cpus)
{
	u32 share = TRACE_EVENTS_BUFFERED / (cpus ? cpus : 1);

	memset(buffers, 0, sizeof(*buffers));
	buffers->most = share < EVENTS_MIN ? EVENTS_MIN : share;
	if (buffers->most > TRACE_BLOCK_EVENTS_MAX)
		buffers->most = TRACE_BLOCK_EVENTS_MAX;
}

static void event_buffers_free(struct event_buffers *buffers)
{
	for (u32 i = 0; i < buffers->cpus; i++)
		free(buffers->cpu[i].events);
	free(buffers->cpu);
	memset(buffers, 0, sizeof(*buffers));
}

/* Returns the CPU's buffer with room for one event; NULL without memory. */
static struct event_buffer *event_buffers_get(struct event_buffers *buffers, u32 cpu)
{
	struct event_buffer *buffer;

	if (cpu >= buffers->cpus) {
		struct event_buffer *larger = reallocarray(buffers->cpu, cpu + 1, sizeof(*larger));

		if (!larger)
			return NULL;
		memset(larger + buffers->cpus, 0, (cpu + 1 - buffers->cpus) * sizeof(*larger));
		buffers->cpu = larger;
		buffers->cpus = cpu + 1;
	}
	buffer = &buffers->cpu[cpu];
	if (buffer->count == buffer->room) {
		u32 room = buffer->room ? buffer->room * 2 : ROOM_MIN;
		struct trace_event *events;

		if (room > buffers->most)
			room = buffers->most;
		events = reallocarray(buffer->events, room, sizeof(*events));
		if (!events)
			return NULL;
		buffer->events = events;
		buffer->room = room;
	}
	return buffer;
}

/*
 * A symbol that waits to be written. Symbols are added in any order and with repetitions. They are
 * sorted by mapping and address, which makes the stored differences small, and of repetitions only
 * the first is written; a symbol with a name comes first.
 */
struct symbol_entry {
	u64 start;
	u64 size;
	u64 address;
	size_t name; /* offset of the name in symbol_names */
	u32 mapping;
	bool is_named;
};

struct trace_writer {
	struct output output;
	struct block_sealer *sealer;
	struct event_encoder *encoder;
	bool is_summary, has_times, has_contexts, has_attributes, has_further, has_losses;
	u32 version;
	u32 sequence;
	int error;

	struct block_builder sources, modules, mappings, cgroups, tasks, times, context_records,
		attribute_records, processes;
	struct context_set contexts;
	struct attribute_set attributes;
	struct stack_encoder stacks;
	struct resolution_encoder resolutions;
	struct symbol_entry *symbols;
	u32 symbol_count, symbol_room;
	struct byte_buffer symbol_names;
	/* events with a time, and events that are only counted */
	struct event_buffers events, counts;

	struct trace_source_ledger *source_ledgers;
	u32 source_count, source_room;
	u32 cgroup_count;
	u32 stack_count;
	/* number of ids given to stacks without an id; ids are given from UINT32_MAX downwards */
	u32 full_ids;
	struct stack_set full_stacks;
	struct placeholders placeholders;
	struct frame_set frames;
	u64 given;
	u64 recorded, counted; /* numbers of events in whole blocks: recorded, only counted */
	u64 records;	       /* number of records of events in the file */
};

static int keep_first_error(struct trace_writer *writer, int err)
{
	if (err && !writer->error)
		writer->error = err;
	return writer->error;
}

static int write_block(struct trace_writer *writer, const struct block_builder *builder)
{
	const u8 *bytes;
	size_t count;
	int err = block_seal(writer->sealer, builder, writer->sequence, &bytes, &count);

	if (!err)
		err = output_write(&writer->output, bytes, count);
	if (!err)
		writer->sequence++;
	return keep_first_error(writer, err);
}

static int write_records(struct trace_writer *writer, struct block_builder *builder)
{
	if (writer->error || !builder->records)
		return writer->error;
	write_block(writer, builder);
	block_builder_clear(builder);
	return writer->error;
}

static int write_stacks(struct trace_writer *writer)
{
	write_records(writer, &writer->stacks.builder);
	stack_encoder_clear(&writer->stacks);
	return writer->error;
}

/* Must be called after all stacks that the resolutions name were written. */
static int write_resolutions(struct trace_writer *writer)
{
	if (writer->error || !writer->resolutions.builder.records)
		return writer->error;
	write_block(writer, resolution_encoder_finish(&writer->resolutions));
	resolution_encoder_clear(&writer->resolutions);
	return writer->error;
}

static int write_definitions(struct trace_writer *writer)
{
	write_records(writer, &writer->sources);
	write_records(writer, &writer->modules);
	write_records(writer, &writer->mappings);
	write_stacks(writer);
	write_resolutions(writer);
	write_records(writer, &writer->times);
	write_records(writer, &writer->attribute_records);
	write_records(writer, &writer->context_records);
	write_records(writer, &writer->processes);
	write_records(writer, &writer->cgroups);
	return write_records(writer, &writer->tasks);
}

/* Writes the events of a buffer as one block. Either all of them have a time, or all are only
 * counted. */
static int write_events(struct trace_writer *writer, struct event_buffer *buffer)
{
	const struct block_builder *builder;
	bool is_counted = buffer->events[0].is_counted;
	int err;

	if (write_definitions(writer))
		return writer->error;
	placeholders_flush(&writer->placeholders, buffer->events, buffer->count);
	err = event_encoder_run(writer->encoder, buffer->events, buffer->count,
				writer->is_summary || is_counted, &builder);
	if (err)
		return keep_first_error(writer, err);
	if (write_block(writer, builder))
		return writer->error;
	writer->records += buffer->count;
	if (!is_counted)
		writer->recorded += buffer->count;
	for (u32 i = 0; i < buffer->count; i++) {
		struct trace_source_ledger *source =
			&writer->source_ledgers[buffer->events[i].kind];
		u64 events = event_stands_for(&buffer->events[i]);

		source->recorded += is_counted ? 0 : events;
		source->counted += is_counted ? events : 0;
		writer->counted += is_counted ? events : 0;
	}
	buffer->count = 0;
	return 0;
}

static void writer_free(struct trace_writer **writer)
{
	struct trace_writer *old = *writer;

	if (!old)
		return;
	block_sealer_free(&old->sealer);
	event_encoder_free(&old->encoder);
	block_builder_free(&old->sources);
	block_builder_free(&old->modules);
	block_builder_free(&old->mappings);
	block_builder_free(&old->cgroups);
	block_builder_free(&old->tasks);
	block_builder_free(&old->times);
	block_builder_free(&old->context_records);
	block_builder_free(&old->attribute_records);
	block_builder_free(&old->processes);
	context_set_free(&old->contexts);
	attribute_set_free(&old->attributes);
	stack_encoder_free(&old->stacks);
	resolution_encoder_free(&old->resolutions);
	free(old->symbols);
	byte_buffer_free(&old->symbol_names);
	event_buffers_free(&old->events);
	event_buffers_free(&old->counts);
	free(old->source_ledgers);
	stack_set_free(&old->full_stacks);
	placeholders_free(&old->placeholders);
	frame_set_free(&old->frames);
	free(old);
	*writer = NULL;
}

static struct trace_writer *create_writer(const struct trace_info *info)
{
	struct trace_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	record_builder_init(&writer->sources, TRACE_BLOCK_SOURCES);
	record_builder_init(&writer->modules, TRACE_BLOCK_MODULES);
	record_builder_init(&writer->mappings, TRACE_BLOCK_MAPPINGS);
	record_builder_init(&writer->cgroups, TRACE_BLOCK_CGROUPS);
	record_builder_init(&writer->tasks, TRACE_BLOCK_TASKS);
	record_builder_init(&writer->times, TRACE_BLOCK_TIMES);
	record_builder_init(&writer->context_records, TRACE_BLOCK_CONTEXTS);
	record_builder_init(&writer->attribute_records, TRACE_BLOCK_ATTRIBUTES);
	record_builder_init(&writer->processes, TRACE_BLOCK_PROCESSES);
	resolution_encoder_init(&writer->resolutions);
	event_buffers_init(&writer->events, info->cpus);
	event_buffers_init(&writer->counts, info->cpus);
	writer->is_summary = info->is_summary;
	writer->has_times = info->has_times && !info->is_summary;
	writer->has_contexts = info->has_contexts && !info->is_summary;
	writer->has_attributes = info->has_attributes && writer->has_contexts;
	writer->has_further = info->has_further && !info->is_summary;
	writer->has_losses = info->has_losses && !info->is_summary;
	writer->version = info->is_summary	   ? TRACE_FILE_VERSION_SUMMARY
			  : writer->has_attributes ? TRACE_FILE_VERSION_ATTRIBUTES
			  : info->has_aggregates   ? TRACE_FILE_VERSION_AGGREGATES
			  : info->has_losses	   ? TRACE_FILE_VERSION_LOSSES
			  : info->has_further	   ? TRACE_FILE_VERSION_FURTHER
			  : info->has_contexts	   ? TRACE_FILE_VERSION_CONTEXTS
			  : info->has_counted	   ? TRACE_FILE_VERSION_COUNTED
			  : info->has_times	   ? TRACE_FILE_VERSION_TIMES
						   : TRACE_FILE_VERSION;
	if (stack_encoder_init(&writer->stacks) || block_sealer_create(&writer->sealer) ||
	    event_encoder_create(&writer->encoder))
		writer_free(&writer);
	return writer;
}

/* Makes a writer that owns *output. On failure *output is closed. */
static int begin_trace_file(struct output *output, const char *name, const struct trace_info *info,
			    struct trace_writer **out, struct stackmap_error *error)
{
	struct trace_file_header header = {.magic = TRACE_FILE_MAGIC,
					   .byte_order = TRACE_FILE_LITTLE_ENDIAN};
	struct trace_writer *writer = create_writer(info);
	struct block_builder builder;
	int err;

	if (!writer) {
		output_close(output);
		return error_set(error, ENOMEM, "%s: no memory to write a recording", name);
	}
	writer->output = *output;
	header.version = writer->version;
	header.checksum =
		(u32)crc32(0, (const u8 *)&header, offsetof(struct trace_file_header, checksum));
	err = keep_first_error(writer, output_write(&writer->output, &header, sizeof(header)));
	if (!err) {
		record_builder_init(&builder, TRACE_BLOCK_INFO);
		record_put_info(&builder, info);
		write_block(writer, &builder);
		block_builder_free(&builder);
		err = writer->error;
	}
	if (!err) {
		*out = writer;
		return 0;
	}
	trace_writer_discard(&writer);
	return set_output_write_error(name, err, error);
}

int trace_writer_create(const char *path, const struct trace_info *info, struct trace_writer **out,
			struct stackmap_error *error)
{
	struct output output;
	int err = output_open(path, OUTPUT_RECORDING, &output, error);

	return err ?: begin_trace_file(&output, path, info, out, error);
}

int trace_writer_create_fd(int fd, const char *name, const struct trace_info *info,
			   struct trace_writer **out, struct stackmap_error *error)
{
	struct output output;

	output_wrap_descriptor(fd, &output);
	return begin_trace_file(&output, name, info, out, error);
}

int trace_writer_publish(struct trace_writer *writer, struct stackmap_error *error)
{
	return output_publish(&writer->output, error);
}

/* Writes a kind of records before its block becomes too large. */
static int write_records_if_many(struct trace_writer *writer, struct block_builder *builder)
{
	if (block_builder_bytes(builder) >= DEFINITIONS_BYTES_MAX)
		return write_records(writer, builder);
	return writer->error;
}

int trace_writer_source(struct trace_writer *writer, const struct trace_source *source)
{
	if (writer->error)
		return writer->error;
	if (writer->source_count == SOURCES_MAX)
		return -E2BIG;
	if (array_make_room(writer->source_ledgers, writer->source_count, writer->source_room))
		return keep_first_error(writer, -ENOMEM);
	record_put_source(&writer->sources, source);
	writer->source_ledgers[writer->source_count++] = (struct trace_source_ledger){};
	return write_records_if_many(writer, &writer->sources);
}

int trace_writer_module(struct trace_writer *writer, const struct trace_module *module)
{
	if (writer->error)
		return writer->error;
	record_put_module(&writer->modules, module);
	return write_records_if_many(writer, &writer->modules);
}

int trace_writer_mapping(struct trace_writer *writer, const struct trace_mapping *mapping)
{
	if (writer->error)
		return writer->error;
	record_put_mapping(&writer->mappings, mapping);
	return write_records_if_many(writer, &writer->mappings);
}

int trace_writer_cgroup(struct trace_writer *writer, const struct trace_cgroup *cgroup, u32 *number)
{
	if (writer->error)
		return writer->error;
	record_put_cgroup(&writer->cgroups, cgroup);
	*number = ++writer->cgroup_count;
	return write_records_if_many(writer, &writer->cgroups);
}

int trace_writer_task(struct trace_writer *writer, const struct trace_task *task)
{
	if (writer->error)
		return writer->error;
	if (task->cgroup > writer->cgroup_count)
		return -EINVAL;
	record_put_task(&writer->tasks, task);
	if (block_builder_bytes(&writer->tasks) < DEFINITIONS_BYTES_MAX)
		return writer->error;
	write_records(writer, &writer->cgroups);
	return write_records(writer, &writer->tasks);
}

int trace_writer_thread_account(struct trace_writer *writer, const struct thread_account *account)
{
	if (writer->error)
		return writer->error;
	if (!writer->has_times || account->end < account->begin)
		return -EINVAL;
	record_put_thread_account(&writer->times, account);
	return write_records_if_many(writer, &writer->times);
}

int trace_writer_context(struct trace_writer *writer, const struct trace_context *context,
			 u32 *number)
{
	u32 count = context_set_count(&writer->contexts);
	int err;

	if (writer->error)
		return writer->error;
	if (!writer->has_contexts || context->attributes > attribute_set_count(&writer->attributes))
		return -EINVAL;
	err = context_set_find_or_add_number(&writer->contexts, context, number);
	if (err)
		return err == -E2BIG ? err : keep_first_error(writer, err);
	if (*number < count)
		return 0;
	record_put_context(&writer->context_records, writer->version, context);
	if (block_builder_bytes(&writer->context_records) < DEFINITIONS_BYTES_MAX)
		return writer->error;
	write_records(writer, &writer->attribute_records);
	return write_records(writer, &writer->context_records);
}

int trace_writer_attributes(struct trace_writer *writer, const struct trace_attributes *attributes,
			    u32 *number)
{
	u32 count = attribute_set_count(&writer->attributes);
	int err;

	if (writer->error)
		return writer->error;
	if (!writer->has_attributes || !attributes->bytes ||
	    attributes->bytes > ATTRIBUTE_BYTES_MAX)
		return -EINVAL;
	err = attribute_set_number(&writer->attributes, attributes, number);
	if (err)
		return err == -E2BIG ? err : keep_first_error(writer, err);
	if (*number <= count)
		return 0;
	record_put_attributes(&writer->attribute_records, attributes);
	return write_records_if_many(writer, &writer->attribute_records);
}

int trace_writer_process(struct trace_writer *writer, const struct trace_process *process)
{
	if (writer->error)
		return writer->error;
	if (!writer->has_contexts || process->bytes > TRACE_PROCESS_BYTES_MAX)
		return -EINVAL;
	record_put_process(&writer->processes, writer->version, process);
	return write_records_if_many(writer, &writer->processes);
}

int trace_writer_symbol(struct trace_writer *writer, const struct trace_symbol *symbol)
{
	struct symbol_entry entry = {
		.start = symbol->start,
		.size = symbol->size,
		.address = symbol->address,
		.name = writer->symbol_names.used,
		.mapping = symbol->mapping,
		.is_named = *symbol->name,
	};

	if (writer->error)
		return writer->error;
	if (!symbol->size)
		return -EINVAL;
	if (array_make_room(writer->symbols, writer->symbol_count, writer->symbol_room))
		return keep_first_error(writer, -ENOMEM);
	byte_buffer_string(&writer->symbol_names, symbol->name);
	if (writer->symbol_names.failed)
		return keep_first_error(writer, -ENOMEM);
	writer->symbols[writer->symbol_count++] = entry;
	return 0;
}

static int write_stacks_if_many(struct trace_writer *writer)
{
	if (block_builder_bytes(&writer->stacks.builder) >= DEFINITIONS_BYTES_MAX)
		return write_stacks(writer);
	return writer->error;
}

static int add_stack(struct trace_writer *writer, const struct trace_stack *stack, u32 *index)
{
	int err;

	if (writer->stack_count == STACKS_MAX)
		return -E2BIG;
	/* The innermost frame is a return address if the event has a leaf, else a pc. Both occur
	 * for the same stack. */
	err = frame_set_add(&writer->frames, stack->frames[0], FRAME_EXACT);
	for (u32 i = 0; i < stack->depth && !err; i++)
		err = frame_set_add(&writer->frames, stack->frames[i], FRAME_RETURN_ADDRESS);
	if (err || stack_encoder_add(&writer->stacks, stack))
		return keep_first_error(writer, -ENOMEM);
	*index = writer->stack_count++;
	return write_stacks_if_many(writer);
}

static int add_stack_without_id(struct trace_writer *writer, const struct trace_stack *stack,
				u32 *index)
{
	struct trace_stack named = *stack;
	int err;

	named.generation = 0;
	if (stack_set_find(&writer->full_stacks, stack, index))
		return 0;
	named.id = UINT32_MAX - writer->full_ids++;
	err = add_stack(writer, &named, index);
	if (err)
		return err;
	return keep_first_error(writer, stack_set_add(&writer->full_stacks, stack, *index));
}

int trace_writer_stack(struct trace_writer *writer, const struct trace_stack *stack, u32 *index)
{
	if (writer->error)
		return writer->error;
	if (!stack->depth || stack->depth > TRACE_DEPTH_MAX ||
	    STACK_STOP(stack->flags) >= STOP_COUNT)
		return -EINVAL;
	for (u32 i = 0; i < stack->depth; i++)
		if (!stack->frames[i])
			return -EINVAL;
	return stack->id ? add_stack(writer, stack, index)
			 : add_stack_without_id(writer, stack, index);
}

int trace_writer_placeholder(struct trace_writer *writer, u32 *name)
{
	if (writer->error)
		return writer->error;
	if (writer->stack_count == STACKS_MAX)
		return -E2BIG;
	if (placeholders_add(&writer->placeholders, writer->stack_count, name))
		return keep_first_error(writer, -ENOMEM);
	stack_encoder_add_placeholder(&writer->stacks);
	writer->stack_count++;
	return write_stacks_if_many(writer);
}

static bool is_valid_stack_index(const struct trace_writer *writer, u32 index, u8 reason)
{
	if (index == TRACE_NO_STACK)
		return reason < REASON_COUNT;
	return index < writer->stack_count;
}

int trace_writer_resolve(struct trace_writer *writer, u32 name,
			 const struct trace_resolution *resolution)
{
	const struct placeholder *placeholder =
		placeholders_find_unresolved(&writer->placeholders, name);
	u32 index;

	if (writer->error)
		return writer->error;
	if (!placeholder || FRAME_IS_KERNEL(resolution->leaf) ||
	    !is_valid_stack_index(writer, resolution->stack, resolution->reason))
		return -EINVAL;
	if (frame_set_add(&writer->frames, resolution->leaf, FRAME_EXACT))
		return keep_first_error(writer, -ENOMEM);
	index = placeholder->index;
	if (!placeholders_resolve(&writer->placeholders, name, resolution))
		return 0;
	resolution_encoder_add(&writer->resolutions, index, resolution);
	if (block_builder_bytes(&writer->resolutions.builder) < DEFINITIONS_BYTES_MAX)
		return 0;
	write_stacks(writer);
	return write_resolutions(writer);
}

void trace_writer_hold_placeholder(struct trace_writer *writer, const struct trace_event *event)
{
	placeholders_count_waiting_event(&writer->placeholders, event->user);
}

void trace_writer_release_placeholder(struct trace_writer *writer, struct trace_event *event)
{
	placeholders_resolve_waiting_event(&writer->placeholders, event);
}

static bool is_valid_event(const struct trace_writer *writer, const struct trace_event *event)
{
	if (event->is_counted && writer->version < TRACE_FILE_VERSION_COUNTED)
		return false;
	if (event->has_context &&
	    (event->is_counted || event->context >= context_set_count(&writer->contexts)))
		return false;
	if (event->further && (event->is_counted || !writer->has_further))
		return false;
	return event->kind < writer->source_count &&
	       (event_stands_for(event) == 1 || writer->is_summary || event->is_counted) &&
	       is_valid_stack_index(writer, event->kernel, event->kernel_reason) &&
	       (is_valid_stack_index(writer, event->user, event->user_reason) ||
		placeholders_find_unresolved(&writer->placeholders, event->user));
}

int trace_writer_event(struct trace_writer *writer, const struct trace_event *event)
{
	struct event_buffers *buffers = event->is_counted ? &writer->counts : &writer->events;
	struct placeholder *placeholder;
	struct event_buffer *buffer;

	if (!is_valid_event(writer, event))
		return -EINVAL;
	writer->given += event->is_counted ? event_stands_for(event) : 1;
	if (writer->error)
		return writer->error;
	buffer = event_buffers_get(buffers, event->cpu);
	placeholder = placeholders_find_unresolved(&writer->placeholders, event->user);
	if (!buffer || frame_set_add(&writer->frames, event->leaf, FRAME_EXACT))
		return keep_first_error(writer, -ENOMEM);
	if (placeholder)
		placeholder->waiting++;
	buffer->events[buffer->count++] = *event;
	if (buffer->count == buffers->most)
		return write_events(writer, buffer);
	return 0;
}

static int compare_written_symbols_by_address(const void *a, const void *b)
{
	const struct symbol_entry *x = a, *y = b;

	return order(x->mapping, y->mapping)
		       ?: order(x->start, y->start)
		       ?: order(y->is_named, x->is_named) ?: order(x->name, y->name);
}

static int write_symbols(struct trace_writer *writer)
{
	struct trace_symbol before = {};
	struct block_builder builder;

	record_builder_init(&builder, TRACE_BLOCK_SYMBOLS);
	if (writer->symbol_count)
		qsort(writer->symbols, writer->symbol_count, sizeof(*writer->symbols),
		      compare_written_symbols_by_address);
	for (u32 i = 0; i < writer->symbol_count && !writer->error; i++) {
		const struct symbol_entry *entry = &writer->symbols[i];
		const struct trace_symbol symbol = {
			.mapping = entry->mapping,
			.start = entry->start,
			.size = entry->size,
			.address = entry->address,
			.name = (const char *)writer->symbol_names.data + entry->name,
		};

		if (i && entry[-1].mapping == entry->mapping && entry[-1].start == entry->start)
			continue;
		record_put_symbol(&builder, &before, &symbol);
		before = symbol;
		if (block_builder_bytes(&builder) < DEFINITIONS_BYTES_MAX)
			continue;
		before = (struct trace_symbol){};
		write_records(writer, &builder);
	}
	write_records(writer, &builder);
	block_builder_free(&builder);
	writer->symbol_count = 0;
	byte_buffer_clear(&writer->symbol_names);
	return writer->error;
}

static void flush_event_buffers(struct trace_writer *writer, struct event_buffers *buffers)
{
	for (u32 cpu = 0; cpu < buffers->cpus && !writer->error; cpu++)
		if (buffers->cpu[cpu].count)
			write_events(writer, &buffers->cpu[cpu]);
}

int trace_writer_flush(struct trace_writer *writer)
{
	flush_event_buffers(writer, &writer->events);
	flush_event_buffers(writer, &writer->counts);
	if (!writer->error)
		write_definitions(writer);
	return writer->error ? writer->error : write_symbols(writer);
}

int trace_writer_ledger(struct trace_writer *writer, const struct trace_ledger *ledger,
			const struct trace_cpu_ledger *cpus, u32 cpu_count)
{
	struct block_builder builder;

	if (trace_writer_flush(writer))
		return writer->error;
	record_builder_init(&builder, TRACE_BLOCK_LEDGER);
	record_put_ledger(&builder, writer->version, ledger);
	for (u32 i = 0; i < cpu_count; i++)
		record_put_cpu_ledger(&builder, writer->version, &cpus[i]);
	write_block(writer, &builder);
	block_builder_free(&builder);
	return writer->error;
}

int trace_writer_losses(struct trace_writer *writer, const u64 *lost)
{
	struct block_builder builder;

	if (!writer->has_losses || trace_writer_flush(writer))
		return writer->error;
	record_builder_init(&builder, TRACE_BLOCK_LOSSES);
	for (u32 kind = 0; kind < writer->source_count; kind++) {
		writer->source_ledgers[kind].lost = lost[kind];
		record_put_source_ledger(&builder, &writer->source_ledgers[kind]);
	}
	write_records(writer, &builder);
	block_builder_free(&builder);
	return writer->error;
}

int trace_writer_each_frame(struct trace_writer *writer,
			    int (*each)(void *arg, u64 frame, bool return_address), void *arg)
{
	return frame_set_each(&writer->frames, each, arg);
}

u64 trace_writer_recorded(const struct trace_writer *writer)
{
	return writer->recorded;
}

u64 trace_writer_counted(const struct trace_writer *writer)
{
	return writer->counted;
}

u64 trace_writer_lost(const struct trace_writer *writer)
{
	return writer->error ? writer->given - writer->recorded - writer->counted : 0;
}

u64 trace_writer_bytes(const struct trace_writer *writer)
{
	return writer->output.written;
}

int trace_writer_close(struct trace_writer **writer)
{
	struct block_builder end;
	int err;

	if (!*writer)
		return 0;
	if (!trace_writer_flush(*writer)) {
		record_builder_init(&end, TRACE_BLOCK_END);
		record_put_end(&end, (*writer)->records);
		if (!write_block(*writer, &end))
			keep_first_error(*writer, output_publish(&(*writer)->output, NULL));
		block_builder_free(&end);
	}
	err = keep_first_error(*writer, output_close(&(*writer)->output));
	writer_free(writer);
	return err;
}

void trace_writer_discard(struct trace_writer **writer)
{
	if (!*writer)
		return;
	output_close(&(*writer)->output);
	writer_free(writer);
}
