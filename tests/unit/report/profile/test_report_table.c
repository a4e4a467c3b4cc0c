/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of the small recording, which agree with its other views. */
#include "report/profile/report_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/profile/calltree.h"
#include "small_recording.h"
#include "unit_test.h"

#define SOURCES 2

static char path[] = "/tmp/stackmap-table-XXXXXX";
static struct trace_reader *reader;
static struct profile *profile;
static const struct trace_source *sources;
static const struct event_filter all = {};
static const u64 events[SOURCES] = {5, 8}, values[SOURCES] = {0, 1500};
static const enum profile_weight by_count[SOURCES];

static struct report_table *table_of(u32 keys)
{
	const struct table_options options = {
		.keys = keys, .by = by_count, .reader = reader, .attribute = "service.name"};
	struct report_table *table;

	assert_int_equal(report_table_create(profile, &options, &table), 0);
	return table;
}

static const char *cell(const struct report_table *table, const struct table_row *row,
			enum table_key key)
{
	static char room[16];

	return report_table_cell_text(table, sources, row, key, room);
}

static const struct table_row *row_of(const struct report_table *table, u32 kind,
				      enum table_key key, const char *text)
{
	for (u32 i = 0; i < table->row_count; i++)
		if (table->rows[i].kind == kind &&
		    strcmp(cell(table, &table->rows[i], key), text) == 0)
			return &table->rows[i];
	fail_msg("no row %s", text);
	return NULL;
}

TEST(self_sums_up_for_all_keys)
{
	for (u32 keys = 0; keys < 1U << TABLE_KEY_COUNT; keys++) {
		struct report_table *table = table_of(keys);
		u64 count[SOURCES] = {0}, value[SOURCES] = {0};

		for (u32 i = 0; i < table->row_count; i++) {
			const struct table_row *row = &table->rows[i];

			count[row->kind] += row->self.count;
			value[row->kind] += row->self.value;
			assert_true(row->children.count >= row->self.count);
			assert_true(row->children.count <= events[row->kind]);
		}
		assert_memory_equal(count, events, sizeof(count));
		assert_memory_equal(value, values, sizeof(value));
		report_table_free(&table);
		assert_null(table);
	}
}

static u64 self_in_tree(const struct calltree_node *node, const char *name)
{
	u64 sum = strcmp(node->name, name) == 0 ? node->self : 0;

	for (const struct calltree_node *child = node->first_child; child; child = child->next)
		sum += self_in_tree(child, name);
	return sum;
}

static u64 root_count(u32 kind, enum calltree_view view, const struct function_set *functions)
{
	const struct calltree_options options = {
		.kind = kind, .view = view, .functions = functions};
	struct calltree_node *root;
	u64 count;

	assert_int_equal(calltree_create(profile, &options, &root), 0);
	count = root->count;
	calltree_free(&root);
	return count;
}

static void check_against_trees(const struct report_table *table, const struct table_row *row)
{
	const struct calltree_options whole = {.kind = row->kind};
	const char *name = cell(table, row, TABLE_SYMBOL);
	struct function_set functions;
	struct calltree_node *root;

	assert_int_equal(calltree_create(profile, &whole, &root), 0);
	assert_int_equal(self_in_tree(root, name), row->self.count);
	calltree_free(&root);
	assert_int_equal(function_set_create(profile, name, &functions, NULL), 0);
	assert_int_equal(root_count(row->kind, CALLTREE_CALLEES, &functions), row->children.count);
	assert_int_equal(root_count(row->kind, CALLTREE_CALLERS, &functions), row->children.count);
	function_set_free(&functions);
}

/* A function has the same counts in the table, in the tree, and in its own trees. */
TEST(views_agree)
{
	struct report_table *table = table_of(1U << TABLE_SYMBOL);

	assert_true(table->row_count > 10);
	for (u32 i = 0; i < table->row_count; i++)
		check_against_trees(table, &table->rows[i]);
	report_table_free(&table);
}

TEST(recursion_counts_once)
{
	struct report_table *table = table_of(1U << TABLE_SYMBOL);
	const struct table_row *row = row_of(table, 0, TABLE_SYMBOL, "foo::bar(int)");

	assert_int_equal(row->self.count, 1);
	assert_int_equal(row->children.count, 4);
	report_table_free(&table);
}

TEST(files_of_code)
{
	struct report_table *table = table_of(1U << TABLE_DSO);

	assert_int_equal(row_of(table, 1, TABLE_DSO, "[ext4]")->self.count, 1);
	assert_int_equal(row_of(table, 1, TABLE_DSO, "[kernel.kallsyms]")->self.count, 6);
	assert_int_equal(row_of(table, 1, TABLE_DSO, "/usr/lib/libc.so.6")->children.count, 5);
	assert_int_equal(row_of(table, 0, TABLE_DSO, "[unknown]")->children.count, 1);
	report_table_free(&table);
}

