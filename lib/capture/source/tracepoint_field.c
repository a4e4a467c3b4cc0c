/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file `format` has a line for each field:
 *
 *	field:size_t bytes_alloc;	offset:32;	size:8;	signed:0;
 *
 * Numbers are fields with one of four sizes that are not arrays, structures, or places of strings
 * (__data_loc). A pointer is an address; values are below 2^63, so an address is recorded without
 *its highest byte. Common fields (common_pid...) are left out, as each event has them anyway.
 *
 * An argument of a system call takes a word of the record, whatever its type. Only the bytes of the
 * type count; the caller may have left anything in the rest of the register.
 */
#include "capture/source/tracepoint_field.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"

#define DECLARATION_BYTES 128
#define ADDRESS_BYTES 7

struct description {
	char declaration[DECLARATION_BYTES]; /* "size_t bytes_alloc" */
	struct tracepoint_field field;
};

/* The numbers of one record: the wanted number, and the names of all. */
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

static bool parse_line(const char *line, struct description *description)
{
	struct tracepoint_field *field = &description->field;
	u32 is_signed;

	if (sscanf(line, " field:%127[^;]; offset:%u; size:%u; signed:%u;",
		   description->declaration, &field->offset, &field->bytes, &is_signed) != 4)
		return false;
	field->is_signed = is_signed;
	return true;
}

static bool is_word(const char *declaration)
{
	static const char *const types[] = {"long", "size_t", "off_t", "64", "aio_context_t"};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strstr(declaration, types[i]))
			return true;
	return false;
}

static bool is_argument(const char *name)
{
	return begins_with(name, "syscalls:sys_enter_");
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

/* Reduces an argument to the bytes of its type. */
static void narrow(struct description *description)
{
	if (is_word(description->declaration) || is_pointer(description->declaration))
		return;
	description->field.bytes = sizeof(u32);
	description->field.is_signed = !is_unsigned(description->declaration);
}

/* The types cap_user_header_t and cap_user_data_t are pointers. */
static bool is_number(const struct description *description)
{
	const char *declaration = description->declaration;
	u32 bytes = description->field.bytes;

	if (strchr(declaration, '[') || strstr(declaration, "cap_user_") ||
	    begins_with(declaration, "__data_loc") || begins_with(declaration, "__rel_loc") ||
	    (begins_with(declaration, "struct ") && !is_pointer(declaration)))
		return false;
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static void take_line(struct numbers *numbers, const char *line)
{
	size_t used = strlen(numbers->names);
	struct description description;
	const char *name;

	if (sscanf(line, "ID: %u", &numbers->field.tracepoint) == 1)
		return;
	if (!parse_line(line, &description) || !is_number(&description))
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
	if (numbers->are_arguments)
		narrow(&description);
	else if (description.field.is_address)
		description.field.bytes = ADDRESS_BYTES;
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

static int read_format(int events, const char *name, struct numbers *numbers)
{
	FILE *file = open_format(events, name);
	char *line = NULL;
	size_t bytes = 0;

	if (!file)
		return -errno;
	while (getline(&line, &bytes, file) > 0)
		take_line(numbers, line);
	free(line);
	fclose(file);
	return 0;
}

int tracepoint_field_find(int events, const char *name, const char *field, const char *subject,
			  struct tracepoint_field *out, struct stackmap_error *error)
{
	struct numbers numbers = {.wanted = field, .are_arguments = is_argument(name)};
	int result;

	if (events < 0)
		return error_set(error, -events,
				 "%s: the fields of records are described by tracefs: %s%s",
				 subject, strerror(-events),
				 events == -EACCES ? "; it needs root or CAP_DAC_READ_SEARCH" : "");
	result = read_format(events, name, &numbers);
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
