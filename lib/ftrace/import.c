/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A trace.dat has neither the time nor the machine of its recording, so the file's modification
 * time serves as the time of its first event. An instance in tracefs belongs to this machine.
 *
 * The stacks are read before the ring, and after the moment at which reading of the ring ends, so
 * all stacks of its entries are in the map by then.
 */
#include "ftrace/import.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "capture/load/text_ranges.h"
#include "clock.h"
#include "error.h"
#include "format/mappings_reader.h"
#include "ftrace/events.h"
#include "ftrace/ring_file.h"
#include "ftrace/ring_live.h"
#include "ftrace/stacks.h"
#include "symbol/file/file_place.h"
#include "symbol/kernel/kernel_image.h"
#include "symbol/kernel/kernel_names.h"
#include "symbol/symbolizer/symbol_lookup.h"
#include "symbol/table/symbol_table.h"
#include "trace/write/frame_addresses.h"
#include "trace/write/writer.h"

/*
 * Functions for the frames of an imported recording. Kernel functions come from the caller's
 * callback, user functions from files of this machine that have the mapping's build id.
 */

struct ftrace_naming {
	void *arg;
	bool (*kernel)(void *arg, u64 address, struct symbol *symbol);
	const struct mappings *mappings; /* or NULL */
	struct symbol_lookup *lookup;
};

/* Frames become sorted addresses, so the addresses of a mapping are one query; kernel addresses
 * (bit 63) come last. */
struct names {
	struct trace_writer *writer;
	const struct ftrace_naming *naming;
};

/* Names the marker that ftrace writes for its trampolines, which is not an address. */
static int write_trampoline(const struct names *names)
{
	const struct trace_symbol symbol = {
		.start = FTRACE_TRAMPOLINE_FRAME - 1,
		.address = FTRACE_TRAMPOLINE_FRAME - 1,
		.size = 2,
		.name = "[FTRACE TRAMPOLINE]",
	};

	return trace_writer_symbol(names->writer, &symbol);
}

static int name_kernel(const struct names *names, u64 address)
{
	struct trace_symbol symbol = {};
	struct symbol found = {};

	if (address + 1 == FTRACE_TRAMPOLINE_FRAME)
		return write_trampoline(names);
	if (!names->naming->kernel(names->naming->arg, address, &found) || !found.name)
		return 0;
	symbol.start = symbol.address = found.start;
	symbol.size = found.size ?: address - found.start + 1;
	symbol.name = found.name;
	return trace_writer_symbol(names->writer, &symbol);
}

/* Stores a path as its components, innermost first. A path that is too long is left out. */
static void put_path(const char *path, struct mapping_record *record)
{
	u32 used = 0;

	for (const char *end = path + strlen(path), *name; end > path; end = name - 1) {
		u32 bytes;

		for (name = end; name > path && name[-1] != '/'; name--)
			;
		bytes = (u32)(end - name);
		if (name == path || used + bytes + 1 > sizeof(record->path))
			return;
		memcpy(record->path + used, name, bytes);
		used += bytes + 1;
	}
	record->path_bytes = used;
	record->path_whole = 1;
}

/* The sandbox that parses the file compares the build id. */
static int open_by_path(const struct mapping_record *record, const char *path)
{
	return path[0] == '/' && record->path_whole ? file_place_take(file_place_below("/", path))
						    : -ENOENT;
}

static int write_symbol(void *arg, const struct trace_symbol *symbol, bool is_undivided)
{
	(void)is_undivided;
	return trace_writer_symbol(arg, symbol);
}

/* `run` has addresses of one mapping. Without the mapping's file the addresses have no names. */
static int name_user(const struct names *names, u64 *run, u32 count)
{
	const struct ftrace_naming *naming = names->naming;
	const struct mapping_text *line = NULL;
	struct mapping_record record;
	struct symbol_query query = {
		.number = FRAME_MAPPING(run[0]),
		.record = &record,
		.open = open_by_path,
		.addresses = run,
		.count = count,
		.each = write_symbol,
		.arg = names->writer,
	};

	if (naming->mappings)
		line = mappings_find(naming->mappings, query.number);
	if (!line || !line->build_id_bytes || !naming->lookup)
		return 0;
	record = (struct mapping_record){
		.key = {.kind = MAPPING_FILE, .inode = line->number},
		.build_id_bytes = line->build_id_bytes,
	};
	memcpy(record.build_id, line->build_id, line->build_id_bytes);
	put_path(line->path, &record);
	for (u32 i = 0; i < count; i++)
		run[i] = FRAME_OFFSET(run[i]);
	symbol_lookup_find(naming->lookup, &query);
	return 0;
}

