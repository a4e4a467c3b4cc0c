/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The folder is read again for each operation. This is cheap with one batch every two minutes, and
 * neither process needs to know what the other one does.
 *
 * The state file with the next number is written before the batch with this number, so each number
 * is used once. When rows are removed to make room, the ledger is written first. If a batch and its
 * separate ledger both exist, the batch is still sent. Before the sender sends the ledger of a lost
 * batch, it queries the server for stored events. Therefore stored events never count as lost, even
 * if a process is killed at any moment.
 */
#include "store/write/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <zlib.h>

#include "array.h"
#include "error.h"
#include "order.h"
#include "scalar.h"
#include "stackmap/error.h"
#include "store/write/batch_file.h"
#include "trace/bytes/byte_buffer.h"

#define DAY_SECONDS (24 * 3600)
#define LEDGERS_SHARE 8 /* ledgers may use 1/8 of the spool's bytes */
#define REFUSED_SHARE 8 /* batches that were set aside may use 1/8 of the spool's bytes */
#define TIMES (2 * DAY_SECONDS)
#define STATE_NAME "state"

/* --- the folder --- */

/*
 * The folder of a spool is untrusted: it must belong to this user alone, links are not followed,
 * and only regular files of this user are read or removed.
 */

/*
 * A file is written under a temporary name, synced and renamed; then the folder is synced. If the
 * machine crashes meanwhile, the folder has either the old file or the new one.
 */

#define SPOOL_FILE_BYTES_MAX (1UL << 30)

/* The kinds of a spool's files. The name of such a file is a number of 16 digits, and an ending. */
enum spool_kind {
	SPOOL_BATCH,
	SPOOL_LOST,
	SPOOL_REFUSED
}; /* spool.h lists the endings of the files' names */

struct spool_item {
	u64 number;
	u64 bytes;
	enum spool_kind kind;
};

struct spool_list {
	struct spool_item *items; /* ascending by number; the ledger of a batch follows the batch */
	u32 count, room;
	u32 strangers; /* number of files with the name of a spool file that are not this user's */
};

#define SPOOL_NAME_BYTES 32

#define DIGITS 16
#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int make_folder(const char *path)
{
	char *copy = strdup(path);
	int err = copy ? 0 : -ENOMEM;

	for (char *slash = copy; !err && (slash = strchr(slash + 1, '/'));) {
		*slash = 0;
		err = mkdir(copy, 0755) && errno != EEXIST ? -errno : 0;
		*slash = '/';
	}
	free(copy);
	if (!err && mkdir(path, 0700) && errno != EEXIST)
		err = -errno;
	return err;
}

/* Opens the folder. A missing folder is made, with its parent folders. */
static int open_spool_folder(const char *path, int *out, struct stackmap_error *error)
{
	int err = make_folder(path);
	int folder = err ? -1 : open(path, FOLDER_FLAGS);
	struct stat status;

	if (!err && folder < 0)
		err = -errno;
	if (!err && fstat(folder, &status))
		err = -errno;
	if (!err && (status.st_uid != geteuid() || status.st_mode & 022))
		err = -EPERM;
	if (!err) {
		*out = folder;
		return 0;
	}
	if (folder >= 0)
		close(folder);
	return error_set(error, -err, "%s: %s", path,
			 err == -EPERM	  ? "it must belong to who runs this, and to nobody else"
			 : err == -EACCES ? "Permission denied; run as root, or with --spool and a "
					    "folder of your own"
					  : strerror(-err));
}

/* Locks the file with that name until *out is closed. -EBUSY: another process holds the lock. */
static int lock_spool_file(int folder, const char *name, int *out)
{
	int lock =
		openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	int err;

	if (lock < 0)
		return -errno;
	if (!flock(lock, LOCK_EX | LOCK_NB)) {
		*out = lock;
		return 0;
	}
	err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	close(lock);
	return err;
}

