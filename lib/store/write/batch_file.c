/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The description's numbers are varints, its strings end with NUL. Causes of loss are stored by
 * their index in LEDGER_LOST, which only grows at its end, so newer programs can read older files.
 */
#include "store/write/batch_file.h"

#include <errno.h>
#include <string.h>

#include <zlib.h>

#include "array.h"
#include "store/wire/row_binary.h"

#define MAGIC "smBatch1"
#define VERSION 1
#define WINDOWS_MAX 100000

struct file_head {
	char magic[8];
	u32 version;
	u32 about_bytes; /* length of the description */
	u64 rows_bytes;
	u32 rows_checksum;
	u32 about_checksum; /* checksum of the head up to this field, and of the description
			     */
};

static u32 compute_checksum(u32 before, const void *data, size_t bytes)
{
	return (u32)crc32_z(before, data, bytes);
}

static u32 checksum_of_description(const struct file_head *head, const u8 *about)
{
	u32 sum = compute_checksum(0, head, offsetof(struct file_head, about_checksum));

	return compute_checksum(sum, about, head->about_bytes);
}

static void append_rows_of_batch_tables(struct byte_buffer *about, struct byte_buffer *rows,
					const struct batch *batch, bool with_rows)
{
	byte_buffer_varint(about, STORE_TABLE_COUNT);
	for (u32 i = 0; i < STORE_TABLE_COUNT; i++) {
		const struct byte_buffer *plain = &batch->rows[i];
		struct byte_buffer of_table = {0};
		int err = with_rows ? packed_rows_append(&of_table, plain->data, plain->used)
				    : -ENODATA;
		bool packed = !err;

		if (err == -ENOMEM)
			of_table.failed = true;
		else if (err && with_rows)
			byte_buffer_append(&of_table, plain->data, plain->used);
		byte_buffer_varint(about, batch->row_count[i]);
		byte_buffer_varint(about, of_table.used);
		byte_buffer_byte(about, packed);
		byte_buffer_append(rows, of_table.data, of_table.used);
		rows->failed |= of_table.failed;
		byte_buffer_free(&of_table);
	}
}

static void append_description_and_rows(struct byte_buffer *about, struct byte_buffer *rows,
					const struct batch *batch, const char *lost_as)
{
	byte_buffer_string(about, batch->host);
	byte_buffer_string(about, batch->boot);
	byte_buffer_string(about, lost_as);
	byte_buffer_varint(about, batch->number);
	append_rows_of_batch_tables(about, rows, batch, !lost_as);
	byte_buffer_varint(about, LOST_COUNT);
	byte_buffer_varint(about, batch->window_count);
	for (u32 i = 0; i < batch->window_count; i++) {
		const struct window_ledger *window = &batch->windows[i];

		byte_buffer_varint(about, window->time);
		byte_buffer_varint(about, window->seconds);
		byte_buffer_signed(about, window->skew);
		byte_buffer_varint(about, window->produced);
		byte_buffer_varint(about, window->recorded);
		for (u32 cause = 0; cause < LOST_COUNT; cause++)
			byte_buffer_varint(about, window->lost[cause]);
	}
}

int batch_file_encode(const struct batch *batch, const char *lost_as, struct byte_buffer *file)
{
	struct byte_buffer about = {0}, rows = {0};
	struct file_head head = {.version = VERSION};

	append_description_and_rows(&about, &rows, batch, lost_as);
	file->failed |= about.failed || rows.failed;
	if (!file->failed) {
		memcpy(head.magic, MAGIC, sizeof(head.magic));
		head.about_bytes = (u32)about.used;
		head.rows_bytes = rows.used;
		head.rows_checksum = compute_checksum(0, rows.data, rows.used);
		head.about_checksum = checksum_of_description(&head, about.data);
		byte_buffer_append(file, &head, sizeof(head));
		byte_buffer_append(file, about.data, about.used);
		byte_buffer_append(file, rows.data, rows.used);
	}
	byte_buffer_free(&about);
	byte_buffer_free(&rows);
	return file->failed ? -ENOMEM : 0;
}

static void read_rows_of_spooled_batch(struct byte_cursor *about, const u8 *rows, u64 left,
				       struct spooled_batch *out)
{
	if (byte_cursor_u32(about) != STORE_TABLE_COUNT)
		about->bad = true;
	for (u32 i = 0; i < STORE_TABLE_COUNT; i++) {
		struct spooled_rows *table = &out->rows[i];
		const u8 *packed;

		out->ledger.row_count[i] = byte_cursor_u32(about);
		table->bytes = rows;
		table->length = byte_cursor_varint(about);
		packed = byte_cursor_read_bytes(about, 1);
		table->packed = packed && *packed;
		about->bad |= table->length > left;
		if (about->bad)
			return;
		rows += table->length;
		left -= table->length;
	}
}

static int read_windows(struct byte_cursor *about, struct batch *batch)
{
	u32 causes = byte_cursor_u32(about);
	u32 count = byte_cursor_u32(about);

	if (about->bad || causes > LOST_COUNT || count > WINDOWS_MAX)
		return -EBADMSG;
	if (array_make_rooms(batch->windows, count, batch->window_room))
		return -ENOMEM;
	for (u32 i = 0; i < count; i++) {
		struct window_ledger *window = &batch->windows[i];

		*window = (struct window_ledger){.time = byte_cursor_u32(about)};
		window->seconds = (u16)byte_cursor_u32(about);
		window->skew = (s32)byte_cursor_signed(about);
		window->produced = byte_cursor_varint(about);
		window->recorded = byte_cursor_varint(about);
		for (u32 cause = 0; cause < causes; cause++)
			window->lost[cause] = byte_cursor_varint(about);
	}
	batch->window_count = count;
	return about->bad || byte_cursor_left(about) ? -EBADMSG : 0;
}

static int read_text(struct byte_cursor *about, char **text)
{
	*text = strdup(byte_cursor_string(about));
	return *text ? 0 : -ENOMEM;
}

static int read_description(const struct file_head *head, struct spooled_batch *out)
{
	const u8 *at = out->data + sizeof(*head);
	struct byte_cursor about = {.at = at, .end = at + head->about_bytes};
	int err = read_text(&about, &out->ledger.host) ?: read_text(&about, &out->ledger.boot);
	const char *lost_as;

	if (err)
		return err;
	lost_as = byte_cursor_string(&about);
	out->lost_as = *lost_as ? strdup(lost_as) : NULL;
	if (*lost_as && !out->lost_as)
		return -ENOMEM;
	out->ledger.number = byte_cursor_varint(&about);
	read_rows_of_spooled_batch(&about, about.end, head->rows_bytes, out);
	return read_windows(&about, &out->ledger);
}

int batch_file_decode(u8 *data, size_t bytes, struct spooled_batch *out)
{
	struct file_head head;
	size_t before;
	int err;

	*out = (struct spooled_batch){.data = data, .bytes = bytes};
	if (bytes < sizeof(head))
		return -EBADMSG;
	memcpy(&head, data, sizeof(head));
	if (memcmp(head.magic, MAGIC, sizeof(head.magic)) || head.version != VERSION ||
	    head.about_bytes > bytes - sizeof(head) ||
	    checksum_of_description(&head, data + sizeof(head)) != head.about_checksum)
		return -EBADMSG;
	err = read_description(&head, out);
	if (err)
		return err;
	before = sizeof(head) + head.about_bytes;
	return bytes - before == head.rows_bytes &&
			       compute_checksum(0, data + before, bytes - before) ==
				       head.rows_checksum
		       ? 0
		       : -EIO;
}
