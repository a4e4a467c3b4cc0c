/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares table and unwinder on installed files of this machine, on programs of several linkers
 * and kinds, and on programs with flipped bytes. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rows_compare.h"
#include "sample_program.h"
#include "symbol/unwind/code_rows.h"
#include "unit_test.h"

#define LOOKS 20000
#define LOOKS_IN_A_SAMPLE 2000
#define FLIPS 300

static const char *const installed[] = {
	"/proc/self/exe",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib64/ld-linux-x86-64.so.2",
	"/usr/bin/python3",
	"/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
	"/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
	"/usr/bin/node",
};

static const struct sample samples[] = {
	{"pie", "gcc -O1 -fPIE -pie -s $IN -o $OUT", sample_c, ".c"},
	{"no_pie", "gcc -O1 -fno-pie -no-pie -s $IN -o $OUT", sample_c, ".c"},
	{"one_segment", "gcc -O1 -no-pie -Wl,-z,noseparate-code -s $IN -o $OUT", sample_c, ".c"},
	{"static", "gcc -O1 -static -s $IN -o $OUT", sample_c, ".c"},
	{"static_pie", "gcc -O1 -static-pie -s $IN -o $OUT", sample_c, ".c"},
	{"personality", "g++ -O1 -s $IN -o $OUT", sample_cxx, ".cc"},
	{"of_lld",
	 "ld.lld --version >/dev/null 2>&1 || exit 0; gcc -O1 -fuse-ld=lld -s $IN -o $OUT",
	 sample_c, ".c"},
};

/* Compares a file; returns the number of addresses that no table of the file covers. */
static u32 compare_file(const char *name, u32 looks)
{
	int file = open(name, O_RDONLY);
	struct rows_compared compared;

	assert_true(file >= 0);
	assert_int_equal(rows_compare(file, looks, &compared), 0);
	printf("%s: %u rows, %u rules, %u chunks, %u of %u addresses\n", name, compared.rows,
	       compared.rules, compared.chunks, compared.found, compared.looks);
	assert_true(compared.found > looks / 4);
	assert_int_equal(compared.unread, 0);
	close(file);
	return compared.by_code;
}

TEST(installed_files_have_the_rules_of_the_unwinder)
{
	for (u32 i = 0; i < sizeof(installed) / sizeof(installed[0]); i++)
		if (!access(installed[i], R_OK))
			compare_file(installed[i], LOOKS);
}

TEST(programs_of_all_kinds_have_the_rules_of_the_unwinder)
{
	char path[SAMPLE_PATH_BYTES];
	u32 by_code = 0;

	for (u32 i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		sample_build(&samples[i], path);
		if (!access(path, R_OK))
			by_code += compare_file(path, LOOKS_IN_A_SAMPLE);
	}
	assert_int_not_equal(by_code, 0);
}

/* Most flips hit headers and unwind tables, as readers read them. */
static void flip_bits_of_file(int file)
{
	struct stat status;
	u8 byte = rows_compare_any(256);
	u64 at;

	assert_int_equal(fstat(file, &status), 0);
	at = rows_compare_any(4) ? status.st_size / 4 + rows_compare_any(status.st_size / 2)
				 : rows_compare_any(1024);
	assert_int_equal(pwrite(file, &byte, 1, at), 1);
}

TEST(damaged_files_have_the_rules_of_the_unwinder_or_none)
{
	struct rows_compared compared;
	char path[SAMPLE_PATH_BYTES];
	u32 read = 0;

	for (u32 i = 0; i < FLIPS; i++) {
		int file;

		if (i % 50 == 0)
			sample_build(&samples[i / 50 % 4], path);
		file = open(path, O_RDWR);
		assert_true(file >= 0);
		flip_bits_of_file(file);
		if (!rows_compare(file, 200, &compared) && compared.rows)
			read++;
		close(file);
	}
	assert_true(read > FLIPS / 10);
}

/* Without an index, one record with another return column than rip lies between all others. */
TEST(a_record_that_is_not_understood_does_not_hide_the_next_ones)
{
	const struct sample odd = {"odd", "gcc -O1 -static -Wl,--no-eh-frame-hdr -s $IN -o $OUT",
				   "__asm__(\".text\\nodd: .cfi_startproc\\n.cfi_return_column "
				   "15\\nnop\\nret\\n.cfi_endproc\\n\");\n"
				   "int main(void) { return 0; }\n",
				   ".c"};
	struct code_rows rows = {};
	struct file_spans covered = {};
	char path[SAMPLE_PATH_BYTES];
	int file;

	sample_build(&odd, path);
	file = open(path, O_RDONLY);
	assert_true(file >= 0);
	assert_int_equal(code_rows_read_tables(file, &rows, &covered), 0);
	assert_true(rows.count > 1000);
	code_rows_clear(&rows);
	free(covered.spans);
	close(file);
}

TEST(a_file_without_tables_has_no_rows)
{
	const struct sample bare = {"bare", "gcc -O1 -s $IN -o $OUT && objcopy -R .eh_frame $OUT",
				    "int main(void) { return 0; }\n", ".c"};
	int file = open("/dev/null", O_RDONLY);
	struct rows_compared compared = {};
	char path[SAMPLE_PATH_BYTES];

	assert_int_equal(rows_compare(file, 0, &compared), -ENOEXEC);
	close(file);
	sample_build(&bare, path);
	file = open(path, O_RDONLY);
	rows_compare(file, 0, &compared);
	assert_int_equal(compared.rows, 0);
	close(file);
}

