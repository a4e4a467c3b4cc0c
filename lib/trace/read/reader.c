/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The trace reader. Opening walks all blocks once: it checks every checksum, decodes the
 * definitions and notes the positions of the event blocks, which trace_reader_events() decodes. The
 * walk stops at the first invalid block; the blocks before it are the recording.
 *
 * The file is read with pread() instead of mapped, so a file that shrinks while it is read causes
 * an error and no signal.
 */
#include "trace/read/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "arena.h"
#include "error.h"
#include "order.h"
#include "ring.h"
#include "trace/block/event_block.h"
#include "trace/block/record_block.h"
#include "trace/block/resolution_block.h"
#include "trace/block/stack_block.h"
#include "trace/bytes/lookup.h"
#include "trace/read/event_merge.h"
#include "trace_file.h"

/* The memory limit of a file: MEMORY_MIN and MEMORY_OF_A_BYTE for each byte of the file. A valid
 * file takes at most 160 bytes of memory for each byte of the file: samples of unnamed code, each
 * at another address. */
#define MEMORY_MIN (24ULL << 20)
#define MEMORY_OF_A_BYTE 224

struct trace_reader {
	char *path;
	int fd;
	u64 size;
	u32 version;
	u32 sequence; /* expected number of the next block */
	bool finished;
	struct block_opener *opener;
	struct arena arena;
	struct trace_info info;
	/* Records by type of block: struct trace_source...; EVENTS: struct event_block; LEDGER:
	 * ledgers of CPUs. */
	struct arena_array records[TRACE_BLOCK_TYPE_COUNT];
	struct trace_ledger ledger;
	bool has_ledger;
	u64 events;
	struct frame_dictionary frames; /* frames of the stack blocks that were read so far */
	struct stack_resolution resolution;
	struct lookup lookup;
	/* cause of the damage; with the message "" the file is whole */
	struct stackmap_error damage;
	/* by kind, true: trace_reader_choose_value() has swapped the values of the source; NULL: no
	 * source is swapped */
	bool *is_swapped;
};

static int read_info(struct trace_reader *reader, struct block_view *view)
{
	if (view->header.records != 1)
		return -EBADMSG;
	return record_get_info(view, &reader->arena, &reader->info);
}

static void *add_record_of_block_type(struct trace_reader *reader, enum trace_block_type type,
				      size_t bytes)
{
	return arena_array_add(&reader->arena, &reader->records[type], bytes);
}

static int read_source(struct trace_reader *reader, struct block_view *view)
{
	struct trace_source *source;

	/* The ledgers of sources are as many as the sources, which therefore come before. */
	if (reader->records[TRACE_BLOCK_LOSSES].count ||
	    reader->records[TRACE_BLOCK_SOURCES].count == KIND_SOURCES)
		return -EBADMSG;
	source = add_record_of_block_type(reader, TRACE_BLOCK_SOURCES, sizeof(*source));
	return source ? record_get_source(view, &reader->arena, source) : -ENOMEM;
}

static int read_module(struct trace_reader *reader, struct block_view *view)
{
	struct trace_module *module =
		add_record_of_block_type(reader, TRACE_BLOCK_MODULES, sizeof(*module));

	return module ? record_get_module(view, &reader->arena, module) : -ENOMEM;
}

static int read_mapping(struct trace_reader *reader, struct block_view *view)
{
	struct trace_mapping *mapping =
		add_record_of_block_type(reader, TRACE_BLOCK_MAPPINGS, sizeof(*mapping));

	return mapping ? record_get_mapping(view, &reader->arena, mapping) : -ENOMEM;
}

static int read_cgroup(struct trace_reader *reader, struct block_view *view)
{
	struct trace_cgroup *cgroup =
		add_record_of_block_type(reader, TRACE_BLOCK_CGROUPS, sizeof(*cgroup));

	return cgroup ? record_get_cgroup(view, &reader->arena, cgroup) : -ENOMEM;
}

static int read_task(struct trace_reader *reader, struct block_view *view)
{
	struct trace_task *task =
		add_record_of_block_type(reader, TRACE_BLOCK_TASKS, sizeof(*task));
	int err = task ? record_get_task(view, reader->version, task) : -ENOMEM;

	if (err)
		return err;
	return task->cgroup <= reader->records[TRACE_BLOCK_CGROUPS].count ? 0 : -EBADMSG;
}

