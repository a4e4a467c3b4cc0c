/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each kind of record has a pair of a put and a get function. A list of counters begins with its
 * length, because later versions may have more counters. */
#include "trace/block/record_block.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "thread_context.h"

void record_builder_init(struct block_builder *builder, enum trace_block_type type)
{
	memset(builder, 0, sizeof(*builder));
	builder->type = (u8)type;
	builder->columns = RECORD_COLUMNS;
}

static struct byte_buffer *begin_record(struct block_builder *builder)
{
	builder->records++;
	return &builder->column[RECORD_NUMBERS];
}

static void put_string(struct block_builder *builder, const char *string)
{
	byte_buffer_string(&builder->column[RECORD_TEXT], string);
}

static struct byte_cursor *number_column_of_record_block(struct block_view *view)
{
	return &view->column[RECORD_NUMBERS];
}

static bool get_string(struct block_view *view, struct arena *arena, const char **string)
{
	*string = arena_string(arena, byte_cursor_string(&view->column[RECORD_TEXT]));
	return *string;
}

static int error_of_record_reading(const struct block_view *view, bool has_memory)
{
	if (view->column[RECORD_NUMBERS].bad || view->column[RECORD_TEXT].bad)
		return -EBADMSG;
	return has_memory ? 0 : -ENOMEM;
}

bool is_record_block_read_to_end(const struct block_view *view)
{
	return !byte_cursor_left(&view->column[RECORD_NUMBERS]) &&
	       !byte_cursor_left(&view->column[RECORD_TEXT]);
}

static void put_build_id(struct byte_buffer *column, const u8 *build_id, u32 bytes)
{
	if (bytes > TRACE_BUILD_ID_MAX)
		bytes = TRACE_BUILD_ID_MAX;
	byte_buffer_varint(column, bytes);
	byte_buffer_append(column, build_id, bytes);
}

static u32 get_build_id(struct byte_cursor *cursor, u8 *build_id)
{
	u64 bytes = byte_cursor_varint(cursor);
	const u8 *at;

	if (bytes > TRACE_BUILD_ID_MAX) {
		cursor->bad = true;
		return 0;
	}
	at = byte_cursor_read_bytes(cursor, bytes);
	if (!at)
		return 0;
	memcpy(build_id, at, bytes);
	return (u32)bytes;
}

static void put_counters(struct byte_buffer *column, const u64 *counters, u32 count)
{
	byte_buffer_varint(column, count);
	for (u32 i = 0; i < count; i++)
		byte_buffer_varint(column, counters[i]);
}

/* Writes the counters of one of the ledger's lists, which grow at their ends. Zeros at the end are
 * left out, so that a version with shorter lists reads the ledger if it has nothing of what the
 * version does not know. */
static void put_listed_counters(struct byte_buffer *column, const u64 *counters, u32 count)
{
	while (count && !counters[count - 1])
		count--;
	put_counters(column, counters, count);
}

static void get_counters(struct byte_cursor *cursor, u64 *counters, u32 most)
{
	u64 count = byte_cursor_varint(cursor);

	if (count > most)
		cursor->bad = true;
	for (u32 i = 0; i < count && !cursor->bad; i++)
		counters[i] = byte_cursor_varint(cursor);
}

void record_put_info(struct block_builder *builder, const struct trace_info *info)
{
	struct byte_buffer *column = begin_record(builder);

	byte_buffer_varint(column, info->start_realtime);
	byte_buffer_varint(column, info->start_monotonic);
	byte_buffer_varint(column, info->frequency);
	byte_buffer_varint(column, info->cpus);
	byte_buffer_varint(column, info->bits);
	byte_buffer_varint(column, info->address_shown);
	put_string(builder, info->hostname);
	put_string(builder, info->kernel);
	put_string(builder, info->machine);
	put_string(builder, info->command);
	put_string(builder, info->version);
}

