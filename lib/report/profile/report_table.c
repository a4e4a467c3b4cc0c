/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each row of the profile is walked once, frame by frame. A table row remembers the last profile
 * row that was added to its `children`, so a recursive function counts once. Texts are interned as
 * labels, so every cell is a number.
 */
#include "report_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash_index.h"
#include "order.h"
#include "profile.h"
#include "report/name/process_attributes.h"

#define UNKNOWN "[unknown]"
#define NO_CELL UINT32_MAX

#define X(id, name, meaning) [TABLE_##id] = name,
static const char *const key_names[TABLE_KEY_COUNT] = {TABLE_KEYS(X)};
#undef X

struct label_cells {
	u32 dso, symbol; /* cells of the object and of the name of a label; NO_CELL: not made yet */
};

struct builder {
	const struct profile *profile;
	const struct table_options *options;
	struct report_table *table;
	struct hash_index index; /* finds a row of the table by its key */
	/* by table row: number (from 1) of the last profile row that was added to its `children` */
	u32 *last_stack;
	u32 room, last_room;
	struct label_cells *labels;
	u32 label_room;
	/* labels of the attribute, since reading it takes long (attribute_numbers_slot()) */
	struct attribute_label {
		struct attribute_numbers from; /* all 0: the slot is free */
		u32 label;		       /* PROFILE_NO_LABEL: it is not published */
	} * attributes;
	struct kept_process *kept;
	struct whole_stack stack;
};

int table_key_find(const char *name, enum table_key *key)
{
	if (strcmp(name, "sym") == 0)
		name = key_names[TABLE_SYMBOL];
	for (u32 i = 0; i < TABLE_KEY_COUNT; i++) {
		if (strcmp(key_names[i], name) != 0)
			continue;
		*key = i;
		return 0;
	}
	return -ENOENT;
}

const char *table_key_name(enum table_key key)
{
	return key_names[key];
}

u32 event_split_of_table_keys(u32 keys)
{
	return (keys & 1U << TABLE_PID ? EVENTS_BY_PID : 0) |
	       (keys & 1U << TABLE_TID ? EVENTS_BY_TID : 0) |
	       (keys & 1U << TABLE_CPU ? EVENTS_BY_CPU : 0) |
	       (keys & 1U << TABLE_CGROUP ? EVENTS_BY_CGROUP : 0) |
	       (keys & 1U << TABLE_TRACE ? EVENTS_BY_TRACE : 0) |
	       (keys & 1U << TABLE_SPAN ? EVENTS_BY_SPAN : 0) |
	       (keys & 1U << TABLE_ATTRIBUTE ? EVENTS_BY_ATTRIBUTES : 0);
}

static bool table_has_key(const struct builder *builder, enum table_key key)
{
	return builder->options->keys & 1U << key;
}

static bool is_same_row(const void *rows, u32 index, const void *key)
{
	const struct table_row *row = &((const struct table_row *)rows)[index], *wanted = key;

	return row->kind == wanted->kind && row->slice == wanted->slice &&
	       memcmp(row->cell, wanted->cell, sizeof(row->cell)) == 0;
}

/* The index of the row with this key, which is added if it is new. HASH_INDEX_NONE without
 * memory. */
static u32 find_or_add_table_row(struct builder *builder, const struct table_row *key)
{
	struct report_table *table = builder->table;
	u64 sum = hash_word(0, (u64)key->slice << 32 | key->kind);
	u32 hash, index;

	for (u32 i = 0; i < TABLE_KEY_COUNT; i++)
		sum = hash_word(sum, key->cell[i]);
	hash = hash_end(sum);
	index = hash_index_find(&builder->index, hash, is_same_row, table->rows, key);
	if (index != HASH_INDEX_NONE)
		return index;
	if (array_make_room(table->rows, table->row_count, builder->room) ||
	    array_make_room(builder->last_stack, table->row_count, builder->last_room) ||
	    hash_index_add(&builder->index, hash, table->row_count))
		return HASH_INDEX_NONE;
	table->rows[table->row_count] = *key;
	builder->last_stack[table->row_count] = 0;
	return table->row_count++;
}

static void add_row_to_sum(struct table_sum *sum, const struct profile_row *row)
{
	sum->count += row->count;
	sum->value += row->value;
	sum->estimates += row->estimates;
}

static int add_self_weight(const struct builder *builder, u32 index, const struct profile_row *row)
{
	struct table_row *to = &builder->table->rows[index];

	add_row_to_sum(&to->self, row);
	return builder->options->by_children ? 0 : distribution_merge(&to->values, &row->values);
}

