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
	u64 part[COMPARISON_SIDES];
	double amount[COMPARISON_SIDES];
	const char *text;
	u32 number; /* index of the row before the rows are sorted */
};

struct builder {
	struct joined *rows;
	u32 count;
	struct hash_index index;
};

u64 count_lost_events_of_ledger(const struct trace_ledger *ledger)
{
	u64 lost = 0;

	for (u32 cause = 0; cause < LOST_COUNT && ledger; cause++)
		if (cause != LOST_OVERWRITTEN && cause != LOST_RESET && cause != LOST_PAUSED)
			lost += ledger->lost[cause];
	return lost;
}

double scale_factor_of_lost_events(const struct trace_ledger *ledger)
{
	u64 kept = ledger ? ledger->recorded + ledger->counted : 0;

	return kept ? 1 + (double)count_lost_events_of_ledger(ledger) / (double)kept : 1;
}

u64 compared_lost_of_source(const struct trace_reader *reader, u32 kind)
{
	const struct trace_source_ledger *known;
	const struct trace_source *sources;

	if (trace_reader_sources(reader, &sources) == 1)
		return count_lost_events_of_ledger(trace_reader_ledger(reader));
	return trace_reader_source_ledgers(reader, &known) ? known[kind].lost : 0;
}

u64 compared_lost_of_unknown_source(const struct trace_reader *reader)
{
	const struct trace_source *sources;
	u64 lost = count_lost_events_of_ledger(trace_reader_ledger(reader)), known = 0;
	u32 count = trace_reader_sources(reader, &sources);

	for (u32 kind = 0; kind < count; kind++)
		known += compared_lost_of_source(reader, kind);
	return lost > known ? lost - known : 0;
}

double compared_scale_of_source(const struct trace_reader *reader, u32 kind)
{
	const struct trace_ledger *ledger = trace_reader_ledger(reader);
	const struct trace_source_ledger *known;
	double kept, all;

	if (!trace_reader_source_ledgers(reader, &known))
		return scale_factor_of_lost_events(ledger);
	kept = (double)(known[kind].recorded + known[kind].counted);
	all = ledger ? (double)(ledger->recorded + ledger->counted) : 0;
	if (kept == 0 || all == 0)
		return 1;
	return 1 + (double)known[kind].lost / kept +
	       (double)compared_lost_of_unknown_source(reader) / all;
}

double comparison_share_change(const struct comparison_row *row)
{
	return row->share[AFTER].percent - row->share[BEFORE].percent;
}

double comparison_amount_change(const struct comparison_row *row)
{
	return row->share[AFTER].amount - row->share[BEFORE].amount;
}

double comparison_rank_change(const struct comparison_row *row)
{
	return row->share[AFTER].rank - row->share[BEFORE].rank;
}

bool comparison_is_beyond_noise(const struct comparison_row *row)
{
	return isnan(row->noise) || fabs(comparison_rank_change(row)) > row->noise;
}

static bool has_same_text(const void *rows, u32 index, const void *text)
{
	return strcmp(((const struct joined *)rows)[index].text, text) == 0;
}

static int add_compared_item(struct builder *builder, enum comparison_side side, u32 number,
			     struct compared_item *item)
{
	u32 hash = hash_text(item->text);
	struct joined *joined;

	item->row =
		hash_index_find(&builder->index, hash, has_same_text, builder->rows, item->text);
	if (item->row == HASH_INDEX_NONE) {
		item->row = builder->count;
		if (hash_index_add(&builder->index, hash, item->row))
			return -ENOMEM;
		builder->rows[builder->count++] =
			(struct joined){.row = {.side = side,
						.index = number,
						.source = item->source,
						.is_sampled = item->is_sampled,
						.noise = NAN},
					.text = item->text,
					.number = item->row};
	}
	joined = &builder->rows[item->row];
	joined->row.share[side].count += item->count;
	joined->row.share[side].value += item->value;
	joined->part[side] += item->part;
	joined->amount[side] += item->amount;
	return 0;
}

double sum_weights_of_compared_units(const struct compared_units *units, u32 source)
{
	double sum = 0;

	for (u32 unit = 0; unit < units->count; unit++)
		sum += (double)units->wholes[source * units->count + unit];
	return sum;
}

double sum_divisors_of_compared_units(const struct compared_units *units)
{
	double sum = 0;

	for (u32 unit = 0; unit < units->count && units->divisors; unit++)
		sum += units->divisors[unit];
	return units->divisors ? sum : 1;
}

double compared_amount_of_all(const struct compared_units units[COMPARISON_SIDES], u32 source)
{
	enum comparison_side side = units[BEFORE].amounts[source] > 0 ? BEFORE : AFTER;

	return units[side].amounts[source] / sum_divisors_of_compared_units(&units[side]);
}

static int compare_rows_by_rank_change(const void *a, const void *b)
{
	const struct joined *x = a, *y = b;
	double left = fabs(comparison_rank_change(&x->row)),
	       right = fabs(comparison_rank_change(&y->row));
	double after = x->row.share[AFTER].rank - y->row.share[AFTER].rank;

	if (left != right)
		return left < right ? 1 : -1;
	if (after != 0)
		return after < 0 ? 1 : -1;
	return strcmp(x->text, y->text);
}

/* Sorts the rows, and gives the items the new numbers of their rows. */
static int fill_sorted_rows(struct builder *builder, struct compared_list lists[COMPARISON_SIDES],
			    struct comparison *comparison)
{
	u32 *place = calloc(builder->count + 1UL, sizeof(*place));

	comparison->rows = calloc(builder->count + 1UL, sizeof(*comparison->rows));
	if (!comparison->rows || !place) {
		free(comparison->rows);
		free(place);
		return -ENOMEM;
	}
	qsort(builder->rows, builder->count, sizeof(*builder->rows), compare_rows_by_rank_change);
	for (u32 i = 0; i < builder->count; i++) {
		comparison->rows[i] = builder->rows[i].row;
		place[builder->rows[i].number] = i;
	}
	for (u32 side = BEFORE; side < COMPARISON_SIDES; side++)
		for (u32 i = 0; i < lists[side].count; i++)
			lists[side].items[i].row = place[lists[side].items[i].row];
	comparison->row_count = builder->count;
	free(place);
	return 0;
}

int comparison_create(struct compared_list lists[COMPARISON_SIDES],
		      const struct compared_units units[COMPARISON_SIDES], struct comparison **out)
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
			err = add_compared_item(&builder, side, i, &lists[side].items[i]);
	for (u32 i = 0; i < builder.count && !err; i++) {
		u32 source = builder.rows[i].row.source;

		for (u32 side = BEFORE; side < COMPARISON_SIDES; side++) {
			struct compared_share *share = &builder.rows[i].row.share[side];
			double whole = sum_weights_of_compared_units(&units[side], source);

			share->percent =
				whole > 0 ? 100 * (double)builder.rows[i].part[side] / whole : 0;
			share->amount = (double)builder.rows[i].amount[side] /
					sum_divisors_of_compared_units(&units[side]);
			share->rank = share->percent;
			if (!units[side].divisors)
				continue;
			whole = compared_amount_of_all(units, source);
			share->rank = whole > 0 ? 100 * share->amount / whole : 0;
		}
	}
	err = err ?: fill_sorted_rows(&builder, lists, comparison);
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
