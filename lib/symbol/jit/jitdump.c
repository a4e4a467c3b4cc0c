/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Most of a dump is code, which is skipped: records are read through a window that jumps from
 * record to record, so a dump of gigabytes costs little memory.
 *
 * A move has the index of its function and not the name. Loads and moves are noted with their
 * index, and sorted by it at the end, so that each move stands after the last load before it.
 */
#include "jitdump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "order.h"

#define MAGIC 0x4a695444 /* "JiTD" */
#define VERSION 1

struct header {
	u32 magic;
	u32 version;
	u32 bytes; /* length of the header; the first record follows it */
	u32 machine;
	u32 reserved;
	u32 pid;
	u64 time;
	u64 flags; /* which clock the times of records are of */
};

enum record_id { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };

struct record {
	u32 id;
	u32 bytes; /* length of the record with this head */
	u64 time;
};

/* The record of a generated function; its name, a NUL and its code follow this struct. The function
 * runs at `code`, and was written at `address`: the runtime may have mapped the memory twice. */
struct load {
	struct record record;
	u32 pid;
	u32 tid;
	u64 address;
	u64 code;
	u64 code_bytes;
	u64 index;
};

struct move {
	struct record record;
	u32 pid;
	u32 tid;
	u64 address;
	u64 old_code;
	u64 code;
	u64 code_bytes;
	u64 index;
};

/* Length of a record's beginning that is read. */
#define VIEW_BYTES (sizeof(struct move) + JITDUMP_NAME_BYTES_MAX + 1)
#define WINDOW_BYTES (4 * VIEW_BYTES)

struct indexed {
	u64 index;
	u32 function;
	bool moved;
};

struct dump {
	int fd;
	u64 end;    /* size of the file when reading began */
	u64 window; /* offset of the window in the file */
	size_t window_bytes;
	u8 *bytes;
	u32 pid;
	struct generated_code *code;
	struct indexed *indexed;
	u32 indexed_count;
	u32 indexed_room;
};

static ssize_t read_file_at(const struct dump *dump, u64 at, size_t wanted)
{
	size_t bytes = 0;

	while (bytes < wanted) {
		ssize_t got = pread(dump->fd, dump->bytes + bytes, wanted - bytes, at + bytes);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		bytes += got;
	}
	return bytes;
}

/* Moves the window so that it has the `bytes` bytes at offset `at` of the file, not past dump->end;
 * offsets ascend from call to call. 1; 0: the file has become shorter; -errno. */
static int read_jitdump_window_at(struct dump *dump, u64 at, size_t bytes, const u8 **view)
{
	ssize_t got;

	if (at + bytes > dump->window + dump->window_bytes) {
		got = read_file_at(dump, at, WINDOW_BYTES);
		if (got < 0)
			return got;
		dump->window = at;
		dump->window_bytes = got;
	}
	*view = dump->bytes + (at - dump->window);
	return bytes <= dump->window_bytes;
}

static int add_generated_function(struct dump *dump, u64 start, u64 bytes, const void *name,
				  size_t name_bytes, u64 index, bool moved)
{
	u32 count = dump->code->count;
	int err = generated_code_add(dump->code, start, bytes, name, name_bytes);

	if (err || dump->code->count == count)
		return err;
	if (array_make_room(dump->indexed, dump->indexed_count, dump->indexed_room))
		return -ENOMEM;
	dump->indexed[dump->indexed_count++] = (struct indexed){
		.index = index,
		.function = dump->code->count - 1,
		.moved = moved,
	};
	return 0;
}

/* Adds the function of a record, of which `bytes` are in view. A child of fork() may write records
 * to the dump of its parent: records of other processes than that of the header are left out. A
 * name counts if the record has room for the code after the name. */
static int add_record_function(struct dump *dump, u32 id, const u8 *view, size_t bytes)
{
	struct load load;
	struct move move;

	if (id == CODE_LOAD && bytes >= sizeof(load)) {
		const char *name = (const char *)view + sizeof(load);
		size_t length = strnlen(name, bytes - sizeof(load));
		u64 left;

		memcpy(&load, view, sizeof(load));
		left = load.record.bytes - sizeof(load);
		if (length == bytes - sizeof(load) || load.code_bytes > left - length - 1)
			length = 0;
		if (load.pid == dump->pid)
			return add_generated_function(dump, load.code, load.code_bytes, name,
						      length, load.index, false);
	} else if (id == CODE_MOVE && bytes >= sizeof(move)) {
		memcpy(&move, view, sizeof(move));
		if (move.pid == dump->pid)
			return add_generated_function(dump, move.code, move.code_bytes, NULL, 0,
						      move.index, true);
	}
	return 0;
}

/* Reads the record at offset *at of the file, and moves *at to the next record. 1; 0: the file has
 * no further whole record; -errno. */
static int read_next_record(struct dump *dump, u64 *at)
{
	u64 left = dump->end - *at;
	struct record record;
	const u8 *view;
	size_t bytes;
	int got = left < sizeof(record) ? 0
					: read_jitdump_window_at(dump, *at, sizeof(record), &view);

	if (got <= 0)
		return got;
	memcpy(&record, view, sizeof(record));
	if (record.bytes < sizeof(record) || record.bytes > left)
		return 0;
	bytes = record.bytes < VIEW_BYTES ? record.bytes : VIEW_BYTES;
	got = read_jitdump_window_at(dump, *at, bytes, &view);
	*at += record.bytes;
	return got <= 0 ? got : add_record_function(dump, record.id, view, bytes) ?: 1;
}

static int read_dump_header(struct dump *dump, u64 *first)
{
	struct header header;
	const u8 *view;
	int got = dump->end < sizeof(header)
			  ? 0
			  : read_jitdump_window_at(dump, 0, sizeof(header), &view);

	if (got <= 0)
		return got ?: -ENOEXEC;
	memcpy(&header, view, sizeof(header));
	if (header.magic != MAGIC || header.version != VERSION || header.bytes < sizeof(header))
		return -ENOEXEC;
	dump->pid = header.pid;
	*first = header.bytes;
	return 0;
}

static int compare_load_indexes(const void *left, const void *right)
{
	const struct indexed *a = left, *b = right;

	return order(a->index, b->index) ?: order(a->function, b->function);
}

/* Gives each move the name of the last load of its index; without a load it stays without a name.
 */
static void set_names_of_moved_functions(struct dump *dump)
{
	struct generated_function *functions = dump->code->functions;
	const struct indexed *load = NULL;

	if (dump->indexed_count)
		qsort(dump->indexed, dump->indexed_count, sizeof(*dump->indexed),
		      compare_load_indexes);
	for (u32 i = 0; i < dump->indexed_count; i++) {
		const struct indexed *at = &dump->indexed[i];

		if (!at->moved)
			load = at;
		else if (load && load->index == at->index)
			functions[at->function].name = functions[load->function].name;
	}
}

int jitdump_read_open(int fd, struct generated_code *code)
{
	struct dump dump = {.fd = fd, .code = code};
	struct stat status;
	int result;
	u64 at;

	if (fstat(fd, &status))
		return -errno;
	dump.end = status.st_size;
	dump.bytes = malloc(WINDOW_BYTES);
	result = dump.bytes ? read_dump_header(&dump, &at) : -ENOMEM;
	if (!result) {
		while (at < dump.end && (result = read_next_record(&dump, &at)) > 0)
			;
		set_names_of_moved_functions(&dump);
	}
	free(dump.indexed);
	free(dump.bytes);
	return result < 0 ? result : 0;
}