static int write_and_sync(int file, const u8 *data, size_t bytes)
{
	while (bytes) {
		ssize_t done = write(file, data, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		data += done;
		bytes -= (size_t)done;
	}
	return fsync(file) ? -errno : 0;
}

/* Writes a file atomically; the file is on the disk when the function returns. */
static int write_spool_file(int folder, const char *temporary, const char *name, const void *data,
			    size_t bytes)
{
	int file, err;

	unlinkat(folder, temporary, 0);
	file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      0600);
	err = file < 0 ? -errno : write_and_sync(file, data, bytes);
	if (file >= 0 && close(file) && !err)
		err = -errno;
	if (!err && renameat(folder, temporary, folder, name))
		err = -errno;
	if (!err && fsync(folder))
		err = -errno;
	if (err)
		unlinkat(folder, temporary, 0);
	return err;
}

static bool is_regular_file_of_this_user(const struct stat *status)
{
	return S_ISREG(status->st_mode) && status->st_uid == geteuid() && status->st_nlink == 1;
}

static int read_own_file(int file, u8 **data, size_t *bytes)
{
	struct stat status;
	ssize_t got;
	u8 *read_to;

	if (fstat(file, &status))
		return -errno;
	if (!is_regular_file_of_this_user(&status))
		return -EPERM;
	if ((u64)status.st_size > SPOOL_FILE_BYTES_MAX)
		return -EFBIG;
	read_to = malloc((size_t)status.st_size + 1);
	if (!read_to)
		return -ENOMEM;
	got = pread(file, read_to, (size_t)status.st_size, 0);
	if (got < 0) {
		free(read_to);
		return -errno;
	}
	*data = read_to;
	*bytes = (size_t)got;
	return 0;
}

/*
 * Reads a file of the spool. -EPERM: the file is not this user's. -EFBIG: larger than
 * SPOOL_FILE_BYTES_MAX. The caller frees *data.
 */
static int read_spool_file(int folder, const char *name, u8 **data, size_t *bytes)
{
	int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int err;

	if (file < 0)
		return errno == ELOOP ? -EPERM : -errno;
	err = read_own_file(file, data, bytes);
	close(file);
	return err;
}

static int remove_spool_file(int folder, const char *name)
{
	return unlinkat(folder, name, 0) && errno != ENOENT ? -errno : 0;
}

static const char *const endings[] = {
	[SPOOL_BATCH] = ".batch", [SPOOL_LOST] = ".lost", [SPOOL_REFUSED] = ".refused"};

static void spool_item_name(u64 number, enum spool_kind kind, char name[SPOOL_NAME_BYTES])
{
	snprintf(name, SPOOL_NAME_BYTES, "%016llx%s", (unsigned long long)number, endings[kind]);
}

static bool parse_item_name(const char *name, struct spool_item *item)
{
	char *end;

	if (strspn(name, "0123456789abcdef") != DIGITS)
		return false;
	item->number = strtoull(name, &end, 16);
	for (u32 kind = 0; kind < sizeof(endings) / sizeof(endings[0]); kind++)
		if (!strcmp(end, endings[kind])) {
			item->kind = kind;
			return true;
		}
	return false;
}

static int add_item_to_list(int folder, const char *name, struct spool_list *list)
{
	struct spool_item item;
	struct stat status;

	if (!parse_item_name(name, &item))
		return 0;
	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (!is_regular_file_of_this_user(&status)) {
		list->strangers++;
		return 0;
	}
	if (array_make_room(list->items, list->count, list->room))
		return -ENOMEM;
	item.bytes = (u64)status.st_size;
	list->items[list->count++] = item;
	return 0;
}

static int compare_items_by_number(const void *left, const void *right)
{
	const struct spool_item *a = left, *b = right;

	return order(a->number, b->number) ?: order(a->kind, b->kind);
}

static void spool_list_clear(struct spool_list *list)
{
	free(list->items);
	memset(list, 0, sizeof(*list));
}