static int add_children_weight(const struct builder *builder, u32 index,
			       const struct profile_row *row)
{
	struct table_row *to = &builder->table->rows[index];

	add_row_to_sum(&to->children, row);
	return builder->options->by_children ? distribution_merge(&to->values, &row->values) : 0;
}

/* Sets the cells of a frame. Functions of one name in two files are one row unless the file is a
 * key. */
static int set_frame_cells(struct builder *builder, u32 label, struct table_row *key)
{
	struct frame_names *names = builder->profile->names;
	const char *object = frame_names_label_object(names, label) ?: UNKNOWN;
	struct label_cells *cells;
	u32 before = builder->label_room;

	if (array_make_rooms(builder->labels, label + 1UL, builder->label_room))
		return -ENOMEM;
	memset(builder->labels + before, 0xff,
	       (builder->label_room - before) * sizeof(*builder->labels));
	cells = &builder->labels[label];
	if (cells->symbol == NO_CELL) {
		cells->symbol = frame_names_intern_text(names, frame_names_label(names, label));
		cells->dso = frame_names_intern_text(names, builder->options->by_file_name
								    ? frame_names_base_name(object)
								    : object);
	}
	if (cells->symbol == NO_CELL || cells->dso == NO_CELL)
		return -ENOMEM;
	if (table_has_key(builder, TABLE_SYMBOL))
		key->cell[TABLE_SYMBOL] = cells->symbol;
	if (table_has_key(builder, TABLE_DSO))
		key->cell[TABLE_DSO] = cells->dso;
	return 0;
}

#define ATTRIBUTE_LABELS 4096

/* Sets the cell of the attribute. 0 or -ENOMEM. */
static int set_attribute_cell(const struct builder *builder, struct attribute_numbers from,
			      struct table_row *key)
{
	struct attribute_label *known =
		&builder->attributes[attribute_numbers_slot(from, ATTRIBUTE_LABELS)];
	struct process_attributes published;
	u32 label = PROFILE_NO_LABEL;
	const char *value;
	int err;

	key->cell[TABLE_ATTRIBUTE] = label;
	if (!from.process)
		return 0;
	if (!memcmp(&known->from, &from, sizeof(from))) {
		key->cell[TABLE_ATTRIBUTE] = known->label;
		return 0;
	}
	err = event_attributes_read(builder->kept, builder->options->reader, from, &published);
	value = process_attributes_find(&published, builder->options->attribute);
	if (value)
		label = frame_names_intern_text(builder->profile->names, value);
	process_attributes_clear(&published);
	if (err || (value && label == PROFILE_NO_LABEL))
		return -ENOMEM;
	*known = (struct attribute_label){from, label};
	key->cell[TABLE_ATTRIBUTE] = label;
	return 0;
}

static int set_event_cells(const struct builder *builder, const struct profile_row *row,
			   struct table_row *key)
{
	u32 comm = 0;
	int err = 0;

	*key = (struct table_row){.kind = row->kind, .slice = row->slice};
	if (table_has_key(builder, TABLE_COMM))
		comm = frame_names_intern_text(builder->profile->names,
					       row->comm[0] ? row->comm : UNKNOWN);
	key->cell[TABLE_COMM] = comm;
	if (table_has_key(builder, TABLE_EVENT))
		key->cell[TABLE_EVENT] = row->kind;
	if (table_has_key(builder, TABLE_PID))
		key->cell[TABLE_PID] = row->pid;
	if (table_has_key(builder, TABLE_TID))
		key->cell[TABLE_TID] = row->tid;
	if (table_has_key(builder, TABLE_CPU))
		key->cell[TABLE_CPU] = row->cpu;
	if (table_has_key(builder, TABLE_CGROUP))
		key->cell[TABLE_CGROUP] = row->cgroup;
	if (table_has_key(builder, TABLE_TRACE))
		key->cell[TABLE_TRACE] = row->trace;
	if (table_has_key(builder, TABLE_SPAN))
		key->cell[TABLE_SPAN] = row->span;
	if (table_has_key(builder, TABLE_ATTRIBUTE))
		err = set_attribute_cell(builder, row->attributes, key);
	return comm == UINT32_MAX ? -ENOMEM : err;
}

static int add_rows_of_stack(struct builder *builder, const struct profile_row *row, u32 number,
			     struct table_row *key)
{
	struct whole_stack *stack = &builder->stack;

