/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares memory of this process with a part of a file; and the map in which BPF programs request
 * such comparisons. */
#include "symbol/symbolizer/moved_check.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "symbol/file/mapped_file.h"
#include "unit_test.h"

#define PAGE 4096UL
#define PAGES 6 /* pages of the file; the last one is half a page */
#define FILE_BYTES ((PAGES - 1) * PAGE + PAGE / 2)

static u8 bytes[PAGES * PAGE];
static int file = -1;
static u64 inode;
static u8 *area;

static int set_up(void **state)
{
	char path[] = "/tmp/moved_check.XXXXXX";
	struct stat stat;

	(void)state;
	for (u32 i = 0; i < FILE_BYTES; i++)
		bytes[i] = i * 7 + i / 256;
	file = mkstemp(path);
	unlink(path);
	if (file < 0 || write(file, bytes, FILE_BYTES) != (ssize_t)FILE_BYTES || fstat(file, &stat))
		return 1;
	inode = stat.st_ino;
	return 0;
}

/* Maps the file's first page and its last one, the last one `gap` pages behind its place, with
 * unmapped memory between them. */
static void map_ends(u32 gap)
{
	if (area)
		munmap(area, 2 * PAGES * PAGE);
	area = mmap(NULL, 2 * PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(area, MAP_FAILED);
	assert_ptr_not_equal(mmap(area, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0),
			     MAP_FAILED);
	assert_ptr_not_equal(mmap(area + (PAGES - 1 + gap) * PAGE, PAGE, PROT_READ,
				  MAP_PRIVATE | MAP_FIXED, file, (PAGES - 1) * PAGE),
			     MAP_FAILED);
}

/* Copies pages [from, to) of the file to anonymous memory, `gap` pages behind their place. */
static struct moved_code copy(u32 from, u32 to, u32 gap)
{
	u8 *at = area + (from + gap) * PAGE;

	assert_ptr_not_equal(mmap(at, (to - from) * PAGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			     MAP_FAILED);
	memcpy(at, bytes + from * PAGE, (to - from) * PAGE);
	return (struct moved_code){
		.tgid = getpid(), .start = (u64)at, .end = (u64)at + (to - from) * PAGE};
}

TEST(equal_bytes_are_a_part_of_the_file)
{
	struct moved_code moved;

	map_ends(0);
	moved = copy(1, PAGES - 1, 0);
	assert_int_equal(moved_code_find_offset_in_file(&moved, file, inode), 0);
	assert_int_equal(moved.offset, PAGE);
	assert_int_equal(moved.image, (u64)area);
}

/* lld puts segments a page further apart in memory than in the file. */
TEST(segments_may_lie_apart)
{
	struct moved_code moved;

	map_ends(3);
	moved = copy(2, 4, 1);
	assert_int_equal(moved_code_find_offset_in_file(&moved, file, inode), 0);
	assert_int_equal(moved.offset, 2 * PAGE);
	assert_int_equal(moved.image, (u64)area);
}

/* The rest of the last page is zero, in memory and behind the end of the file. */
TEST(the_end_of_the_file_may_be_moved)
{
	struct moved_code moved;

	map_ends(0);
	moved = copy(1, PAGES, 0);
	assert_int_equal(moved_code_find_offset_in_file(&moved, file, inode), 0);
	area[PAGES * PAGE - 1] = 1;
	assert_int_equal(moved_code_find_offset_in_file(&moved, file, inode), -ENOENT);
}

TEST(one_other_byte_makes_it_other_code)
{
	for (u32 at = 0; at < 4 * PAGE; at += PAGE / 2 - 1) {
		struct moved_code moved;

		map_ends(0);
		moved = copy(1, PAGES - 1, 0);
		area[PAGE + at] ^= 1;
		assert_int_equal(moved_code_find_offset_in_file(&moved, file, inode), -ENOENT);
	}
}

TEST(without_the_first_segment_there_is_no_result)
{
	struct moved_code moved;

	map_ends(0);
	moved = copy(1, PAGES - 1, 0);
	munmap(area, PAGE);
	assert_int_equal(moved_code_find_offset_in_file(&moved, file, inode), -ENOENT);
	moved.tgid = 0;
	assert_int_equal(moved_code_find_offset_in_file(&moved, file, inode), -ENOENT);
}

static int make_map(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);

	return bpf_map_create(BPF_MAP_TYPE_HASH, "moved_code", sizeof(struct moved_key),
			      sizeof(struct moved_code), MOVED_CODE_MAX, &options);
}

static u32 state_of(int map, const struct moved_key *key)
{
	struct moved_code moved = {};

	bpf_map_lookup_elem(map, key, &moved);
	return moved.state;
}

static struct mapping_record record_of_file(void)
{
	struct mapping_record record = {.key = {.kind = MAPPING_FILE, .inode = inode}};
	struct stat stat;

	fstat(file, &stat);
	record.key.device = (u64)major(stat.st_dev) << 20 | minor(stat.st_dev);
	record.key.since = FILE_WRITTEN(stat.st_mtim.tv_sec, stat.st_mtim.tv_nsec);
	return record;
}

/* Each mapping is requested once, one of each process at a time, and gets its result. */
TEST(requested_code_is_compared)
{
	struct mapping_record record = record_of_file();
	struct moved_code wanted[MOVED_CODE_ASK_MAX], moved, other;
	struct moved_key key = {.mm = 1}, other_key = {.mm = 2};
	int map = make_map();
	u32 files;

	if (map < 0)
		skip();
	map_ends(0);
	moved = copy(1, PAGES - 1, 0);
	moved.number = 5;
	moved.state = MOVED_WANTED;
	other = moved;
	other.number = 6;
	assert_int_equal(bpf_map_update_elem(map, &key, &moved, BPF_ANY), 0);
	assert_int_equal(moved_code_list_due_comparisons(map, wanted, &files), 1);
	assert_int_equal(files, 0);
	assert_int_equal(wanted[0].number, 5);
	assert_int_equal(bpf_map_update_elem(map, &other_key, &other, BPF_ANY), 0);
	assert_int_equal(moved_code_list_due_comparisons(map, wanted, &files), 0);
	assert_int_equal(moved_code_compare_and_store_results(map, 5, getpid(), file, &record), 0);
	assert_int_equal(state_of(map, &key), MOVED_FILE);
	assert_int_equal(state_of(map, &other_key), MOVED_WANTED);
	moved_code_list_due_comparisons(map, wanted, &files);
	assert_int_equal(files, 1);
	area[PAGE] ^= 1;
	moved.state = MOVED_ASKED;
	assert_int_equal(bpf_map_update_elem(map, &key, &moved, BPF_ANY), 0);
	assert_int_equal(moved_code_compare_and_store_results(map, 5, getpid(), file, &record), 0);
	assert_int_equal(state_of(map, &key), MOVED_OTHER);
	close(map);
}

TEST_GROUP(set_up, NULL)
