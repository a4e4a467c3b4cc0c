/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arguments by name, of programs of both compilers, with and without optimisation. Each place is
 * what the calling convention of x86-64 says; tests/e2e/record/test_arguments.py compares values.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample_program.h"
#include "symbol/dwarf/debug_info.h"
#include "unit_test.h"

static const char program_c[] =
	"struct place { long where; short row; unsigned bits : 3; };\n"
	"struct request { int id; struct place at; const struct request *next;\n"
	"  union { unsigned char kind; int other; }; };\n"
	"struct pair { int a, b; }; struct mixed { double d; long n; };\n"
	"struct floats { float x, y, z; }; struct large { long a, b, c; };\n"
	"enum level { LOW = -5, HIGH = 5 }; enum sort { ONE, TWO };\n"
	"struct hidden;\n"
	"volatile long sink;\n"
	"#define noinline __attribute__((noinline))\n"
	"noinline void ints(int a, unsigned char b, const long c, short d, _Bool e, enum level f,\n"
	"  long g, signed char h, enum sort i) { sink += a + b + c + d + e + f + g + h + i; }\n"
	"noinline void many(double x, struct pair p, struct floats q, int n, struct mixed m,\n"
	"  struct large l, __int128 w, int last)\n"
	"{ sink += x + p.a + q.x + n + m.n + l.b + (long)w + last; }\n"
	"noinline struct large made(int n, const struct request *r, struct hidden *h)\n"
	"{ sink += !h; return (struct large){n, r->at.row, r->next->id}; }\n"
	"static noinline int fixed(int unused, int used, int n)\n"
	"{ __asm__ volatile(\"\" ::: \"memory\"); return used + n; }\n"
	"int main(int argc, char **argv) { struct request r = {.next = &r};\n"
	"  ints(argc, 1, 2, 3, 1, LOW, 4, 5, TWO);\n"
	"  many(1, (struct pair){argc, 1}, (struct floats){1, 2, 3}, 4, (struct mixed){5, 6},\n"
	"    (struct large){7, 8, 9}, 10, 11);\n"
	"  sink += made(argc, &r, (void *)argv).a;\n"
	"  return fixed(argc, argc, 7) + fixed(argc + 1, argc, 7); }\n";

static const char program_cxx[] =
	"struct plain { int a; }; struct owner { int x; ~owner(); };\n"
	"struct keeper { owner inside; }; struct copied { long v; copied(const copied &); };\n"
	"struct defaulted { long v; defaulted(const defaulted &) = default; defaulted() = default; "
	"};\n"
	"struct virtually { virtual void f(); long v; };\n"
	"struct empty {}; struct base { int first, second; }; struct derived : base { long third; "
	"};\n"
	"volatile long sink;\n"
	"owner::~owner() { sink++; }\n"
	"copied::copied(const copied &o) : v(o.v) {}\n"
	"namespace shop { class till { public: long sum; int add(int x, const plain &r, bool b);\n"
	"  till(int start); static int shared; }; int till::shared;\n"
	"  till::till(int start) : sum(start) {}\n"
	"  int till::add(int x, const plain &r, bool b) { sink += b; return sum + x + r.a; } }\n"
	"void classes(owner o, int n, keeper k, copied c, int last)\n"
	"{ sink += o.x + n + k.inside.x + c.v + last; }\n"
	"void values(defaulted d, empty e, int n, derived *p, int &r) { sink += d.v + n + "
	"p->second + r; (void)e; }\n"
	"owner result(int n) { owner o; o.x = n; return o; }\n"
	"void hidden_this(virtually v, int n) { sink += v.v + n; }\n"
	"void virtually::f() {}\n"
	"struct exact { long double v; }; exact precise(int n) { sink += n; return exact{1}; }\n"
	"struct maybe { int v; maybe(const maybe &, int = 0); };\n"
	"maybe::maybe(const maybe &o, int) : v(o.v) {}\n"
	"void unsure(maybe m, int n) { sink += m.v + n; }\n"
	"#define noinline __attribute__((noinline))\n"
	"long inner(long n) { struct local { long m; noinline long times(long factor, int more)\n"
	"  { sink += more; return m * factor; } };\n"
	"  auto plus = [n](long x, int y) noinline { sink += y; return n + x; };\n"
	"  local l{n}; return l.times(3, 4) + l.times(n, 5) + plus(6, 7) + plus(n, 8); }\n"
	"int main() { return 0; }\n";

/*
 * A union whose eight members are that union, in DWARF 4: its parts have parts without end. No
 * compiler writes such a thing; the file may hold any bytes.
 */