int record_get_info(struct block_view *view, struct arena *arena, struct trace_info *info)
{
	bool has_memory = true;

	info->start_realtime = byte_cursor_varint(number_column_of_record_block(view));
	info->start_monotonic = byte_cursor_varint(number_column_of_record_block(view));
	info->frequency = byte_cursor_varint(number_column_of_record_block(view));
	info->cpus = byte_cursor_u32(number_column_of_record_block(view));
	info->bits = byte_cursor_u32(number_column_of_record_block(view));
	info->address_shown = byte_cursor_u32(number_column_of_record_block(view));
	has_memory &= get_string(view, arena, &info->hostname);
	has_memory &= get_string(view, arena, &info->kernel);
	has_memory &= get_string(view, arena, &info->machine);
	has_memory &= get_string(view, arena, &info->command);
	has_memory &= get_string(view, arena, &info->version);
	return error_of_record_reading(view, has_memory);
}

void record_put_source(struct block_builder *builder, const struct trace_source *source)
{
	byte_buffer_varint(begin_record(builder), source->extras);
	put_string(builder, source->name);
	put_string(builder, source->value_unit);
	if (!(source->extras & TRACE_EXTRA_FURTHER))
		return;
	put_string(builder, source->further_unit);
	put_string(builder, source->value_name);
	put_string(builder, source->further_name);
}

int record_get_source(struct block_view *view, struct arena *arena, struct trace_source *source)
{
	bool has_memory = true;

	source->extras = byte_cursor_u32(number_column_of_record_block(view));
	has_memory &= get_string(view, arena, &source->name);
	has_memory &= get_string(view, arena, &source->value_unit);
	if (source->extras & TRACE_EXTRA_FURTHER) {
		has_memory &= get_string(view, arena, &source->further_unit);
		has_memory &= get_string(view, arena, &source->value_name);
		has_memory &= get_string(view, arena, &source->further_name);
	}
	return error_of_record_reading(view, has_memory);
}

void record_put_module(struct block_builder *builder, const struct trace_module *module)
{
	struct byte_buffer *column = begin_record(builder);

	byte_buffer_varint(column, module->start);
	byte_buffer_varint(column, module->end);
	put_build_id(column, module->build_id, module->build_id_bytes);
	put_string(builder, module->name);
}

int record_get_module(struct block_view *view, struct arena *arena, struct trace_module *module)
{
	bool has_memory;

	module->start = byte_cursor_varint(number_column_of_record_block(view));
	module->end = byte_cursor_varint(number_column_of_record_block(view));
	module->build_id_bytes =
		get_build_id(number_column_of_record_block(view), module->build_id);
	has_memory = get_string(view, arena, &module->name);
	return error_of_record_reading(view, has_memory);
}

void record_put_mapping(struct block_builder *builder, const struct trace_mapping *mapping)
{
	struct byte_buffer *column = begin_record(builder);

	byte_buffer_varint(column, mapping->number);
	byte_buffer_varint(column, mapping->kind);
	byte_buffer_varint(column, mapping->tgid);
	byte_buffer_varint(column, mapping->base);
	put_build_id(column, mapping->build_id, mapping->build_id_bytes);
	put_string(builder, mapping->path);
}

int record_get_mapping(struct block_view *view, struct arena *arena, struct trace_mapping *mapping)
{
	bool has_memory;

	mapping->number = byte_cursor_u32(number_column_of_record_block(view));
	mapping->kind = byte_cursor_u32(number_column_of_record_block(view));
	mapping->tgid = byte_cursor_u32(number_column_of_record_block(view));
	mapping->base = byte_cursor_varint(number_column_of_record_block(view));
	mapping->build_id_bytes =
		get_build_id(number_column_of_record_block(view), mapping->build_id);
	has_memory = get_string(view, arena, &mapping->path);
	return error_of_record_reading(view, has_memory);
}

