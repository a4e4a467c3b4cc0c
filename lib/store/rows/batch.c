/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ledger rows are built when the batch is sent: only then it is known how many events are stored.
 */
#include "store/rows/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/wire/row_binary.h"

#define STATE_SENT 0
#define STATE_LOST 1

#define X(id, name, meaning) [LOST_##id] = name,
static const char *const cause_names[LOST_COUNT] = {LEDGER_LOST(X)};
#undef X

static u32 count_loss_causes(const struct window_ledger *window)
{
	u32 count = 0;

	for (u32 i = 0; i < LOST_COUNT; i++)
		count += window->lost[i] != 0;
	return count;
}

int batch_append_ledger_rows(const struct batch *batch, const char *lost_as,
			     struct byte_buffer *rows)
{
	for (u32 i = 0; i < batch->window_count; i++) {
		const struct window_ledger *window = &batch->windows[i];
		u64 kept = window->recorded, lost;

		if (lost_as && window->stored < window->recorded)
			kept = window->stored;
		row_put_u32(rows, window->time);
		row_put_text(rows, batch->host);
		row_put_text(rows, batch->boot);
		row_put_u64(rows, batch->number);
		row_put_u16(rows, window->seconds);
		row_put_u64(rows, window->produced);
		row_put_u64(rows, kept);
		lost = window->recorded - kept;
		row_put_count(rows, count_loss_causes(window) + (lost != 0));
		for (u32 cause = 0; cause < LOST_COUNT; cause++)
			if (window->lost[cause])
				row_put_text(rows, cause_names[cause]);
		if (lost)
			row_put_text(rows, lost_as);
		row_put_count(rows, count_loss_causes(window) + (lost != 0));
		for (u32 cause = 0; cause < LOST_COUNT; cause++)
			if (window->lost[cause])
				row_put_u64(rows, window->lost[cause]);
		if (lost)
			row_put_u64(rows, lost);
		row_put_u32(rows, (u32)window->skew);
		row_put_u8(rows, lost_as ? STATE_LOST : STATE_SENT);
	}
	return rows->failed ? -ENOMEM : 0;
}

void batch_clear(struct batch *batch)
{
	free(batch->host);
	free(batch->boot);
	free(batch->windows);
	for (u32 i = 0; i < STORE_TABLE_COUNT; i++)
		byte_buffer_free(&batch->rows[i]);
	memset(batch, 0, sizeof(*batch));
}