static u32 run_length(const u64 *items, u32 count)
{
	u32 length = 1;

	while (length < count && !FRAME_IS_KERNEL(items[length]) &&
	       FRAME_MAPPING(items[length]) == FRAME_MAPPING(items[0]))
		length++;
	return length;
}

static int name_all(const struct names *names, const struct frame_addresses *addresses)
{
	u32 step;
	int err = 0;

	for (u32 i = 0; i < addresses->count && !err; i += step) {
		u64 *item = &addresses->items[i];

		step = FRAME_IS_KERNEL(*item) ? 1 : run_length(item, addresses->count - i);
		err = FRAME_IS_KERNEL(*item) ? name_kernel(names, *item)
					     : name_user(names, item, step);
	}
	return err;
}

#define LOOKUP_PARTS 4 /* share of all memory for the symbolizer's sandbox: a quarter */

struct importing {
	const struct ftrace_import *import;
	const char *path; /* path of the recording */
	char file[PATH_MAX], folder[PATH_MAX];
	struct ring_live *live;
	struct ring_file *ring; /* one of the two */
	struct stack_files *stacks;
	struct kernel_names *kernel; /* or NULL */
	struct kernel_files files;
	struct symbol_lookup *lookup;
	struct trace_writer *writer; /* from the first entry on */
	struct ftrace_events *events;
	struct stackmap_error *error;
};

/* --- the recording --- */

static int write_module(void *writer, const struct trace_module *module)
{
	return trace_writer_module(writer, module);
}

/* Writes the modules that the file `stack_map_mappings` lists. */
static int write_told_modules(struct importing *importing)
{
	const struct mappings *mappings = stack_files_mappings(importing->stacks);
	const struct mapping_text *lines;
	u32 count = mappings ? mappings_kernel(mappings, &lines) : 0;
	int err = 0;

	for (u32 i = 0; i < count && !err; i++) {
		struct trace_module module = {
			.name = lines[i].path,
			.start = lines[i].start,
			.end = lines[i].end,
			.build_id_bytes = lines[i].build_id_bytes,
		};

		memcpy(module.build_id, lines[i].build_id, lines[i].build_id_bytes);
		err = trace_writer_module(importing->writer, &module);
	}
	return err;
}

static u64 modified(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return 0;
	return (u64)status.st_mtim.tv_sec * 1000000000ULL + (u64)status.st_mtim.tv_nsec;
}

static bool kernel_symbol(void *arg, u64 address, struct symbol *symbol)
{
	struct importing *importing = arg;

	if (importing->kernel)
		return kernel_names_find(importing->kernel, address + 1, symbol);
	return importing->ring && ring_file_symbol(importing->ring, address, symbol);
}

/* The symbol's name decides, which works for any kernel. An address without a name is not entry
 * code.
 */
static bool is_entry_code(void *arg, u64 address)
{
	struct symbol symbol;

	return kernel_symbol(arg, address, &symbol) && symbol.name &&
	       text_kind_of_name(symbol.name, strlen(symbol.name)) == TEXT_ENTRY;
}

static int begin(struct importing *importing, u64 first)
{
	struct utsname here = {.nodename = "unknown", .release = "unknown", .machine = "unknown"};
	struct trace_info info = {
		.start_monotonic = first,
		.address_shown = !stack_files_hide_kernel(importing->stacks),
		.hostname = here.nodename,
		.kernel = here.release,
		.machine = here.machine,
		.command = importing->import->command,
		.version = importing->import->version,
	};
	int err;

	if (importing->live) {
		uname(&here);
		info.start_realtime = ring_live_realtime(importing->live) + first;
		info.cpus = ring_live_cpus(importing->live);
	} else {
		info.start_realtime = modified(importing->file);
		info.cpus = ring_file_cpus(importing->ring);
	}
	err = trace_writer_create(importing->path, &info, &importing->writer, importing->error);
	if (!err && importing->live)
		err = kernel_image_modules(&importing->files, write_module, importing->writer,
					   importing->error);
	else if (!err)
		err = write_told_modules(importing);
	return err
		       ?: ftrace_events_create(importing->writer, importing->stacks,
					       (struct ftrace_entry_code){importing, is_entry_code},
					       &importing->events);
}

/* The losses of an empty ring do not begin a recording. */
static int take(void *arg, const struct ftrace_entry *entry, const void *payload)
{
	struct importing *importing = arg;
	int err = 0;

	if (!importing->events && entry->what == FTRACE_LOST)
		return 0;
	if (!importing->events)
		err = begin(importing, entry->time);
	return err ?: ftrace_events_take(importing->events, entry, payload);
}

