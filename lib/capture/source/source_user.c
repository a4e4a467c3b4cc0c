/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User functions: a file, and the file offset of a symbol. Symbols with the same offset are one
 * source; a name with several offsets (versions, static functions of several units) is a source for
 * each.
 */
#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/host.h"
#include "error.h"
#include "program_file.h"
#include "source_ops.h"
#include "symbol/debuginfo/debug_lookup.h"
#include "symbol/debuginfo/debug_service.h"

struct search {
	struct source_query *query;
	source_visit visit;
	void *arg;
	const char *path;
	struct program_file file;
	struct stackmap_error *error;
	bool is_reported; /* `error` was set already */
	/* Reads debug information, for arguments by name; NULL = not started. */
	struct debug_lookup *debug;
	const char *function; /* name of the symbol at `place`; "": no symbol */
	u64 place;
	void *offsets; /* set of visited file offsets, a tree of tsearch(3) */
};

static int compare_offsets(const void *a, const void *b)
{
	return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static void leave_key_unfreed(void *key)
{
	(void)key;
}

static int start_debug_reader(struct search *search, struct stackmap_error *error)
{
	const struct debug_choice choice = {
		.servers = debug_fetch_has_servers() ? DEBUG_SERVERS_USER : DEBUG_SERVERS_NONE,
	};
	int err = search->debug ? 0 : debug_lookup_create(&choice, &search->debug);

	return err ? error_set(error, -err,
			       "%s: the reader of debug information does not start: %s",
			       search->query->subject, strerror(-err))
		   : 0;
}

static int set_argument_error(const struct search *search, const char *name, int err,
			      const char *reason, struct stackmap_error *error)
{
	const char *subject = search->query->subject;

	if (err == -ENOENT && !strpbrk(name, "-."))
		return error_set(error, ENOENT,
				 "%s: no number %s; the entry of a function has arg1 to arg6; %s",
				 subject, name, reason);
	if (err == -ENODATA)
		return error_set(
			error, ENOENT,
			"%s: no number %s; the entry of a function has arg1 to arg6; names of "
			"arguments need debug information of %s: %s",
			subject, name, search->path,
			reason[0] ? reason : "install its debug symbols");
	/* -E2BIG would tell the caller that the list has too many sources */
	return error_set(error, err == -E2BIG ? EINVAL : -err, "%s: %s%s", subject, reason,
			 err == -EOPNOTSUPP ? "; arg1 to arg6 are the registers as they are" : "");
}

/* Finds an argument by its name in the debug information of the file. */
static int find_argument_by_name(struct search *search, const char *name, struct source_number *out,
				 struct stackmap_error *error)
{
	static const u16 offsets[DWARF_REGISTERS] = DWARF_REGISTER_OFFSETS;
	const struct debug_argument_query query = {
		.file = search->file.fd,
		.path = search->path,
		.place = search->place,
		.function = search->function,
		.argument = name,
	};
	char reason[DWARF_ARGUMENT_REASON_BYTES];
	struct dwarf_argument found;
	int err = start_debug_reader(search, error);

	if (err)
		return err;
	if (strlen(name) >= DEBUG_NAME_BYTES)
		return error_set(error, EINVAL, "%s: the name of the argument is too long",
				 search->query->subject);
	err = debug_lookup_argument(search->debug, &query, &found, reason);
	if (err)
		return set_argument_error(search, name, err, reason, error);
	out->is_address = found.is_address;
	out->number = (struct event_number){
		.offset = offsets[found.reg] + found.byte,
		.bytes = found.bytes,
		.is_signed = found.is_signed,
		.place = found.steps ? NUMBER_IN_USER_MEMORY : NUMBER_IN_EVENT,
		.steps = (u8)found.steps,
	};
	memcpy(out->number.displacement, found.displacement, sizeof(found.displacement));
	return 0;
}

static int find_argument_number(void *arg, const char *name, struct source_number *out,
				struct stackmap_error *error)
{
	struct search *search = arg;
	const struct source_query *query = search->query;

	if (!search->file.is_64_bit)
		return error_set(error, EOPNOTSUPP,
				 "%s: arguments and results are known of 64-bit programs only",
				 query->subject);
	if (!query->has_no_symbol && query->offset)
		return error_set(error, EINVAL,
				 "%s: arguments are known at the first instruction of a function",
				 query->subject);
	if (!question_find_register(name, query->on_return, &out->number))
		return 0;
	if (query->on_return)
		return error_set(error, ENOENT,
				 "%s: no number %s; the return of a function has ret",
				 query->subject, name);
	return find_argument_by_name(search, name, out, error);
}

static int visit_source_at_file_offset(struct search *search, const char *place, u64 offset)
{
	const struct source_query *query = search->query;
	struct source source = {
		.type = SOURCE_USER,
		.on_return = query->on_return,
		.at_entry = !query->on_return && !query->has_no_symbol && !query->offset,
		.target = (char *)search->path,
		.offset = offset,
	};
	int err;

	/* The keys of the set of visited offsets are the offsets themselves, cast to pointers. */
	if (tfind((void *)offset, &search->offsets, compare_offsets))
		return 0;
	if (asprintf(&source.name, "%s:%s:%s", query->on_return ? "ur" : "u", search->path, place) <
	    0)
		return -ENOMEM;
	search->place = offset;
	err = tsearch((void *)offset, &search->offsets, compare_offsets) ? 0 : -ENOMEM;
	if (!err) {
		err = question_resolve(&query->asks, query->subject, find_argument_number, search,
				       &source, search->error);
		search->is_reported = err;
	}
	err = err ?: search->visit(search->arg, &source);
	free(source.name);
	return err;
}

static int visit_source_of_function(struct search *search, const struct elf_function *function)
{
	u64 added = search->query->offset, offset;
	char place[PATH_MAX];

	search->function = function->name;
	if (__builtin_add_overflow(function->offset, added, &offset) ||
	    offset >= search->file.bytes)
		return -ERANGE;
	if (!added)
		return visit_source_at_file_offset(search, function->name, offset);
	snprintf(place, sizeof(place), "%s+0x%llx", function->name, (unsigned long long)added);
	return visit_source_at_file_offset(search, place, offset);
}

static int visit_matching_symbol(void *arg, const struct elf_function *function)
{
	struct search *search = arg;
	struct name_match *match = &search->query->match;

	if (!name_match_compare_name(match, function->name))
		return 0;
	if (!function->is_ifunc)
		return visit_source_of_function(search, function);
	match->found--;
	return match->is_glob ? 0 : -EOPNOTSUPP;
}

static int visit_functions_of_open_file(struct search *search, int fd)
{
	struct source_query *query = search->query;
	char place[32];

	if (!query->has_no_symbol)
		return elf_function_each(fd, visit_matching_symbol, search);
	if (query->offset >= search->file.bytes)
		return -ERANGE;
	query->match.found++;
	search->function = "";
	snprintf(place, sizeof(place), "0x%llx", (unsigned long long)query->offset);
	return visit_source_at_file_offset(search, place, query->offset);
}

static int set_search_error(const struct search *search, int err, struct stackmap_error *error)
{
	const char *text = search->query->subject;

	if (search->is_reported)
		return err;
	switch (err) {
	case -ENOEXEC:
		return error_set(error, ENOEXEC, "%s: %s is not an ELF file", text, search->path);
	case -ERANGE:
		return error_set(error, ERANGE, "%s: the offset lies behind the end of %s", text,
				 search->path);
	case -EOPNOTSUPP:
		return error_set(
			error, EOPNOTSUPP,
			"%s: an IFUNC, chosen at load time; name the function that runs, or "
			"its offset",
			text);
	default:
		return err < 0 ? error_set(error, -err, "%s: %s: %s", text, search->path,
					   strerror(-err))
			       : err;
	}
}

static int open_file_and_visit_functions(struct search *search)
{
	int err = program_file_open(search->path, &search->file);

	if (err)
		return err;
	err = program_file_check_probes_can_run(&search->file, search->query->subject,
						search->error);
	if (err)
		search->is_reported = true;
	else
		err = visit_functions_of_open_file(search, search->file.fd);
	close(search->file.fd);
	tdestroy(search->offsets, leave_key_unfreed);
	debug_lookup_free(&search->debug);
	return err;
}

static int find_user_functions(struct source_query *query, source_visit visit, void *arg,
			       struct stackmap_error *error)
{
	struct search search = {
		.query = query,
		.visit = visit,
		.arg = arg,
		.path = query->file,
		.error = error,
	};
	char path[PATH_MAX];
	int err;

	if (query->on_return && query->offset && !query->has_no_symbol)
		return error_set(error, EINVAL, "%s: a return probe belongs at a function's start",
				 query->subject);
	err = program_file_find(query->file, path);
	if (!err) {
		search.path = path;
		err = open_file_and_visit_functions(&search);
	}
	return set_search_error(&search, err, error);
}

const struct source_ops source_user_ops = {
	.group = "user function",
	.find = find_user_functions,
};
