/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every byte of every function of programs with inlined code: functions, files and lines are those
 * of addr2line, with DWARF of each version and compiler, in the program or in a split file.
 * Functions that a linker has discarded stay in the DWARF at address 0, and must not name other
 * code; but real code at 0 has its names.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample_program.h"
#include "symbol/dwarf/debug_info.h"
#include "unit_test.h"

#define PLACES_MAX 100000
#define TEXT_BYTES 16384

static const char inlining_c[] =
	"#include <stdlib.h>\n"
	"static inline __attribute__((always_inline)) int innermost(int x)\n"
	"{ return rand() / (x | 1); }\n"
	"static inline __attribute__((always_inline)) int middle(int x)\n"
	"{ int sum = 0; for (int i = 0; i < x; i++) sum += innermost(i) ^ x; return sum; }\n"
	"int outer(int x) { return middle(x) - middle(x + 1); }\n"
	"static __attribute__((noinline)) int each(int (*step)(int), int n)\n"
	"{ int sum = 0; while (n--) sum += step(n); return sum; }\n"
	"#ifdef NESTED\n"
	"int with_nested(int n)\n"
	"{ int nested(int x) { return middle(x) + n; } return each(nested, n); }\n"
	"#else\n"
	"int with_nested(int n) { return each(outer, n); }\n"
	"#endif\n"
	"__attribute__((cold, noinline)) static void complain(int x) { if (x) abort(); }\n"
	"int main(int argc, char **argv)\n"
	"{ if (argc > 3) complain(outer(argc)); return with_nested(argc) + !argv; }\n";

static const char inlining_cxx[] =
	"#include <algorithm>\n"
	"#include <map>\n"
	"#include <string>\n"
	"#include <vector>\n"
	"namespace shop {\n"
	"struct till { std::map<std::string, int> sums;\n"
	"  int add(const std::string &who, int n) { return sums[who] += n; } };\n"
	"template <typename T> struct shelf { std::vector<T> items;\n"
	"  T best() const { return *std::max_element(items.begin(), items.end()); } };\n"
	"}\n"
	"inline bool falls(int a, int b) { return a > b; }\n"
	"int main(int argc, char **argv) {\n"
	"  shop::till till; shop::shelf<int> shelf;\n"
	"  for (int i = 0; i < argc; i++) shelf.items.push_back(till.add(argv[0], i));\n"
	"  std::sort(shelf.items.begin(), shelf.items.end(), falls);\n"
	"  return shelf.best();\n"
	"}\n";

/* The discarded function is larger than everything before the text; one function that stays has no
 * DWARF. */
static const char discarding_c[] =
	"static inline __attribute__((always_inline)) void part(void)\n"
	"{ __asm__ volatile(\".skip 0x80000, 0x90\"); }\n"
	"void thrown_away(int x) { if (x) part(); part(); }\n"
	"void foreign(void);\n"
	"__asm__(\".section .text.foreign, \\\"ax\\\"\\n.globl foreign\\n\"\n"
	"        \".type foreign, @function\\nforeign:\\n.skip 64, 0x90\\n ret\\n\"\n"
	"        \".size foreign, .-foreign\\n.text\\n\");\n"
	"__attribute__((noinline)) void kept(void) { __asm__ volatile(\".rept 32\\n nop\\n "
	".endr\"); }\n"
	"int main(void) { foreign(); kept(); return 0; }\n";

static const char at_zero_c[] =
	"static inline __attribute__((always_inline)) int part(int x) { return x / 3; }\n"
	"int first(int x) { return part(x) + 1; }\n"
	"int second(int x) { return part(x) * 7; }\n";

#define SPLIT                                                                                      \
	" && objcopy --only-keep-debug $OUT $OUT.debug && objcopy -S $OUT &&"                      \
	" objcopy --add-gnu-debuglink=$OUT.debug $OUT"