static int read_ring(struct importing *importing)
{
	const struct ftrace_sink sink = {importing, take};
	int err = importing->live ? ring_live_each(importing->live, sink, importing->error)
				  : ring_file_each(importing->ring, sink, importing->error);

	if (err || importing->events)
		return err;
	return error_set(importing->error, ENODATA, "%s: nothing is recorded there",
			 importing->import->from);
}

static int write_names(struct importing *importing)
{
	const struct ftrace_naming naming = {
		.arg = importing,
		.kernel = kernel_symbol,
		.mappings = stack_files_mappings(importing->stacks),
		.lookup = importing->lookup,
	};
	const struct names names = {importing->writer, &naming};
	struct frame_addresses addresses = {};
	int err = frame_addresses_collect(importing->writer, &addresses);

	/* Writes the symbols after the last event; some frames may stay without a name. */
	err = err ?: name_all(&names, &addresses);
	free(addresses.items);
	return err;
}

static int write_recording(struct importing *importing, struct ftrace_import_notes *notes)
{
	int err = read_ring(importing) ?: write_names(importing)
				       ?: ftrace_events_end(importing->events);

	if (!err) {
		notes->unresolved = ftrace_events_unresolved(importing->events);
		notes->unknown_gaps = ftrace_events_unknown_gaps(importing->events);
		notes->hides_kernel = stack_files_hide_kernel(importing->stacks);
	}
	if (err && importing->writer)
		trace_writer_discard(&importing->writer);
	else if (!err)
		err = trace_writer_close(&importing->writer);
	return err;
}

/* --- sources of the recording --- */

/* A copy of kallsyms beside the stacks has more symbols than a trace.dat; for tracefs this kernel's
 * list is read. Without a list, functions have no names. */
static void open_kernel(struct importing *importing)
{
	char path[PATH_MAX + 16] = "/proc/kallsyms";
	struct stackmap_error unnamed;

	kernel_files_open(&importing->files);
	if (!importing->live)
		snprintf(path, sizeof(path), "%s/kallsyms", importing->folder);
	kernel_names_from_kallsyms(path, &importing->kernel, &unnamed);
}

static bool is_folder(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

static int too_long(const struct importing *importing)
{
	return error_set_errno(importing->error, ENAMETOOLONG, importing->import->from);
}

/* Sets the path of the trace.dat, and the folder of the stacks. */
static int find_files(struct importing *importing)
{
	const struct ftrace_import *import = importing->import;
	char copy[PATH_MAX];
	int length = snprintf(importing->file, PATH_MAX, "%s%s", import->from,
			      is_folder(import->from) ? "/trace.dat" : "");

	if (length >= PATH_MAX)
		return too_long(importing);
	strcpy(copy, importing->file);
	length = snprintf(importing->folder, PATH_MAX, "%s", import->stacks ?: dirname(copy));
	return length >= PATH_MAX ? too_long(importing) : 0;
}

static int open_ring(struct importing *importing)
{
	const struct ftrace_import *import = importing->import;

	if (ring_live_is(import->from)) {
		if (import->buffer)
			return error_set(importing->error, EINVAL,
					 "%s: an instance in tracefs is named by its own folder",
					 import->from);
		snprintf(importing->folder, PATH_MAX, "%s", import->stacks ?: import->from);
		return ring_live_open(import->from, &importing->live, importing->error);
	}
	return find_files(importing)
		       ?: ring_file_open(importing->file, import->buffer, &importing->ring,
					 importing->error);
}

int ftrace_import(const struct ftrace_import *import, const char *path,
		  struct ftrace_import_notes *notes, struct stackmap_error *error)
{
	struct importing importing = {
		.import = import,
		.path = path,
		.files = {-1, -1, -1},
		.error = error,
	};
	int err;

	error_set(error, 0, "%s", "");
	symbol_lookup_create(LOOKUP_PARTS, &importing.lookup);
	err = open_ring(&importing) ?: stack_files_open(importing.folder, &importing.stacks, error);
	if (!err) {
		open_kernel(&importing);
		err = write_recording(&importing, notes);
	}
	ftrace_events_free(&importing.events);
	symbol_lookup_free(&importing.lookup);
	kernel_names_free(&importing.kernel);
	kernel_files_close(&importing.files);
	stack_files_free(&importing.stacks);
	ring_file_close(&importing.ring);
	ring_live_close(&importing.live);
	return err && !error->message[0] ? error_set_errno(error, -err, path) : err;
}