/* Finds the header of the index in a file of one segment, where addresses equal offsets. */
static u32 find_index(const u8 *program, Elf64_Phdr **segment)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)program;
	Elf64_Phdr *segments = (Elf64_Phdr *)(program + header->e_phoff);

	for (u32 i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_GNU_EH_FRAME) {
			*segment = &segments[i];
			return segments[i].p_offset;
		}
	fail();
	return 0;
}

static void omit_index(u8 *index, u32 count)
{
	(void)count;
	index[2] = index[3] = 0xff;
}

static void empty_index(u8 *index, u32 count)
{
	(void)count;
	memset(index + 8, 0, 4);
}

static void reverse_index(u8 *index, u32 count)
{
	u8 *entries = index + 12;

	for (u32 i = 0; i < count / 2; i++) {
		u8 *low = entries + 8 * i, *high = entries + 8 * (count - 1 - i), entry[8];

		memcpy(entry, low, sizeof(entry));
		memcpy(low, high, sizeof(entry));
		memcpy(high, entry, sizeof(entry));
	}
}

static void rewrite(const char *path, void (*change)(u8 *index, u32 count))
{
	int file = open(path, O_RDWR);
	Elf64_Phdr *segment;
	struct stat status;
	u32 index, count;
	u8 *program;

	assert_int_equal(fstat(file, &status), 0);
	program = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	assert_ptr_not_equal(program, MAP_FAILED);
	index = find_index(program, &segment);
	memcpy(&count, program + index + 8, sizeof(count));
	assert_in_range(count, 3, 1000);
	change(program + index, count);
	munmap(program, status.st_size);
	close(file);
}

static void read_rows(const char *path, struct code_rows *rows)
{
	int file = open(path, O_RDONLY);

	*rows = (struct code_rows){};
	assert_int_equal(code_rows_read(file, rows), 0);
	assert_true(code_rows_are_sound(rows));
	close(file);
}

/* The section is undamaged; only its index is. */
TEST(a_damaged_index_costs_no_rows)
{
	static void (*const changes[])(u8 * index, u32 count) = {omit_index, empty_index,
								 reverse_index};
	struct code_rows usual, rows;
	char path[SAMPLE_PATH_BYTES];

	sample_build(&samples[0], path);
	read_rows(path, &usual);
	for (u32 i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		sample_build(&samples[0], path);
		rewrite(path, changes[i]);
		read_rows(path, &rows);
		assert_int_equal(rows.count, usual.count);
		for (u32 row = 0; row < rows.count; row++)
			assert_int_equal(rows.rows[row].offset, usual.rows[row].offset);
		if (changes[i] != reverse_index)
			compare_file(path, LOOKS_IN_A_SAMPLE);
		code_rows_clear(&rows);
	}
	code_rows_clear(&usual);
}

static const char alone[] = "static volatile int sink;\n"
			    "__attribute__((section(\".t7\"), noinline)) int inner(int x)\n"
			    "{ volatile char room[40]; room[x & 31] = sink; return room[7]; }\n"
			    "int outer(int x) { return inner(x + 1) * sink; }\n"
			    "void _start(void) { for (;;) outer(3); }\n";

#define ALONE "gcc -O1 -nostdlib -static -fno-stack-protector -Wl,--build-id=none "
#define SCRIPT                                                                                     \
	"(echo 'PHDRS { head PT_LOAD FILEHDR PHDRS FLAGS(4);'; for i in 1 2 3 4 5 6 7; do echo "   \
	"\"t$i PT_LOAD FLAGS(5);\"; done; echo 'ro PT_LOAD FLAGS(4); rw PT_LOAD FLAGS(6); } "      \
	"SECTIONS { . = 0x400000 + SIZEOF_HEADERS; .head : { LONG(1) } :head'; for i in 1 2 3 4 "  \
	"5 6 7; do echo \". = 0x${i}000000; .t$i : { LONG(0x90909090) *(.t$i) } :t$i\"; done; "    \
	"echo '.text : { *(.text*) } :t7 . = 0x9000000; "                                          \
	".eh_frame : { *(.eh_frame) } :ro . = 0xa000000; .bss : { *(.bss*) } :rw }') >$OUT.ld; "

/* The ELF header is in the file, but not in memory. */
TEST(a_program_whose_header_is_not_mapped_has_rows)
{
	static const struct sample linked[] = {
		{"usual", ALONE "$IN -o $OUT", alone, ".c"},
		{"no_page_alignment", ALONE "-Wl,-n $IN -o $OUT", alone, ".c"},
		{"writable_code", ALONE "-Wl,-N $IN -o $OUT 2>/dev/null", alone, ".c"},
		{"many_segments", SCRIPT ALONE "-Wl,-T,$OUT.ld -Wl,--no-eh-frame-hdr $IN -o $OUT",
		 alone, ".c"},
	};
	u32 rules = 0;

	for (u32 i = 0; i < sizeof(linked) / sizeof(linked[0]); i++) {
		char path[SAMPLE_PATH_BYTES];
		struct code_rows rows;

		sample_build(&linked[i], path);
		read_rows(path, &rows);
		if (i == 0)
			rules = rows.rule_count;
		assert_in_range(rows.rule_count, 2, 10);
		/* One more rule says that no table covers the code behind the functions. */
		assert_in_range(rows.rule_count, rules, rules + 1);
		code_rows_clear(&rows);
	}
}

TEST_GROUP(NULL, sample_folder_teardown)

int main(void)
{
	if (elf_version(EV_CURRENT) == EV_NONE || !sample_folder_create())
		return 77;
	return unit_tests_run();
}
