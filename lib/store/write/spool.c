/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is in the folder is looked at anew each time: a batch every two minutes makes that cheap,
 * and neither end has to know what the other one did.
 *
 * The state goes to the disk before the batch that it counts, so no number is given twice. When
 * rows make room, the ledger is written first; a batch that has its ledger beside it is still sent,
 * and the sender asks the server before it sends any ledger of what is lost. So nothing that was
 * stored is ever called lost, whichever end was killed when.
 */
#include "store/write/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

#include "error.h"
#include "store/write/batch_file.h"
#include "store/write/spool_folder.h"

#define DAY_SECONDS (24 * 3600)
#define LEDGERS_SHARE 8 /* ledgers may have this part of the room */
#define STATE_NAME "state"

struct state {
	u64 next_number;
	u32 last_window;
	u32 checksum; /* of what is before it */
};

struct spool {
	int folder, lock;
	enum spool_end end;
	u64 most_bytes;
	void (*say)(void *arg, const char *text);
	void *arg;
	struct state state;
	struct spool_count count; /* what happened since the start */
	bool strangers_said;
};

static const char *temporary_name(const struct spool *spool)
{
	return spool->end == SPOOL_FILL ? "filling.new" : "draining.new";
}

static void say(struct spool *spool, const char *what, u64 number)
{
	char text[256];

	if (!spool->say)
		return;
	snprintf(text, sizeof(text), "spool: batch %llu: %s", (unsigned long long)number, what);
	spool->say(spool->arg, text);
}

static u32 state_checksum(const struct state *state)
{
	return (u32)crc32_z(0, (const void *)state, offsetof(struct state, checksum));
}

static bool read_state(struct spool *spool)
{
	u8 *data = NULL;
	size_t bytes = 0;
	struct state state;
	bool good = !spool_folder_read(spool->folder, STATE_NAME, &data, &bytes) &&
		    bytes == sizeof(state);

	if (good) {
		memcpy(&state, data, sizeof(state));
		good = state.checksum == state_checksum(&state);
	}
	if (good)
		spool->state = state;
	free(data);
	return good;
}

static int write_state(struct spool *spool, const struct state *state)
{
	struct state sealed = *state;
	int err;

	sealed.checksum = state_checksum(&sealed);
	err = spool_folder_write(spool->folder, temporary_name(spool), STATE_NAME, &sealed,
				 sizeof(sealed));
	if (!err)
		spool->state = sealed;
	return err;
}

static int list(struct spool *spool, struct spool_list *out)
{
	int err = spool_folder_list(spool->folder, out);

	if (!err && out->strangers && !spool->strangers_said) {
		spool->strangers_said = true;
		if (spool->say)
			spool->say(spool->arg, "spool: files that are not ours are left alone");
	}
	return err;
}

/* A spool without its state: numbers go on from the clock, which is beyond all that were given, one
 * every two minutes. */
static int guess_state(struct spool *spool)
{
	struct spool_list found;
	int err = list(spool, &found);

	if (err)
		return err;
	spool->state = (struct state){.next_number = (u64)time(NULL)};
	if (found.count && found.items[found.count - 1].number >= spool->state.next_number)
		spool->state.next_number = found.items[found.count - 1].number + 1;
	spool_list_clear(&found);
	return 0;
}

static int start(struct spool *spool)
{
	bool fills = spool->end == SPOOL_FILL;
	int err = spool_folder_lock(spool->folder, fills ? "filling" : "draining", &spool->lock);

	if (!err)
		err = spool_folder_remove(spool->folder, temporary_name(spool));
	return err || !fills || read_state(spool) ? err : guess_state(spool);
}

int spool_open(const struct spool_options *options, struct spool **out,
	       struct stackmap_error *error)
{
	struct spool *spool = calloc(1, sizeof(*spool));
	int err;

	if (!spool)
		return error_set(error, ENOMEM, "%s: %s", options->folder, strerror(ENOMEM));
	*spool = (struct spool){.folder = -1,
				.lock = -1,
				.end = options->end,
				.most_bytes = options->most_bytes,
				.say = options->say,
				.arg = options->arg};
	err = spool_folder_open(options->folder, &spool->folder, error);
	if (!err) {
		err = start(spool);
		if (err)
			error_set(error, -err, "%s: %s", options->folder,
				  err == -EBUSY ? "another agent has it" : strerror(-err));
	}
	if (err)
		spool_close(&spool);
	else
		*out = spool;
	return err;
}

void spool_close(struct spool **spool)
{
	if (!*spool)
		return;
	if ((*spool)->lock >= 0)
		close((*spool)->lock);
	if ((*spool)->folder >= 0)
		close((*spool)->folder);
	free(*spool);
	*spool = NULL;
}

