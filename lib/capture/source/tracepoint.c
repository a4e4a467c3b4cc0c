/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tracefs lists all events by category, also events of modules. If tracefs cannot be read, the
 * kernel's BTF has a typedef btf_trace_NAME for each tracepoint of the kernel image. The name is
 * enough to attach, as raw tracepoints have no category.
 */
#include "capture/source/tracepoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/feature/kernel_btf.h"
#include "error.h"
#include "scalar.h"

#define TYPEDEF_PREFIX "btf_trace_"

static int is_visible_directory(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

static void free_entries(struct dirent **entries, int count)
{
	while (count > 0)
		free(entries[--count]);
	free(entries);
}

static int read_directory_sorted(int events, const char *path, struct dirent ***entries)
{
	int count = scandirat(events, path, entries, is_visible_directory, alphasort);

	return count < 0 ? -errno : count;
}

/* A category whose module was unloaded meanwhile is skipped. */
static int visit_tracepoints_of_category(int events, const char *category, tracepoint_visit visit,
					 void *arg)
{
	char name[2 * NAME_MAX + 2];
	struct dirent **entries;
	int count = read_directory_sorted(events, category, &entries), err = 0;

	if (count < 0)
		return count == -ENOMEM ? count : 0;
	for (int i = 0; i < count && !err; i++) {
		snprintf(name, sizeof(name), "%s:%s", category, entries[i]->d_name);
		err = visit(arg, name);
	}
	free_entries(entries, count);
	return err;
}

int tracepoint_each_event(int events, tracepoint_visit visit, void *arg)
{
	struct dirent **categories;
	int count = read_directory_sorted(events, ".", &categories), err = 0;

	if (count < 0)
		return count;
	/* "ftrace" has the formats of the tracer's own records, and "syscalls" single system calls,
	 * which are numbers of raw_syscalls; neither has tracepoints. */
	for (int i = 0; i < count && !err; i++)
		if (strcmp(categories[i]->d_name, "ftrace") &&
		    strcmp(categories[i]->d_name, "syscalls"))
			err = visit_tracepoints_of_category(events, categories[i]->d_name, visit,
							    arg);
	free_entries(categories, count);
	return err;
}

static const char *tracepoint_name_of_type(const struct btf *btf, u32 id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	const char *name = btf_is_typedef(type) ? btf__name_by_offset(btf, type->name_off) : NULL;

	if (!name || strncmp(name, TYPEDEF_PREFIX, strlen(TYPEDEF_PREFIX)))
		return NULL;
	return name + strlen(TYPEDEF_PREFIX);
}

int tracepoint_each_btf(tracepoint_visit visit, void *arg)
{
	struct btf *btf = kernel_btf_load();
	int err = btf ? 0 : -errno;

	for (u32 id = 1; !err && id < btf__type_cnt(btf); id++) {
		const char *name = tracepoint_name_of_type(btf, id);

		if (name)
			err = visit(arg, name);
	}
	btf__free(btf);
	return err;
}

/*
 * A file `format` has a line for each field:
 *
 *	field:size_t bytes_alloc;	offset:32;	size:8;	signed:0;
 *
 * Numbers are fields with one of four sizes that are not arrays, structures, or places of strings
 * (__data_loc). A pointer is an address; values are below 2^63, so an address is recorded without
 * its highest byte. Common fields (common_pid...) are left out, as each event has them anyway.
 *
 * An argument of a system call takes a word of the record, whatever its type. Only the bytes of the
 * type count; the caller may have left anything in the rest of the register.
 */

#define DECLARATION_BYTES 128
#define ADDRESS_BYTES 7

struct description {
	char declaration[DECLARATION_BYTES]; /* declaration of the field in C: "size_t bytes_alloc"
					      */
	struct tracepoint_field field;
};

/* The search for a number in one record: the wanted number, and the names of all numbers for an
 * error. */
struct numbers {
	const char *wanted;
	bool are_arguments;
	struct tracepoint_field field;
	bool found;
	char names[256];
};

static bool begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static bool parse_field_line(const char *line, struct description *description)
{
	struct tracepoint_field *field = &description->field;
	u32 is_signed;

	if (sscanf(line, " field:%127[^;]; offset:%u; size:%u; signed:%u;",
		   description->declaration, &field->offset, &field->bytes, &is_signed) != 4)
		return false;
	field->is_signed = is_signed;
	return true;
}

static bool is_word_sized(const char *declaration)
{
	static const char *const types[] = {"long", "size_t", "off_t", "64", "aio_context_t"};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strstr(declaration, types[i]))
			return true;
	return false;
}