	if (whole_stack_set_labels_of_row(stack, builder->profile, row))
		return -ENOMEM;
	for (u32 i = 0; i < stack->depth; i++) {
		u32 index;

		if (set_frame_cells(builder, stack->labels[i], key))
			return -ENOMEM;
		index = find_or_add_table_row(builder, key);
		if (index == HASH_INDEX_NONE)
			return -ENOMEM;
		if (i == 0 && add_self_weight(builder, index, row))
			return -ENOMEM;
		if (builder->last_stack[index] != number &&
		    add_children_weight(builder, index, row))
			return -ENOMEM;
		builder->last_stack[index] = number;
	}
	return 0;
}

static int add_profile_rows(struct builder *builder)
{
	const struct profile *profile = builder->profile;
	bool by_frame = table_has_key(builder, TABLE_DSO) || table_has_key(builder, TABLE_SYMBOL);

	for (u32 i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = profile->rows[i];
		struct table_row key;
		u32 index;

		if (set_event_cells(builder, row, &key))
			return -ENOMEM;
		if (by_frame) {
			if (add_rows_of_stack(builder, row, i + 1, &key))
				return -ENOMEM;
			continue;
		}
		index = find_or_add_table_row(builder, &key);
		if (index == HASH_INDEX_NONE || add_self_weight(builder, index, row) ||
		    add_children_weight(builder, index, row))
			return -ENOMEM;
	}
	return 0;
}

/* Rows of equal weight are sorted by their cells. */
static int compare_rows_by_weight_and_cells(const void *a, const void *b, void *arg)
{
	const struct table_options *options = arg;
	const struct table_row *left = a, *right = b;
	u64 self[2] = {table_sum_weight(&left->self, options->by[left->kind]),
		       table_sum_weight(&right->self, options->by[right->kind])};
	u64 children[2] = {table_sum_weight(&left->children, options->by[left->kind]),
			   table_sum_weight(&right->children, options->by[right->kind])};
	int by_self = order(self[1], self[0]), by_children = order(children[1], children[0]);
	int by_weight = options->by_children ? by_children ?: by_self : by_self ?: by_children;

	if (left->kind != right->kind && !options->together)
		return order(left->kind, right->kind);
	for (u32 i = 0; i < TABLE_KEY_COUNT && !by_weight; i++)
		by_weight = order(left->cell[i], right->cell[i]);
	by_weight = by_weight ?: order(left->slice, right->slice);
	return by_weight ?: order(left->kind, right->kind);
}

int report_table_create(const struct profile *profile, const struct table_options *options,
			struct report_table **out)
{
	struct report_table *table = calloc(1, sizeof(*table));
	struct kept_process kept = {};
	struct builder builder = {
		.profile = profile, .options = options, .table = table, .kept = &kept};
	int err;

	if (!table)
		return -ENOMEM;
	table->profile = profile;
	builder.attributes = calloc(ATTRIBUTE_LABELS, sizeof(*builder.attributes));
	err = builder.attributes ? add_profile_rows(&builder) : -ENOMEM;
	hash_index_free(&builder.index);
	whole_stack_free(&builder.stack);
	free(builder.last_stack);
	free(builder.labels);
	free(builder.attributes);
	kept_process_clear(&kept);
	if (err) {
		report_table_free(&table);
		return err;
	}
	if (table->row_count)
		qsort_r(table->rows, table->row_count, sizeof(*table->rows),
			compare_rows_by_weight_and_cells, (void *)options);
	*out = table;
	return 0;
}

void report_table_free(struct report_table **table)
{
	if (!*table)
		return;
	for (u32 i = 0; i < (*table)->row_count; i++)
		distribution_clear(&(*table)->rows[i].values);
	free((*table)->rows);
	free(*table);
	*table = NULL;
}

const char *report_table_cell_text(const struct report_table *table,
				   const struct trace_source *sources, const struct table_row *row,
				   enum table_key key, char room[16])
{
	if (!table_row_has(row, key))
		return "-";
	switch (key) {
	case TABLE_EVENT:
		return sources[row->kind].name;
	case TABLE_COMM:
	case TABLE_CGROUP:
	case TABLE_TRACE:
	case TABLE_SPAN:
	case TABLE_ATTRIBUTE:
	case TABLE_DSO:
	case TABLE_SYMBOL:
		return frame_names_label(table->profile->names, row->cell[key]);
	default:
		snprintf(room, 16, "%u", row->cell[key]);
		return room;
	}
}
