/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Most of a dump is code, which nobody needs here: records are looked at through a window that
 * jumps from one to the next, so a dump of gigabytes costs little memory.
 *
 * A move has the index of its function and not its name. Loads and moves are noted by index, and
 * sorted by it at the end, so that each move stands behind the last load before it.
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
	u32 bytes; /* the first record follows */
	u32 machine;
	u32 reserved;
	u32 pid;
	u64 time;
	u64 flags; /* the clock of the times */
};

enum record_id { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };

struct record {
	u32 id;
	u32 bytes; /* with this head */
	u64 time;
};

/* Name, NUL, and code follow. Where memory is mapped twice, the code runs at `code`. */
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

#define VIEW_BYTES (sizeof(struct move) + JITDUMP_NAME_BYTES_MAX + 1) /* of a record, at most */
#define WINDOW_BYTES (4 * VIEW_BYTES)

struct indexed {
	u64 index;
	u32 function;
	bool moved;
};

struct dump {
	int fd;
	u64 end;    /* as long as the file was when reading began */
	u64 window; /* its place in the file */
	size_t window_bytes;
	u8 *bytes;
	u32 pid;
	struct generated_code *code;
	struct indexed *indexed;
	u32 indexed_count;
	u32 indexed_room;
};

static ssize_t read_at(const struct dump *dump, u64 at, size_t wanted)
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

/* Makes `bytes` visible, within the end and no more than a window; places ascend. 1; 0: they are
 * not there any more; -errno. */
static int look(struct dump *dump, u64 at, size_t bytes, const u8 **view)
{
	ssize_t got;

	if (at + bytes > dump->window + dump->window_bytes) {
		got = read_at(dump, at, WINDOW_BYTES);
		if (got < 0)
			return got;
		dump->window = at;
		dump->window_bytes = got;
	}
	*view = dump->bytes + (at - dump->window);
	return bytes <= dump->window_bytes;
}

static int note_index(struct dump *dump, u64 index, bool moved)
{
	if (array_make_room(dump->indexed, dump->indexed_count, dump->indexed_room))
		return -ENOMEM;
	dump->indexed[dump->indexed_count++] = (struct indexed){
		.index = index,
		.function = dump->code->count - 1,
		.moved = moved,
	};
	return 0;
}

/* Where a function was put. */
struct placed {
	u32 pid;
	bool moved;
	u64 start;
	u64 bytes;
	u64 index;
};

/* A child of fork() may write on in the dump of its parent, of which memory is asked here. */
static int add_placed(struct dump *dump, const struct placed *placed, const void *name,
		      size_t name_bytes)
{
	u32 count = dump->code->count;
	int err;

	if (placed->pid != dump->pid)
		return 0;
	err = generated_code_add(dump->code, placed->start, placed->bytes, name, name_bytes);
	if (err || dump->code->count == count)
		return err;
	return note_index(dump, placed->index, placed->moved);
}

/* The name of a load that has room for its code behind it; else none. */
static size_t name_length(const struct load *load, const u8 *name, size_t bytes)
{
	size_t length = strnlen((const char *)name, bytes);
	u64 left = load->record.bytes - sizeof(*load);

	return length < bytes && load->code_bytes <= left - length - 1 ? length : 0;
}

static int take_load(struct dump *dump, const u8 *view, size_t bytes)
{
	const u8 *name = view + sizeof(struct load);
	struct load load;

	if (bytes < sizeof(load))
		return 0;
	memcpy(&load, view, sizeof(load));
	return add_placed(dump,
			  &(struct placed){load.pid, false, load.code, load.code_bytes, load.index},
			  name, name_length(&load, name, bytes - sizeof(load)));
}

static int take_move(struct dump *dump, const u8 *view, size_t bytes)
{
	struct move move;

	if (bytes < sizeof(move))
		return 0;
	memcpy(&move, view, sizeof(move));
	return add_placed(dump,
			  &(struct placed){move.pid, true, move.code, move.code_bytes, move.index},
			  NULL, 0);
}

static int take_record(struct dump *dump, const struct record *record, const u8 *view, size_t bytes)
{
	switch (record->id) {
	case CODE_LOAD:
		return take_load(dump, view, bytes);
	case CODE_MOVE:
		return take_move(dump, view, bytes);
	default:
		return 0;
	}
}

/* The record at a place, and where the next one is. 1; 0: there is none; -errno. */
static int take_next(struct dump *dump, u64 *at)
{
	u64 left = dump->end - *at;
	struct record record;
	const u8 *view;
	size_t bytes;
	int got = left < sizeof(record) ? 0 : look(dump, *at, sizeof(record), &view);

	if (got <= 0)
		return got;
	memcpy(&record, view, sizeof(record));
	if (record.bytes < sizeof(record) || record.bytes > left)
		return 0;
	bytes = record.bytes < VIEW_BYTES ? record.bytes : VIEW_BYTES;
	got = look(dump, *at, bytes, &view);
	*at += record.bytes;
	return got <= 0 ? got : take_record(dump, &record, view, bytes) ?: 1;
}

static int take_header(struct dump *dump, u64 *first)
{
	struct header header;
	const u8 *view;
	int got = dump->end < sizeof(header) ? 0 : look(dump, 0, sizeof(header), &view);

	if (got <= 0)
		return got ?: -ENOEXEC;
	memcpy(&header, view, sizeof(header));
	if (header.magic != MAGIC || header.version != VERSION || header.bytes < sizeof(header))
		return -ENOEXEC;
	dump->pid = header.pid;
	*first = header.bytes;
	return 0;
}

static int by_index(const void *left, const void *right)
{
	const struct indexed *a = left, *b = right;

	return order(a->index, b->index) ?: order(a->function, b->function);
}

/* One whose load is not there has no name. */
static void name_moves(struct dump *dump)
{
	struct generated_function *functions = dump->code->functions;
	const struct indexed *load = NULL;

	if (dump->indexed_count)
		qsort(dump->indexed, dump->indexed_count, sizeof(*dump->indexed), by_index);
	for (u32 i = 0; i < dump->indexed_count; i++) {
		const struct indexed *at = &dump->indexed[i];

		if (!at->moved)
			load = at;
		else if (load && load->index == at->index)
			functions[at->function].name = functions[load->function].name;
	}
}

static int read_dump(struct dump *dump)
{
	u64 at;
	int result = take_header(dump, &at);

	if (result)
		return result;
	while (at < dump->end && (result = take_next(dump, &at)) > 0)
		;
	name_moves(dump);
	return result < 0 ? result : 0;
}

int jitdump_read_open(int fd, struct generated_code *code)
{
	struct dump dump = {.fd = fd, .code = code};
	struct stat status;
	int result;

	if (fstat(fd, &status))
		return -errno;
	dump.end = status.st_size;
	dump.bytes = malloc(WINDOW_BYTES);
	result = dump.bytes ? read_dump(&dump) : -ENOMEM;
	free(dump.indexed);
	free(dump.bytes);
	return result;
}
