/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* If a map is too long, only its end is read, which is the newest part. */
#include "perf_map.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/file/whole_file.h"

/* Reads "[0x]HEX" and returns the text after it; NULL: no number, or more than 64 bits. */
static const char *parse_hex_number(const char *at, const char *end, u64 *number)
{
	const char *first;

	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		at += 2;
	*number = 0;
	for (first = at; at < end; at++) {
		int c = *at | 0x20;
		bool is_digit = *at >= '0' && *at <= '9';

		if (!is_digit && (c < 'a' || c > 'f'))
			break;
		if (*number >> 60)
			return NULL;
		*number = *number << 4 | (is_digit ? *at - '0' : c - 'a' + 10);
	}
	return at > first ? at : NULL;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static int parse_line(const char *at, const char *end, struct generated_code *code)
{
	const char *name;
	size_t name_bytes;
	u64 start, bytes;

	at = parse_hex_number(skip_blanks(at, end), end, &start);
	if (!at || at == end)
		return 0;
	at = parse_hex_number(skip_blanks(at, end), end, &bytes);
	if (!at || at == end)
		return 0;
	name = skip_blanks(at, end);
	while (end > name && strchr(" \t\r", end[-1]))
		end--;
	name_bytes = end - name;
	if (name == at || !name_bytes || memchr(name, 0, name_bytes))
		return 0;
	return generated_code_add(code, start, bytes, name, name_bytes);
}

/* Returns the start of the last PERF_MAP_LINES_MAX lines. */
static const char *skip_to_last_lines(const char *text, const char *end)
{
	const char *at = end > text && end[-1] == '\n' ? end - 1 : end;
	u32 lines = 0;

	while (at > text && (at[-1] != '\n' || ++lines < PERF_MAP_LINES_MAX))
		at--;
	return at;
}

int perf_map_parse(const char *text, size_t bytes, struct generated_code *code)
{
	const char *end = text + bytes;
	int err = 0;

	for (text = skip_to_last_lines(text, end); text < end && !err;) {
		const char *line_end = memchr(text, '\n', end - text) ?: end;

		err = parse_line(text, line_end, code);
		text = line_end + 1;
	}
	return err;
}

int perf_map_read_open(int fd, struct generated_code *code)
{
	size_t bytes;
	char *text;
	int err = whole_file_read_open(fd, &text, &bytes);

	if (err)
		return err;
	err = perf_map_parse(text, bytes, code);
	free(text);
	return err;
}