static int list_spool_folder(int folder, struct spool_list *out)
{
	struct spool_list list = {0};
	int again = openat(folder, ".", FOLDER_FLAGS), err = 0;
	DIR *reading = again < 0 ? NULL : fdopendir(again);
	struct dirent *entry;

	if (!reading) {
		err = -errno;
		if (again >= 0)
			close(again);
		return err;
	}
	while (!err && (entry = readdir(reading)))
		err = add_item_to_list(folder, entry->d_name, &list);
	closedir(reading);
	if (err) {
		spool_list_clear(&list);
		return err;
	}
	if (list.count)
		qsort(list.items, list.count, sizeof(*list.items), compare_items_by_number);
	*out = list;
	return 0;
}

/*
 * taken: one bit for each second from a day before the last window to a day after it, at index
 * `second % TIMES`. A set bit means that a window has this time.
 */
struct state {
	u64 next_number;
	u32 first_time; /* first of the seconds that `taken` covers, since the epoch */
	u8 taken[TIMES / 8];
	u32 checksum; /* checksum of the members before this one */
};

struct spool {
	int folder, lock;
	enum spool_end end;
	u64 most_bytes;
	void (*say)(void *arg, const char *text);
	void *arg;
	struct state state;
	struct spool_count count; /* losses since the spool was opened */
	bool strangers_said;
};

static const char *temporary_file_name(const struct spool *spool)
{
	return spool->end == SPOOL_FILL ? "filling.new" : "draining.new";
}

static void report_fault(struct spool *spool, const char *what, u64 number)
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
	bool good = !read_spool_file(spool->folder, STATE_NAME, &data, &bytes) &&
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
	err = write_spool_file(spool->folder, temporary_file_name(spool), STATE_NAME, &sealed,
			       sizeof(sealed));
	if (!err)
		spool->state = sealed;
	return err;
}

static int list_spool_files(struct spool *spool, struct spool_list *out)
{
	int err = list_spool_folder(spool->folder, out);

	if (!err && out->strangers && !spool->strangers_said) {
		spool->strangers_said = true;
		if (spool->say)
			spool->say(spool->arg, "spool: files that are not ours are left alone");
	}
	return err;
}

/*
 * Makes a new state for a spool that has lost its state file. Numbers continue with the clock in
 * seconds, which is larger than all used numbers, because batches come every two minutes.
 */
static int recreate_lost_spool_state(struct spool *spool)
{
	struct spool_list found;
	int err = list_spool_files(spool, &found);

	if (err)
		return err;
	spool->state = (struct state){.next_number = (u64)time(NULL)};
	if (found.count && found.items[found.count - 1].number >= spool->state.next_number)
		spool->state.next_number = found.items[found.count - 1].number + 1;
	spool_list_clear(&found);
	return 0;
}

int spool_open(const struct spool_options *options, struct spool **out,
	       struct stackmap_error *error)
{
	struct spool *spool = calloc(1, sizeof(*spool));
	bool fills = options->end == SPOOL_FILL;
	int err;

