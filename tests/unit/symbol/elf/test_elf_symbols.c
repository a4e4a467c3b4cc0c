/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs of every kind of linking: each function is compared with the output of nm, readelf and
 * objdump; and the same programs cut off and with flipped bits.
 */
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

#include "sample_program.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/file_identity.h"
#include "trace/event.h"
#include "unit_test.h"

#define NAME_BYTES 512
#define FUNCTIONS_MAX 20000
#define SEGMENTS_MAX 8

static const struct sample samples[] = {
	{"pie", "gcc -O1 -g -fPIE -pie $IN -o $OUT", sample_c, ".c"},
	{"no_pie", "gcc -O1 -fno-pie -no-pie $IN -o $OUT", sample_c, ".c"},
	{"lazy", "gcc -O1 -fPIE -pie -Wl,-z,lazy -fcf-protection=none $IN -o $OUT", sample_c, ".c"},
#ifdef __x86_64__
	{"ibt", "gcc -O1 -fPIE -pie -Wl,-z,now -Wl,-z,ibtplt -fcf-protection $IN -o $OUT", sample_c,
	 ".c"},
#endif
	{"one_segment", "gcc -O1 -no-pie -Wl,-z,noseparate-code $IN -o $OUT", sample_c, ".c"},
	{"moved", "gcc -O1 -no-pie -Wl,-Ttext-segment=0x10000000 $IN -o $OUT", sample_c, ".c"},
	{"static", "gcc -O1 -static $IN -o $OUT", sample_c, ".c"},
	{"static_pie", "gcc -O1 -static-pie -fPIE $IN -o $OUT", sample_c, ".c"},
	{"cxx", "g++ -O1 $IN -o $OUT", sample_cxx, ".cc"},
	{"library", "gcc -O1 -fPIC -shared $IN -o $OUT", sample_c, ".c"},
	{"stripped", "gcc -O1 -fPIC -shared -s $IN -o $OUT", sample_c, ".c"},
	{"versioned",
	 "echo 'V1 { api; main; }; V2 { };' >$OUT.map &&"
	 " gcc -O1 -fPIC -shared -Wl,--version-script=$OUT.map $IN -o $OUT &&"
	 " objcopy -R .dynsym $OUT",
	 sample_versioned, ".c"},
	{"stripped_program", "gcc -O1 -rdynamic -s $IN -o $OUT", sample_c, ".c"},
};

/* A function as the binutils print it. */
struct function {
	u64 offset;
	u64 size; /* 0: unknown */
	char type;
	char name[NAME_BYTES];
};

static struct function *functions;
static int function_count;

struct segment {
	u64 offset, address, bytes;
};

static struct segment segments[SEGMENTS_MAX];
static int segment_count;

