/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A field's values are queried only if a glob must be matched: a plain name is sent as it is. */
#include "store/read/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "intern.h"
#include "name_match.h"
#include "store/wire/row_binary.h"
#include "trace/read/names.h"

#define VALUES_SHOWN 8

#define X(id, column)                                                                              \
	[STORE_FIELD_##id] = {column, "chosen_" column, " AND " column " IN chosen_" column,       \
			      "SELECT DISTINCT " column " FROM events WHERE %s"},
static const struct field {
	const char *name, *table, *condition, *values;
} fields[] = {STORE_FIELDS(X)};
#undef X

/* The existing values of a field, and the chosen ones. */
struct values {
	const struct string_list *wanted;
	enum store_field field;
	struct text_set all;
	struct byte_buffer *rows;
	u32 chosen;
	char near[NAME_NEAREST_BYTES];
};

const char *store_field_name(enum store_field field)
{
	return fields[field].name;
}

char *selection_sql(const struct selection *selection, const char *format)
{
	const char *place = strstr(format, "%s");
	char *sql;

	if (asprintf(&sql, "%.*s%s%s", (int)(place - format), format, selection->where, place + 2) <
	    0)
		return NULL;
	return sql;
}

static bool needs_values(enum store_field field, const struct string_list *wanted)
{
	for (size_t i = 0; i < wanted->count; i++)
		if (strpbrk(wanted->items[i], "*?["))
			return true;
	return field == STORE_FIELD_CGROUP;
}

static bool matches(struct values *values, const char *value)
{
	for (size_t i = 0; i < values->wanted->count; i++) {
		const char *pattern = values->wanted->items[i];
		struct name_match match;

		if (values->field == STORE_FIELD_CGROUP) {
			if (trace_cgroup_is_within(value, pattern))
				return true;
			continue;
		}
		name_match_init(&match, pattern);
		if (name_match_try(&match, value))
			return true;
	}
	return false;
}

static int take_value(void *arg, u32 shard, struct byte_cursor *row, struct stackmap_error *error)
{
	struct values *values = arg;
	u32 before = values->all.count, number;
	char *value = row_get_string(row);

	(void)shard;
	number = value ? text_set_number(&values->all, value) : HASH_INDEX_NONE;
	if (number != HASH_INDEX_NONE && values->all.count > before && matches(values, value)) {
		row_put_text(values->rows, value);
		values->chosen++;
	}
	free(value);
	return number == HASH_INDEX_NONE ? error_set_errno(error, ENOMEM, "store") : 0;
}

/* Lists up to VALUES_SHOWN values, as "a, b and others". */
static void list_values(const struct values *values, char *text, size_t bytes)
{
	size_t used = 0;

	text[0] = '\0';
	for (u32 i = 0; i < values->all.count && used < bytes; i++) {
		if (i == VALUES_SHOWN) {
			snprintf(text + used, bytes - used, " and others");
			return;
		}
		used += snprintf(text + used, bytes - used, "%s%.40s", i ? ", " : "",
				 values->all.texts[i]);
	}
}

static int fail_none(const struct values *values, struct stackmap_error *error)
{
	const char *name = fields[values->field].name;
	char list[384];

	list_values(values, list, sizeof(list));
	return error_set(error, ENOENT, "--%s %s: the store has no such %s in this time%s%s", name,
			 values->wanted->items[0], name, list[0] ? ", but " : "", list);
}

static int match_values(struct shards *shards, struct selection *selection, struct values *values,
			struct stackmap_error *error)
{
	char *sql = selection_sql(selection, fields[values->field].values);
	const struct shard_query query = {
		.sql = sql, .tables = selection->tables, .table_count = selection->table_count};
	int err = sql ? shards_ask_all(shards, &query, take_value, values, error)
		      : error_set_errno(error, ENOMEM, "store");

	free(sql);
	if (!err && !values->chosen)
		err = fail_none(values, error);
	return err;
}

static int choose_field(struct shards *shards, const struct store_question *question,
			enum store_field field, struct selection *selection,
			struct stackmap_error *error)
{
	const struct string_list *wanted = &question->wanted[field];
	struct byte_buffer *rows = &selection->rows[field];
	struct values values = {.wanted = wanted, .field = field, .all = TEXT_SET, .rows = rows};
	size_t used = strlen(selection->where);
	int err = 0;

	if (!wanted->count)
		return 0;
	if (needs_values(field, wanted))
		err = match_values(shards, selection, &values, error);
	else
		for (size_t i = 0; i < wanted->count; i++)
			row_put_text(rows, wanted->items[i]);
	text_set_clear(&values.all);
	if (err || rows->failed)
		return err ?: error_set_errno(error, ENOMEM, "store");
	selection->tables[selection->table_count++] = (struct clickhouse_table){
		.name = fields[field].table,
		.structure = "value String",
		.rows = rows->data,
		.bytes = rows->used,
	};
	snprintf(selection->where + used, sizeof(selection->where) - used, "%s",
		 fields[field].condition);
	return 0;
}

int selection_make(struct shards *shards, const struct store_question *question,
		   struct selection *out, struct stackmap_error *error)
{
	struct selection selection = {};
	int err = 0;

	snprintf(selection.time, sizeof(selection.time),
		 "time >= toDateTime(%llu) AND time < toDateTime(%llu)",
		 (unsigned long long)question->from, (unsigned long long)question->to);
	snprintf(selection.where, sizeof(selection.where), "%s", selection.time);
	for (u32 field = 0; field < STORE_FIELD_COUNT && !err; field++)
		err = choose_field(shards, question, field, &selection, error);
	if (err)
		selection_clear(&selection);
	else
		*out = selection;
	return err;
}

void selection_clear(struct selection *selection)
{
	for (u32 field = 0; field < STORE_FIELD_COUNT; field++)
		byte_buffer_free(&selection->rows[field]);
	*selection = (struct selection){};
}
