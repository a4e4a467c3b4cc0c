/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares table and unwinder on programs with an SFrame section: one of the assembler, the same in
 * other versions, and one made by hand with all kinds of functions, which covers the first code of
 * a program; with and without .eh_frame; and false sections.
 *
 * A section that does not come from the linker lies in a segment of its own at the end of the file,
 * which replaces program headers that the test does not need.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rows_compare.h"
#include "sample_program.h"
#include "sframe_rewrite.h"
#include "sframe_section.h"
#include "unit_test.h"
#include "unwind/unwind.h"

#define PT_SFRAME 0x6474e554
#define FILE_MAX (4U << 20)
#define SECTION_ADDRESS (64ULL << 20)
#define HAND_MADE_BYTES                                                                            \
	(32 + 64 + 300) /* that have a rule; of version 3, and two functions more                  \
			 */
#define HAND_MADE_BYTES_3 (HAND_MADE_BYTES + 16 + 16)
#define DAMAGED 1500

#define IF_ASSEMBLED "echo | as --gsframe -o $OUT - 2>/dev/null || exit 0; rm $OUT; "

static const struct sample assembled[] = {
	{"pie", IF_ASSEMBLED "gcc -O1 -Wa,--gsframe -s $IN -o $OUT", sample_c, ".c"},
	{"plain", IF_ASSEMBLED "gcc -O0 -Wa,--gsframe -no-pie -s $IN -o $OUT", sample_c, ".c"},
	{"ibt", IF_ASSEMBLED "gcc -O1 -Wa,--gsframe -Wl,-z,ibtplt -s $IN -o $OUT", sample_c, ".c"},
	{"of_static", IF_ASSEMBLED "gcc -O1 -static -Wa,--gsframe -s $IN -o $OUT", sample_c, ".c"},
};
static const struct sample plain = {"padded", "gcc -O1 -falign-functions=128 -s $IN -o $OUT",
				    sample_c, ".c"};
static const struct sample large = {"large", "gcc -O1 -static -s $IN -o $OUT", sample_c, ".c"};

static u8 content[FILE_MAX];
static u32 bytes;
static Elf64_Phdr *headers;
static u32 header_count;
static int file;

/* Version 2. */
struct function {
	s32 start;
	u32 bytes;
	u32 first_row;
	u32 rows;
	u8 info;
	u8 block;
	u16 padding;
};

#define ADDRESSES_4 2
#define BLOCK 0x10

struct row { /* sp + offset */
	u32 start;
	u8 info;
	s32 offset;
} __attribute__((packed));

#define ROW_SP_4 (1 | 1 << 1 | 2 << 5) /* one word of four bytes */

#define FUNCTIONS_MAX 5000
#define ROWS_MAX ((1 << 17) + 1) /* one more than the unwinder reads */
static struct {
	struct sframe_header header;
	struct function functions[FUNCTIONS_MAX];
	struct row rows[ROWS_MAX];
} lie;

/* False: the program cannot be built here. */
static bool program_read(const struct sample *sample)
{
	char path[SAMPLE_PATH_BYTES];
	int program;

	snprintf(path, sizeof(path), "%s/%s", sample_folder(), sample->label);
	if (access(path, R_OK))
		sample_build(sample, path);
	program = open(path, O_RDONLY);
	if (program < 0)
		return false;
	bytes = read(program, content, sizeof(content));
	close(program);
	assert_in_range(bytes, sizeof(Elf64_Ehdr), sizeof(content) - 1);
	headers = (Elf64_Phdr *)(content + ((Elf64_Ehdr *)content)->e_phoff);
	header_count = ((Elf64_Ehdr *)content)->e_phnum;
	return true;
}

static Elf64_Phdr *header_of(u32 type)
{
	for (u32 i = 0; i < header_count; i++)
		if (headers[i].p_type == type)
			return &headers[i];
	return NULL;
}