static FILE *run(const char *format, const char *path)
{
	char command[1024];
	FILE *pipe;

	snprintf(command, sizeof(command), format, path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	return pipe;
}

static void read_segments(const char *path)
{
	FILE *pipe = run("readelf -lW '%s'", path);
	char line[1024];

	segment_count = 0;
	while (fgets(line, sizeof(line), pipe)) {
		struct segment segment;

		if (sscanf(line, " LOAD %lx %lx %*x %lx", &segment.offset, &segment.address,
			   &segment.bytes) != 3 ||
		    !strstr(line, " R E ") || segment_count == SEGMENTS_MAX)
			continue;
		segments[segment_count++] = segment;
	}
	pclose(pipe);
	assert_int_not_equal(segment_count, 0);
}

static bool to_offset(u64 address, u64 *offset)
{
	for (int i = 0; i < segment_count; i++) {
		if (address - segments[i].address < segments[i].bytes) {
			*offset = address - segments[i].address + segments[i].offset;
			return true;
		}
	}
	return false;
}

static bool parse_nm(const char *line, struct function *function)
{
	u64 address;

	function->size = 0;
	if (sscanf(line, "%lx %lx %c %511s", &address, &function->size, &function->type,
		   function->name) != 4 &&
	    sscanf(line, "%lx %c %511s", &address, &function->type, function->name) != 3)
		return false;
	function->name[1 + strcspn(function->name + 1, "@")] = 0;
	return strchr("tTwWi", function->type) && to_offset(address, &function->offset);
}

static void read_functions(const char *path, const char *command)
{
	FILE *pipe = run(command, path);
	char line[1024];

	while (fgets(line, sizeof(line), pipe) && function_count < FUNCTIONS_MAX)
		function_count += parse_nm(line, &functions[function_count]);
	pclose(pipe);
}

static bool is_known(const char *name, u64 offset, u64 *size)
{
	for (int i = 0; i < function_count; i++) {
		if (functions[i].offset == offset && !strcmp(functions[i].name, name)) {
			*size = functions[i].size;
			return true;
		}
	}
	return false;
}

static struct symbol_table *load_fd(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	struct symbol_table *table;
	u8 build_id[TRACE_BUILD_ID_MAX];

	assert_int_equal(symbol_table_create(&table), 0);
	if (elf) {
		elf_symbols_add(elf, table);
		build_id_from_elf(elf, build_id);
	}
	elf_end(elf);
	return table;
}

static struct symbol_table *load(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct symbol_table *table;

	assert_true(fd >= 0);
	table = load_fd(fd);
	close(fd);
	return table;
}

static bool starts_inside(u64 first, u64 last)
{
	for (int i = 0; i < function_count; i++)
		if (functions[i].size && functions[i].offset > first && functions[i].offset <= last)
			return true;
	return false;
}

/* Checks that the function's first and last byte have its name, or the name of an alias. */
static void check_function(const struct symbol_table *table, const struct function *function)
{
	u64 last = function->offset + function->size - 1;
	struct symbol found;
	u64 size;

	assert_true(symbol_table_find(table, function->offset, &found));
	assert_int_equal(found.start, function->offset);
	assert_true(is_known(found.name, found.start, &size));
	assert_int_equal(found.size, size);
	if (starts_inside(function->offset, last))
		return;
	assert_true(symbol_table_find(table, last, &found));
	assert_true(is_known(found.name, found.start, &size));
	assert_true(found.start == function->offset);
}

static void check_named(const struct symbol_table *table, const char *name)
{
	for (int i = 0; i < function_count; i++) {
		struct symbol found;

		if (strcmp(functions[i].name, name))
			continue;
		assert_true(symbol_table_find(table, functions[i].offset, &found));
		assert_string_equal(found.name, name);
		return;
	}
	fail_msg("%s is not in the program", name);
}

static void check_no_other_names(const struct symbol_table *table)
{
	struct symbol symbol;
	u64 size;

	for (u32 i = 0; symbol_table_at_index(table, i, &symbol); i++)
		if (!strstr(symbol.name, "@plt"))
			assert_true(is_known(symbol.name, symbol.start, &size));
}

/* Checks that the stubs of the table are exactly those of objdump, without those of ifuncs
 * ("*ABS*+0x...@plt"). */
static void check_stubs(const struct symbol_table *table, const char *path)
{
	FILE *pipe = run("objdump -d -j .plt -j .plt.sec -j .plt.got '%s' 2>/dev/null", path);
	int expected = 0, named = 0;
	struct symbol symbol;
	char line[1024], name[NAME_BYTES];
	u64 address, offset;

	while (fgets(line, sizeof(line), pipe)) {
		if (sscanf(line, "%lx <%511[^>]>:", &address, name) != 2 ||
		    !strstr(line, "@plt>:") || strstr(name, "*ABS*"))
			continue;
		assert_true(to_offset(address, &offset));
		assert_true(symbol_table_find(table, offset, &symbol));
		assert_string_equal(symbol.name, name);
		assert_int_equal(symbol.start, offset);
		expected++;
	}
	pclose(pipe);
	for (u32 i = 0; symbol_table_at_index(table, i, &symbol); i++)
		named += !!strstr(symbol.name, "@plt");
	assert_int_equal(named, expected);
}

static void check_sample(const struct sample *sample)
{
	char path[SAMPLE_PATH_BYTES];
	struct symbol_table *table;
	int checked = 0;

	sample_build(sample, path);
	function_count = 0;
	read_segments(path);
	read_functions(path, "nm -S --defined-only '%s' 2>/dev/null");
	read_functions(path, "nm -D -S --defined-only '%s' 2>/dev/null");
	table = load(path);
	for (int i = 0; i < function_count; i++) {
		if (!functions[i].size)
			continue;
		check_function(table, &functions[i]);
		checked++;
	}
	assert_true(checked > 3);
	check_no_other_names(table);
	check_stubs(table, path);
	check_named(table, "main");
	if (sample->source == sample_c) {
		check_named(table, "unsized_asm");
		check_named(table, "shared");
	}
	if (sample->source == sample_versioned)
		check_named(table, "api");
	symbol_table_free(&table);
}

TEST(every_function_has_its_name)
{
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		print_message("  %s\n", samples[i].label);
		check_sample(&samples[i]);
	}
}

/* A function of unknown size with labels for its jumps, and one without a type; stubs as mold makes
 * them, and as ld.lld makes them without indirect jumps. */