static const char program_graph[] =
	".globl main, graph\n.text\nmain: graph: nop\nnop\n.Lend:\n"
	".section .debug_abbrev\n"
	".byte 1,0x11,1, 0x13,0x0b, 0x11,0x01, 0x12,0x07, 0,0\n"	    /* unit */
	".byte 2,0x2e,1, 0x03,0x08, 0x3f,0x19, 0x11,0x01, 0x12,0x07, 0,0\n" /* function */
	".byte 3,0x05,0, 0x03,0x08, 0x49,0x13, 0,0\n"			    /* parameter */
	".byte 4,0x17,1, 0x03,0x08, 0x0b,0x0b, 0,0\n"			    /* union */
	".byte 5,0x0d,0, 0x03,0x08, 0x49,0x13, 0,0\n"			    /* member */
	".byte 6,0x24,0, 0x03,0x08, 0x0b,0x0b, 0x3e,0x0b, 0,0\n"	    /* number */
	".byte 7,0x0f,0, 0x49,0x13, 0,0\n"				    /* pointer */
	".byte 0\n"
	".section .debug_info\n"
	".Lunit: .long .Llast - .Lfirst\n.Lfirst: .value 4\n.long .debug_abbrev\n.byte 8\n"
	".byte 1, 4\n.quad graph\n.quad .Lend - graph\n"
	".byte 2\n.string \"graph\"\n.quad graph\n.quad .Lend - graph\n"
	".byte 3\n.string \"p\"\n.long .Lpointer - .Lunit\n"
	".byte 3\n.string \"g\"\n.long .Lunion - .Lunit\n"
	".byte 3\n.string \"n\"\n.long .Lint - .Lunit\n"
	".byte 0\n"
	".Lunion: .byte 4\n.string \"all\"\n.byte 4\n"
	".rept 8\n.byte 5\n.string \"\"\n.long .Lunion - .Lunit\n.endr\n"
	".byte 0\n"
	".Lint: .byte 6\n.string \"int\"\n.byte 4, 5\n"
	".Lpointer: .byte 7\n.long .Lunion - .Lunit\n"
	".byte 0\n.Llast:\n"
	".section .note.GNU-stack,\"\",@progbits\n";

static const struct sample samples_c[] = {
	{"gcc_0", "gcc -O0 -g $IN -o $OUT", program_c, ".c"},
	{"gcc_2", "gcc -O2 -g $IN -o $OUT", program_c, ".c"},
	{"gcc_4", "gcc -O2 -gdwarf-4 $IN -o $OUT", program_c, ".c"},
	{"gcc_types", "gcc -O2 -g -fdebug-types-section $IN -o $OUT", program_c, ".c"},
	{"clang_0", "$CLANG -O0 -g $IN -o $OUT", program_c, ".c"},
	{"clang_2", "$CLANG -O2 -g $IN -o $OUT", program_c, ".c"},
};

static const struct sample samples_cxx[] = {
	{"gxx_0", "g++ -O0 -g $IN -o $OUT", program_cxx, ".cc"},
	{"gxx_2", "g++ -O2 -g $IN -o $OUT", program_cxx, ".cc"},
	{"clangxx_0", "$CLANGXX -O0 -g $IN -o $OUT", program_cxx, ".cc"},
	{"clangxx_2", "$CLANGXX -O2 -g $IN -o $OUT", program_cxx, ".cc"},
};

static const struct sample sample_graph = {"graph", "gcc $IN -o $OUT", program_graph, ".s"};

static struct debug_info *info;
static char path[SAMPLE_PATH_BYTES], reason[DWARF_ARGUMENT_REASON_BYTES];
static int file = -1;

static unsigned long long number_of(const char *command)
{
	unsigned long long number;
	FILE *pipe;

	setenv("OUT", path, 1);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%llx", &number), 1);
	pclose(pipe);
	return number;
}

/* The symbols of the program, as nm prints them, and the difference of addresses and offsets. */
static char symbols[65536];
static u64 bias;

static void open_sample(const struct sample *sample)
{
	struct debug_files files = {.debug = -1, .shared = -1};
	FILE *pipe;

	sample_build(sample, path);
	bias = number_of("readelf -lW \"$OUT\" | awk '/R E/ {print $3}'") -
	       number_of("readelf -lW \"$OUT\" | awk '/R E/ {print $2}'");
	pipe = popen("nm \"$OUT\" | sed 's/$/ /'", "r");
	assert_non_null(pipe);
	symbols[fread(symbols, 1, sizeof(symbols) - 1, pipe)] = '\0';
	pclose(pipe);
	file = files.code = open(path, O_RDONLY);
	assert_true(file >= 0);
	assert_int_equal(debug_info_open(&files, 0, &info), 0);
}