u32 spool_next_window(const struct spool *spool, u32 now)
{
	u32 last = spool->state.last_window;

	return last < now || last > now + DAY_SECONDS ? now : last + 1;
}

static int remove_item(struct spool *spool, u64 number, bool is_lost)
{
	char name[SPOOL_NAME_BYTES];

	spool_item_name(number, is_lost, name);
	return spool_folder_remove(spool->folder, name);
}

static int write_item(struct spool *spool, const struct batch *batch, const char *lost_as,
		      const struct byte_buffer *file)
{
	char name[SPOOL_NAME_BYTES];

	spool_item_name(batch->number, lost_as, name);
	return spool_folder_write(spool->folder, temporary_name(spool), name, file->data,
				  file->used);
}

static int write_ledger(struct spool *spool, const struct batch *batch, const char *lost_as)
{
	struct byte_buffer file = {0};
	int err = batch_file_encode(batch, lost_as, &file);

	if (!err)
		err = write_item(spool, batch, lost_as, &file);
	byte_buffer_free(&file);
	return err;
}

/* On a full disk the rows have to go before there is room for the ledger. */
static int replace_by_ledger(struct spool *spool, const struct batch *batch, const char *lost_as)
{
	int err = write_ledger(spool, batch, lost_as);

	if (err && err != -ENOSPC && err != -EDQUOT)
		return err;
	if (remove_item(spool, batch->number, false))
		return -EIO;
	return err ? write_ledger(spool, batch, lost_as) : 0;
}

/* -ENOENT: the other end was faster. */
static int read_item(struct spool *spool, const struct spool_item *item, struct spooled_batch *out)
{
	char name[SPOOL_NAME_BYTES];
	u8 *data = NULL;
	size_t bytes = 0;
	int err;

	*out = (struct spooled_batch){0};
	spool_item_name(item->number, item->is_lost, name);
	err = spool_folder_read(spool->folder, name, &data, &bytes);
	if (err == -EFBIG)
		return -EBADMSG;
	if (!err)
		err = batch_file_decode(data, bytes, out);
	if (!err && (out->ledger.number != item->number || !out->lost_as == item->is_lost))
		err = -EBADMSG;
	return err;
}

static int discard_damaged(struct spool *spool, const struct spool_item *item,
			   const struct spooled_batch *batch, int damage)
{
	spool->count.damaged++;
	if (damage == -EIO) {
		say(spool, "its rows are damaged, their loss is noted", item->number);
		return replace_by_ledger(spool, &batch->ledger, LOST_AS_DAMAGED);
	}
	say(spool, "the file is damaged, what it had is lost", item->number);
	return remove_item(spool, item->number, item->is_lost);
}

/* Its rows make room. */
static int drop_rows(struct spool *spool, const struct spool_item *item)
{
	struct spooled_batch batch;
	int err = read_item(spool, item, &batch);

	if (err == -EBADMSG || err == -EIO) {
		err = discard_damaged(spool, item, &batch, err);
	} else if (!err) {
		spool->count.dropped++;
		err = replace_by_ledger(spool, &batch.ledger, LOST_AS_SPOOL_FULL);
	}
	spooled_batch_clear(&batch);
	return err == -ENOENT ? 0 : err;
}

static const struct spool_item *oldest_of(const struct spool_list *found, bool is_lost)
{
	for (u32 i = 0; i < found->count; i++)
		if (found->items[i].is_lost == is_lost)
			return &found->items[i];
	return NULL;
}

static u64 bytes_of(const struct spool_list *found, bool is_lost)
{
	u64 bytes = 0;

	for (u32 i = 0; i < found->count; i++)
		if (found->items[i].is_lost == is_lost)
			bytes += found->items[i].bytes;
	return bytes;
}

/* What goes next so that `needed` more have room. NULL: they have. */
static const struct spool_item *next_to_go(const struct spool *spool,
					   const struct spool_list *found, u64 needed)
{
	u64 ledgers = bytes_of(found, true), batches = bytes_of(found, false);
	const struct spool_item *batch = oldest_of(found, false);

	if (ledgers > spool->most_bytes / LEDGERS_SHARE)
		return oldest_of(found, true);
	return ledgers + batches + needed > spool->most_bytes ? batch : NULL;
}

/* 1: something went; 0: there is room; -errno. */
static int make_room_once(struct spool *spool, u64 needed)
{
	struct spool_list found;
	const struct spool_item *item;
	int err = list(spool, &found);

	if (err)
		return err;
	item = next_to_go(spool, &found, needed);
	if (item && item->is_lost) {
		spool->count.forgotten++;
		err = remove_item(spool, item->number, true);
	} else if (item) {
		err = drop_rows(spool, item);
	}
	if (!err && item)
		err = 1;
	spool_list_clear(&found);
	return err;
}