static const char assembler[] =
	"int main(void) { return 0; }\n"
	"__asm__(\".text\\n.type typed,@function\\ntyped: nop\\nretry: nop\\nleave: ret\\n\"\n"
	"\".type next,@function\\nnext: nop\\n ret\\n.size next,.-next\\n\"\n"
	"\"untyped: nop\\nhelper: ret\\n\"\n"
	"\".section .plt.other,\\\"ax\\\",@progbits\\n\"\n"
	"\"endbr64\\n movl $1, %r11d\\n jmp *puts@GOTPCREL(%rip)\\n\"\n"
	"\"movq free@GOTPCREL(%rip), %r11\\n .byte 0xe9\\n .long 0, -1\\n\"\n"
	"\"movq abort@GOTPCREL(%rip), %r11\\n .byte 0xe8\\n .long 0, -1, -1, -1, -1, "
	"-1\\n\");\n";

static void check_at(const struct symbol_table *table, const char *label, u64 at, const char *name,
		     u64 bytes)
{
	struct symbol found;
	int i = 0;

	while (i < function_count && strcmp(functions[i].name, label))
		i++;
	assert_in_range(i, 0, function_count - 1);
	assert_true(symbol_table_find(table, functions[i].offset + at, &found));
	assert_string_equal(found.name, name);
	assert_int_equal(found.start, functions[i].offset);
	if (bytes)
		assert_int_equal(found.size, bytes);
}

static u64 stub_bytes(const struct symbol_table *table, const char *name)
{
	struct symbol symbol;

	for (u32 i = 0; symbol_table_at_index(table, i, &symbol); i++)
		if (!strcmp(symbol.name, name))
			return symbol.size;
	return 0;
}

TEST(assembler_names_functions_and_stubs)
{
	const struct sample sample = {"assembler", "gcc -O1 -fPIC -shared $IN -o $OUT", assembler,
				      ".c"};
	char path[SAMPLE_PATH_BYTES];
	struct symbol_table *table;

#ifndef __x86_64__
	printf("the assembler of this machine does not take x86-64's instructions\n");
	skip();
#endif
	sample_build(&sample, path);
	function_count = 0;
	read_segments(path);
	read_functions(path, "nm --defined-only '%s' 2>/dev/null | sed 's/ / 0 /'");
	table = load(path);
	check_at(table, "typed", 2, "typed", 3);
	check_at(table, "next", 1, "next", 2);
	check_at(table, "untyped", 0, "untyped", 1);
	check_at(table, "helper", 0, "helper", 0);
	assert_int_equal(stub_bytes(table, "puts@plt"), 16);
	assert_int_equal(stub_bytes(table, "free@plt"), 16);
	assert_int_equal(stub_bytes(table, "abort@plt"), 32);
	symbol_table_free(&table);
}

/* A library for arm64 has longer stubs if its code has landing pads. */
TEST(stubs_of_arm64_have_names)
{
	static const struct sample libraries[] = {
		{"arm64_pads",
		 "clang-14 --target=aarch64-linux-gnu -O1 -fPIC -shared -nostdlib -fuse-ld=lld "
		 "-mbranch-protection=standard -Wl,-z,force-bti $IN -o $OUT",
		 "void puts(void); void abort(void); void f(void) { puts(); abort(); puts(); }\n",
		 ".c"},
		{"arm64",
		 "clang-14 --target=aarch64-linux-gnu -O1 -fPIC -shared -nostdlib -fuse-ld=lld $IN "
		 "-o $OUT",
		 "void puts(void); void abort(void); void f(void) { puts(); abort(); puts(); }\n",
		 ".c"},
	};

	if (system("ld.lld --version >/dev/null 2>&1 && clang-14 --version >/dev/null 2>&1"))
		skip();
	for (u32 i = 0; i < 2; i++) {
		char path[SAMPLE_PATH_BYTES], line[256], name[NAME_BYTES];
		struct symbol_table *table;
		u64 address, offset;
		FILE *pipe;
		u32 expected = 0;

		sample_build(&libraries[i], path);
		read_segments(path);
		table = load(path);
		pipe = run("llvm-objdump-14 -d -j .plt '%s' 2>/dev/null", path);
		while (fgets(line, sizeof(line), pipe)) {
			struct symbol symbol;

			if (sscanf(line, "%lx <%511[^>]>:", &address, name) != 2 ||
			    !strstr(name, "@plt"))
				continue;
			assert_true(to_offset(address, &offset));
			assert_true(symbol_table_find(table, offset + 4, &symbol));
			assert_string_equal(symbol.name, name);
			assert_int_equal(symbol.start, offset);
			assert_int_equal(symbol.size, i ? 16 : 24);
			expected++;
		}
		pclose(pipe);
		assert_int_equal(expected, 2);
		symbol_table_free(&table);
	}
}

struct image {
	u8 *bytes;
	size_t size;
};

static struct image read_image(const char *path)
{
	struct image image;
	struct stat stat;
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &stat), 0);
	image.size = stat.st_size;
	image.bytes = malloc(image.size);
	assert_non_null(image.bytes);
	assert_int_equal(read(fd, image.bytes, image.size), image.size);
	close(fd);
	return image;
}