static u64 place_of(const char *symbol)
{
	char word[128], *found;

	snprintf(word, sizeof(word), " %s ", symbol);
	found = strstr(symbols, word);
	assert_non_null(found);
	while (found > symbols && found[-1] != '\n')
		found--;
	return strtoull(found, NULL, 16) - bias;
}

static int close_sample(void **state)
{
	(void)state;
	debug_info_close(&info);
	if (file >= 0)
		close(file);
	file = -1;
	return 0;
}

/* The text of a place: "rdi 4s", "rsp->8 8", "rsi->24->0 1". */
static char text[128];

static int find_argument_of_function(const char *function, const char *argument)
{
	static const char *const registers[] = {"rax", "rdx", "rcx", "rbx", "rsi",
						"rdi", "rbp", "rsp", "r8",  "r9"};
	struct dwarf_argument found;
	char *at = text;
	int err = debug_info_argument(info, place_of(function), function, argument, &found, reason);

	if (err)
		return err;
	at += sprintf(at, "%s", registers[found.reg]);
	if (found.byte)
		at += sprintf(at, "+%u", found.byte);
	for (u32 i = 0; i < found.steps; i++)
		at += sprintf(at, "->%d", found.displacement[i]);
	sprintf(at, " %u%s%s", found.bytes, found.is_signed ? "s" : "",
		found.is_address ? "p" : "");
	return 0;
}

static void assert_argument_location(const char *function, const char *argument,
				     const char *expected)
{
	int err = find_argument_of_function(function, argument);

	if (err)
		fail_msg("%s %s %s: %d %s", path, function, argument, err, reason);
	if (strcmp(text, expected))
		fail_msg("%s %s %s: %s, not %s", path, function, argument, text, expected);
}

static void assert_argument_refused(int code, const char *function, const char *argument,
				    const char *says)
{
	if (find_argument_of_function(function, argument) != code || !strstr(reason, says))
		fail_msg("%s %s %s: %s", path, function, argument, reason);
}

/* The types do not tell the convention; a location does, if the compiler has written one. */
static void assert_argument_right_or_refused(const char *function, const char *argument,
					     const char *expected)
{
	int err = find_argument_of_function(function, argument);

	if (err ? !strstr(reason, "are not all known") : strcmp(text, expected))
		fail_msg("%s %s %s: %s", path, function, argument, err ? reason : text);
}

static bool has_compiler(const struct sample *sample)
{
	return sample->compile[0] != '$' ||
	       !system("{ $CLANG --version && $CLANGXX --version; } >/dev/null 2>&1");
}

static void check_c(void)
{
	assert_argument_location("ints", "a", "rdi 4s");
	assert_argument_location("ints", "b", "rsi 1");
	assert_argument_location("ints", "c", "rdx 8s");
	assert_argument_location("ints", "d", "rcx 2s");
	assert_argument_location("ints", "e", "r8 1");
	assert_argument_location("ints", "f", "r9 4s");
	assert_argument_location("ints", "g", "rsp->8 8s");
	assert_argument_location("ints", "h", "rsp->16 1s");
	assert_argument_location("ints", "i", "rsp->24 4");
	assert_argument_location("many", "p.a", "rdi 4s");
	assert_argument_location("many", "p.b", "rdi+4 4s");
	assert_argument_location("many", "n", "rsi 4s");
	assert_argument_location("many", "m.n", "rdx 8s");
	assert_argument_location("many", "l.b", "rsp->16 8s");
	assert_argument_location("many", "last", "r9 4s");
	assert_argument_refused(-EOPNOTSUPP, "many", "x",
				"x is not in a register for integers at the entry of many");
	assert_argument_refused(-EOPNOTSUPP, "many", "q", "q is not in a register for integers");
	assert_argument_refused(-EINVAL, "many", "w", "w is no number of up to 64 bits");
	assert_argument_refused(-EINVAL, "many", "l",
				"l is a structure, not a number; name a member");
	assert_argument_refused(-ENOENT, "many", "length",
				"many has no parameter length; it has x, p, q, n, m, l, w, last");
	assert_argument_location("made", "n", "rsi 4s");
	assert_argument_location("made", "r", "rdx 8p");
	assert_argument_location("made", "h", "rcx 8p");
	assert_argument_location("made", "r->id", "rdx->0 4s");
	assert_argument_location("made", "r->at.row", "rdx->16 2s");
	assert_argument_location("made", "r->next->next->at.where", "rdx->24->24->8 8s");
	assert_argument_location("made", "r->kind", "rdx->32 1");
	assert_argument_refused(-E2BIG, "made", "r->next->next->next->next->id",
				"more than 4 pointers");
	assert_argument_refused(-EINVAL, "made", "r.id", "no structure stands before id");
	assert_argument_refused(-EINVAL, "made", "n->id", "no pointer stands before ->");
	assert_argument_refused(-EINVAL, "made", "r->at", "r->at is a structure");
	assert_argument_refused(-ENOENT, "made", "r->size",
				"request has no member size; it has id, at, next, kind, other");
	assert_argument_refused(-EOPNOTSUPP, "made", "r->at.bits", "bits is a member of some bits");
	assert_argument_refused(-EOPNOTSUPP, "made", "h->x",
				"hidden is only declared where made is");
}