static const struct sample samples[] = {
	{"dwarf5", "gcc -O2 -gdwarf-5 $IN -o $OUT", inlining_c, ".c"},
	{"dwarf4", "gcc -O2 -gdwarf-4 $IN -o $OUT", inlining_c, ".c"},
	{"dwarf2", "gcc -O2 -gdwarf-2 $IN -o $OUT", inlining_c, ".c"},
	{"packed", "gcc -O2 -g -gz $IN -o $OUT", inlining_c, ".c"},
	{"no_pie", "gcc -O2 -g -no-pie $IN -o $OUT", inlining_c, ".c"},
	{"nested", "gcc -O2 -g -DNESTED $IN -o $OUT", inlining_c, ".c"},
	{"relative", "cd $(dirname $IN) && gcc -O2 -g $(basename $IN) -o $OUT", inlining_c, ".c"},
	{"clang", "$CLANG -O2 -g $IN -o $OUT", inlining_c, ".c"},
	{"clang_cxx", "$CLANGXX -O2 -g $IN -o $OUT", inlining_cxx, ".cc"},
	{"cxx", "g++ -O2 -g $IN -o $OUT", inlining_cxx, ".cc"},
	{"split", "gcc -O2 -g -no-pie $IN -o $OUT" SPLIT, inlining_c, ".c"},
};

#define GC_SECTIONS " -ffunction-sections -Wl,--gc-sections $IN -o $OUT"

static const struct sample discarding[] = {
	{"gc5", "gcc -O2 -gdwarf-5" GC_SECTIONS, discarding_c, ".c"},
	{"gc4", "gcc -O2 -gdwarf-4" GC_SECTIONS, discarding_c, ".c"},
	{"gc_low", "gcc -O2 -g -Wl,-z,noseparate-code" GC_SECTIONS, discarding_c, ".c"},
	{"gc_split", "gcc -O2 -g" GC_SECTIONS SPLIT, discarding_c, ".c"},
	{"gc_clang", "$CLANG -O2 -g" GC_SECTIONS, discarding_c, ".c"},
	{"gc_lld", "gcc -O2 -g -fuse-ld=lld" GC_SECTIONS, discarding_c, ".c"},
};

static const struct sample at_zero = {
	"at_zero", "gcc -O2 -g -shared -nostdlib -Wl,-Ttext=0 $IN -o $OUT", at_zero_c, ".c"};

/* A place with two texts: addr2line's result, and the result of the debug information. */
struct place {
	u64 address;
	char expected[TEXT_BYTES];
};

static u64 places[PLACES_MAX];
static u32 place_count;

