/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files by mapping number: reads, the number of open files, and ELF files with false contents. */
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../symbol/sample_record.h"
#include "unit_test.h"
#include "user_unwind/code_file.h"

#define FILE_BYTES 10000
#define NO_PROCESS 0x7fffffff
#define MANY 300

static char path[64];
static struct readers *readers;
static struct code_files *files;
static struct mapping_record record;

static void write_file(const void *bytes, size_t count)
{
	int fd;

	strcpy(path, "/tmp/code-file-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), count);
	close(fd);
	sample_record_file(&record, path);
}

static int set_up(void **state)
{
	u8 bytes[FILE_BYTES];

	(void)state;
	for (u32 i = 0; i < FILE_BYTES; i++)
		bytes[i] = i % 251;
	write_file(bytes, sizeof(bytes));
	return readers_create(&readers) ?: code_files_create(readers, &files);
}

static int tear_down(void **state)
{
	(void)state;
	code_files_free(&files);
	assert_null(files);
	readers_free(&readers);
	assert_null(readers);
	unlink(path);
	return 0;
}

static const struct code_file *get_code_file_by_number(u32 number)
{
	const struct reader_file seen = {.number = number, .tgid = getpid(), .record = &record};

	return code_files_get(files, &seen);
}

TEST(bytes_are_those_of_the_file, set_up, tear_down)
{
	const struct code_file *file = get_code_file_by_number(1);
	u8 buffer[300];

	assert_non_null(file);
	for (u64 offset = 0; offset + sizeof(buffer) <= FILE_BYTES; offset += 97) {
		assert_true(code_file_read(files, file, offset, buffer, sizeof(buffer)));
		for (u32 i = 0; i < sizeof(buffer); i++)
			assert_int_equal(buffer[i], (offset + i) % 251);
	}
}

TEST(last_page_is_filled_with_zeroes, set_up, tear_down)
{
	const struct code_file *file;
	u8 buffer[16];

	for (u32 number = 2; number < 2 * MANY; number++) /* fills the cache */
		assert_true(code_file_read(files, get_code_file_by_number(number), 4096 - 8, buffer,
					   16));
	file = get_code_file_by_number(1);
	assert_true(code_file_read(files, file, FILE_BYTES - 8, buffer, 16));
	assert_int_equal(buffer[7], (FILE_BYTES - 1) % 251);
	assert_int_equal(buffer[8], 0);
	assert_false(code_file_read(files, file, 3 * 4096 - 8, buffer, 16));
	assert_false(code_file_read(files, file, ~0ULL - 4, buffer, 16));
	assert_false(code_file_read(files, file, 1ULL << 63, buffer, 16));
}

static u32 open_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	u32 count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

TEST(few_files_stay_open, set_up, tear_down)
{
	u32 before = open_descriptors();

	for (u32 round = 0; round < 2; round++)
		for (u32 number = 1; number <= MANY; number++) {
			u8 byte;

			assert_true(code_file_read(files, get_code_file_by_number(number), number,
						   &byte, 1));
			assert_int_equal(byte, number % 251);
		}
	assert_in_range(open_descriptors(), before + 1, before + 100);
	code_files_free(&files);
	assert_int_equal(open_descriptors(), before);
}

TEST(file_used_lately_stays_open, set_up, tear_down)
{
	u8 byte;

	assert_non_null(get_code_file_by_number(1));
	assert_int_equal(unlink(path), 0);
	for (u32 number = 2; number <= MANY; number++) {
		get_code_file_by_number(number);
		assert_non_null(get_code_file_by_number(1));
	}
	assert_true(code_file_read(files, get_code_file_by_number(1), 5000, &byte, 1));
	assert_null(get_code_file_by_number(2));
}

/* The record's process and its root are gone; another process still has the file. */
TEST(file_is_looked_for_again_in_another_process, set_up, tear_down)
{
	struct reader_file seen = {.number = 1, .tgid = NO_PROCESS, .record = &record};
	char kept[80];

	record.tgid = NO_PROCESS;
	snprintf(kept, sizeof(kept), "%s.kept", path);
	assert_int_equal(rename(path, kept), 0);
	assert_null(code_files_get(files, &seen));
	assert_int_equal(rename(kept, path), 0);
	assert_null(code_files_get(files, &seen));
	seen.tgid = getpid();
	assert_non_null(code_files_get(files, &seen));
}

TEST(file_without_headers_has_no_addresses, set_up, tear_down)
{
	const struct code_file *file = get_code_file_by_number(1);
	u64 address;
	u8 byte;

	assert_false(code_file_address_of_offset(file, 0, &address));
	assert_false(code_file_address_of_elf_header(file, &address));
	assert_false(code_file_read_at_address(files, file, 0, &byte, 1));
}

struct small_elf {
	Elf64_Ehdr header;
	Elf64_Phdr segment[3];
};

static struct small_elf small_elf(void)
{
	return (struct small_elf){
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
			   .e_phoff = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 3},
		.segment = {{.p_type = PT_LOAD,
			     .p_flags = PF_R,
			     .p_vaddr = 0x400000,
			     .p_filesz = 0x200},
			    {.p_type = PT_LOAD,
			     .p_flags = PF_R | PF_X,
			     .p_offset = 0x1230,
			     .p_vaddr = 0x402230,
			     .p_filesz = 0x500},
			    {.p_type = PT_LOAD,
			     .p_flags = PF_R | PF_W,
			     .p_offset = 0x2000,
			     .p_vaddr = 0x404000,
			     .p_filesz = 0x100}},
	};
}

