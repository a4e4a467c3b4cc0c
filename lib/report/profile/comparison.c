/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Joins the lists through a hash table of texts. Rows with equal changes are sorted by text. */
#include "comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hash_index.h"

struct joined {
	struct comparison_row row;
	const char *text;
};

struct builder {
	struct joined *rows;
	u32 count;
	struct hash_index index;
};

double comparison_delta(const struct comparison_row *row)
{
	return row->share[AFTER].percent - row->share[BEFORE].percent;
}

double comparison_change(const struct comparison_row *row)
{
	return row->share[AFTER].amount - row->share[BEFORE].amount;
}

double comparison_moved(const struct comparison_row *row)
{
	return row->share[AFTER].rank - row->share[BEFORE].rank;
}

static bool is_row(const void *rows, u32 index, const void *text)
{
	return strcmp(((const struct joined *)rows)[index].text, text) == 0;
}

static int add_item(struct builder *builder, enum comparison_side side, u32 number,
		    const struct compared_item *item)
{
	u32 hash = hash_text(item->text);
	u32 index = hash_index_find(&builder->index, hash, is_row, builder->rows, item->text);
	struct compared_share *share;

	if (index == HASH_INDEX_NONE) {
		index = builder->count;
		if (hash_index_add(&builder->index, hash, index))
			return -ENOMEM;
		builder->rows[builder->count++] =
			(struct joined){.row = {.side = side, .index = number}, .text = item->text};
	}
	share = &builder->rows[index].row.share[side];
	share->percent += item->share.percent;
	share->count += item->share.count;
	share->value += item->share.value;
	share->amount += item->share.amount;
	share->rank += item->share.rank;
	return 0;
}

static int by_change(const void *a, const void *b)
{
	const struct joined *x = a, *y = b;
	double left = fabs(comparison_moved(&x->row)), right = fabs(comparison_moved(&y->row));
	double after = x->row.share[AFTER].rank - y->row.share[AFTER].rank;

	if (left != right)
		return left < right ? 1 : -1;
	if (after != 0)
		return after < 0 ? 1 : -1;
	return strcmp(x->text, y->text);
}

static int set_rows(struct builder *builder, struct comparison *comparison)
{
	comparison->rows = calloc(builder->count + 1UL, sizeof(*comparison->rows));
	if (!comparison->rows)
		return -ENOMEM;
	qsort(builder->rows, builder->count, sizeof(*builder->rows), by_change);
	for (u32 i = 0; i < builder->count; i++)
		comparison->rows[i] = builder->rows[i].row;
	comparison->row_count = builder->count;
	return 0;
}

int comparison_create(const struct compared_list lists[COMPARISON_SIDES], struct comparison **out)
{
	struct comparison *comparison = calloc(1, sizeof(*comparison));
	struct builder builder = {};
	int err = -ENOMEM;

	builder.rows =
		calloc((size_t)lists[BEFORE].count + lists[AFTER].count + 1, sizeof(*builder.rows));
	if (comparison && builder.rows)
		err = 0;
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++)
		for (u32 i = 0; i < lists[side].count && !err; i++)
			err = add_item(&builder, side, i, &lists[side].items[i]);
	if (!err)
		err = set_rows(&builder, comparison);
	hash_index_free(&builder.index);
	free(builder.rows);
	if (err)
		free(comparison);
	else
		*out = comparison;
	return err;
}

void comparison_free(struct comparison **comparison)
{
	if (!*comparison)
		return;
	free((*comparison)->rows);
	free(*comparison);
	*comparison = NULL;
}

int compared_list_create(struct compared_list *list, u32 count)
{
	struct compared_item *items = calloc(count + 1UL, sizeof(*items));

	if (!items)
		return -ENOMEM;
	*list = (struct compared_list){.items = items, .count = count};
	return 0;
}

void compared_list_free(struct compared_list *list)
{
	for (u32 i = 0; i < list->count; i++)
		free(list->items[i].text);
	free(list->items);
	*list = (struct compared_list){};
}