static int read_thread_account(struct trace_reader *reader, struct block_view *view)
{
	struct thread_account *account;

	if (!reader->info.has_times && !reader->info.has_counted)
		return -EBADMSG;
	reader->info.has_times = 1;
	account = add_record_of_block_type(reader, TRACE_BLOCK_TIMES, sizeof(*account));
	return account ? record_get_thread_account(view, account) : -ENOMEM;
}

static int read_context(struct trace_reader *reader, struct block_view *view)
{
	struct trace_context *context;
	int err;

	if (!reader->info.has_contexts)
		return -EBADMSG;
	context = add_record_of_block_type(reader, TRACE_BLOCK_CONTEXTS, sizeof(*context));
	err = context ? record_get_context(view, reader->version, context) : -ENOMEM;
	if (err)
		return err;
	return context->attributes <= reader->records[TRACE_BLOCK_ATTRIBUTES].count ? 0 : -EBADMSG;
}

static int read_attributes(struct trace_reader *reader, struct block_view *view)
{
	struct trace_attributes *attributes;

	if (!reader->info.has_attributes)
		return -EBADMSG;
	attributes = add_record_of_block_type(reader, TRACE_BLOCK_ATTRIBUTES, sizeof(*attributes));
	return attributes ? record_get_attributes(view, &reader->arena, attributes) : -ENOMEM;
}

static int read_process(struct trace_reader *reader, struct block_view *view)
{
	struct trace_process *process;

	if (!reader->info.has_contexts)
		return -EBADMSG;
	process = add_record_of_block_type(reader, TRACE_BLOCK_PROCESSES, sizeof(*process));
	return process ? record_get_process(view, reader->version, &reader->arena, process)
		       : -ENOMEM;
}

static int compare_processes(const void *left, const void *right)
{
	const struct trace_process *a = left, *b = right;

	return order(a->tgid, b->tgid) ?: order(a->since, b->since);
}

/* A merged recording may have contexts of several programs of a process, and several of one. */
static int compare_programs(const void *left, const void *right)
{
	const struct trace_process *a = left, *b = right;

	return compare_processes(a, b) ?: order(a->program, b->program);
}

static int compare_contexts_of_processes(const void *left, const void *right)
{
	const struct trace_process *a = left, *b = right;

	return compare_programs(a, b) ?: order(a->bytes, b->bytes);
}

static int read_symbols(struct trace_reader *reader, struct block_view *view)
{
	struct trace_symbol before = {0};
	int err = 0;

	for (u32 i = 0; i < view->header.records && !err; i++) {
		struct trace_symbol *symbol =
			add_record_of_block_type(reader, TRACE_BLOCK_SYMBOLS, sizeof(*symbol));

		if (!symbol)
			return -ENOMEM;
		err = record_get_symbol(view, reader->version, &reader->arena, &before, symbol);
		before = *symbol;
	}
	return err;
}

static int read_ledger(struct trace_reader *reader, struct block_view *view)
{
	int err;

	if (reader->has_ledger || !view->header.records)
		return -EBADMSG;
	err = record_get_ledger(view, reader->version, &reader->ledger);
	for (u32 i = 1; i < view->header.records && !err; i++) {
		struct trace_cpu_ledger *cpu =
			add_record_of_block_type(reader, TRACE_BLOCK_LEDGER, sizeof(*cpu));

		err = cpu ? record_get_cpu_ledger(view, reader->version, cpu) : -ENOMEM;
	}
	return err;
}

static int read_losses(struct trace_reader *reader, struct block_view *view)
{
	u32 sources = reader->records[TRACE_BLOCK_SOURCES].count;
	int err = 0;

	if (!reader->info.has_losses || reader->records[TRACE_BLOCK_LOSSES].count ||
	    view->header.records != sources)
		return -EBADMSG;
	for (u32 kind = 0; kind < sources && !err; kind++) {
		struct trace_source_ledger *source =
			add_record_of_block_type(reader, TRACE_BLOCK_LOSSES, sizeof(*source));

		err = source ? record_get_source_ledger(view, source) : -ENOMEM;
	}
	return err;
}