static Elf64_Phdr *code_header(void)
{
	for (u32 i = 0; i < header_count; i++)
		if (headers[i].p_type == PT_LOAD && headers[i].p_flags & PF_X)
			return &headers[i];
	return NULL;
}

static void section_put(const void *section, u32 section_bytes)
{
	Elf64_Phdr *named = header_of(PT_SFRAME) ?: header_of(PT_GNU_RELRO);
	Elf64_Phdr *loaded = header_of(PT_GNU_STACK);

	bytes = (bytes + 4095) & ~4095U;
	assert_true(named && loaded && section_bytes <= sizeof(content) - bytes);
	memcpy(content + bytes, section, section_bytes);
	*loaded = (Elf64_Phdr){.p_type = PT_LOAD,
			       .p_flags = PF_R,
			       .p_offset = bytes,
			       .p_vaddr = SECTION_ADDRESS,
			       .p_filesz = section_bytes,
			       .p_memsz = section_bytes};
	*named = *loaded;
	named->p_type = PT_SFRAME;
	bytes += section_bytes;
}

/* Puts the section into the program; its functions are the first code. */
static void hand_made_put(int version)
{
	struct sframe_section section;

	sframe_section_make(&section, version, code_header()->p_vaddr - SECTION_ADDRESS);
	section_put(section.byte, section.bytes);
}

static void eh_frame_remove(void)
{
	Elf64_Phdr *header = header_of(PT_GNU_EH_FRAME);

	memset(content + header->p_offset, 0, 4096 - header->p_offset % 4096);
	header->p_type = PT_NULL;
}

static void file_write(void)
{
	assert_int_equal(ftruncate(file, 0), 0);
	assert_int_equal(pwrite(file, content, bytes, 0), bytes);
}

static struct rows_compared compared_all(void)
{
	struct rows_compared compared = {};

	file_write();
	assert_int_equal(rows_compare(file, ROWS_COMPARE_ALL, &compared), 0);
	assert_int_equal(compared.unread, 0);
	return compared;
}

static int result_of_file(void)
{
	struct rows_compared compared;
	int result;

	file_write();
	result = rows_compare(file, ROWS_COMPARE_ALL, &compared);
	/* Rules that all come from code are no table. */
	return !result && compared.analysed && compared.found == compared.analysed ? -ENOEXEC
										   : result;
}

TEST(sections_of_the_assembler_have_the_rules_of_the_unwinder)
{
	u32 built = 0;

	for (u32 i = 0; i < sizeof(assembled) / sizeof(assembled[0]); i++) {
		struct rows_compared compared = {};

		if (!program_read(&assembled[i]))
			continue;
		file_write();
		assert_int_equal(rows_compare(file, 5000, &compared), 0);
		assert_int_equal(compared.unread, 0);
		printf("%s: %u of %u addresses, %u by SFrame\n", assembled[i].label, compared.found,
		       compared.looks, compared.by_sframe);
		assert_true(compared.by_sframe);
		built++;
	}
	if (!built)
		skip();
}

/* Replaces the assembler's section by one of another version. False: the section cannot be
 * converted. */
static bool section_rewrite(u32 version)
{
	static u8 old[4096], new[SFRAME_REWRITTEN_MAX(4096)];
	const Elf64_Phdr *header = header_of(PT_SFRAME);
	u32 new_bytes;

	assert_in_range(header->p_filesz, 1, sizeof(old));
	memcpy(old, content + header->p_offset, header->p_filesz);
	new_bytes = sframe_rewrite(old, header->p_filesz, version,
				   SECTION_ADDRESS - header->p_vaddr, new);
	if (new_bytes)
		section_put(new, new_bytes);
	return new_bytes;
}

TEST(all_versions_have_the_same_table)
{
	struct rows_compared first, other;

	for (u32 version = 2; version <= 3; version++) {
		if (!program_read(&assembled[0]))
			skip();
		first = compared_all();
		if (!section_rewrite(version))
			skip();
		other = compared_all();
		assert_memory_equal(&other, &first, sizeof(first));
	}
}

