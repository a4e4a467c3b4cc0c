/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Batches on disk: reading them back, dropping some when room is short, the remains of a machine
 * that stopped, and files of other users. */
#include "store/write/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/wire/row_binary.h"
#include "store/write/batch_file.h"
#include "unit_test.h"

#define ROOM (1UL << 20)
#define NOW 1800000000

static char folder[64], spool_path[80];
static struct spool *filling, *draining;
static struct stackmap_error error;
static char said[512];

static void say(void *arg, const char *text)
{
	(void)arg;
	snprintf(said, sizeof(said), "%s", text);
}

static int open_end(enum spool_end end, u64 room, struct spool **out)
{
	struct spool_options options = {
		.folder = spool_path, .most_bytes = room, .end = end, .say = say};

	return spool_open(&options, out, &error);
}

static void open_both(u64 room)
{
	assert_int_equal(open_end(SPOOL_FILL, room, &filling), 0);
	assert_int_equal(open_end(SPOOL_DRAIN, room, &draining), 0);
}

static void close_both(void)
{
	spool_close(&filling);
	spool_close(&draining);
}

static int set_up(void **state)
{
	(void)state;
	said[0] = 0;
	strcpy(folder, "/tmp/stackmap-spool-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(spool_path, sizeof(spool_path), "%s/a/spool", folder);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	close_both();
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static u64 random_state = 1;

static void put_noise(struct byte_buffer *rows, u32 bytes)
{
	for (u32 i = 0; i < bytes; i++) {
		random_state = random_state * 6364136223846793005 + 1442695040888963407;
		byte_buffer_byte(rows, (u8)(random_state >> 56));
	}
}

/* A batch of one window with 10 events recorded and 2 lost; `bytes` of rows. */
static void make(struct batch *batch, u32 time, u32 bytes)
{
	struct window_ledger window = {.time = time,
				       .seconds = 10,
				       .skew = -7,
				       .produced = 12,
				       .recorded = 10,
				       .lost = {[LOST_RING_BUSY] = 2}};

	*batch = (struct batch){.host = strdup("host"), .boot = strdup("boot")};
	put_noise(&batch->rows[STORE_EVENTS], bytes);
	row_put_text(&batch->rows[STORE_HOSTS], "short");
	batch->row_count[STORE_EVENTS] = 4;
	batch->windows = malloc(sizeof(window));
	batch->windows[0] = window;
	batch->window_count = batch->window_room = 1;
}

static u64 put(u32 time, u32 bytes)
{
	struct batch batch;
	u64 number;

	make(&batch, time, bytes);
	assert_int_equal(spool_put(filling, &batch, &error), 0);
	number = batch.number;
	batch_clear(&batch);
	return number;
}

/* Takes the oldest batch and removes it. */
static void take_oldest_batch(u64 number, const char *lost_as)
{
	struct spooled_batch batch;

	assert_int_equal(spool_oldest(draining, NULL, NULL, &batch, &error), 0);
	assert_true(batch.ledger.number == number);
	if (lost_as)
		assert_string_equal(batch.lost_as, lost_as);
	else
		assert_null(batch.lost_as);
	assert_int_equal(spool_remove_sent_batch(draining, &batch), 0);
	spooled_batch_clear(&batch);
}

static void assert_empty(void)
{
	struct spooled_batch batch;

	assert_int_equal(spool_oldest(draining, NULL, NULL, &batch, &error), -ENOENT);
}

static void name_of(u64 number, const char *ending, char *path, size_t bytes)
{
	snprintf(path, bytes, "%s/%016llx.%s", spool_path, (unsigned long long)number, ending);
}

TEST(batches_are_read_back_as_written, set_up, tear_down)
{
	struct spooled_batch batch;
	struct window_ledger *window;

	open_both(ROOM);
	put(NOW, 5000);
	assert_int_equal(spool_oldest(draining, NULL, NULL, &batch, &error), 0);
	window = &batch.ledger.windows[0];
	assert_string_equal(batch.ledger.host, "host");
	assert_string_equal(batch.ledger.boot, "boot");
	assert_int_equal(batch.ledger.window_count, 1);
	assert_int_equal(window->time, NOW);
	assert_int_equal(window->skew, -7);
	assert_int_equal(window->produced, 12);
	assert_int_equal(window->lost[LOST_RING_BUSY], 2);
	assert_int_equal(batch.ledger.row_count[STORE_EVENTS], 4);
	assert_true(batch.rows[STORE_EVENTS].packed);
	assert_false(batch.rows[STORE_HOSTS].packed);
	assert_memory_equal(batch.rows[STORE_HOSTS].bytes, "\5short", 6);
	assert_int_equal(batch.rows[STORE_STACKS].length, 0);
	spooled_batch_clear(&batch);
}

TEST(batches_come_in_order_and_once, set_up, tear_down)
{
	u64 first, second;

	open_both(ROOM);
	first = put(NOW, 100);
	second = put(NOW + 10, 100);
	assert_true(second > first);
	take_oldest_batch(first, NULL);
	take_oldest_batch(second, NULL);
	assert_empty();
}

/* A later agent continues the numbers and times. */
TEST(numbers_and_windows_go_on, set_up, tear_down)
{
	u64 number;

	open_both(ROOM);
	assert_int_equal(spool_reserve_window_time(filling, NOW), NOW);
	number = put(NOW, 100);
	close_both();
	open_both(ROOM);
	assert_int_equal(spool_reserve_window_time(filling, NOW), NOW + 1);
	assert_int_equal(spool_reserve_window_time(filling, NOW), NOW + 2);
	assert_true(put(NOW + 10, 100) > number);
}

/* A clock that is ahead for a while uses up only the times of its own windows. */
TEST(times_are_taken_once_wherever_the_clock_goes, set_up, tear_down)
{
	u32 hours = 22 * 3600;

	open_both(ROOM);
	assert_int_equal(spool_reserve_window_time(filling, NOW), NOW);
	assert_int_equal(spool_reserve_window_time(filling, NOW + hours), NOW + hours);
	assert_int_equal(spool_reserve_window_time(filling, NOW + hours + 10), NOW + hours + 10);
	assert_int_equal(spool_reserve_window_time(filling, NOW + 10), NOW + 10);
	put(NOW + 10, 100);
	close_both();
	open_both(ROOM);
	assert_int_equal(spool_reserve_window_time(filling, NOW - 3600), NOW - 3600);
	assert_int_equal(spool_reserve_window_time(filling, NOW + 10), NOW + 11);
	for (u32 time = NOW + 20; time < NOW + hours; time += 600)
		assert_int_equal(spool_reserve_window_time(filling, time), time);
	assert_int_equal(spool_reserve_window_time(filling, NOW + hours), NOW + hours + 1);
	assert_int_equal(spool_reserve_window_time(filling, NOW + hours + 10), NOW + hours + 11);
	/* The ring's entries have other times by then. */
	assert_int_equal(spool_reserve_window_time(filling, NOW + 10 + 2 * 86400),
			 NOW + 10 + 2 * 86400);
}

TEST(numbers_go_on_without_the_state, set_up, tear_down)
{
	char path[128];
	u64 number;

	open_both(ROOM);
	number = put(NOW, 100);
	close_both();
	snprintf(path, sizeof(path), "%s/state", spool_path);
	assert_int_equal(truncate(path, 7), 0);
	open_both(ROOM);
	assert_true(put(NOW + 10, 100) > number);
}

TEST(the_oldest_rows_make_room, set_up, tear_down)
{
	struct spool_count count;
	u64 first, second, third;

	open_both(50000);
	first = put(NOW, 20000);
	second = put(NOW + 10, 20000);
	third = put(NOW + 20, 20000);
	assert_int_equal(spool_count(filling, &count), 0);
	assert_int_equal(count.batches, 2);
	assert_int_equal(count.ledgers, 1);
	assert_int_equal(count.dropped, 1);
	assert_true(count.bytes <= 50000);
	take_oldest_batch(first, LOST_AS_SPOOL_FULL);
	take_oldest_batch(second, NULL);
	take_oldest_batch(third, NULL);
	assert_empty();
}

TEST(a_batch_larger_than_the_spool_is_its_ledger, set_up, tear_down)
{
	u64 number;

	open_both(50000);
	number = put(NOW, 60000);
	take_oldest_batch(number, LOST_AS_SPOOL_FULL);
	assert_empty();
}

/* Ledgers are small, but there may be many. */
TEST(ledgers_are_bounded_too, set_up, tear_down)
{
	struct spool_count count;

	open_both(4000);
	for (u32 i = 0; i < 40; i++)
		put(NOW + i * 10, 5000);
	assert_int_equal(spool_count(filling, &count), 0);
	assert_true(count.bytes <= 4000);
	assert_true(count.forgotten > 0);
	assert_int_equal(count.dropped, 40);
}

TEST(a_ledger_says_what_is_lost, set_up, tear_down)
{
	struct spooled_batch batch;
	struct byte_buffer rows = {0};
	struct byte_cursor row;
	size_t length;

	open_both(50000);
	put(NOW, 60000);
	assert_int_equal(spool_oldest(draining, NULL, NULL, &batch, &error), 0);
	batch.ledger.windows[0].stored = 3;
	assert_int_equal(batch_append_ledger_rows(&batch.ledger, batch.lost_as, &rows), 0);
	row = (struct byte_cursor){rows.data, rows.data + rows.used, false};
	assert_int_equal(row_get_u32(&row), NOW);
	row_get_text(&row, &length);
	row_get_text(&row, &length);
	assert_true(row_get_u64(&row) == batch.ledger.number);
	assert_int_equal(row_get_u16(&row), 10);
	assert_int_equal(row_get_u64(&row), 12);
	assert_int_equal(row_get_u64(&row), 3);
	assert_int_equal(row_get_count(&row), 2);
	assert_memory_equal(row_get_text(&row, &length), "ring_busy", 9);
	assert_memory_equal(row_get_text(&row, &length), "spool_full", 10);
	assert_int_equal(row_get_count(&row), 2);
	assert_int_equal(row_get_u64(&row), 2);
	assert_int_equal(row_get_u64(&row), 7);
	assert_int_equal((s32)row_get_u32(&row), -7);
	assert_int_equal(row_get_u8(&row), 1);
	assert_false(row.bad);
	assert_int_equal(byte_cursor_left(&row), 0);
	byte_buffer_free(&rows);
	spooled_batch_clear(&batch);
}

/* The machine stopped while a file was written. */
TEST(half_written_files_are_removed, set_up, tear_down)
{
	char path[128];
	int file;

	open_both(ROOM);
	close_both();
	snprintf(path, sizeof(path), "%s/filling.new", spool_path);
	file = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(file, "half", 4), 4);
	close(file);
	open_both(ROOM);
	assert_int_equal(access(path, F_OK), -1);
	assert_empty();
}

static void damage_spool_file_at(u64 number, off_t at)
{
	char path[128];
	u8 byte;
	int file;

	name_of(number, "batch", path, sizeof(path));
	file = open(path, O_RDWR);
	assert_int_equal(pread(file, &byte, 1, at), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(file, &byte, 1, at), 1);
	close(file);
}

static off_t size_of(u64 number)
{
	struct stat status;
	char path[128];

	name_of(number, "batch", path, sizeof(path));
	assert_int_equal(stat(path, &status), 0);
	return status.st_size;
}

/* Any damaged byte of a file costs its rows or the whole batch, and the next batch is read. */
TEST(damage_is_reported_and_counted, set_up, tear_down)
{
	struct spool_count count;
	u64 first;
	off_t size;

	open_both(ROOM);
	first = put(NOW, 200);
	size = size_of(first);
	take_oldest_batch(first, NULL);
	for (off_t at = 0; at < size; at++) {
		u64 damaged = put(NOW + 10, 200), good = put(NOW + 20, 200);
		struct spooled_batch batch;

		damage_spool_file_at(damaged, at);
		said[0] = 0;
		assert_int_equal(spool_oldest(draining, NULL, NULL, &batch, &error), 0);
		if (batch.ledger.number == damaged) {
			assert_string_equal(batch.lost_as, LOST_AS_DAMAGED);
			assert_int_equal(spool_remove_sent_batch(draining, &batch), 0);
		}
		spooled_batch_clear(&batch);
		take_oldest_batch(good, NULL);
		assert_empty();
		assert_true(said[0]);
	}
	assert_int_equal(spool_count(draining, &count), 0);
	assert_int_equal(count.damaged, size);
}

TEST(a_cut_file_is_damaged, set_up, tear_down)
{
	char path[128];
	u64 number;

	open_both(ROOM);
	number = put(NOW, 200);
	name_of(number, "batch", path, sizeof(path));
	assert_int_equal(truncate(path, size_of(number) - 1), 0);
	take_oldest_batch(number, LOST_AS_DAMAGED);
	number = put(NOW, 200);
	name_of(number, "batch", path, sizeof(path));
	assert_int_equal(truncate(path, 10), 0);
	assert_empty();
}

/* A batch and its ledger of a loss both exist if the machine stopped between two steps. Both are
 * sent. */
TEST(rows_are_sent_even_if_their_loss_was_noted, set_up, tear_down)
{
	char batch_path[128], kept[140], command[300];
	u64 number;

	open_both(50000);
	number = put(NOW, 20000);
	name_of(number, "batch", batch_path, sizeof(batch_path));
	snprintf(kept, sizeof(kept), "%s/kept", folder);
	snprintf(command, sizeof(command), "cp %s %s", batch_path, kept);
	assert_int_equal(system(command), 0);
	put(NOW + 10, 40000);
	assert_int_equal(rename(kept, batch_path), 0);
	take_oldest_batch(number, NULL);
	take_oldest_batch(number, LOST_AS_SPOOL_FULL);
}

TEST(given_up_rows_leave_their_ledger, set_up, tear_down)
{
	struct spooled_batch batch;
	u64 number;

	open_both(ROOM);
	number = put(NOW, 100);
	assert_int_equal(spool_oldest(draining, NULL, NULL, &batch, &error), 0);
	assert_int_equal(spool_replace_batch_by_ledger(draining, &batch, LOST_AS_CLOCK, &error), 0);
	spooled_batch_clear(&batch);
	take_oldest_batch(number, LOST_AS_CLOCK);
	assert_empty();
}

static bool is_first(const void *arg, u64 number)
{
	return number == *(const u64 *)arg;
}

TEST(a_batch_can_be_passed_over, set_up, tear_down)
{
	struct spooled_batch batch;
	u64 first, second;

	open_both(ROOM);
	first = put(NOW, 100);
	second = put(NOW + 10, 100);
	assert_int_equal(spool_oldest(draining, is_first, &first, &batch, &error), 0);
	assert_true(batch.ledger.number == second);
	assert_int_equal(spool_remove_sent_batch(draining, &batch), 0);
	spooled_batch_clear(&batch);
	assert_int_equal(spool_oldest(draining, is_first, &first, &batch, &error), -ENOENT);
	take_oldest_batch(first, NULL);
}

/* The batch is set aside: its ledger counts the loss, and its file stays while there is room. */
TEST(set_aside_batches_are_bounded, set_up, tear_down)
{
	struct spooled_batch batch;
	struct spool_count count;
	char path[128];
	u64 number;

	open_both(ROOM);
	for (u32 i = 0; i < 8; i++) {
		number = put(NOW + i * 10, 30000);
		assert_int_equal(spool_oldest(draining, NULL, NULL, &batch, &error), 0);
		assert_int_equal(spool_set_batch_aside(draining, &batch, &error), 0);
		spooled_batch_clear(&batch);
		take_oldest_batch(number, LOST_AS_REFUSED);
		assert_empty();
	}
	put(NOW + 80, 100);
	assert_int_equal(spool_count(filling, &count), 0);
	assert_int_equal(count.batches, 1);
	assert_int_equal(count.refused, 4);
	name_of(number, "refused", path, sizeof(path));
	assert_int_equal(access(path, F_OK), 0);
	/* A user renames the file to have it sent again. */
	name_of(number, "batch", said, sizeof(said));
	assert_int_equal(rename(path, said), 0);
	take_oldest_batch(number, NULL);
}

TEST(each_end_of_a_spool_has_one_owner, set_up, tear_down)
{
	struct spool *other;

	open_both(ROOM);
	assert_int_equal(open_end(SPOOL_FILL, ROOM, &other), -EBUSY);
	assert_int_equal(open_end(SPOOL_DRAIN, ROOM, &other), -EBUSY);
}

TEST(the_folder_is_private, set_up, tear_down)
{
	struct stat status;
	char link[128];

	open_both(ROOM);
	assert_int_equal(stat(spool_path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	close_both();
	assert_int_equal(chmod(spool_path, 0770), 0);
	assert_int_equal(open_end(SPOOL_FILL, ROOM, &filling), -EPERM);
	assert_int_equal(chmod(spool_path, 0700), 0);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(symlink(spool_path, link), 0);
	snprintf(spool_path, sizeof(spool_path), "%s/link", folder);
	assert_int_not_equal(open_end(SPOOL_FILL, ROOM, &filling), 0);
	if (!geteuid()) {
		snprintf(spool_path, sizeof(spool_path), "%s/a/spool", folder);
		assert_int_equal(chown(spool_path, 12345, 0), 0);
		assert_int_equal(open_end(SPOOL_FILL, ROOM, &filling), -EPERM);
	}
}

/* Links, pipes, folders and files of other users stay in place. */
TEST(files_of_others_are_left_alone, set_up, tear_down)
{
	char path[4][128], target[128];
	struct spool_count count;
	u64 number;

	open_both(ROOM);
	for (u32 i = 0; i < 4; i++)
		name_of(i, i == 3 ? "lost" : "batch", path[i], sizeof(path[i]));
	snprintf(target, sizeof(target), "%s/target", folder);
	assert_int_equal(symlink(target, path[0]), 0);
	assert_int_equal(mkfifo(path[1], 0600), 0);
	assert_int_equal(mkdir(path[2], 0700), 0);
	close(open(target, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(link(target, path[3]), 0);
	number = put(NOW, 100);
	take_oldest_batch(number, NULL);
	assert_empty();
	assert_non_null(strstr(said, "not ours"));
	assert_int_equal(spool_count(filling, &count), 0);
	assert_int_equal(count.batches + count.ledgers, 0);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(faccessat(AT_FDCWD, path[i], F_OK, AT_SYMLINK_NOFOLLOW), 0);
}

int main(void)
{
	return unit_tests_run();
}
