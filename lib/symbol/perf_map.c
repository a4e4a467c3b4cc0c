/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines are taken from the last to the first, so that those which count come first. All starts and
 * ends, sorted, cut the memory into cells. Each entry paints its cells; one that meets a painted
 * cell was overwritten. Painted cells are skipped by a union-find over "the next cell that is not
 * painted", so all entries together paint each cell once.
 */
#include "perf_map.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "whole_file.h"

struct entry {
	u64 start;
	u64 end;
	const char *name;
	size_t name_bytes;
};

struct entries {
	struct entry *entry; /* the last of the file first */
	u32 count;
	u32 capacity;
};

/* "[0x]HEX": the number and what follows it; NULL: none, or more than 64 bits. */
static const char *take_number(const char *at, const char *end, u64 *number)
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

static size_t name_length(const char *name, const char *end)
{
	while (end > name && strchr(" \t\r", end[-1]))
		end--;
	return end - name;
}

static bool parse_line(const char *at, const char *end, struct entry *entry)
{
	u64 size;

	at = take_number(skip_blanks(at, end), end, &entry->start);
	if (!at || at == end)
		return false;
	at = take_number(skip_blanks(at, end), end, &size);
	if (!at || at == end || !size || size > UINT64_MAX - entry->start)
		return false;
	entry->end = entry->start + size;
	entry->name = skip_blanks(at, end);
	entry->name_bytes = name_length(entry->name, end);
	return entry->name > at && entry->name_bytes && !memchr(entry->name, 0, entry->name_bytes);
}

static int append(struct entries *entries, const struct entry *entry)
{
	u32 capacity = entries->capacity ? 2 * entries->capacity : 256;
	struct entry *grown;

	if (entries->count == entries->capacity) {
		grown = reallocarray(entries->entry, capacity, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		entries->entry = grown;
		entries->capacity = capacity;
	}
	entries->entry[entries->count++] = *entry;
	return 0;
}

static bool is_within(const struct entry *entry, const struct perf_map_range *range)
{
	return entry->start >= range->base && entry->end - range->base <= range->bytes;
}

static const char *line_start(const char *text, const char *end)
{
	while (end > text && end[-1] != '\n')
		end--;
	return end;
}

static int parse_lines(const char *text, size_t bytes, const struct perf_map_range *range,
		       struct entries *entries)
{
	const char *end = text + bytes;
	int err = 0;

	while (end > text && !err && entries->count < PERF_MAP_ENTRIES_MAX) {
		const char *line = line_start(text, end);
		struct entry entry;

		if (parse_line(line, end, &entry) && is_within(&entry, range))
			err = append(entries, &entry);
		end = line > text ? line - 1 : text;
	}
	return err;
}

struct cells {
	u64 *border; /* ascending, each once */
	u32 *free; /* the cell itself, or a later one: on the way to the next that is not painted */
	u32 count;
};

static int by_value(const void *left, const void *right)
{
	const u64 *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static int cells_create(struct cells *cells, const struct entries *entries)
{
	u32 borders = 2 * entries->count, kept = 0;

	cells->border = reallocarray(NULL, borders, sizeof(*cells->border));
	cells->free = reallocarray(NULL, borders, sizeof(*cells->free));
	if (!cells->border || !cells->free)
		return -ENOMEM;
	for (u32 i = 0; i < entries->count; i++) {
		cells->border[2 * i] = entries->entry[i].start;
		cells->border[2 * i + 1] = entries->entry[i].end;
	}
	qsort(cells->border, borders, sizeof(*cells->border), by_value);
	for (u32 i = 0; i < borders; i++)
		if (!kept || cells->border[kept - 1] != cells->border[i])
			cells->border[kept++] = cells->border[i];
	for (u32 i = 0; i < kept; i++)
		cells->free[i] = i;
	cells->count = kept;
	return 0;
}

static void cells_clear(struct cells *cells)
{
	free(cells->border);
	free(cells->free);
}

static u32 cell_of(const struct cells *cells, u64 border)
{
	const u64 *found = bsearch(&border, cells->border, cells->count, sizeof(border), by_value);

	return found - cells->border;
}

/* The first cell from here on that is not painted. The last border begins none, and stays free. */
static u32 next_free(struct cells *cells, u32 cell)
{
	while (cells->free[cell] != cell) {
		cells->free[cell] = cells->free[cells->free[cell]];
		cell = cells->free[cell];
	}
	return cell;
}

/* Paints what is not painted of an entry: whether that was all of it. */
static bool paint(struct cells *cells, const struct entry *entry)
{
	u32 first = cell_of(cells, entry->start), end = cell_of(cells, entry->end), painted = 0;

	for (u32 cell = next_free(cells, first); cell < end; cell = next_free(cells, cell)) {
		cells->free[cell] = cell + 1;
		painted++;
	}
	return painted == end - first;
}

static int add(struct symbol_table *table, const struct entry *entry, u64 base)
{
	return symbol_table_add(table, &(struct symbol){.start = entry->start - base,
							.size = entry->end - entry->start,
							.limit = entry->end - base,
							.name = entry->name,
							.name_bytes = entry->name_bytes});
}

static int add_lasting(const struct entries *entries, u64 base, struct symbol_table *table)
{
	struct cells cells = {};
	int err = cells_create(&cells, entries);

	for (u32 i = 0; i < entries->count && !err; i++)
		if (paint(&cells, &entries->entry[i]))
			err = add(table, &entries->entry[i], base);
	cells_clear(&cells);
	return err;
}

int perf_map_parse(const char *text, size_t text_bytes, const struct perf_map_range *range,
		   struct symbol_table *table)
{
	struct entries entries = {};
	int err = parse_lines(text, text_bytes, range, &entries);

	if (!err && entries.count)
		err = add_lasting(&entries, range->base, table);
	free(entries.entry);
	symbol_table_seal(table);
	return err;
}

int perf_map_read_open(int fd, const struct perf_map_range *range, struct symbol_table *table)
{
	size_t bytes;
	char *text;
	int err = whole_file_read_open(fd, &text, &bytes);

	if (err)
		return err;
	err = perf_map_parse(text, bytes, range, table);
	free(text);
	return err;
}