void record_put_cgroup(struct block_builder *builder, const struct trace_cgroup *cgroup)
{
	byte_buffer_varint(begin_record(builder), cgroup->id);
	put_string(builder, cgroup->path);
}

int record_get_cgroup(struct block_view *view, struct arena *arena, struct trace_cgroup *cgroup)
{
	bool has_memory;

	cgroup->id = byte_cursor_varint(number_column_of_record_block(view));
	has_memory = get_string(view, arena, &cgroup->path);
	return error_of_record_reading(view, has_memory);
}

/* Reads bytes that a process or thread has published, and sets *out to a copy. */
static int get_bytes(struct block_view *view, struct arena *arena, u32 bytes, const u8 **out)
{
	const u8 *found = byte_cursor_read_bytes(number_column_of_record_block(view), bytes);
	u8 *copy = found ? arena_alloc(arena, bytes + 1UL) : NULL;

	if (copy)
		memcpy(copy, found, bytes);
	*out = copy;
	return error_of_record_reading(view, !found || copy);
}

#define ID_BYTES offsetof(struct trace_context, attributes)

void record_put_context(struct block_builder *builder, u32 version,
			const struct trace_context *context)
{
	struct byte_buffer *column = begin_record(builder);

	byte_buffer_append(column, context, ID_BYTES);
	if (version >= TRACE_FILE_VERSION_ATTRIBUTES)
		byte_buffer_varint(column, context->attributes);
}

int record_get_context(struct block_view *view, u32 version, struct trace_context *context)
{
	struct byte_cursor *column = number_column_of_record_block(view);
	const u8 *ids = byte_cursor_read_bytes(column, ID_BYTES);

	*context = (struct trace_context){};
	if (ids)
		memcpy(context, ids, ID_BYTES);
	if (version >= TRACE_FILE_VERSION_ATTRIBUTES)
		context->attributes = byte_cursor_u32(column);
	return error_of_record_reading(view, true);
}

void record_put_attributes(struct block_builder *builder, const struct trace_attributes *attributes)
{
	struct byte_buffer *column = begin_record(builder);

	byte_buffer_varint(column, attributes->program);
	byte_buffer_varint(column, attributes->bytes);
	byte_buffer_append(column, attributes->data, attributes->bytes);
}

int record_get_attributes(struct block_view *view, struct arena *arena,
			  struct trace_attributes *attributes)
{
	struct byte_cursor *column = number_column_of_record_block(view);
	u64 bytes;

	attributes->program = (u16)byte_cursor_varint(column);
	bytes = byte_cursor_varint(column);
	if (!bytes || bytes > ATTRIBUTE_BYTES_MAX)
		return -EBADMSG;
	attributes->bytes = (u16)bytes;
	return get_bytes(view, arena, attributes->bytes, &attributes->data);
}

void record_put_process(struct block_builder *builder, u32 version,
			const struct trace_process *process)
{
	struct byte_buffer *column = begin_record(builder);

	byte_buffer_varint(column, process->tgid);
	byte_buffer_varint(column, process->since);
	if (version >= TRACE_FILE_VERSION_ATTRIBUTES)
		byte_buffer_varint(column, process->program);
	byte_buffer_varint(column, process->bytes);
	byte_buffer_append(column, process->message, process->bytes);
}

int record_get_process(struct block_view *view, u32 version, struct arena *arena,
		       struct trace_process *process)
{
	struct byte_cursor *column = number_column_of_record_block(view);

	process->tgid = byte_cursor_u32(column);
	process->since = byte_cursor_varint(column);
	process->program = 0;
	if (version >= TRACE_FILE_VERSION_ATTRIBUTES)
		process->program = (u16)byte_cursor_varint(column);
	process->bytes = byte_cursor_u32(column);
	if (process->bytes > TRACE_PROCESS_BYTES_MAX)
		return -EBADMSG;
	return get_bytes(view, arena, process->bytes, &process->message);
}