TEST(all_kinds_of_functions_have_the_rules_of_the_unwinder)
{
	for (int version = 1; version <= 3; version++) {
		u32 expected = version == 3 ? HAND_MADE_BYTES_3 : HAND_MADE_BYTES;
		struct rows_compared compared;

		program_read(&plain);
		hand_made_put(version);
		compared = compared_all();
		assert_int_equal(compared.by_sframe, expected);
		assert_true(compared.found > expected);
		eh_frame_remove();
		compared = compared_all();
		assert_int_equal(compared.by_sframe, expected);
		assert_int_equal(compared.found - compared.analysed, expected);
	}
}

/* Damages one or two bytes of the section. */
static void damage_sframe_section(u32 section_bytes)
{
	for (u64 i = 0, count = 1 + rows_compare_any(2); i < count; i++)
		content[bytes - 1 - rows_compare_any(section_bytes)] =
			rows_compare_any(2) ? rows_compare_any(256) : rows_compare_any(32);
}

TEST(damaged_sections_have_the_rules_of_the_unwinder_or_none)
{
	struct rows_compared compared;
	u32 read = 0, by_sframe = 0;

	for (u32 i = 0; i < DAMAGED; i++) {
		program_read(&plain);
		hand_made_put(1 + i % 3);
		damage_sframe_section(bytes % 4096);
		file_write();
		if (rows_compare(file, ROWS_COMPARE_ALL, &compared))
			continue;
		read++;
		by_sframe += compared.by_sframe != 0;
	}
	printf("%u of %u damaged sections give tables, %u with rules of theirs\n", read, DAMAGED,
	       by_sframe);
	assert_true(read > DAMAGED / 4 && by_sframe > DAMAGED / 8);
}

/* Begins a false section: functions follow one another from the first code on, and have the same
 * rows. */
static void begin_false_sframe_section(const struct sample *sample, u32 functions,
				       u32 function_bytes, u32 rows)
{
	program_read(sample);
	memset(&lie, 0, sizeof(lie));
	lie.header = (struct sframe_header){
		.magic = 0xdee2,
		.version = 2,
		.flags = 1,
		.abi = 3,
		.fixed_ra_offset = -8,
		.function_count = functions,
		.row_count = rows,
		.row_bytes = rows * sizeof(struct row),
		.rows = sizeof(lie.functions),
	};
	for (u32 i = 0; i < functions; i++)
		lie.functions[i] = (struct function){
			.start = (s32)(code_header()->p_vaddr - SECTION_ADDRESS +
				       (u64)i * function_bytes),
			.bytes = function_bytes,
			.rows = rows,
			.info = ADDRESSES_4,
		};
	for (u32 i = 0; i < rows; i++)
		lie.rows[i] = (struct row){.start = i, .info = ROW_SP_4, .offset = 8 * i + 8};
}

static int read_false_sframe_section(void)
{
	section_put(&lie, sizeof(lie));
	return result_of_file();
}

TEST(functions_in_order_have_a_table)
{
	begin_false_sframe_section(&plain, 10, 20, 20);
	assert_int_equal(read_false_sframe_section(), 0);
	begin_false_sframe_section(&plain, 10, 20, 20);
	lie.functions[4].start = lie.functions[5].start;
	lie.functions[7].bytes = UINT32_MAX;
	lie.functions[8].bytes = 0;
	assert_int_equal(read_false_sframe_section(), 0);
}

TEST(functions_out_of_order_have_no_table)
{
	begin_false_sframe_section(&plain, 10, 20, 20);
	lie.functions[4].start = lie.functions[6].start;
	assert_int_equal(read_false_sframe_section(), -EBADMSG);
	begin_false_sframe_section(&plain, 10, 20, 20);
	lie.functions[4].start += 100;
	lie.functions[4].bytes = 0;
	assert_int_equal(read_false_sframe_section(), -EBADMSG);
}

