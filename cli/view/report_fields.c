/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A key among the columns also distinguishes rows, as with perf, so either list is enough. */
#include "report_fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "terminal/message.h"

#define X(id, name) [MEASURE_##id] = name,
static const char *const measure_names[] = {TABLE_MEASURES(X)};
#undef X

#define X(id, name, ...) " " name
const char report_key_words[] = TABLE_KEYS(X);
const char report_field_words[] = TABLE_KEYS(X) TABLE_MEASURES(X);
#undef X

#define FRAME_KEYS (1U << TABLE_DSO | 1U << TABLE_SYMBOL)

const char *table_field_name(const struct table_field *field)
{
	return field->is_key ? table_key_name(field->key) : measure_names[field->measure];
}

static bool has_field(const struct report_fields *fields, const struct table_field *field)
{
	for (u32 i = 0; i < fields->count; i++)
		if (strcmp(table_field_name(&fields->field[i]), table_field_name(field)) == 0)
			return true;
	return false;
}

static void add_field(struct report_fields *fields, struct table_field field)
{
	if (field.is_key)
		fields->keys |= 1U << field.key;
	if (!has_field(fields, &field))
		fields->field[fields->count++] = field;
}

static void add_key(struct report_fields *fields, enum table_key key)
{
	add_field(fields, (struct table_field){.is_key = true, .key = key});
}

static void add_measure(struct report_fields *fields, enum table_measure measure)
{
	add_field(fields, (struct table_field){.measure = measure});
}

static int find_measure(const char *name, enum table_measure *measure)
{
	for (u32 i = 0; i < TABLE_MEASURE_COUNT; i++) {
		if (strcmp(measure_names[i], name) != 0)
			continue;
		*measure = i;
		return 0;
	}
	return -ENOENT;
}

static int add_named(struct report_fields *fields, const char *option, const char *name,
		     bool measures)
{
	struct table_field field = {.is_key = true};

	if (!table_key_find(name, &field.key)) {
		add_field(fields, field);
		return 0;
	}
	field.is_key = false;
	if (measures && !find_measure(name, &field.measure)) {
		add_field(fields, field);
		return 0;
	}
	message("%s %s: no such %s, there are:%s", option, name, measures ? "field" : "key",
		measures ? report_field_words : report_key_words);
	return -EINVAL;
}

static int parse_list(const char *option, const char *list, bool measures,
		      struct report_fields *fields)
{
	char name[32];
	int err = 0;

	for (const char *end; !err; list = end + 1) {
		end = strchrnul(list, ',');
		snprintf(name, sizeof(name), "%.*s", (int)(end - list), list);
		err = add_named(fields, option, name, measures);
		if (!*end)
			break;
	}
	return err;
}

/* Shares first, then numbers; children only where they differ from self. */
static void add_default_columns(struct report_fields *fields, const struct report_fields *keys)
{
	if (keys->keys & FRAME_KEYS)
		add_measure(fields, MEASURE_CHILDREN);
	add_measure(fields, MEASURE_SELF);
	add_measure(fields, MEASURE_COUNT);
	for (u32 i = 0; i < keys->count; i++)
		add_key(fields, keys->field[i].key);
}

int report_fields_parse(const char *sort, const char *columns, struct report_fields *fields)
{
	struct report_fields keys = {}, shown = {};

	if (sort && parse_list("--sort", sort, false, &keys))
		return -EINVAL;
	if (!columns)
		add_default_columns(&shown, &keys);
	else if (parse_list("--fields", columns, true, &shown))
		return -EINVAL;
	*fields = shown;
	fields->keys |= keys.keys;
	return 0;
}

void report_fields_add_event(struct report_fields *fields)
{
	struct report_fields with = {.keys = fields->keys};

	add_key(&with, TABLE_EVENT);
	for (u32 i = 0; i < fields->count; i++)
		add_field(&with, fields->field[i]);
	*fields = with;
}

int report_fields_check_store(const struct report_fields *fields)
{
	static const enum table_key keys[] = {TABLE_PID, TABLE_TID, TABLE_CPU};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (fields->keys & 1U << keys[i]) {
			message("--sort %s: a store has no processes, threads and CPUs",
				table_key_name(keys[i]));
			return -EINVAL;
		}
	return 0;
}