static const struct code_file *get_elf(const struct small_elf *elf)
{
	u8 bytes[FILE_BYTES] = {};

	unlink(path);
	memcpy(bytes, elf, sizeof(*elf));
	bytes[0x1234] = 42;
	write_file(bytes, sizeof(bytes));
	return get_code_file_by_number(2);
}

TEST(addresses_follow_the_program_headers, set_up, tear_down)
{
	struct small_elf elf = small_elf();
	const struct code_file *file = get_elf(&elf);
	u64 address = 0;
	u8 byte;

	assert_true(code_file_address_of_elf_header(file, &address));
	assert_int_equal(address, 0x400000);
	assert_true(code_file_address_of_offset(file, 0x1000, &address)); /* the segment's page */
	assert_int_equal(address, 0x402000);
	assert_true(code_file_address_of_offset(file, 0x172f, &address));
	assert_int_equal(address, 0x40272f);
	assert_false(code_file_address_of_offset(file, 0x1730, &address));
	assert_false(code_file_address_of_offset(file, 0xfff, &address));
	assert_true(code_file_read_at_address(files, file, 0x402234, &byte, 1));
	assert_int_equal(byte, 42);
	assert_false(code_file_read_at_address(files, file, 0x402230 + 0x4ff, &byte, 2));
	assert_false(code_file_read_at_address(files, file, 0x404000, &byte, 1)); /* writable */
}

TEST(false_headers_are_harmless, set_up, tear_down)
{
	struct small_elf elf = small_elf();
	const struct code_file *file;
	u64 address;
	u8 bytes[16];

	elf.segment[0].p_offset = ~0ULL - 8;
	elf.segment[0].p_filesz = ~0ULL;
	elf.segment[1].p_vaddr = ~0ULL - 4;
	elf.segment[1].p_filesz = ~0ULL;
	file = get_elf(&elf);
	assert_non_null(file);
	assert_false(code_file_address_of_elf_header(file, &address));
	assert_false(code_file_address_of_offset(file, 0x1230, &address));
	assert_false(code_file_read_at_address(files, file, 0x400000, bytes, sizeof(bytes)));
	assert_false(code_file_read_at_address(files, file, ~0ULL - 4, bytes, 4));
}

TEST(too_many_headers_are_refused, set_up, tear_down)
{
	struct small_elf elf = small_elf();
	u64 address;

	elf.header.e_phnum = 65;
	assert_false(code_file_address_of_elf_header(get_elf(&elf), &address));
}