void record_put_task(struct block_builder *builder, const struct trace_task *task)
{
	struct byte_buffer *column = begin_record(builder);
	char comm[sizeof(task->comm) + 1] = {0};

	memcpy(comm, task->comm, sizeof(task->comm) - 1);
	byte_buffer_varint(column, task->time);
	byte_buffer_varint(column, task->tid);
	byte_buffer_signed(column, (s64)task->tgid - task->tid);
	byte_buffer_varint(column, task->cgroup);
	put_string(builder, comm);
}

int record_get_task(struct block_view *view, u32 version, struct trace_task *task)
{
	const char *comm;

	task->time = byte_cursor_varint(number_column_of_record_block(view));
	task->tid = byte_cursor_u32(number_column_of_record_block(view));
	task->tgid = task->tid + (u32)byte_cursor_signed(number_column_of_record_block(view));
	if (version >= TRACE_FILE_VERSION_CGROUPS)
		task->cgroup = byte_cursor_u32(number_column_of_record_block(view));
	comm = byte_cursor_string(&view->column[RECORD_TEXT]);
	if (strlen(comm) >= sizeof(task->comm))
		return -EBADMSG;
	strcpy(task->comm, comm);
	return error_of_record_reading(view, true);
}

/* The address of a symbol less its start, which is the same for all symbols of a segment. */
static u64 address_minus_start(const struct trace_symbol *symbol)
{
	return symbol->address - symbol->start;
}

void record_put_symbol(struct block_builder *builder, const struct trace_symbol *before,
		       const struct trace_symbol *symbol)
{
	struct byte_buffer *column = begin_record(builder);

	byte_buffer_signed(column, (s64)symbol->mapping - before->mapping);
	byte_buffer_signed(column, (s64)(symbol->start - before->start));
	byte_buffer_varint(column, symbol->size);
	byte_buffer_signed(column,
			   (s64)(address_minus_start(symbol) - address_minus_start(before)));
	put_string(builder, symbol->name);
}

int record_get_symbol(struct block_view *view, u32 version, struct arena *arena,
		      const struct trace_symbol *before, struct trace_symbol *symbol)
{
	bool has_memory;

	symbol->mapping =
		before->mapping + (u32)byte_cursor_signed(number_column_of_record_block(view));
	symbol->start =
		before->start + (u64)byte_cursor_signed(number_column_of_record_block(view));
	symbol->size = byte_cursor_varint(number_column_of_record_block(view));
	if (version >= TRACE_FILE_VERSION_ADDRESSES)
		symbol->address = symbol->start + address_minus_start(before) +
				  (u64)byte_cursor_signed(number_column_of_record_block(view));
	has_memory = get_string(view, arena, &symbol->name);
	return error_of_record_reading(view, has_memory);
}

void record_put_thread_account(struct block_builder *builder, const struct thread_account *account)
{
	struct byte_buffer *column = begin_record(builder);

	byte_buffer_varint(column, account->begin);
	byte_buffer_varint(column, account->end - account->begin);
	put_counters(column, account->spent, TIME_STATES);
	byte_buffer_signed(column, (s64)account->stolen);
	byte_buffer_varint(column, account->tid);
	byte_buffer_signed(column, (s64)account->tgid - account->tid);
}

int record_get_thread_account(struct block_view *view, struct thread_account *account)
{
	account->begin = byte_cursor_varint(number_column_of_record_block(view));
	account->end = account->begin + byte_cursor_varint(number_column_of_record_block(view));
	get_counters(number_column_of_record_block(view), account->spent, TIME_STATES);
	account->stolen = (u64)byte_cursor_signed(number_column_of_record_block(view));
	account->tid = byte_cursor_u32(number_column_of_record_block(view));
	account->tgid = account->tid + (u32)byte_cursor_signed(number_column_of_record_block(view));
	if (account->end < account->begin)
		return -EBADMSG;
	return error_of_record_reading(view, true);
}