static FILE *open_output_of_command(const char *format, const char *path)
{
	char command[1024];
	FILE *pipe;

	snprintf(command, sizeof(command), format, path, path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	return pipe;
}

/* Addresses of the functions that the compiler made; those of the C library's startup files have no
 * debug information. */
static void list_addresses(const char *debug, const char *addresses)
{
	FILE *symbols = open_output_of_command("nm -S --defined-only '%s'", debug),
	     *list = fopen(addresses, "w");
	unsigned long long start, size;
	char line[4096], type;

	assert_non_null(list);
	while (fgets(line, sizeof(line), symbols)) {
		if (sscanf(line, "%llx %llx %c", &start, &size, &type) != 3 ||
		    !strchr("tTwW", type) || strstr(line, " _start\n"))
			continue;
		for (u64 i = 0; i < size; i++)
			fprintf(list, "0x%llx\n", start + i);
	}
	pclose(symbols);
	fclose(list);
}

/* The difference of addresses and file offsets. */
static u64 bias_of(const char *path)
{
	FILE *headers = open_output_of_command("readelf -lW '%s' | grep 'R E'", path);
	unsigned long long offset, address;

	assert_int_equal(fscanf(headers, " LOAD %llx %llx", &offset, &address), 2);
	pclose(headers);
	return address - offset;
}

struct expectation {
	u64 place;
	char text[TEXT_BYTES];
};

static struct expectation *expectations;

/* Adds a line to the expected text, which has "function\nfile:line\n" for each function. */
static void add_line(struct expectation *expected, const char *line, bool is_name)
{
	char copy[4096], *note;
	size_t used = strlen(expected->text);

	snprintf(copy, sizeof(copy), "%s", line);
	note = strstr(copy, " (discriminator");
	if (note)
		strcpy(note, "\n");
	if (!is_name && !strcmp(strrchr(copy, ':'), ":?\n"))
		strcpy(strrchr(copy, ':'), ":0\n");
	assert_true(used + strlen(copy) < TEXT_BYTES);
	strcpy(expected->text + used, copy);
}

/* The addr2line of binutils 2.40 misses code that clang inlines. */
static const char *addr2line_for(const char *compile)
{
	return strncmp(compile, "$CLANG", 6) ? "addr2line" : "$LLVM_ADDR2LINE";
}

static void ask_addr2line(const char *program, const char *debug, u64 bias)
{
	char command[1024], line[4096];
	struct expectation *expected = NULL;
	bool is_name = true;
	FILE *answer;

	snprintf(command, sizeof(command), "%s -a -i -f -e '%s' <'%s/addresses'", program, debug,
		 sample_folder());
	answer = popen(command, "r");
	assert_non_null(answer);
	place_count = 0;
	while (fgets(line, sizeof(line), answer)) {
		unsigned long long address;

		if (sscanf(line, "0x%llx\n", &address) == 1) {
			assert_true(place_count < PLACES_MAX);
			expected = &expectations[place_count++];
			*expected = (struct expectation){.place = address - bias};
			is_name = true;
			continue;
		}
		assert_non_null(expected);
		add_line(expected, line, is_name);
		is_name = !is_name;
	}
	pclose(answer);
}

static int by_place(const void *left, const void *right)
{
	const struct expectation *a = left, *b = right;

	return (a->place > b->place) - (a->place < b->place);
}

static u32 compared, inlined;

static int compare(void *arg, u32 index, const struct code_place *functions, u32 count)
{
	char text[TEXT_BYTES] = "", path[CODE_PATH_BYTES];

	(void)arg;
	if (!count)
		return 0;
	for (u32 i = 0; i < count; i++) {
		size_t used = strlen(text);

		if (!code_place_path(&functions[i], path))
			strcpy(path, "??");
		assert_int_equal(functions[i].inlined, i + 1 < count);
		snprintf(text + used, sizeof(text) - used, "%s\n%s:%u\n", functions[i].function,
			 path, functions[i].line);
	}
	assert_string_equal(text, expectations[index].text);
	compared++;
	inlined += count > 1;
	return 0;
}

static void compare_all(const char *code, const char *debug)
{
	struct debug_files files = {open(code, O_RDONLY), debug ? open(debug, O_RDONLY) : -1, -1};
	struct debug_info *info;

	qsort(expectations, place_count, sizeof(*expectations), by_place);
	for (u32 i = 0; i < place_count; i++)
		places[i] = expectations[i].place;
	compared = inlined = 0;
	assert_int_equal(debug_info_open(&files, 0, &info), 0);
	assert_int_equal(debug_info_find_functions(info, places, place_count, compare, NULL), 0);
	debug_info_close(&info);
	assert_null(info);
	close(files.code);
	if (debug)
		close(files.debug);
}

/* True if compiler and linker of the sample are installed; otherwise the sample is left out. */
static bool has_tools(const struct sample *sample)
{
	if (strstr(sample->compile, "lld"))
		return !system("ld.lld --version >/dev/null 2>&1");
	return strncmp(sample->compile, "$CLANG", 6) ||
	       !system("{ $CLANG --version && $CLANGXX --version && $LLVM_ADDR2LINE --version; }"
		       " >/dev/null 2>&1");
}

TEST(each_byte_has_the_names_of_addr2line)
{
	char path[SAMPLE_PATH_BYTES], debug[SAMPLE_PATH_BYTES + 8], list[SAMPLE_PATH_BYTES];

	expectations = calloc(PLACES_MAX, sizeof(*expectations));
	assert_non_null(expectations);
	snprintf(list, sizeof(list), "%s/addresses", sample_folder());
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		bool split = strstr(samples[i].compile, "debuglink");

		if (!has_tools(&samples[i]))
			continue;
		sample_build(&samples[i], path);
		snprintf(debug, sizeof(debug), "%s%s", path, split ? ".debug" : "");
		list_addresses(debug, list);
		ask_addr2line(addr2line_for(samples[i].compile), debug, bias_of(path));
		compare_all(path, split ? debug : NULL);
		printf("%s: %u of %u bytes, %u inlined\n", samples[i].label, compared, place_count,
		       inlined);
		assert_true(compared > 100);
		assert_true(inlined > 50);
		assert_true(place_count - compared < 400); /* places of startup files */
	}
	free(expectations);
}

