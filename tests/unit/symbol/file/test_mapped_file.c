/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file of a record: found in each way, refused if it is another file; and untrusted records. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample_program.h"
#include "sample_record.h"
#include "symbol/file/mapped_file.h"
#include "unit_test.h"

#define OTHER_PROCESS 0x7fffffff /* larger than any pid */

static const struct sample with_id = {
	"with_id", "gcc -Wl,--build-id=0x000102030405060708090a0b0c0d0e0f $IN -o $OUT", sample_c,
	".c"};
static const struct sample without_id = {"without_id", "gcc -Wl,--build-id=none $IN -o $OUT",
					 sample_c, ".c"};
static const u8 build_id[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static char program[SAMPLE_PATH_BYTES];

static void in_folder(const char *name, char path[SAMPLE_PATH_BYTES])
{
	snprintf(path, SAMPLE_PATH_BYTES, "%s/%s", sample_folder(), name);
}

static void assert_opens(const struct mapping_record *record, const char *path, bool expected)
{
	int fd = mapped_file_open(record, path);
	struct stat stat;

	if (!expected) {
		assert_int_equal(fd, -ENOENT);
		return;
	}
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &stat), 0);
	assert_int_equal(stat.st_ino, record->key.inode);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

TEST(the_path_is_that_of_the_record)
{
	struct mapping_record record;
	struct trace_mapping mapping;
	char path[MAPPING_PATH_BYTES + 1];

	sample_record_file(&record, program);
	mapped_file_identify(5, &record, &mapping, path, sizeof(path));
	assert_int_equal(mapping.number, 5);
	assert_int_equal(mapping.kind, MAPPING_FILE);
	assert_ptr_equal(mapping.path, path);
	assert_string_equal(path, program);
}

static int read_build_id(const char *path, u8 *found)
{
	int fd = open(path, O_RDONLY), bytes = mapped_file_build_id(fd, found);

	close(fd);
	return bytes;
}

TEST(the_build_id_is_that_of_the_file)
{
	char file[SAMPLE_PATH_BYTES];
	u8 found[TRACE_BUILD_ID_MAX];

	assert_int_equal(read_build_id(program, found), sizeof(build_id));
	assert_memory_equal(found, build_id, sizeof(build_id));
	sample_build(&without_id, file);
	assert_int_equal(read_build_id(file, found), 0);
}

TEST(only_the_same_inode_counts)
{
	struct mapping_record record, other;

	sample_record_file(&record, program);
	assert_opens(&record, program, true);
	other = record;
	other.key.inode++;
	assert_opens(&other, program, false);
	other = record;
	other.key.device++;
	assert_opens(&other, program, false);
	other = record;
	other.key.kind = MAPPING_ANON;
	assert_opens(&other, program, false);
}

TEST(a_reused_inode_is_another_file)
{
	struct mapping_record record;
	u32 generation = 0;
	int fd = open(program, O_RDONLY), err;

	assert_true(fd >= 0);
	err = ioctl(fd, FS_IOC_GETVERSION, &generation);
	close(fd);
	if (err || !generation) {
		printf("skip: this file system does not tell a file's generation\n");
		skip();
	}
	sample_record_file(&record, program);
	record.key.generation = generation;
	assert_opens(&record, program, true);
	record.key.generation = generation + 1;
	assert_opens(&record, program, false);
}

TEST(a_file_written_again_is_another)
{
	struct timespec later[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1, .tv_nsec = 1}};
	struct mapping_record record;
	char file[SAMPLE_PATH_BYTES];

	sample_build(&without_id, file);
	sample_record_file(&record, file);
	assert_opens(&record, file, true);
	assert_int_equal(utimensat(AT_FDCWD, file, later, 0), 0);
	assert_opens(&record, file, false);
	later[1].tv_nsec = 0;
	sample_record_file(&record, file);
	assert_int_equal(utimensat(AT_FDCWD, file, later, 0), 0);
	assert_opens(&record, file, false);
}

TEST(found_here_when_the_process_is_gone)
{
	struct mapping_record record;

	sample_record_file(&record, program);
	record.tgid = OTHER_PROCESS;
	assert_opens(&record, program, true);
	assert_opens(&record, "relative/path", false);
	assert_opens(&record, "", false);
}

TEST(a_deleted_file_is_found_through_its_mapping)
{
	struct mapping_record record;
	struct stat stat;
	char path[SAMPLE_PATH_BYTES];
	int fd;
	void *mapped;

	if (geteuid()) {
		printf("skip: map_files is for root\n");
		skip();
	}
	in_folder("deleted", path);
	fd = open(path, O_CREAT | O_RDWR, 0700);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fstat(fd, &stat), 0);
	mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(mapped != MAP_FAILED);
	close(fd);
	assert_int_equal(unlink(path), 0);
	assert_true(sample_record_mapped(&record, mapped));
	assert_int_equal(record.key.inode, stat.st_ino);
	assert_opens(&record, path, true);
	munmap(mapped, 4096);
	assert_opens(&record, path, false);
}

static bool mount_overlay(const char *lower, const char *merged)
{
	char upper[SAMPLE_PATH_BYTES], work[SAMPLE_PATH_BYTES], options[4 * SAMPLE_PATH_BYTES];

	in_folder("upper", upper);
	in_folder("work", work);
	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s", lower, upper,
		 work);
	assert_int_equal(mkdir(upper, 0700) | mkdir(work, 0700) | mkdir(merged, 0700), 0);
	return !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("overlay", merged, "overlay", 0, options);
}