static int read_end_block(struct trace_reader *reader, struct block_view *view)
{
	u64 events;
	int err = record_get_end(view, &events);

	if (err)
		return err;
	return view->header.records == 1 && events == reader->events ? 0 : -EBADMSG;
}

static int add_event_block(struct trace_reader *reader, const struct trace_block_header *header,
			   u64 offset)
{
	bool is_counted = reader->info.has_counted && header->columns == event_block_columns(true);
	bool has_contexts = reader->info.has_contexts && header->columns == EVENT_COLUMNS_CONTEXTS;
	bool has_further = reader->info.has_further && header->columns == EVENT_COLUMNS_FURTHER;
	struct event_block *block;

	if (!header->records || header->records > TRACE_BLOCK_EVENTS_MAX ||
	    header->first_time > header->last_time ||
	    (!has_contexts && !has_further &&
	     header->columns != event_block_columns(reader->info.is_summary || is_counted)))
		return -EBADMSG;
	block = add_record_of_block_type(reader, TRACE_BLOCK_EVENTS, sizeof(*block));
	if (!block)
		return -ENOMEM;
	*block = (struct event_block){
		.offset = offset,
		.first_time = header->first_time,
		.records = header->records,
		.sequence = header->sequence,
		.cpu = header->cpu,
		.limits = {.columns = header->columns,
			   .is_counted = is_counted,
			   .sources = reader->records[TRACE_BLOCK_SOURCES].count,
			   .stacks = reader->records[TRACE_BLOCK_STACKS].count,
			   .contexts = reader->records[TRACE_BLOCK_CONTEXTS].count,
			   .resolution = &reader->resolution},
	};
	reader->events += header->records;
	return 0;
}

typedef int (*read_fn)(struct trace_reader *reader, struct block_view *view);

static const struct {
	read_fn record; /* reads one record */
	read_fn block;	/* reads all records of a block */
} readers[TRACE_BLOCK_TYPE_COUNT] = {
	[TRACE_BLOCK_INFO] = {.block = read_info},
	[TRACE_BLOCK_SOURCES] = {.record = read_source},
	[TRACE_BLOCK_MODULES] = {.record = read_module},
	[TRACE_BLOCK_MAPPINGS] = {.record = read_mapping},
	[TRACE_BLOCK_TASKS] = {.record = read_task},
	[TRACE_BLOCK_SYMBOLS] = {.block = read_symbols},
	[TRACE_BLOCK_LEDGER] = {.block = read_ledger},
	[TRACE_BLOCK_END] = {.block = read_end_block},
	[TRACE_BLOCK_CGROUPS] = {.record = read_cgroup},
	[TRACE_BLOCK_TIMES] = {.record = read_thread_account},
	[TRACE_BLOCK_CONTEXTS] = {.record = read_context},
	[TRACE_BLOCK_LOSSES] = {.block = read_losses},
	[TRACE_BLOCK_PROCESSES] = {.record = read_process},
	[TRACE_BLOCK_ATTRIBUTES] = {.record = read_attributes},
};

static int read_records(struct trace_reader *reader, struct block_view *view)
{
	enum trace_block_type type = view->header.type;
	int err = 0;

	if (type == TRACE_BLOCK_STACKS)
		return stack_block_decode(view, &reader->frames, &reader->arena,
					  &reader->records[type]);
	if (type == TRACE_BLOCK_RESOLUTIONS)
		return resolution_block_decode(view, &reader->arena,
					       &reader->records[TRACE_BLOCK_STACKS],
					       &reader->records[type]);
	if (view->header.columns != RECORD_COLUMNS)
		return -EBADMSG;
	if (readers[type].block)
		err = readers[type].block(reader, view);
	for (u32 i = 0; readers[type].record && i < view->header.records && !err; i++)
		err = readers[type].record(reader, view);
	return err || is_record_block_read_to_end(view) ? err : -EBADMSG;
}

/* Reads a block completely or not at all: a failure removes the block's records. */
static int decode_definition_block(struct trace_reader *reader, u64 offset,
				   struct stackmap_error *error)
{
	struct arena_array *records;
	struct block_view view;
	u32 before;
	int err = block_open(reader->opener, offset, &view, error);