void record_put_ledger(struct block_builder *builder, u32 version,
		       const struct trace_ledger *ledger)
{
	struct byte_buffer *column = begin_record(builder);

	byte_buffer_varint(column, ledger->produced);
	byte_buffer_varint(column, ledger->recorded);
	put_listed_counters(column, ledger->lost, LOST_COUNT);
	put_listed_counters(column, ledger->kernel_reasons, REASON_COUNT);
	put_listed_counters(column, ledger->user_reasons, REASON_COUNT);
	put_listed_counters(column, ledger->user_stops, STOP_COUNT);
	put_listed_counters(column, ledger->notes, NOTE_COUNT);
	if (version >= TRACE_FILE_VERSION_COUNTED)
		byte_buffer_varint(column, ledger->counted);
}

int record_get_ledger(struct block_view *view, u32 version, struct trace_ledger *ledger)
{
	ledger->produced = byte_cursor_varint(number_column_of_record_block(view));
	ledger->recorded = byte_cursor_varint(number_column_of_record_block(view));
	get_counters(number_column_of_record_block(view), ledger->lost, LOST_COUNT);
	get_counters(number_column_of_record_block(view), ledger->kernel_reasons, REASON_COUNT);
	get_counters(number_column_of_record_block(view), ledger->user_reasons, REASON_COUNT);
	get_counters(number_column_of_record_block(view), ledger->user_stops, STOP_COUNT);
	get_counters(number_column_of_record_block(view), ledger->notes, NOTE_COUNT);
	if (version >= TRACE_FILE_VERSION_COUNTED)
		ledger->counted = byte_cursor_varint(number_column_of_record_block(view));
	return error_of_record_reading(view, true);
}

void record_put_cpu_ledger(struct block_builder *builder, u32 version,
			   const struct trace_cpu_ledger *cpu)
{
	struct byte_buffer *column = begin_record(builder);

	byte_buffer_varint(column, cpu->cpu);
	byte_buffer_varint(column, cpu->produced);
	byte_buffer_varint(column, cpu->recorded);
	put_listed_counters(column, cpu->lost, LOST_COUNT);
	if (version >= TRACE_FILE_VERSION_COUNTED)
		byte_buffer_varint(column, cpu->counted);
}

int record_get_cpu_ledger(struct block_view *view, u32 version, struct trace_cpu_ledger *cpu)
{
	cpu->cpu = byte_cursor_u32(number_column_of_record_block(view));
	cpu->produced = byte_cursor_varint(number_column_of_record_block(view));
	cpu->recorded = byte_cursor_varint(number_column_of_record_block(view));
	get_counters(number_column_of_record_block(view), cpu->lost, LOST_COUNT);
	if (version >= TRACE_FILE_VERSION_COUNTED)
		cpu->counted = byte_cursor_varint(number_column_of_record_block(view));
	return error_of_record_reading(view, true);
}

void record_put_source_ledger(struct block_builder *builder,
			      const struct trace_source_ledger *source)
{
	struct byte_buffer *column = begin_record(builder);

	byte_buffer_varint(column, source->recorded);
	byte_buffer_varint(column, source->counted);
	byte_buffer_varint(column, source->lost);
}

int record_get_source_ledger(struct block_view *view, struct trace_source_ledger *source)
{
	source->recorded = byte_cursor_varint(number_column_of_record_block(view));
	source->counted = byte_cursor_varint(number_column_of_record_block(view));
	source->lost = byte_cursor_varint(number_column_of_record_block(view));
	return error_of_record_reading(view, true);
}

void record_put_end(struct block_builder *builder, u64 events)
{
	byte_buffer_varint(begin_record(builder), events);
}

int record_get_end(struct block_view *view, u64 *events)
{
	*events = byte_cursor_varint(number_column_of_record_block(view));
	return error_of_record_reading(view, true);
}
