/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A trace.dat has neither the time nor the machine of its recording, so the file's modification
 * time serves as the time of its first event. An instance in tracefs belongs to this machine.
 *
 * Opening the ring fixes the moment at which the reading will end. The file of stacks is read after
 * that moment and before the ring, so it has the stacks of all entries that are read.
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
#include "format/mappings_text.h"
#include "ftrace/events.h"
#include "ftrace/ring.h"
#include "ftrace/stacks.h"
#include "symbol/file/file_place.h"
#include "symbol/kernel/kernel_image.h"
#include "symbol/kernel/kernel_names.h"
#include "symbol/symbolizer/symbol_lookup.h"
#include "symbol/table/symbol_table.h"
#include "trace/write/frame_addresses.h"
#include "trace/write/writer.h"

#define LOOKUP_PARTS 4 /* the sandbox of the symbolizer may use a quarter of the memory */

struct importing {
	const struct ftrace_import *import;
	const char *path; /* path of the recording */
	char file[PATH_MAX], folder[PATH_MAX];
	struct ring_live *live;
	struct ring_file *ring; /* the trace.dat; one of `live` and `ring` is NULL */
	struct stack_files *stacks;
	struct kernel_names *kernel; /* names of kernel symbols; NULL: unknown */
	struct kernel_files files;
	struct symbol_lookup *lookup;
	struct trace_writer *writer; /* writer of the recording; NULL before the first entry */
	struct ftrace_events *events;
	struct stackmap_error *error;
};

static int write_module(void *writer, const struct trace_module *module)
{
	return trace_writer_module(writer, module);
}

static bool find_kernel_symbol(void *arg, u64 address, struct symbol *symbol)
{
	struct importing *importing = arg;

	if (importing->kernel)
		return kernel_names_find(importing->kernel, address + 1, symbol);
	return importing->ring && ring_file_symbol(importing->ring, address, symbol);
}

/* The name of the symbol tells whether an address is in entry code, which works for any kernel. An
 * address without a name is not in entry code. */
static bool is_address_in_kernel_entry_code(void *arg, u64 address)
{
	struct symbol symbol;

	return find_kernel_symbol(arg, address, &symbol) && symbol.name &&
	       text_kind_of_name(symbol.name, strlen(symbol.name)) == TEXT_ENTRY;
}

static int begin_imported_recording(struct importing *importing, u64 first)
{
	struct utsname here = {.nodename = "unknown", .release = "unknown", .machine = "unknown"};
	struct trace_info info = {
		.start_monotonic = first,
		.address_shown = !stack_files_lack_kernel_addresses(importing->stacks),
		.hostname = here.nodename,
		.kernel = here.release,
		.machine = here.machine,
		.command = importing->import->command,
		.version = importing->import->version,
	};
	const struct mappings *mappings = stack_files_mappings(importing->stacks);
	const struct trace_module *modules;
	struct stat status;
	u32 count = 0;
	int err;

	if (importing->live) {
		uname(&here);
		info.start_realtime = ring_live_realtime_offset(importing->live) + first;
		info.cpus = ring_live_cpus(importing->live);
	} else {
		if (!stat(importing->file, &status))
			info.start_realtime = (u64)status.st_mtim.tv_sec * 1000000000ULL +
					      (u64)status.st_mtim.tv_nsec;
		info.cpus = ring_file_cpus(importing->ring);
	}
	err = trace_writer_create(importing->path, &info, &importing->writer, importing->error);
	if (!err && importing->live)
		err = kernel_image_each_module(&importing->files, write_module, importing->writer,
					       importing->error);
	else if (mappings)
		count = mappings_kernel_modules(mappings, &modules);
	for (u32 i = 0; i < count && !err; i++)
		err = trace_writer_module(importing->writer, &modules[i]);
	return err
		       ?: ftrace_events_create(importing->writer, importing->stacks,
					       is_address_in_kernel_entry_code, importing,
					       &importing->events);
}

/* Imports an entry; the first entry begins the recording. Losses alone do not begin a recording. */
static int import_entry(void *arg, const struct ftrace_entry *entry, const void *payload)
{
	struct importing *importing = arg;
	int err = 0;

	if (!importing->events && entry->what == FTRACE_LOST)
		return 0;
	if (!importing->events)
		err = begin_imported_recording(importing, entry->time);
	return err ?: ftrace_events_take(importing->events, entry, payload);
}

/*
 * The functions that follow find names for the frames of an imported recording. Kernel functions
 * come from find_kernel_symbol(), user functions from files of this machine that have the mapping's
 * build id.
 */

static int write_kernel_symbol(struct importing *importing, u64 address)
{
	struct trace_symbol symbol = {};
	struct symbol found = {};

	/* For a trampoline, ftrace has a marker in place of the address. */
	if (address + 1 == FTRACE_TRAMPOLINE_FRAME) {
		symbol.start = symbol.address = address;
		symbol.size = 2;
		symbol.name = "[FTRACE TRAMPOLINE]";
		return trace_writer_symbol(importing->writer, &symbol);
	}
	if (!find_kernel_symbol(importing, address, &found) || !found.name)
		return 0;
	symbol.start = symbol.address = found.start;
	symbol.size = found.size ?: address - found.start + 1;
	symbol.name = found.name;
	return trace_writer_symbol(importing->writer, &symbol);
}

/* Stores a path in the record as its components, last component first. A path that is too long is
 * left out. */
static void set_path_components(const char *path, struct mapping_record *record)
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

/* Opens the file at the path, whatever its build id: the sandbox that parses the file compares the
 * build id. */