/* A function's part outside of code has no rule, and its part in code gets no rule of .eh_frame. */
TEST(functions_beyond_the_code_have_no_rules)
{
	begin_false_sframe_section(&plain, 10, 20, 20);
	lie.functions[9].bytes = UINT32_MAX;
	assert_int_equal(read_false_sframe_section(), -EBADMSG);
	begin_false_sframe_section(&plain, 10, 20, 20);
	lie.functions[0].start -= 10;
	assert_int_equal(read_false_sframe_section(), -EBADMSG);
}

TEST(rows_out_of_order_replace_each_other)
{
	begin_false_sframe_section(&plain, 10, 20, 20);
	for (u32 i = 0; i < 20; i++)
		lie.rows[i].start = i * 7 % 20 + 1;
	assert_int_equal(read_false_sframe_section(), 0);
}

TEST(counts_beyond_the_section_give_no_table)
{
	begin_false_sframe_section(&plain, 10, 20, 20);
	lie.header.function_count = UINT32_MAX;
	assert_int_equal(read_false_sframe_section(), -EBADMSG);
	begin_false_sframe_section(&plain, 10, 20, 20);
	lie.functions[3].rows = UINT32_MAX;
	lie.rows[19].start = 10;
	assert_int_equal(read_false_sframe_section(), -EBADMSG);
}

TEST(rows_beyond_the_unwinders_limit_are_left_out)
{
	begin_false_sframe_section(&plain, 1, 20, ROWS_MAX);
	for (u32 i = 0; i < ROWS_MAX - 1; i++)
		lie.rows[i].start = 0;
	lie.rows[ROWS_MAX - 1].start = 10;
	assert_int_equal(read_false_sframe_section(), 0);
}

TEST(reading_of_large_sections_is_limited)
{
	begin_false_sframe_section(&large, FUNCTIONS_MAX, 1, ROWS_MAX);
	for (u32 i = 0; i < ROWS_MAX; i++)
		lie.rows[i].start = 0;
	assert_int_equal(read_false_sframe_section(), -E2BIG);
	begin_false_sframe_section(&plain, 1, SECTION_ADDRESS / 2, 0);
	code_header()->p_filesz = SECTION_ADDRESS / 2;
	lie.functions[0].info |= BLOCK;
	lie.functions[0].block = 1;
	assert_int_equal(read_false_sframe_section(), -E2BIG);
}

/* A rule without room must not be replaced by the rule of .eh_frame. */
TEST(rules_beyond_the_limit_are_left_out)
{
	begin_false_sframe_section(&large, 1, ROWS_MAX, ROWS_MAX);
	assert_int_equal(read_false_sframe_section(), -E2BIG);
}

TEST(an_unknown_section_leaves_the_table_to_eh_frame)
{
	struct rows_compared known, unknown;

	program_read(&plain);
	known = compared_all();
	begin_false_sframe_section(&plain, 10, 20, 20);
	lie.header.version = 9;
	section_put(&lie, sizeof(lie));
	unknown = compared_all();
	assert_memory_equal(&unknown, &known, sizeof(known));
	eh_frame_remove();
	assert_int_equal(result_of_file(), -ENOEXEC);
}

TEST(an_unreadable_section_leaves_no_table)
{
	begin_false_sframe_section(&plain, 10, 20, 20);
	section_put(&lie, sizeof(lie));
	header_of(PT_SFRAME)->p_vaddr = 2 * SECTION_ADDRESS;
	assert_int_equal(result_of_file(), -ENOEXEC);
}

TEST_GROUP(NULL, sample_folder_teardown)

int main(void)
{
	file = memfd_create("program", 0);
	if (file < 0 || !sample_folder_create())
		return 77;
	return unit_tests_run();
}