TEST(places_in_c_are_those_of_the_convention, NULL, close_sample)
{
	for (size_t i = 0; i < sizeof(samples_c) / sizeof(*samples_c); i++) {
		if (!has_compiler(&samples_c[i]))
			continue;
		open_sample(&samples_c[i]);
		check_c();
		close_sample(NULL);
	}
}

static void check_cxx(void)
{
	assert_argument_location("_ZN4shop4till3addEiRK5plainb", "this", "rdi 8p");
	assert_argument_location("_ZN4shop4till3addEiRK5plainb", "this->sum", "rdi->0 8s");
	assert_argument_location("_ZN4shop4till3addEiRK5plainb", "x", "rsi 4s");
	assert_argument_location("_ZN4shop4till3addEiRK5plainb", "r.a", "rdx->0 4s");
	assert_argument_location("_ZN4shop4till3addEiRK5plainb", "b", "rcx 1");
	assert_argument_location("_ZN4shop4tillC1Ei", "start", "rsi 4s");
	assert_argument_location("_Z7classes5owneri6keeper6copiedi", "n", "rsi 4s");
	assert_argument_location("_Z7classes5owneri6keeper6copiedi", "o.x", "rdi->0 4s");
	assert_argument_location("_Z7classes5owneri6keeper6copiedi", "k.inside.x", "rdx->0 4s");
	assert_argument_location("_Z7classes5owneri6keeper6copiedi", "c.v", "rcx->0 8s");
	assert_argument_location("_Z7classes5owneri6keeper6copiedi", "last", "r8 4s");
	assert_argument_location("_Z6values9defaulted5emptyiP7derivedRi", "d.v", "rdi 8s");
	assert_argument_location("_Z6values9defaulted5emptyiP7derivedRi", "n", "rsi 4s");
	assert_argument_location("_Z6values9defaulted5emptyiP7derivedRi", "p->second", "rdx->4 4s");
	assert_argument_location("_Z6values9defaulted5emptyiP7derivedRi", "p->third", "rdx->8 8s");
	assert_argument_location("_Z6values9defaulted5emptyiP7derivedRi", "r", "rcx->0 4s");
	assert_argument_location("_Z6resulti", "n", "rsi 4s");
	assert_argument_location("_Z11hidden_this9virtuallyi", "n", "rsi 4s");
	assert_argument_right_or_refused("_Z7precisei", "n", "rdi 4s");
	assert_argument_right_or_refused("_Z6unsure5maybei", "m.v", "rdi->0 4s");
	assert_argument_right_or_refused("_Z6unsure5maybei", "n", "rsi 4s");
}

TEST(places_in_cxx_are_those_of_the_convention, NULL, close_sample)
{
	for (size_t i = 0; i < sizeof(samples_cxx) / sizeof(*samples_cxx); i++) {
		if (!has_compiler(&samples_cxx[i]))
			continue;
		open_sample(&samples_cxx[i]);
		check_cxx();
		close_sample(NULL);
	}
}

/* The name of a lambda is the compiler's own. */
static const char *lambda_name(void)
{
	return strstr(symbols, "_ZZ5innerlENKUlliE_clEli") ? "_ZZ5innerlENKUlliE_clEli"
							   : "_ZZ5innerlENK3$_0clEli";
}