static bool is_unsigned(const char *declaration)
{
	static const char *const types[] = {"unsigned ", "u", "__u", "gid_t ", "qid_t "};

	if (begins_with(declaration, "const "))
		declaration += strlen("const ");
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (begins_with(declaration, types[i]))
			return true;
	return false;
}

static bool is_pointer(const char *declaration)
{
	return strchr(declaration, '*');
}

/* True if the field is a number or an address. The types cap_user_header_t and cap_user_data_t are
 * addresses whose declaration has no "*", and are left out. */
static bool is_number_field(const struct description *description)
{
	const char *declaration = description->declaration;
	u32 bytes = description->field.bytes;

	if (strchr(declaration, '[') || strstr(declaration, "cap_user_") ||
	    begins_with(declaration, "__data_loc") || begins_with(declaration, "__rel_loc") ||
	    (begins_with(declaration, "struct ") && !is_pointer(declaration)))
		return false;
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static void parse_format_line(struct numbers *numbers, const char *line)
{
	size_t used = strlen(numbers->names);
	struct description description;
	const char *name;

	if (sscanf(line, "ID: %u", &numbers->field.tracepoint) == 1)
		return;
	if (!parse_field_line(line, &description) || !is_number_field(&description))
		return;
	name = strrchr(description.declaration, ' ');
	if (name && name[1] == '*')
		name++;
	if (!name || begins_with(++name, "common_") || !strcmp(name, "__syscall_nr"))
		return;
	snprintf(numbers->names + used, sizeof(numbers->names) - used, "%s%s", used ? ", " : "",
		 name);
	if (strcmp(name, numbers->wanted))
		return;
	description.field.is_address = is_pointer(description.declaration);
	if (!numbers->are_arguments && description.field.is_address) {
		description.field.bytes = ADDRESS_BYTES;
	} else if (numbers->are_arguments && !description.field.is_address &&
		   !is_word_sized(description.declaration)) {
		/* An argument is reduced to the bytes of its type. */
		description.field.bytes = sizeof(u32);
		description.field.is_signed = !is_unsigned(description.declaration);
	}
	description.field.tracepoint = numbers->field.tracepoint;
	numbers->field = description.field;
	numbers->found = true;
}

static FILE *open_format(int events, const char *name)
{
	char path[512];
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "%.*s/%s/format", (int)strcspn(name, ":"), name,
		 strchr(name, ':') + 1);
	fd = openat(events, path, O_RDONLY | O_CLOEXEC);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file && fd >= 0)
		close(fd);
	return file;
}

static int read_number_fields_of_tracepoint(int events, const char *name, struct numbers *numbers)
{
	FILE *file = open_format(events, name);
	char *line = NULL;
	size_t bytes = 0;

	if (!file)
		return -errno;
	while (getline(&line, &bytes, file) > 0)
		parse_format_line(numbers, line);
	free(line);
	fclose(file);
	return 0;
}

int tracepoint_field_find(int events, const char *name, const char *field, const char *subject,
			  struct tracepoint_field *out, struct stackmap_error *error)
{
	struct numbers numbers = {.wanted = field,
				  .are_arguments = begins_with(name, "syscalls:sys_enter_")};
	int result;

	if (events < 0)
		return error_set(error, -events,
				 "%s: the fields of records are described by tracefs: %s%s",
				 subject, strerror(-events),
				 events == -EACCES ? "; it needs root or CAP_DAC_READ_SEARCH" : "");
	result = read_number_fields_of_tracepoint(events, name, &numbers);
	if (result)
		return error_set(error, -result, "%s: the fields of %s: %s", subject, name,
				 strerror(-result));
	if (numbers.found) {
		*out = numbers.field;
		return 0;
	}
	if (!numbers.names[0])
		return error_set(error, ENOENT, "%s: %s has no fields that are numbers", subject,
				 name);
	return error_set(error, ENOENT, "%s: %s has no number %s; its fields are %s", subject, name,
			 field, numbers.names);
}

struct source_number tracepoint_field_number(const struct tracepoint_field *field)
{
	return (struct source_number){
		.number = {.offset = field->offset,
			   .bytes = field->bytes,
			   .is_signed = field->is_signed},
		.is_address = field->is_address,
	};
}
