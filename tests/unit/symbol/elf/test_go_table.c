/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of a Go program, for x86-64 and for arm64, has the same functions as the symbols and
 * the DWARF of the program. Tests change the program to the forms of other linkers and versions: no
 * section header of the table, no base address of functions, and damage.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample_program.h"
#include "symbol/dwarf/debug_info.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/go_table.h"
#include "unit_test.h"

#define FLIPS 400
#define STEP 5
#define PLACES_MAX 400000

static const char source[] = "package main\n"
			     "import (\"fmt\"; \"sort\")\n"
			     "func innermost(x int) int { return x*x + 1 }\n"
			     "func middle(x int) int { return innermost(x) + innermost(x+1) }\n"
			     "//go:noinline\n"
			     "func outer(x int) int { return middle(x) * 3 }\n"
			     "type shelf[T int | string] struct{ items []T }\n"
			     "//go:noinline\n"
			     "func (s *shelf[T]) add(item T) { s.items = append(s.items, item) }\n"
			     "func main() {\n"
			     "	s := &shelf[int]{}\n"
			     "	for i := 0; i < 9; i++ { s.add(outer(i)) }\n"
			     "	sort.Ints(s.items)\n"
			     "	fmt.Println(s.items)\n"
			     "}\n";

#define GO_BUILD(machine)                                                                          \
	"GOARCH=" machine " CGO_ENABLED=0 GOCACHE=$OUT.cache HOME=${OUT%/*} GOFLAGS=-mod=mod "     \
	"go build -o $OUT $IN && rm -rf $OUT.cache"

static const struct sample samples[] = {
	{"amd64", GO_BUILD("amd64"), source, ".go"},
	{"arm64", GO_BUILD("arm64"), source, ".go"},
};

static char path[SAMPLE_PATH_BYTES];

/* The program in memory, where tests change it, and its Elf. */
static struct program {
	u8 *bytes;
	size_t count;
	Elf *elf;
} program;