	if (err)
		return err;
	records = &reader->records[view.header.type];
	before = records->count;
	err = read_records(reader, &view);
	if (err)
		records->count = before;
	else if (view.header.type == TRACE_BLOCK_LEDGER)
		reader->has_ledger = true;
	else if (view.header.type == TRACE_BLOCK_END)
		reader->finished = true;
	if (err == -ENOMEM)
		return error_set_at(
			error, ENOMEM, offset,
			"damaged at byte %llu: no memory for what the block unfolds into",
			(unsigned long long)offset);
	if (err)
		return error_set_at(error, EBADMSG, offset,
				    "damaged at byte %llu: the block's records make no sense",
				    (unsigned long long)offset);
	return 0;
}

/* Reads the block at *offset and advances *offset to the next block. */
static int read_next_block(struct trace_reader *reader, u64 *offset, struct stackmap_error *error)
{
	struct trace_block_header header;
	const char *fault = NULL;
	int err = block_load(reader->opener, reader->fd, *offset, reader->size, &header, error);

	if (err)
		return err;
	if (reader->finished)
		fault = "something follows the end";
	else if (header.sequence != reader->sequence)
		fault = "a block is missing";
	else if ((header.type == TRACE_BLOCK_INFO) != (header.sequence == 0))
		fault = "the first block, and no other, must be the info block";
	if (!fault && header.type == TRACE_BLOCK_EVENTS &&
	    add_event_block(reader, &header, *offset))
		fault = "the block's header makes no sense";
	if (fault)
		return error_set_at(error, EBADMSG, *offset, "damaged at byte %llu: %s",
				    (unsigned long long)*offset, fault);
	if (header.type != TRACE_BLOCK_EVENTS)
		err = decode_definition_block(reader, *offset, error);
	if (err)
		return err;
	reader->sequence++;
	*offset += sizeof(header) + header.stored_bytes;
	return 0;
}

static void read_all_blocks(struct trace_reader *reader)
{
	struct stackmap_error error;
	u64 offset = sizeof(struct trace_file_header);
	int err = 0;

	while (!err && offset < reader->size)
		err = read_next_block(reader, &offset, &error);
	if (!err && !reader->finished) {
		error_set_at(&error, EBADMSG, offset,
			     "ends at byte %llu: the recording was not finished",
			     (unsigned long long)offset);
		err = -EBADMSG;
	}
	if (err)
		error_set_at(&reader->damage, EBADMSG, error.offset, "%s: %s", reader->path,
			     error.message);
}

/* Frees the memory of the walk, because thousands of recordings may be open at once. */
static void free_memory_of_block_reading(struct trace_reader *reader)
{
	frame_dictionary_free(&reader->frames);
	block_opener_free(&reader->opener);
}

static const u8 magic[TRACE_FILE_MAGIC_BYTES] = TRACE_FILE_MAGIC;