	if (!spool)
		return error_set_errno(error, ENOMEM, options->folder);
	*spool = (struct spool){.folder = -1,
				.lock = -1,
				.end = options->end,
				.most_bytes = options->most_bytes,
				.say = options->say,
				.arg = options->arg};
	err = open_spool_folder(options->folder, &spool->folder, error);
	if (!err) {
		err = lock_spool_file(spool->folder, fills ? "filling" : "draining", &spool->lock)
			      ?: remove_spool_file(spool->folder, temporary_file_name(spool));
		if (!err && fills && !read_state(spool))
			err = recreate_lost_spool_state(spool);
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

u32 spool_reserve_window_time(struct spool *spool, u32 now)
{
	struct state *state = &spool->state;
	u32 time = now, before = state->first_time, first = now - DAY_SECONDS;

	/* The bits of seconds outside the two days are cleared, because other seconds reuse them.
	 */
	for (u32 i = 0; before != first && i < TIMES; i++)
		if (before + i - first >= TIMES)
			state->taken[(before + i) % TIMES / 8] &= ~(1 << (before + i) % 8);
	state->first_time = first;
	while (time < now + DAY_SECONDS - 1 && (state->taken[time % TIMES / 8] & 1 << time % 8))
		time++;
	state->taken[time % TIMES / 8] |= 1 << time % 8;
	return time;
}

static int remove_spool_item(struct spool *spool, u64 number, enum spool_kind kind)
{
	char name[SPOOL_NAME_BYTES];

	spool_item_name(number, kind, name);
	return remove_spool_file(spool->folder, name);
}

static int write_spool_item(struct spool *spool, const struct batch *batch, const char *lost_as,
			    const struct byte_buffer *file)
{
	char name[SPOOL_NAME_BYTES];

	spool_item_name(batch->number, lost_as ? SPOOL_LOST : SPOOL_BATCH, name);
	return write_spool_file(spool->folder, temporary_file_name(spool), name, file->data,
				file->used);
}

static int write_lost_ledger_of_batch(struct spool *spool, const struct batch *batch,
				      const char *lost_as)
{
	struct byte_buffer file = {0};
	int err = batch_file_encode(batch, lost_as, &file);

	if (!err)
		err = write_spool_item(spool, batch, lost_as, &file);
	byte_buffer_free(&file);
	return err;
}

/*
 * Replaces a batch by its ledger. On a full disk the rows are removed before the ledger is written.
 */
static int replace_batch_by_lost_ledger(struct spool *spool, const struct batch *batch,
					const char *lost_as)
{
	int err = write_lost_ledger_of_batch(spool, batch, lost_as);

	if (err && err != -ENOSPC && err != -EDQUOT)
		return err;
	if (remove_spool_item(spool, batch->number, SPOOL_BATCH))
		return -EIO;
	return err ? write_lost_ledger_of_batch(spool, batch, lost_as) : 0;
}

/* Reads a batch or ledger. -ENOENT: the other process has removed the file. */
static int read_spool_item(struct spool *spool, const struct spool_item *item,
			   struct spooled_batch *out)
{
	char name[SPOOL_NAME_BYTES];
	u8 *data = NULL;
	size_t bytes = 0;
	int err;

	*out = (struct spooled_batch){0};
	spool_item_name(item->number, item->kind, name);
	err = read_spool_file(spool->folder, name, &data, &bytes);
	if (err == -EFBIG)
		return -EBADMSG;
	if (!err)
		err = batch_file_decode(data, bytes, out);
	if (!err &&
	    (out->ledger.number != item->number || !out->lost_as == (item->kind == SPOOL_LOST)))
		err = -EBADMSG;
	return err;
}

static int discard_damaged_spool_item(struct spool *spool, const struct spool_item *item,
				      const struct spooled_batch *batch, int damage)
{
	spool->count.damaged++;
	if (damage == -EIO) {
		report_fault(spool, "its rows are damaged, their loss is noted", item->number);
		return replace_batch_by_lost_ledger(spool, &batch->ledger, LOST_AS_DAMAGED);
	}
	report_fault(spool, "the file is damaged, what it had is lost", item->number);
	return remove_spool_item(spool, item->number, item->kind);
}

/* Replaces a batch by its ledger, to make room. */
static int drop_rows_of_batch(struct spool *spool, const struct spool_item *item)
{
	struct spooled_batch batch;
	int err = read_spool_item(spool, item, &batch);

	if (err == -EBADMSG || err == -EIO) {
		err = discard_damaged_spool_item(spool, item, &batch, err);
	} else if (!err) {
		spool->count.dropped++;
		err = replace_batch_by_lost_ledger(spool, &batch.ledger, LOST_AS_SPOOL_FULL);
	}
	spooled_batch_clear(&batch);
	return err == -ENOENT ? 0 : err;
}

static const struct spool_item *find_oldest_item(const struct spool_list *found,
						 enum spool_kind kind)
{
	for (u32 i = 0; i < found->count; i++)
		if (found->items[i].kind == kind)
			return &found->items[i];
	return NULL;
}

static u64 sum_bytes_of_kind(const struct spool_list *found, enum spool_kind kind)
{
	u64 bytes = 0;

	for (u32 i = 0; i < found->count; i++)
		if (found->items[i].kind == kind)
			bytes += found->items[i].bytes;
	return bytes;
}

/* The file to remove next to make room for `needed` bytes. NULL: there is room. */
static const struct spool_item *choose_item_to_remove(const struct spool *spool,
						      const struct spool_list *found, u64 needed)
{
	u64 ledgers = sum_bytes_of_kind(found, SPOOL_LOST),
	    refused = sum_bytes_of_kind(found, SPOOL_REFUSED);
	u64 all = ledgers + refused + sum_bytes_of_kind(found, SPOOL_BATCH) + needed;

	if (ledgers > spool->most_bytes / LEDGERS_SHARE)
		return find_oldest_item(found, SPOOL_LOST);
	if (refused && (refused > spool->most_bytes / REFUSED_SHARE || all > spool->most_bytes))
		return find_oldest_item(found, SPOOL_REFUSED);
	return all > spool->most_bytes ? find_oldest_item(found, SPOOL_BATCH) : NULL;
}

/* Returns 1 if a file was removed; 0 if there is room; -errno. */
static int remove_one_file_if_too_large(struct spool *spool, u64 needed)
{
	struct spool_list found;
	const struct spool_item *item;
	int err = list_spool_files(spool, &found);

	if (err)
		return err;
	item = choose_item_to_remove(spool, &found, needed);
	if (item && item->kind == SPOOL_BATCH) {
		err = drop_rows_of_batch(spool, item);
	} else if (item) {
		spool->count.forgotten += item->kind == SPOOL_LOST;
		err = remove_spool_item(spool, item->number, item->kind);
	}
	if (!err && item)
		err = 1;
	spool_list_clear(&found);
	return err;
}

static int store_batch_file(struct spool *spool, const struct batch *batch,
			    const struct byte_buffer *file)
{
	int err;

	do
		err = remove_one_file_if_too_large(spool, file->used);
	while (err > 0);
	if (err)
		return err;
	if (file->used > spool->most_bytes) {
		spool->count.dropped++;
		return write_lost_ledger_of_batch(spool, batch, LOST_AS_SPOOL_FULL);
	}
	/* On a disk that is full although the spool is not, older batches are removed one by one,
	 * and then the rows of the new batch are dropped. */
	for (err = write_spool_item(spool, batch, NULL, file); err == -ENOSPC || err == -EDQUOT;
	     err = write_spool_item(spool, batch, NULL, file))
		if (remove_one_file_if_too_large(spool, spool->most_bytes) != 1) {
			spool->count.dropped++;
			return write_lost_ledger_of_batch(spool, batch, LOST_AS_SPOOL_FULL);
		}
	return err;
}

int spool_put(struct spool *spool, struct batch *batch, struct stackmap_error *error)
{
	struct state state = spool->state;
	struct byte_buffer file = {0};
	int err;

	batch->number = state.next_number++;
	err = batch_file_encode(batch, NULL, &file);
	if (!err)
		err = write_state(spool, &state);
	if (err == -ENOSPC || err == -EDQUOT) {
		remove_one_file_if_too_large(spool, spool->most_bytes);
		err = write_state(spool, &state);
	}
	if (!err)
		err = store_batch_file(spool, batch, &file);
	byte_buffer_free(&file);
	return err ? error_set(error, -err, "spool: batch %llu: %s",
			       (unsigned long long)batch->number, strerror(-err))
		   : 0;
}

/*
 * Reads the oldest batch or ledger that is to be sent. Returns 1 if the folder must be listed
 * again.
 */
static int read_oldest_item(struct spool *spool, const struct spool_list *found,
			    bool (*skips)(const void *arg, u64 number), const void *arg,
			    struct spooled_batch *out)
{
	const struct spool_item *item = found->items, *end = item + found->count;
	int err;

	while (item < end && (item->kind == SPOOL_REFUSED || (skips && skips(arg, item->number))))
		item++;
	if (item == end)
		return -ENOENT;
	err = read_spool_item(spool, item, out);
	if (!err)
		return 0;
	if (err == -EBADMSG || err == -EIO)
		err = discard_damaged_spool_item(spool, item, out, err);
	spooled_batch_clear(out);
	return err && err != -ENOENT ? err : 1;
}

int spool_oldest(struct spool *spool, bool (*skips)(const void *arg, u64 number), const void *arg,
		 struct spooled_batch *out, struct stackmap_error *error)
{
	struct spooled_batch batch;
	struct spool_list found;
	int err;

	do {
		err = list_spool_files(spool, &found);
		if (err)
			break;
		err = read_oldest_item(spool, &found, skips, arg, &batch);
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

int spool_remove_sent_batch(struct spool *spool, const struct spooled_batch *batch)
{
	return remove_spool_item(spool, batch->ledger.number,
				 batch->lost_as ? SPOOL_LOST : SPOOL_BATCH);
}

int spool_replace_batch_by_ledger(struct spool *spool, const struct spooled_batch *batch,
				  const char *lost_as, struct stackmap_error *error)
{
	int err = replace_batch_by_lost_ledger(spool, &batch->ledger, lost_as);

	spool->count.dropped++;
	return err ? error_set(error, -err, "spool: batch %llu: %s",
			       (unsigned long long)batch->ledger.number, strerror(-err))
		   : 0;
}

int spool_set_batch_aside(struct spool *spool, const struct spooled_batch *batch,
			  struct stackmap_error *error)
{
	char name[SPOOL_NAME_BYTES], refused[SPOOL_NAME_BYTES];
	int err;

	if (batch->lost_as) {
		err = spool_remove_sent_batch(spool, batch);
	} else {
		spool_item_name(batch->ledger.number, SPOOL_BATCH, name);
		spool_item_name(batch->ledger.number, SPOOL_REFUSED, refused);
		err = write_lost_ledger_of_batch(spool, &batch->ledger, LOST_AS_REFUSED);
		if (!err && renameat(spool->folder, name, spool->folder, refused) &&
		    errno != ENOENT)
			err = -errno;
		err = err ?: fsync(spool->folder) ? -errno : 0;
	}
	if (err == -ENOSPC || err == -EDQUOT)
		err = replace_batch_by_lost_ledger(spool, &batch->ledger, LOST_AS_REFUSED);
	spool->count.dropped += !batch->lost_as;
	spool->count.forgotten += batch->lost_as != NULL;
	return err ? error_set(error, -err, "spool: batch %llu: %s",
			       (unsigned long long)batch->ledger.number, strerror(-err))
		   : 0;
}

int spool_count(struct spool *spool, struct spool_count *out)
{
	struct spool_list found;
	int err = list_spool_files(spool, &found);

	if (err)
		return err;
	*out = spool->count;
	for (u32 i = 0; i < found.count; i++) {
		enum spool_kind kind = found.items[i].kind;

		out->batches += kind == SPOOL_BATCH;
		out->ledgers += kind == SPOOL_LOST;
		out->refused += kind == SPOOL_REFUSED;
		if (kind != SPOOL_REFUSED)
			out->newest = found.items[i].number;
	}
	out->bytes = sum_bytes_of_kind(&found, SPOOL_LOST) + sum_bytes_of_kind(&found, SPOOL_BATCH);
	spool_list_clear(&found);
	return 0;
}