static int program_open(void **state)
{
	int file = open(path, O_RDONLY);
	struct stat status;

	(void)state;
	assert_int_equal(fstat(file, &status), 0);
	program.count = status.st_size;
	program.bytes = mmap(NULL, program.count, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	close(file);
	assert_ptr_not_equal(program.bytes, MAP_FAILED);
	assert_int_not_equal(elf_version(EV_CURRENT), EV_NONE);
	program.elf = elf_memory((char *)program.bytes, program.count);
	return program.elf ? 0 : -1;
}

static int program_close(void **state)
{
	(void)state;
	elf_end(program.elf);
	return munmap(program.bytes, program.count);
}

/* Opens the changed program again. */
static void program_reopen(void)
{
	elf_end(program.elf);
	program.elf = elf_memory((char *)program.bytes, program.count);
	assert_non_null(program.elf);
}

static Elf64_Shdr *section_header(const char *name)
{
	const Elf64_Ehdr *header = (void *)program.bytes;
	Elf64_Shdr *sections = (void *)(program.bytes + header->e_shoff);
	const char *names = (char *)program.bytes + sections[header->e_shstrndx].sh_offset;

	for (u32 i = 0; i < header->e_shnum; i++)
		if (!strcmp(names + sections[i].sh_name, name))
			return &sections[i];
	fail_msg("no section %s", name);
	return NULL;
}

static u8 *section_bytes(const char *name)
{
	return program.bytes + section_header(name)->sh_offset;
}

/* The table has [...] for the text between the first and the last bracket of a symbol, and a middle
 * dot (two bytes) for a dot. Symbols of assembler functions with Go's first calling convention have
 * a suffix. */
static bool is_same_name(const char *name, const char *other)
{
	const char *bracket = strchr(other, '['), *end = strrchr(other, ']');

	while (*name) {
		if (!strncmp(name, "[...]", 5) && other == bracket && end) {
			name += 5;
			other = end + 1;
		} else if (!strncmp(name, "\302\267", 2) && *other == '.') {
			name += 2;
			other++;
		} else if (*name++ != *other++) {
			return false;
		}
	}
	return !*other || !strcmp(other, ".abi0");
}

/* Asserts that each function is a symbol of .symtab. */
static void is_the_symbol_table(const struct go_table *table)
{
	struct elf_segments segments;
	struct symbol_table *symbols;
	u64 compared = 0;

	elf_segments_read(program.elf, &segments);
	assert_int_equal(symbol_table_create(&symbols), 0);
	assert_int_equal(elf_symbols_add(program.elf, symbols), 0);
	assert_true(table->functions > 1000);
	for (u64 i = 0; i < table->functions; i++) {
		const struct elf_segment *segment;
		struct go_function function;
		struct symbol symbol;

		assert_true(go_function_read(table, i, &function));
		segment = elf_segment_of_address(&segments, function.start);
		assert_non_null(segment);
		assert_true(symbol_table_find(
			symbols, segment->offset + function.start - segment->address, &symbol));
		if (!is_same_name(function.name, symbol.name))
			fail_msg("%s and %s", function.name, symbol.name);
		compared++;
	}
	assert_int_equal(compared, table->functions);
	symbol_table_free(&symbols);
}

TEST(functions_are_the_symbols, program_open, program_close)
{
	struct go_table table;

	assert_int_equal(go_table_read(program.elf, &table), 0);
	is_the_symbol_table(&table);
}

/* Since Go 1.26 the header has 0 in its place. */
TEST(without_the_address_that_functions_count_from, program_open, program_close)
{
	struct go_table table;

	memset(section_bytes(".gopclntab") + 24, 0, 8);
	program_reopen();
	assert_int_equal(go_table_read(program.elf, &table), 0);
	is_the_symbol_table(&table);
	assert_non_null(table.trees);
}

/* A linker of C code puts the table into .data.rel.ro, behind other data: the test gives the
 * section this name, and lets it begin 64 bytes earlier. */
TEST(in_a_section_with_other_data, program_open, program_close)
{
	const Elf64_Ehdr *header = (void *)program.bytes;
	const Elf64_Shdr *sections = (void *)(program.bytes + header->e_shoff);
	char *names = (char *)program.bytes + sections[header->e_shstrndx].sh_offset;
	Elf64_Shdr *section = section_header(".gopclntab");
	Elf64_Shdr *other = section_header(".note.go.buildid");
	struct go_table table;

	section->sh_name = other->sh_name;
	other->sh_name = 0;
	strcpy(names + section->sh_name, ".data.rel.ro");
	section->sh_offset -= 64;
	section->sh_addr -= 64;
	section->sh_size += 64;
	program_reopen();
	assert_int_equal(go_table_read(program.elf, &table), 0);
	is_the_symbol_table(&table);
	assert_non_null(table.trees);
}

struct comparison {
	const struct go_table *table;
	const u64 *addresses;
	u64 equal, different, inlined;
};

static int compare(void *arg, u32 index, const struct code_place *functions, u32 count)
{
	struct comparison *comparison = arg;
	struct code_place places[CODE_PLACES_MAX];
	u32 found = go_table_find_places(comparison->table, comparison->addresses[index], places);
	bool is_equal = found == count;

	if (!count)
		return 0;
	for (u32 i = 0; i < count && is_equal; i++) {
		is_equal = is_same_name(places[i].function, functions[i].function) &&
			   places[i].line == functions[i].line &&
			   places[i].inlined == functions[i].inlined;
	}
	comparison->equal += is_equal;
	comparison->different += !is_equal;
	comparison->inlined += is_equal && count > 1;
	return 0;
}

TEST(inlined_calls_and_lines_are_those_of_the_dwarf, program_open, program_close)
{
	const struct debug_files files = {.code = open(path, O_RDONLY), .debug = -1, .shared = -1};
	u64 *places = malloc(PLACES_MAX * sizeof(*places));
	u64 *addresses = malloc(PLACES_MAX * sizeof(*addresses));
	struct elf_segments segments;
	struct go_function function;
	struct debug_info *info;
	struct go_table table;
	struct comparison comparison = {.table = &table, .addresses = addresses};
	u32 count = 0;

	assert_non_null(places);
	assert_non_null(addresses);
	elf_segments_read(program.elf, &segments);
	assert_int_equal(go_table_read(program.elf, &table), 0);
	for (u64 i = 0; i < table.functions; i++) {
		const struct elf_segment *segment;

		assert_true(go_function_read(&table, i, &function));
		segment = elf_segment_of_address(&segments, function.start);
		for (u64 at = function.start; at < function.end && count < PLACES_MAX; at += STEP) {
			addresses[count] = at;
			places[count++] = segment->offset + at - segment->address;
		}
	}
	assert_int_equal(debug_info_open(&files, 0, &info), 0);
	assert_int_equal(debug_info_find_functions(info, places, count, compare, &comparison), 0);
	printf("%llu equal, %llu of them inlined, %llu different\n",
	       (unsigned long long)comparison.equal, (unsigned long long)comparison.inlined,
	       (unsigned long long)comparison.different);
	assert_true(comparison.inlined > 1000);
	assert_true(comparison.different * 100 < comparison.equal);
	debug_info_close(&info);
	close(files.code);
	free(places);
	free(addresses);
}

/* No read leaves the section: the tests run under sanitizers. */
TEST(damaged_tables, program_open, program_close)
{
	u64 bytes_count = section_header(".gopclntab")->sh_size;
	u8 *bytes = section_bytes(".gopclntab");

	for (u32 i = 0; i < FLIPS; i++) {
		u64 at = i < FLIPS / 4 ? (u64)rand() % 72 : (u64)rand() % bytes_count;
		struct code_place places[CODE_PLACES_MAX];
		struct go_function function;
		struct go_table table;
		u8 kept = bytes[at];

		bytes[at] ^= 1U << rand() % 8;
		program_reopen();
		for (u64 each = 0; !go_table_read(program.elf, &table) && each < 50; each++)
			if (go_function_read(&table, rand() % table.functions, &function))
				assert_in_range(go_table_find_places(&table,
								     function.start + rand() % 64,
								     places),
						0, CODE_PLACES_MAX);
		bytes[at] = kept;
	}
}

int main(void)
{
	int failed = 0;

	if (system("go version >/dev/null 2>&1")) {
		printf("no Go compiler here\n");
		return 77;
	}
	if (!sample_folder_create())
		return 77;
	for (u32 i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		printf("a program for %s\n", samples[i].label);
		sample_build(&samples[i], path);
		failed += unit_tests_run();
	}
	sample_folder_remove();
	return failed;
}