TEST(lambdas_and_classes_in_functions_have_arguments, NULL, close_sample)
{
	for (size_t i = 0; i < sizeof(samples_cxx) / sizeof(*samples_cxx); i++) {
		if (!has_compiler(&samples_cxx[i]))
			continue;
		open_sample(&samples_cxx[i]);
		assert_argument_location("_ZZ5innerlEN5local5timesEli", "factor", "rsi 8s");
		assert_argument_location("_ZZ5innerlEN5local5timesEli", "more", "rdx 4s");
		assert_argument_location(lambda_name(), "x", "rsi 8s");
		assert_argument_location(lambda_name(), "y", "rdx 4s");
		close_sample(NULL);
	}
}

/* A search that follows every way does not end. */
TEST(types_that_lead_to_too_many_others_are_refused, NULL, close_sample)
{
	open_sample(&sample_graph);
	assert_argument_refused(-E2BIG, "graph", "n", "lead to more than 262144 others");
	assert_argument_refused(-E2BIG, "graph", "p->none", "more than 262144 members");
}

/* GCC removes `unused` and the constant from the function that it makes of `fixed`. */
TEST(a_clone_has_only_what_the_compiler_says, NULL, close_sample)
{
	char symbol[64];
	FILE *names;

	open_sample(&samples_c[1]);
	setenv("OUT", path, 1);
	names = popen("nm \"$OUT\" | awk '$3 ~ /^fixed/ {print $3}'", "r");
	assert_non_null(names);
	assert_int_equal(fscanf(names, "%63s", symbol), 1);
	pclose(names);
	assert_non_null(strchr(symbol, '.'));
	assert_argument_location(symbol, "used", "rdi 4s");
	assert_argument_refused(-EOPNOTSUPP, symbol, "unused", "may have changed how fixed.");
	assert_argument_refused(-EOPNOTSUPP, symbol, "n", "may have changed how fixed.");
}

TEST(a_static_function_without_optimisation_has_the_convention, NULL, close_sample)
{
	open_sample(&samples_c[0]);
	assert_argument_location("fixed", "unused", "rdi 4s");
	assert_argument_location("fixed", "n", "rdx 4s");
}

TEST(only_entries_of_functions_have_arguments, NULL, close_sample)
{
	struct dwarf_argument found;

	open_sample(&samples_c[0]);
	assert_int_equal(debug_info_argument(info, 1, "ints", "a", &found, reason), -ENODATA);
	assert_int_equal(
		debug_info_argument(info, place_of("ints") + 4, "ints", "a", &found, reason),
		-ENODATA);
}

#define DAMAGES 200

/* Damages bytes of the sections with debug information, each time others. */
TEST(damaged_debug_information_gives_an_error_or_a_place, NULL, close_sample)
{
	static const char *const names[] = {"last", "n", "r->next->at.row", "nothing", "p.a"};
	unsigned long long start, bytes;
	u64 place;
	u8 byte;

	open_sample(&samples_c[1]);
	place = place_of("many");
	start = number_of("readelf -SW \"$OUT\" | awk '/ \\.debug_info / {print $(NF - 6)}'");
	bytes = number_of("readelf -SW \"$OUT\" | awk '/ \\.debug_str / {print $(NF - 6)}'") -
		start;
	close_sample(NULL);
	srand(1);
	for (u32 i = 0; i < DAMAGES; i++) {
		struct debug_files files = {.debug = -1, .shared = -1};
		u64 at = start + (u64)rand() % bytes;
		struct dwarf_argument found;
		u8 damaged = (u8)rand();

		file = files.code = open(path, O_RDWR);
		assert_int_equal(pread(file, &byte, 1, (off_t)at), 1);
		assert_int_equal(pwrite(file, &damaged, 1, (off_t)at), 1);
		if (!debug_info_open(&files, 0, &info))
			for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
				if (!debug_info_argument(info, place, "many", names[n], &found,
							 reason))
					assert_in_range(found.bytes, 1, 8);
		debug_info_close(&info);
		assert_int_equal(pwrite(file, &byte, 1, (off_t)at), 1);
		close(file);
		file = -1;
	}
}

static int setup(void **state)
{
	bool oldest = !system("clang-14 --version >/dev/null 2>&1");

	(void)state;
	setenv("CLANG", oldest ? "clang-14" : "clang", 0);
	setenv("CLANGXX", oldest ? "clang++-14" : "clang++", 0);
	return sample_folder_create() ? 0 : -1;
}

TEST_GROUP(setup, sample_folder_teardown)

int main(void)
{
	if (system("gcc --version >/dev/null 2>&1 && readelf --version >/dev/null 2>&1")) {
		puts("skipped: gcc and binutils are not installed");
		return 77;
	}
	return unit_tests_run();
}