static int open_mapped_file_by_path(const struct mapping_record *record, const char *path)
{
	return path[0] == '/' && record->path_whole
		       ? file_place_open_regular_file(file_place_open_below_root("/", path))
		       : -ENOENT;
}

static int write_symbol(void *arg, const struct trace_symbol *symbol, bool is_undivided)
{
	(void)is_undivided;
	return trace_writer_symbol(arg, symbol);
}

/* Writes the symbols of `run`, addresses of one mapping. Without the mapping's file the addresses
 * get no names. */
static int write_user_symbols(struct importing *importing, u64 *run, u32 count)
{
	const struct mappings *mappings = stack_files_mappings(importing->stacks);
	const struct trace_mapping *line = NULL;
	struct mapping_record record;
	struct symbol_query query = {
		.number = FRAME_MAPPING(run[0]),
		.record = &record,
		.open = open_mapped_file_by_path,
		.addresses = run,
		.count = count,
		.each = write_symbol,
		.arg = importing->writer,
	};

	if (mappings)
		line = mappings_find(mappings, query.number);
	if (!line || !line->build_id_bytes || !importing->lookup)
		return 0;
	record = (struct mapping_record){
		.key = {.kind = MAPPING_FILE, .inode = line->number},
		.build_id_bytes = line->build_id_bytes,
	};
	memcpy(record.build_id, line->build_id, line->build_id_bytes);
	set_path_components(line->path, &record);
	for (u32 i = 0; i < count; i++)
		run[i] = FRAME_OFFSET(run[i]);
	symbol_lookup_find(importing->lookup, &query);
	return 0;
}

/* Writes the symbols of all frames, after the last event. A frame may stay without a name. The
 * addresses are sorted, so the addresses of a mapping are one query; kernel addresses (bit 63) come
 * last. */
static int write_all_symbols(struct importing *importing)
{
	struct frame_addresses addresses = {};
	int err = frame_addresses_collect(importing->writer, &addresses);
	u32 step;

	for (u32 i = 0; i < addresses.count && !err; i += step) {
		u64 *item = &addresses.items[i];

		step = 1;
		if (FRAME_IS_KERNEL(*item)) {
			err = write_kernel_symbol(importing, *item);
			continue;
		}
		while (i + step < addresses.count && !FRAME_IS_KERNEL(item[step]) &&
		       FRAME_MAPPING(item[step]) == FRAME_MAPPING(*item))
			step++;
		err = write_user_symbols(importing, item, step);
	}
	free(addresses.items);
	return err;
}

static int write_recording(struct importing *importing, struct ftrace_import_notes *notes)
{
	int err = importing->live ? ring_live_each_entry(importing->live, import_entry, importing,
							 importing->error)
				  : ring_file_each_entry(importing->ring, import_entry, importing,
							 importing->error);

	if (!err && !importing->events)
		err = error_set(importing->error, ENODATA, "%s: nothing is recorded there",
				importing->import->from);
	err = err ?: write_all_symbols(importing) ?: ftrace_events_end(importing->events);
	if (!err) {
		notes->unresolved = ftrace_events_unresolved_stacks(importing->events);
		notes->unknown_gaps = ftrace_events_unknown_gaps(importing->events);
		notes->hides_kernel = stack_files_lack_kernel_addresses(importing->stacks);
	}
	if (err && importing->writer)
		trace_writer_discard(&importing->writer);
	else if (!err)
		err = trace_writer_close(&importing->writer);
	return err;
}

static int set_path_too_long_error(const struct importing *importing)
{
	return error_set_errno(importing->error, ENAMETOOLONG, importing->import->from);
}

static int open_ring_to_import(struct importing *importing)
{
	const struct ftrace_import *import = importing->import;
	char copy[PATH_MAX];
	struct stat status;
	bool is_folder;
	int length;

	if (ring_live_is_tracefs_folder(import->from)) {
		if (import->buffer)
			return error_set(importing->error, EINVAL,
					 "%s: an instance in tracefs is named by its own folder",
					 import->from);
		snprintf(importing->folder, PATH_MAX, "%s", import->stacks ?: import->from);
		return ring_live_open(import->from, &importing->live, importing->error);
	}
	is_folder = !stat(import->from, &status) && S_ISDIR(status.st_mode);
	length = snprintf(importing->file, PATH_MAX, "%s%s", import->from,
			  is_folder ? "/trace.dat" : "");
	if (length >= PATH_MAX)
		return set_path_too_long_error(importing);
	strcpy(copy, importing->file);
	length = snprintf(importing->folder, PATH_MAX, "%s", import->stacks ?: dirname(copy));
	if (length >= PATH_MAX)
		return set_path_too_long_error(importing);
	return ring_file_open(importing->file, import->buffer, &importing->ring, importing->error);
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
	char kallsyms[PATH_MAX + 16] = "/proc/kallsyms";
	struct stackmap_error unnamed;
	int err;

	error_set(error, 0, "%s", "");
	symbol_lookup_create(LOOKUP_PARTS, &importing.lookup);
	err = open_ring_to_import(&importing)
		      ?: stack_files_open(importing.folder, &importing.stacks, error);
	if (!err) {
		/* Reads the kernel's symbols: for a trace.dat from a copy of kallsyms in the folder
		 * of the stacks, which has more symbols than the trace.dat; for tracefs from this
		 * kernel's list. Without these symbols, kernel functions have no names. */
		kernel_files_open(&importing.files);
		if (!importing.live)
			snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", importing.folder);
		kernel_names_from_kallsyms(kallsyms, &importing.kernel, &unnamed);
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