TEST(tasks_and_cpus)
{
	struct report_table *table = table_of(1U << TABLE_PID | 1U << TABLE_COMM | 1U << TABLE_CPU);
	const struct table_row *row = row_of(table, 0, TABLE_PID, "200");

	assert_string_equal(cell(table, row, TABLE_COMM), "dd");
	assert_string_equal(cell(table, row, TABLE_CPU), "1");
	assert_int_equal(row->self.count, 3);
	row = row_of(table, 1, TABLE_COMM, "[unknown]");
	assert_string_equal(cell(table, row, TABLE_PID), "0");
	report_table_free(&table);
}

/* A cgroup that was made again counts as the first one of its path. */
TEST(cgroups)
{
	struct report_table *table = table_of(1U << TABLE_CGROUP);
	const struct {
		u32 kind;
		const char *cgroup;
		u64 count;
	} wanted[] = {
		{1, "/user.slice/sh.scope", 4},
		{1, "/user.slice", 2},
		{1, "/system.slice/dd.service", 1},
		{1, "[unknown]", 1},
		{0, "/system.slice/dd.service", 3},
		{0, "/user.slice/sh.scope", 1},
		{0, "[cgroup 4711]", 1},
	};

	for (u32 i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		assert_int_equal(
			row_of(table, wanted[i].kind, TABLE_CGROUP, wanted[i].cgroup)->self.count,
			wanted[i].count);
	assert_int_equal(table->row_count, sizeof(wanted) / sizeof(*wanted));
	report_table_free(&table);
}

TEST(order)
{
	const enum profile_weight by_value[SOURCES] = {WEIGHT_COUNT, WEIGHT_VALUE};
	const struct table_options options = {
		.keys = 1U << TABLE_COMM, .by = by_value, .together = true};
	struct report_table *table = table_of(1U << TABLE_SYMBOL);

	for (u32 i = 1; i < table->row_count; i++)
		assert_true(table->rows[i].kind > table->rows[i - 1].kind ||
			    table->rows[i].self.count <= table->rows[i - 1].self.count);
	report_table_free(&table);
	assert_int_equal(report_table_create(profile, &options, &table), 0);
	assert_int_equal(table->rows[0].kind, 1);
	assert_int_equal(table->rows[0].self.value, 1500);
	report_table_free(&table);
}

TEST(keys_have_names)
{
	enum table_key key;

	for (u32 i = 0; i < TABLE_KEY_COUNT; i++) {
		assert_int_equal(table_key_find(table_key_name(i), &key), 0);
		assert_int_equal(key, i);
	}
	assert_int_equal(table_key_find("sym", &key), 0);
	assert_int_equal(key, TABLE_SYMBOL);
	assert_int_equal(table_key_find("symb", &key), -ENOENT);
	assert_int_equal(table_key_find("", &key), -ENOENT);
}

TEST(functions_by_name)
{
	struct function_set functions;
	struct stackmap_error error;

	assert_int_equal(function_set_create(profile, "shedule", &functions, &error), -ENOENT);
	assert_non_null(strstr(error.message, "schedule"));
	assert_int_equal(function_set_create(profile, "*", &functions, &error), 0);
	assert_int_equal(root_count(0, CALLTREE_CALLEES, &functions), 5);
	function_set_free(&functions);
}

TEST(inlined_functions_by_name)
{
	u32 called = frame_names_intern_text(profile->names, "twice");
	u32 inlined = frame_names_intern_text(profile->names, "twice" FRAME_INLINED_MARK);
	struct function_set functions;

	assert_int_equal(function_set_create(profile, "twice", &functions, NULL), 0);
	assert_true(function_set_has(&functions, called) && function_set_has(&functions, inlined));
	function_set_free(&functions);
	assert_int_equal(function_set_create(profile, "twice" FRAME_INLINED_MARK, &functions, NULL),
			 0);
	assert_false(function_set_has(&functions, called));
	assert_true(function_set_has(&functions, inlined));
	function_set_free(&functions);
}

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	if (small_recording_write(path) || trace_reader_open(path, &reader, NULL))
		return -1;
	trace_reader_sources(reader, &sources);
	return profile_create_split(reader, &all, &(struct frame_naming){},
				    EVENTS_BY_PID | EVENTS_BY_TID | EVENTS_BY_CPU |
					    EVENTS_BY_CGROUP,
				    NULL, &profile, NULL);
}

static int teardown(void **state)
{
	(void)state;
	profile_free(&profile);
	trace_reader_close(&reader);
	return unlink(path);
}

TEST_GROUP(setup, teardown)