#define SYMBOL_BYTES_MAX 256

struct named {
	char *function; /* the outermost function */
	u32 line;
};

static int keep_name(void *arg, u32 index, const struct code_place *functions, u32 count)
{
	struct named *named = (struct named *)arg + index;

	if (!count)
		return 0;
	named->function = strdup(functions[count - 1].function);
	named->line = functions[count - 1].line;
	return 0;
}

/* Sets `places` to those of a symbol. */
static void find_symbol(const char *path, const char *debug, const char *symbol)
{
	unsigned long long start, size;
	FILE *list;

	setenv("SYMBOL", symbol, 1);
	list = open_output_of_command("nm -S '%s' | grep \" $SYMBOL$\"", debug);
	assert_int_equal(fscanf(list, "%llx %llx", &start, &size), 2);
	pclose(list);
	assert_in_range(size, 1, SYMBOL_BYTES_MAX);
	place_count = size;
	for (u64 i = 0; i < size; i++)
		places[i] = start - bias_of(path) + i;
}

static void name_places(const char *path, const char *debug, struct named *named)
{
	struct debug_files files = {open(path, O_RDONLY), open(debug, O_RDONLY), -1};
	struct debug_info *info;

	assert_int_equal(debug_info_open(&files, 0, &info), 0);
	assert_int_equal(debug_info_find_functions(info, places, place_count, keep_name, named), 0);
	assert_false(debug_info_is_damaged(info));
	debug_info_close(&info);
	close(files.code);
	close(files.debug);
}

/* `function` NULL: the code has no name. */
static void assert_bytes_are_of_function(const struct sample *sample, const char *symbol,
					 const char *function, u32 line)
{
	bool split = strstr(sample->compile, SPLIT);
	char path[SAMPLE_PATH_BYTES], debug[SAMPLE_PATH_BYTES + 8];
	struct named named[SYMBOL_BYTES_MAX] = {};

	snprintf(path, sizeof(path), "%s/%s", sample_folder(), sample->label);
	snprintf(debug, sizeof(debug), "%s%s", path, split ? ".debug" : "");
	find_symbol(path, debug, symbol);
	name_places(path, debug, named);
	for (u32 i = 0; i < place_count; i++) {
		assert_string_equal(named[i].function ?: "none", function ?: "none");
		assert_int_equal(named[i].line, line);
		free(named[i].function);
	}
}

TEST(discarded_functions_name_no_code)
{
	char path[SAMPLE_PATH_BYTES];

	for (size_t i = 0; i < sizeof(discarding) / sizeof(discarding[0]); i++) {
		if (!has_tools(&discarding[i]))
			continue;
		sample_build(&discarding[i], path);
		assert_bytes_are_of_function(&discarding[i], "foreign", NULL, 0);
		assert_bytes_are_of_function(&discarding[i], "kept", "kept", 8);
		assert_bytes_are_of_function(&discarding[i], "main", "main", 9);
	}
}

TEST(code_at_address_0_has_its_names)
{
	char path[SAMPLE_PATH_BYTES];

	sample_build(&at_zero, path);
	assert_bytes_are_of_function(&at_zero, "first", "first", 2);
	assert_bytes_are_of_function(&at_zero, "second", "second", 3);
}

static int setup(void **state)
{
	bool oldest = !system("clang-14 --version >/dev/null 2>&1");

	(void)state;
	setenv("CLANG", oldest ? "clang-14" : "clang", 0);
	setenv("CLANGXX", oldest ? "clang++-14" : "clang++", 0);
	setenv("LLVM_ADDR2LINE", oldest ? "llvm-addr2line-14" : "llvm-addr2line", 0);
	return sample_folder_create() ? 0 : -1;
}

TEST_GROUP(setup, sample_folder_teardown)

int main(void)
{
	if (system("gcc --version >/dev/null 2>&1 && addr2line --version >/dev/null 2>&1")) {
		puts("skipped: gcc and binutils are not installed");
		return 77;
	}
	return unit_tests_run();
}