static int make_room(struct spool *spool, u64 needed)
{
	int went;

	do
		went = make_room_once(spool, needed);
	while (went > 0);
	return went;
}

/* The disk is full before the spool is: batches go one by one, then this one's own rows. */
static int write_on_full_disk(struct spool *spool, const struct batch *batch,
			      const struct byte_buffer *file)
{
	int err = -ENOSPC;

	while (err == -ENOSPC || err == -EDQUOT) {
		if (make_room_once(spool, spool->most_bytes) != 1) {
			spool->count.dropped++;
			return write_ledger(spool, batch, LOST_AS_SPOOL_FULL);
		}
		err = write_item(spool, batch, NULL, file);
	}
	return err;
}

static int put_file(struct spool *spool, const struct batch *batch, const struct byte_buffer *file)
{
	int err = make_room(spool, file->used);

	if (err)
		return err;
	if (file->used > spool->most_bytes) {
		spool->count.dropped++;
		return write_ledger(spool, batch, LOST_AS_SPOOL_FULL);
	}
	err = write_item(spool, batch, NULL, file);
	return err == -ENOSPC || err == -EDQUOT ? write_on_full_disk(spool, batch, file) : err;
}

static u32 last_window(const struct spool *spool, const struct batch *batch)
{
	return batch->window_count ? batch->windows[batch->window_count - 1].time
				   : spool->state.last_window;
}

int spool_put(struct spool *spool, struct batch *batch, struct stackmap_error *error)
{
	struct state state = {.next_number = spool->state.next_number + 1,
			      .last_window = last_window(spool, batch)};
	struct byte_buffer file = {0};
	int err;

	batch->number = spool->state.next_number;
	err = batch_file_encode(batch, NULL, &file);
	if (!err)
		err = write_state(spool, &state);
	if (err == -ENOSPC || err == -EDQUOT) {
		make_room_once(spool, spool->most_bytes);
		err = write_state(spool, &state);
	}
	if (!err)
		err = put_file(spool, batch, &file);
	byte_buffer_free(&file);
	return err ? error_set(error, -err, "spool: batch %llu: %s",
			       (unsigned long long)batch->number, strerror(-err))
		   : 0;
}

/* The first of what is there, if it can be read; 1: look again. */
static int take_first(struct spool *spool, const struct spool_list *found,
		      struct spooled_batch *out)
{
	int err;

	if (!found->count)
		return -ENOENT;
	err = read_item(spool, &found->items[0], out);
	if (!err)
		return 0;
	if (err == -EBADMSG || err == -EIO)
		err = discard_damaged(spool, &found->items[0], out, err);
	spooled_batch_clear(out);
	return err && err != -ENOENT ? err : 1;
}

int spool_oldest(struct spool *spool, struct spooled_batch *out, struct stackmap_error *error)
{
	struct spooled_batch batch;
	struct spool_list found;
	int err;

	do {
		err = list(spool, &found);
		if (err)
			break;
		err = take_first(spool, &found, &batch);
		spool_list_clear(&found);
	} while (err == 1);
	if (!err)
		*out = batch;
	else if (err != -ENOENT)
		error_set(error, -err, "spool: %s", strerror(-err));
	return err;
}

void spooled_batch_clear(struct spooled_batch *batch)
{
	batch_clear(&batch->ledger);
	free(batch->lost_as);
	free(batch->data);
	memset(batch, 0, sizeof(*batch));
}

int spool_done(struct spool *spool, const struct spooled_batch *batch)
{
	return remove_item(spool, batch->ledger.number, batch->lost_as);
}

int spool_give_up(struct spool *spool, const struct spooled_batch *batch, const char *lost_as,
		  struct stackmap_error *error)
{
	int err = replace_by_ledger(spool, &batch->ledger, lost_as);

	spool->count.dropped++;
	return err ? error_set(error, -err, "spool: batch %llu: %s",
			       (unsigned long long)batch->ledger.number, strerror(-err))
		   : 0;
}

int spool_count(struct spool *spool, struct spool_count *out)
{
	struct spool_list found;
	int err = list(spool, &found);

	if (err)
		return err;
	*out = spool->count;
	for (u32 i = 0; i < found.count; i++)
		out->ledgers += found.items[i].is_lost;
	out->batches = found.count - out->ledgers;
	out->bytes = bytes_of(&found, true) + bytes_of(&found, false);
	spool_list_clear(&found);
	return 0;
}