/* The mapping has the inode of the lower layer, and the path leads through the overlay. */
TEST(a_file_of_an_overlay_is_found)
{
	char lower[SAMPLE_PATH_BYTES], merged[SAMPLE_PATH_BYTES], file[SAMPLE_PATH_BYTES + 8];
	struct mapping_record record;
	int fd;

	in_folder("lower", lower);
	in_folder("merged", merged);
	assert_int_equal(mkdir(lower, 0700), 0);
	snprintf(file, sizeof(file), "%s/file", lower);
	fd = open(file, O_CREAT | O_RDWR, 0600);
	assert_true(fd >= 0);
	close(fd);
	sample_record_file(&record, file);
	if (!mount_overlay(lower, merged)) {
		printf("skip: no overlayfs here: %s\n", strerror(errno));
		skip();
	}
	snprintf(file, sizeof(file), "%s/file", merged);
	assert_opens(&record, file, true);
	record.key.inode++;
	assert_opens(&record, file, false);
	assert_int_equal(umount(merged), 0);
}

TEST(fifos_and_links_are_not_followed)
{
	struct mapping_record record;
	char fifo[SAMPLE_PATH_BYTES], link[SAMPLE_PATH_BYTES];

	in_folder("fifo", fifo);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	sample_record_file(&record, fifo);
	assert_opens(&record, fifo, false);
	in_folder("link", link);
	assert_int_equal(symlink(program, link), 0);
	sample_record_file(&record, program);
	assert_opens(&record, link, false);
}

TEST(a_device_is_not_opened)
{
	struct mapping_record record;

	sample_record_file(&record, "/dev/null");
	assert_opens(&record, "/dev/null", false);
}

static void identify_raw(struct mapping_record *record, const char *bytes, u32 count, char *path)
{
	struct trace_mapping mapping;

	memset(record, 0, sizeof(*record));
	record->key.kind = MAPPING_FILE;
	record->path_whole = 1;
	memcpy(record->path, bytes, count);
	record->path_bytes = count;
	mapped_file_identify(1, record, &mapping, path, MAPPING_PATH_BYTES + 1);
	assert_int_equal(mapping.build_id_bytes, 0);
}

TEST(untrusted_paths_are_dropped)
{
	static const struct {
		const char *bytes;
		u32 count;
	} bad[] = {{"c\0..\0a", 7}, {".\0a", 4}, {"a/b\0c", 6}, {"\0a", 3},
		   {"a\0\0b", 5},   {"a", 1},	 {"a\0b", 3}};
	struct mapping_record record;
	struct trace_mapping mapping;
	char path[MAPPING_PATH_BYTES + 1], filled[MAPPING_PATH_BYTES];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		identify_raw(&record, bad[i].bytes, bad[i].count, path);
		assert_string_equal(path, "");
	}
	memset(filled, 'x', sizeof(filled));
	identify_raw(&record, filled, sizeof(filled), path);
	assert_string_equal(path, "");
	filled[sizeof(filled) - 1] = 0;
	identify_raw(&record, filled, sizeof(filled), path);
	assert_int_equal(strlen(path), sizeof(filled));
	record.path_bytes = UINT32_MAX;
	mapped_file_identify(1, &record, &mapping, path, sizeof(path));
	assert_string_equal(path, "");
}

TEST(a_cut_path_is_marked)
{
	struct mapping_record record;
	struct trace_mapping mapping;
	char path[MAPPING_PATH_BYTES + 1], small[12];

	identify_raw(&record, "c\0b\0a", 6, path);
	assert_string_equal(path, "/a/b/c");
	record.path_whole = 0;
	mapped_file_identify(1, &record, &mapping, path, sizeof(path));
	assert_string_equal(path, ".../a/b/c");
	mapped_file_identify(1, &record, &mapping, small, sizeof(small));
	assert_string_equal(small, ".../a/b/c");
	mapped_file_identify(1, &record, &mapping, small, 9);
	assert_string_equal(small, ".../a/b/");
}

TEST(code_without_a_file_is_identified_by_its_key)
{
	struct mapping_record record = {
		.key = {.kind = MAPPING_ANON, .inode = 1234ULL << 24 | 0x7f}};
	struct trace_mapping mapping;
	char path[64];

	mapped_file_identify(2, &record, &mapping, path, sizeof(path));
	assert_string_equal(path, "[anon]");
	assert_int_equal(mapping.tgid, 1234);
	assert_int_equal(mapping.base, 0x7f0000000000);
	record.key.kind = MAPPING_VDSO;
	record.key.inode = 0;
	mapped_file_identify(3, &record, &mapping, path, sizeof(path));
	assert_string_equal(path, "[vdso]");
	assert_int_not_equal(mapping.build_id_bytes, 0);
	record.key.inode = 1;
	mapped_file_identify(3, &record, &mapping, path, sizeof(path));
	assert_int_equal(mapping.build_id_bytes, 0);
}

TEST(a_file_that_is_no_elf_has_no_build_id)
{
	u8 found[TRACE_BUILD_ID_MAX];
	int fd = open("/dev/null", O_RDONLY);

	assert_true(mapped_file_build_id(fd, found) < 0);
	close(fd);
}

int main(void)
{
	int failed;

	if (!sample_folder_create())
		return 77;
	sample_build(&with_id, program);
	failed = unit_tests_run();
	sample_folder_remove();
	return failed;
}