bool trace_reader_is_recording(int fd)
{
	u8 bytes[TRACE_FILE_MAGIC_BYTES];

	return pread(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
	       memcmp(bytes, magic, sizeof(bytes)) == 0;
}

static int set_not_a_recording_error(const char *path, struct stackmap_error *error)
{
	return error_set_at(error, EBADMSG, 0,
			    "%s: not a recording: its first bytes are not stackmap's", path);
}

static int check_file_and_header(struct trace_reader *reader, const char *path,
				 struct stackmap_error *error)
{
	struct trace_file_header header;
	struct stat status;
	ssize_t got;

	if (fstat(reader->fd, &status))
		return error_set(error, errno, "%s: cannot be read: %s", path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return error_set(error, EISDIR, "%s: cannot be read: %s", path, strerror(EISDIR));
	if (!S_ISREG(status.st_mode))
		return error_set(error, ESPIPE,
				 "%s: cannot be read: a recording is read from a regular file only",
				 path);
	reader->size = (u64)status.st_size;
	reader->arena.limit = MEMORY_MIN + MEMORY_OF_A_BYTE * reader->size;
	got = pread(reader->fd, &header, sizeof(header), 0);
	if (got < 0)
		return error_set(error, errno, "%s: cannot be read: %s", path, strerror(errno));
	if (got < (ssize_t)sizeof(header) || memcmp(header.magic, magic, sizeof(magic)) != 0)
		return set_not_a_recording_error(path, error);
	if (crc32(0, (const u8 *)&header, offsetof(struct trace_file_header, checksum)) !=
	    header.checksum)
		return error_set_at(error, EBADMSG, 0,
				    "%s: damaged at byte 0: the file header's checksum is wrong",
				    path);
	if (header.version > TRACE_FILE_VERSION_ATTRIBUTES ||
	    header.byte_order != TRACE_FILE_LITTLE_ENDIAN)
		return error_set_at(error, EPROTONOSUPPORT, 0,
				    "%s: format version %u, byte order %u: this stackmap reads up "
				    "to version %u",
				    path, header.version, header.byte_order,
				    TRACE_FILE_VERSION_ATTRIBUTES);
	if (!header.version || header.reserved)
		return set_not_a_recording_error(path, error);
	reader->version = header.version;
	return 0;
}

static struct trace_reader *create_reader(const char *path)
{
	struct trace_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->fd = -1;
	reader->path = strdup(path);
	reader->arena.limit = MEMORY_MIN;
	reader->info.hostname = reader->info.kernel = reader->info.machine = "";
	reader->info.command = reader->info.version = "";
	if (!reader->path || frame_dictionary_init(&reader->frames) ||
	    block_opener_create(&reader->opener)) {
		trace_reader_close(&reader);
		return NULL;
	}
	reader->frames.limit = &reader->arena;
	return reader;
}

int trace_reader_open(const char *path, struct trace_reader **out, struct stackmap_error *error)
{
	int fd;

	if (strcmp(path, "-") == 0)
		return error_set(error, ESPIPE,
				 "standard input: cannot be read: a recording is read from a "
				 "regular file only");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_set(error, errno, "%s: cannot be read: %s", path, strerror(errno));
	return trace_reader_open_fd(fd, path, out, error);
}

int trace_reader_open_fd(int fd, const char *path, struct trace_reader **out,
			 struct stackmap_error *error)
{
	struct trace_reader *reader = create_reader(path);
	struct arena_array *stacks, *resolutions;
	const struct trace_source *sources;
	u32 source_count;
	int err;

	if (!reader) {
		close(fd);
		return error_set(error, ENOMEM, "%s: no memory to read it", path);
	}
	reader->fd = fd;
	err = check_file_and_header(reader, path, error);
	if (err) {
		trace_reader_close(&reader);
		return err;
	}
	reader->info.is_summary = reader->version == TRACE_FILE_VERSION_SUMMARY;
	reader->info.has_times = reader->version == TRACE_FILE_VERSION_TIMES;
	reader->info.has_aggregates = reader->version == TRACE_FILE_VERSION_AGGREGATES;
	reader->info.has_attributes = reader->version == TRACE_FILE_VERSION_ATTRIBUTES;
	reader->info.has_losses = reader->version >= TRACE_FILE_VERSION_LOSSES;
	reader->info.has_further =
		reader->version == TRACE_FILE_VERSION_FURTHER || reader->info.has_losses;
	reader->info.has_contexts =
		reader->version == TRACE_FILE_VERSION_CONTEXTS || reader->info.has_further;
	reader->info.has_counted =
		reader->version == TRACE_FILE_VERSION_COUNTED || reader->info.has_contexts;
	read_all_blocks(reader);
	free_memory_of_block_reading(reader);
	if (reader->records[TRACE_BLOCK_PROCESSES].count)
		qsort(reader->records[TRACE_BLOCK_PROCESSES].items,
		      reader->records[TRACE_BLOCK_PROCESSES].count, sizeof(struct trace_process),
		      compare_contexts_of_processes);
	reader->info.has_attributes = reader->records[TRACE_BLOCK_ATTRIBUTES].count > 0;
	/* From version 8 on, the version does not tell whether the recorder took contexts, but for
	 * version 11. The threads of a process that publishes attributes need not publish a
	 * context. */
	if (reader->info.has_further && reader->version != TRACE_FILE_VERSION_ATTRIBUTES)
		reader->info.has_contexts = reader->records[TRACE_BLOCK_CONTEXTS].count > 0 ||
					    reader->records[TRACE_BLOCK_PROCESSES].count > 0;
	source_count = trace_reader_sources(reader, &sources);
	if (reader->info.has_losses)
		reader->info.has_further = 0;
	for (u32 kind = 0; reader->info.has_losses && kind < source_count; kind++)
		reader->info.has_further |= (sources[kind].extras & TRACE_EXTRA_FURTHER) != 0;
	if (reader->version >= TRACE_FILE_VERSION_AGGREGATES)
		reader->info.has_losses = reader->records[TRACE_BLOCK_LOSSES].count > 0;
	stacks = &reader->records[TRACE_BLOCK_STACKS];
	resolutions = &reader->records[TRACE_BLOCK_RESOLUTIONS];
	err = stack_resolution_build(&reader->resolution, stacks->items, &stacks->count,
				     resolutions->items, resolutions->count);
	if (!err) {
		const struct arena_array *records = reader->records;

		event_blocks_sort(records[TRACE_BLOCK_EVENTS].items,
				  records[TRACE_BLOCK_EVENTS].count);
		err = lookup_build(
			&reader->lookup, records[TRACE_BLOCK_MAPPINGS].items,
			records[TRACE_BLOCK_MAPPINGS].count, records[TRACE_BLOCK_TASKS].items,
			records[TRACE_BLOCK_TASKS].count, records[TRACE_BLOCK_SYMBOLS].items,
			records[TRACE_BLOCK_SYMBOLS].count);
	}
	if (err) {
		trace_reader_close(&reader);
		return error_set(error, ENOMEM, "%s: no memory to read it", path);
	}
	*out = reader;
	return 0;
}

void trace_reader_close(struct trace_reader **reader)
{
	struct trace_reader *old = *reader;

	if (!old)
		return;
	lookup_free(&old->lookup);
	free_memory_of_block_reading(old);
	stack_resolution_free(&old->resolution);
	for (u32 type = 0; type < TRACE_BLOCK_TYPE_COUNT; type++)
		arena_array_free(&old->records[type]);
	arena_free(&old->arena);
	if (old->fd >= 0)
		close(old->fd);
	free(old->path);
	free(old->is_swapped);
	free(old);
	*reader = NULL;
}

const char *trace_reader_name(const struct trace_reader *reader)
{
	return reader->path;
}

int trace_reader_count_memory(struct trace_reader *reader, u64 bytes)
{
	if (arena_charge_other_memory(&reader->arena, bytes))
		return 0;
	if (!reader->damage.message[0])
		error_set(&reader->damage, EBADMSG,
			  "%s: damaged: it unfolds into more memory than a recording of %llu bytes "
			  "needs",
			  reader->path, (unsigned long long)reader->size);
	return -ENOMEM;
}

const struct stackmap_error *trace_reader_damage(const struct trace_reader *reader)
{
	return reader->damage.message[0] ? &reader->damage : NULL;
}

void trace_reader_set_damage(struct trace_reader *reader, const struct stackmap_error *why)
{
	if (!reader->damage.message[0])
		reader->damage = *why;
}

bool trace_readers_fit_memory_limit(struct trace_reader *const *readers, u32 count)
{
	u64 taken = 0, bytes = 0;

	for (u32 i = 0; i < count; i++) {
		taken += readers[i]->arena.taken;
		bytes += readers[i]->size;
	}
	return taken <= MEMORY_MIN + MEMORY_OF_A_BYTE * bytes;
}

const struct trace_info *trace_reader_info(const struct trace_reader *reader)
{
	return &reader->info;
}

u32 trace_reader_sources(const struct trace_reader *reader, const struct trace_source **sources)
{
	*sources = reader->records[TRACE_BLOCK_SOURCES].items;
	return reader->records[TRACE_BLOCK_SOURCES].count;
}

u32 trace_reader_source_named(const struct trace_reader *reader, const char *name)
{
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);

	for (u32 i = 0; i < count; i++)
		if (!strcmp(sources[i].name, name))
			return i;
	return TRACE_NO_SOURCE;
}

static void swap_text_pointers(const char **a, const char **b)
{
	const char *text = *a;

	*a = *b;
	*b = text;
}

/* The number, 1 or 2, of the value of a source that is named by a number, a name or a unit; 0: the
 * source lacks the value. */
static u32 find_value_number(const struct trace_source *source, const char *value)
{
	bool has_value = source->extras & TRACE_EXTRA_VALUE;
	bool has_further = source->extras & TRACE_EXTRA_FURTHER;

	if (!strcmp(value, "1") || !strcmp(value, "2"))
		return *value == '1' ? has_value : has_further ? 2 : 0;
	if (has_further && !strcmp(value, source->value_name))
		return 1;
	if (has_further && !strcmp(value, source->further_name))
		return 2;
	if (has_value && !strcmp(value, source->value_unit))
		return 1;
	return has_further && !strcmp(value, source->further_unit) ? 2 : 0;
}

int trace_reader_choose_value(struct trace_reader *reader, const char *value,
			      struct stackmap_error *error)
{
	struct trace_source *sources = reader->records[TRACE_BLOCK_SOURCES].items;
	u32 count = reader->records[TRACE_BLOCK_SOURCES].count;
	bool is_found = false;

	reader->is_swapped = reader->is_swapped ?: calloc(count + 1UL, sizeof(bool));
	if (!reader->is_swapped)
		return error_set(error, ENOMEM, "%s: no memory to read it", reader->path);
	for (u32 i = 0; i < count; i++) {
		u32 number = find_value_number(&sources[i], value);

		is_found |= number > 0;
		if (number != 2)
			continue;
		reader->is_swapped[i] = !reader->is_swapped[i];
		swap_text_pointers(&sources[i].value_unit, &sources[i].further_unit);
		swap_text_pointers(&sources[i].value_name, &sources[i].further_name);
	}
	if (is_found)
		return 0;
	return error_set(error, ENOENT,
			 "--value %s: no event of %s has this value; it is 1 or 2, or the name or "
			 "the unit of one of two values",
			 value, reader->path);
}

u32 trace_reader_stacks(const struct trace_reader *reader, const struct trace_stack **stacks)
{
	*stacks = reader->records[TRACE_BLOCK_STACKS].items;
	return reader->records[TRACE_BLOCK_STACKS].count;
}

u32 trace_reader_modules(const struct trace_reader *reader, const struct trace_module **modules)
{
	*modules = reader->records[TRACE_BLOCK_MODULES].items;
	return reader->records[TRACE_BLOCK_MODULES].count;
}

const struct trace_module *trace_reader_kernel(const struct trace_reader *reader)
{
	const struct trace_module *modules;
	u32 count = trace_reader_modules(reader, &modules);

	for (u32 i = 0; i < count; i++)
		if (!strcmp(modules[i].name, "vmlinux"))
			return &modules[i];
	return NULL;
}

const struct trace_module *trace_reader_module_of(const struct trace_reader *reader, u64 address)
{
	const struct trace_module *modules;
	u32 count = trace_reader_modules(reader, &modules);

	for (u32 i = 0; i < count; i++)
		if (address >= modules[i].start && address < modules[i].end)
			return &modules[i];
	return NULL;
}

u32 trace_reader_mappings(const struct trace_reader *reader, const struct trace_mapping **mappings)
{
	*mappings = reader->records[TRACE_BLOCK_MAPPINGS].items;
	return reader->records[TRACE_BLOCK_MAPPINGS].count;
}

u32 trace_reader_cgroups(const struct trace_reader *reader, const struct trace_cgroup **cgroups)
{
	*cgroups = reader->records[TRACE_BLOCK_CGROUPS].items;
	return reader->records[TRACE_BLOCK_CGROUPS].count;
}

u32 trace_reader_tasks(const struct trace_reader *reader, const struct trace_task **tasks)
{
	*tasks = reader->records[TRACE_BLOCK_TASKS].items;
	return reader->records[TRACE_BLOCK_TASKS].count;
}

u32 trace_reader_accounts(const struct trace_reader *reader, const struct thread_account **accounts)
{
	*accounts = reader->records[TRACE_BLOCK_TIMES].items;
	return reader->records[TRACE_BLOCK_TIMES].count;
}

u32 trace_reader_contexts(const struct trace_reader *reader, const struct trace_context **contexts)
{
	*contexts = reader->records[TRACE_BLOCK_CONTEXTS].items;
	return reader->records[TRACE_BLOCK_CONTEXTS].count;
}

const struct trace_context *trace_reader_context(const struct trace_reader *reader,
						 const struct trace_event *event)
{
	const struct trace_context *contexts = reader->records[TRACE_BLOCK_CONTEXTS].items;

	return event->has_context ? &contexts[event->context] : NULL;
}

u32 trace_reader_attributes(const struct trace_reader *reader,
			    const struct trace_attributes **attributes)
{
	*attributes = reader->records[TRACE_BLOCK_ATTRIBUTES].items;
	return reader->records[TRACE_BLOCK_ATTRIBUTES].count;
}

u32 trace_reader_processes(const struct trace_reader *reader,
			   const struct trace_process **processes)
{
	*processes = reader->records[TRACE_BLOCK_PROCESSES].items;
	return reader->records[TRACE_BLOCK_PROCESSES].count;
}

u32 trace_reader_process(const struct trace_reader *reader, u32 tgid, u64 time)
{
	const struct trace_process *processes, key = {.tgid = tgid, .since = time};
	u32 count = trace_reader_processes(reader, &processes);
	u32 number = (u32)bisect(count, i, compare_processes(&processes[i], &key) <= 0);

	return number && processes[number - 1].tgid == tgid ? number : 0;
}

/* Returns the number of the longest context that the same process has of the program whose thread
 * has the attributes; else `process`. */
static u32 find_context_of_program(const struct trace_reader *reader, u32 process, u32 thread)
{
	const struct trace_attributes *attributes;
	const struct trace_process *processes;
	u32 count = trace_reader_processes(reader, &processes), number;
	struct trace_process key = processes[process - 1];

	trace_reader_attributes(reader, &attributes);
	key.program = attributes[thread - 1].program;
	number = (u32)bisect(count, i, compare_programs(&processes[i], &key) <= 0);
	return number && !compare_programs(&processes[number - 1], &key) ? number : process;
}

struct attribute_numbers trace_reader_attribute_numbers(const struct trace_reader *reader,
							const struct trace_event *event,
							const struct trace_task *task)
{
	const struct trace_context *context = trace_reader_context(reader, event);
	u32 process = task ? trace_reader_process(reader, task->tgid, event->time) : 0;
	u32 thread = context ? context->attributes : 0;

	if (process && thread)
		process = find_context_of_program(reader, process, thread);
	return (struct attribute_numbers){.process = process, .thread = thread};
}

u32 trace_reader_symbols(const struct trace_reader *reader, const struct trace_symbol **symbols)
{
	*symbols = reader->records[TRACE_BLOCK_SYMBOLS].items;
	return reader->records[TRACE_BLOCK_SYMBOLS].count;
}

const struct trace_ledger *trace_reader_ledger(const struct trace_reader *reader)
{
	return reader->has_ledger ? &reader->ledger : NULL;
}

u32 trace_reader_source_ledgers(const struct trace_reader *reader,
				const struct trace_source_ledger **sources)
{
	const struct arena_array *losses = &reader->records[TRACE_BLOCK_LOSSES];

	*sources = losses->items;
	return losses->count == reader->records[TRACE_BLOCK_SOURCES].count ? losses->count : 0;
}

u32 trace_reader_cpu_ledgers(const struct trace_reader *reader,
			     const struct trace_cpu_ledger **cpus)
{
	*cpus = reader->records[TRACE_BLOCK_LEDGER].items;
	return reader->records[TRACE_BLOCK_LEDGER].count;
}

const struct trace_mapping *trace_reader_mapping(const struct trace_reader *reader, u32 number)
{
	return lookup_mapping(&reader->lookup, number);
}

const struct trace_task *trace_reader_task(const struct trace_reader *reader, u32 tid, u64 time)
{
	return lookup_task(&reader->lookup, tid, time);
}

const struct trace_symbol *trace_reader_symbol(const struct trace_reader *reader, u64 frame,
					       bool return_address)
{
	bool is_kernel = FRAME_IS_KERNEL(frame);
	u64 address = is_kernel ? frame : FRAME_OFFSET(frame);

	if (FRAME_IS_OMITTED(frame))
		return NULL;
	if (return_address && address)
		address--;
	return lookup_symbol(&reader->lookup, is_kernel ? 0 : FRAME_MAPPING(frame), address);
}

int trace_reader_events(struct trace_reader *reader,
			int (*each)(void *arg, const struct trace_event *event), void *arg,
			struct stackmap_error *error)
{
	const struct arena_array *blocks = &reader->records[TRACE_BLOCK_EVENTS];
	const struct event_file file = {.path = reader->path,
					.fd = reader->fd,
					.end = reader->size,
					.limit = &reader->arena,
					.is_swapped = reader->is_swapped};

	return event_merge_run(blocks->items, blocks->count, &file, each, arg, error);
}