/* Any bytes give a table within bounds, which may be empty. */
static void try_bytes(int memory, const u8 *bytes, size_t size)
{
	struct symbol_table *table;
	struct symbol symbol;

	assert_int_equal(ftruncate(memory, 0), 0);
	assert_int_equal(pwrite(memory, bytes, size, 0), size);
	assert_int_equal(lseek(memory, 0, SEEK_SET), 0);
	table = load_fd(memory);
	for (u64 offset = 0; offset < size; offset += 64)
		if (symbol_table_find(table, offset, &symbol))
			assert_true(offset >= symbol.start && offset - symbol.start < symbol.size);
	symbol_table_free(&table);
}

static void cut_everywhere(int memory, const struct image *image)
{
	for (size_t size = 0; size < image->size; size += size < 256 ? 1 : 61)
		try_bytes(memory, image->bytes, size);
}

/* Changes one byte of the headers at a time to three values that damage sizes and offsets. */
static void flip_headers(int memory, struct image *image, size_t from, size_t to)
{
	static const u8 values[] = {0x00, 0x7f, 0xff};

	for (size_t at = from; at < to && at < image->size; at++) {
		u8 kept = image->bytes[at];

		for (size_t i = 0; i < sizeof(values); i++) {
			image->bytes[at] = values[i];
			try_bytes(memory, image->bytes, image->size);
		}
		image->bytes[at] = kept;
	}
}

static void flip_at_random(int memory, struct image *image, int rounds)
{
	srandom(11);
	for (int round = 0; round < rounds; round++) {
		u8 *copy = malloc(image->size);

		assert_non_null(copy);
		memcpy(copy, image->bytes, image->size);
		for (int i = 0; i < 64; i++)
			copy[random() % image->size] ^= 1 << random() % 8;
		try_bytes(memory, copy, image->size);
		free(copy);
	}
}

TEST(damaged_files_never_crash)
{
	char path[SAMPLE_PATH_BYTES];
	struct image image;
	u64 sections;
	int memory = memfd_create("elf", MFD_CLOEXEC);

	assert_true(memory >= 0);
	sample_build(&samples[2], path);
	image = read_image(path);
	memcpy(&sections, image.bytes + offsetof(Elf64_Ehdr, e_shoff), sizeof(sections));
	cut_everywhere(memory, &image);
	flip_headers(memory, &image, 0, 1024);
	flip_headers(memory, &image, sections, image.size);
	flip_at_random(memory, &image, 500);
	free(image.bytes);
	close(memory);
}

static void expect_refused(const char *path)
{
	struct symbol_table *table;
	struct symbol symbol;
	int fd = open(path, O_RDONLY);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	assert_non_null(elf);
	assert_int_equal(symbol_table_create(&table), 0);
	assert_int_equal(elf_symbols_add(elf, table), -ENOEXEC);
	assert_false(symbol_table_at_index(table, 0, &symbol));
	symbol_table_free(&table);
	elf_end(elf);
	close(fd);
}

TEST(files_that_are_no_programs_are_refused)
{
	static const struct sample object = {"object", "gcc -c $IN -o $OUT", sample_c, ".c"};
	char source[SAMPLE_PATH_BYTES + 8], path[SAMPLE_PATH_BYTES];

	sample_build(&object, path);
	expect_refused(path);
	snprintf(source, sizeof(source), "%s.c", path);
	expect_refused(source);
}

/* The expected size comes from readelf. The program has .dynsym with its names, and may have
 * .symtab. */
TEST(sections_of_symbols_have_a_size)
{
	unsigned long bytes, sum = 0;
	char path[64];
	FILE *pipe;
	int fd;
	Elf *elf;

	snprintf(path, sizeof(path), "/proc/%d/exe", getpid());
	pipe = run("readelf -SW %s | sed 's/^ *\\[ *[0-9]*\\] *//' | "
		   "awk '$1 ~ /^[.](symtab|strtab|dynsym|dynstr)$/ { print $5 }'",
		   path);
	while (fscanf(pipe, "%lx", &bytes) == 1)
		sum += bytes;
	pclose(pipe);
	fd = open(path, O_RDONLY);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_true(sum > 0);
	assert_int_equal(elf_symbols_bytes(elf), sum);
	elf_end(elf);
	close(fd);
}

int main(void)
{
	int failed;

	if (!sample_folder_create())
		return 77;
	elf_version(EV_CURRENT);
	functions = calloc(FUNCTIONS_MAX, sizeof(*functions));
	failed = !functions || unit_tests_run();
	free(functions);
	sample_folder_remove();
	return failed;
}
