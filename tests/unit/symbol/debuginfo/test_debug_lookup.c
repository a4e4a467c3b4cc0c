/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An inlined function is found, with its line, in each place where its debug information may be;
 * but never in a file with another build id, or in a path that is no regular file. Requests go
 * through a sandbox, as in a report.
 */
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample_program.h"
#include "symbol/debuginfo/debug_lookup.h"
#include "symbol/file/mapped_file.h"
#include "unit_test.h"

/* The code of `inner` is between two labels, inside `outer`. dwz moves the types to a shared file.
 */
static const char source[] = "static inline __attribute__((always_inline)) void inner(void)\n"
			     "{ __asm__ volatile(\".globl begin\\nbegin: nop; nop; nop\"); }\n"
			     "__attribute__((noinline)) void outer(void) { inner();\n"
			     " __asm__ volatile(\"nop\"); }\n"
			     "int _stext(void) { outer(); return 0; }\n"
			     "__asm__(\".globl _start\\n_start: nop\");\n"
			     "struct wide { int one, two, three; struct wide *next; } wide;\n"
			     "struct wider { struct wide a, b; const char *names[9]; } wider;\n";

#define BUILD "gcc -O2 -g -nostdlib -static -Wl,--build-id -Wl,-e,_start $IN -o $OUT"
#define SPLIT "objcopy --only-keep-debug $OUT $OUT.debug && objcopy -S $OUT"

static struct debug_lookup *lookup;
static char notes[1024];
static char path[SAMPLE_PATH_BYTES]; /* path of the program */

static void keep_note(void *arg, const char *file, const char *why)
{
	(void)arg;
	snprintf(notes, sizeof(notes), "%s: %s", file, why);
}

static void start(const struct debug_choice *choice)
{
	struct debug_choice noted = *choice;

	noted.note = keep_note;
	notes[0] = 0;
	debug_lookup_free(&lookup);
	assert_int_equal(debug_lookup_create(&noted, &lookup), 0);
}

static void shell(const char *command)
{
	char text[2048];

	snprintf(text, sizeof(text), "cd '%s' && OUT=%s && %s", sample_folder(), path, command);
	assert_int_equal(system(text), 0);
}

static u64 number_of(const char *command)
{
	unsigned long long number;
	char text[2048];
	FILE *pipe;

	snprintf(text, sizeof(text), "OUT=%s; %s", path, command);
	pipe = popen(text, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%llx", &number), 1);
	pclose(pipe);
	return number;
}

static struct trace_mapping mapping;
static u64 begin;		   /* file offset of the label */
static struct elf_segment segment; /* segment of the code */

/* Builds the program, and reads its facts before a test splits it. */
static void build(const char *label, const char *compile)
{
	struct sample sample = {label, compile, source, ".c"};
	int file;

	sample_build(&sample, path);
	segment = (struct elf_segment){
		.address = number_of("readelf -lW $OUT | awk '/R E/ { print $3 }'"),
		.offset = number_of("readelf -lW $OUT | awk '/R E/ { print $2 }'"),
		.bytes = number_of("readelf -lW $OUT | awk '/R E/ { print $5 }'"),
	};
	begin = number_of("nm $OUT | grep ' begin$'") - segment.address + segment.offset;
	mapping = (struct trace_mapping){
		.number = 1, .kind = MAPPING_FILE, .tgid = getpid(), .path = path};
	file = open(path, O_RDONLY);
	mapping.build_id_bytes = mapped_file_build_id(file, mapping.build_id);
	close(file);
	assert_int_equal(mapping.build_id_bytes, 20);
}

static struct debug_names *names;

static struct debug_code code = {.mapping = &mapping};

static int find(void)
{
	const u64 places[] = {0, begin, begin + 1};

	debug_names_free(&names);
	return debug_lookup_find_names(lookup, &code, places, 3, &names);
}

static void expect_inlined(void)
{
	const struct debug_name *name;

	assert_int_equal(find(), 0);
	name = debug_names_at(names, begin);
	assert_non_null(name);
	assert_int_equal(name->count, 2);
	assert_string_equal(name->functions[0].function, "inner");
	assert_int_equal(name->functions[0].line, 2);
	assert_true(name->functions[0].inlined);
	assert_string_equal(name->functions[1].function, "outer");
	assert_int_equal(name->functions[1].line, 3);
	assert_false(name->functions[1].inlined);
	assert_string_equal(strrchr(name->functions[1].file, '.'), ".c");
	assert_null(debug_names_at(names, 0));
	debug_names_free(&names);
}

static void expect_nothing(void)
{
	assert_int_equal(find(), -ENOENT);
}

static void limit_memory(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

/* With each limit of memory the file is read, or the error is the lack of memory. */
TEST(lack_of_memory_is_no_damage)
{
	rlim_t bytes = 8 << 20;
	u32 refused = 0;
	bool is_read = false;

	build("memory",
	      "for i in $(seq 20000); do echo \"struct s$i { int a, b; struct s$i *next; } "
	      "v$i;\"; done >>$IN; " BUILD " -gz");
	while (!is_read) {
		const struct debug_choice choice = {.note = keep_note};
		int result;

		bytes += 1 << 20;
		notes[0] = 0;
		debug_lookup_free(&lookup);
		limit_memory(bytes);
		result = debug_lookup_create(&choice, &lookup) ?: find();
		limit_memory(RLIM_INFINITY);
		is_read = !result && !notes[0];
		assert_true(is_read || !notes[0] ||
			    strstr(notes, "it takes too much memory to read"));
		refused += notes[0] != 0;
	}
	assert_true(refused);
	expect_inlined();
}

TEST(names_are_found_in_the_file_itself)
{
	build("itself", BUILD);
	start(&(struct debug_choice){});
	expect_inlined();
	assert_string_equal(notes, "");
}

TEST(names_are_found_by_a_debug_link)
{
	build("linked", BUILD);
	start(&(struct debug_choice){});
	shell(SPLIT " && objcopy --add-gnu-debuglink=$OUT.debug $OUT");
	expect_inlined();
	shell("mkdir .debug && mv $OUT.debug .debug");
	expect_inlined();
	shell("mkdir -p root/usr/lib/debug$PWD && mv .debug/*.debug root/usr/lib/debug$PWD");
	expect_nothing();
}

TEST(names_are_found_below_a_sysroot)
{
	char root[SAMPLE_PATH_BYTES + 8];

	build("below", BUILD);
	snprintf(root, sizeof(root), "%s/system", sample_folder());
	start(&(struct debug_choice){.sysroot = root});
	shell(SPLIT " && id=$(readelf -n $OUT | awk '/Build ID/ { print $3 }') &&"
		    " to=system/usr/lib/debug/.build-id/$(echo $id | cut -c1-2) &&"
		    " mkdir -p $to system$PWD && mv $OUT.debug $to/$(echo $id | cut -c3-).debug");
	expect_inlined();
	shell("mv $OUT system$PWD");
	expect_inlined();
	start(&(struct debug_choice){});
	expect_nothing();
}

/* The server is a folder, as libdebuginfod also supports file: URLs. */
static void start_servers(enum debug_servers servers)
{
	char url[SAMPLE_PATH_BYTES + 32], cache[SAMPLE_PATH_BYTES + 16];

	snprintf(url, sizeof(url), "file://%s/server", sample_folder());
	snprintf(cache, sizeof(cache), "%s/fetched", sample_folder());
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	shell("rm -rf server fetched");
	start(&(struct debug_choice){.servers = servers});
}

/* Puts $FILE on the server as the $KIND of its build id. */
#define SERVE                                                                                      \
	"to=server/buildid/$(readelf -n $FILE | awk '/Build ID/ { print $3 }') &&"                 \
	" mkdir -p $to && mv $FILE $to/$KIND && rm -rf fetched"

/* Puts the debug file where it is found by build id. */
#define INSTALL                                                                                    \
	"id=$(readelf -n $OUT | awk '/Build ID/ { print $3 }') &&"                                 \
	" to=by-id/usr/lib/debug/.build-id/$(echo $id | cut -c1-2) && mkdir -p $to &&"             \
	" mv $OUT.debug $to/$(echo $id | cut -c3-).debug"

static void start_by_id(const char *options)
{
	static char root[SAMPLE_PATH_BYTES + 8];
	char command[512];

	snprintf(command, sizeof(command), BUILD "%s", options);
	build("absent", command);
	shell("rm -rf by-id && " SPLIT " && " INSTALL);
	snprintf(root, sizeof(root), "%s/by-id", sample_folder());
	start(&(struct debug_choice){.sysroot = root});
}

static void expect_facts(bool has_code, bool is_replaced, bool has_names, bool is_placed)
{
	const struct debug_facts facts = debug_lookup_facts(lookup, &code);

	assert_true(facts.has_id);
	assert_int_equal(facts.has_code, has_code);
	assert_int_equal(facts.is_replaced, is_replaced);
	assert_int_equal(facts.has_names, has_names);
	assert_int_equal(facts.is_placed, is_placed);
}

/* A debug file does not have the file offsets of the code; the recording has them. */
static void expect_without_code(const char *remove)
{
	bool is_replaced = remove[0] == 'c';

	expect_inlined();
	expect_facts(true, false, true, true);
	shell(remove);
	expect_facts(false, is_replaced, true, false);
	assert_int_equal(find(), 0);
	assert_null(debug_names_at(names, begin));
	code.layout = (struct elf_segments){.segment = {segment}, .count = 1};
	expect_inlined();
	expect_facts(false, is_replaced, true, true);
	shell("rm -rf by-id");
	expect_facts(false, is_replaced, false, true);
	code.layout = (struct elf_segments){};
	assert_string_equal(notes, "");
}

TEST(a_program_that_is_gone_or_replaced_has_names_by_its_build_id)
{
	static const char *const options[] = {"", " -no-pie -Wl,-Ttext-segment=0x10000000",
					      " -fuse-ld=lld -Wl,--build-id=sha1"};
	size_t count = system("ld.lld --version >/dev/null 2>&1") ? 2 : 3;

	for (size_t i = 0; i < count; i++) {
		start_by_id(options[i]);
		expect_without_code("rm $OUT");
		start_by_id(options[i]);
		expect_without_code("cp /bin/true $OUT");
	}
}

/* The server is not asked for the file with the code. */
TEST(a_program_that_is_gone_has_names_from_servers)
{
	build("gone", BUILD);
	start_servers(DEBUG_SERVERS_USER);
	shell(SPLIT " && FILE=$OUT.debug KIND=debuginfo; " SERVE " && rm $OUT");
	code.layout = (struct elf_segments){.segment = {segment}, .count = 1};
	expect_inlined();
	assert_string_equal(notes, "");
	code.layout = (struct elf_segments){};
}

TEST(a_file_with_symbols_alone_does_not_hide_the_next_one)
{
	char root[SAMPLE_PATH_BYTES + 8];
	const struct debug_name *name;

	build("behind", BUILD);
	snprintf(root, sizeof(root), "%s/behind.root", sample_folder());
	start(&(struct debug_choice){.sysroot = root});
	shell(SPLIT " && objcopy --add-gnu-debuglink=$OUT.debug $OUT &&"
		    " mkdir -p .debug behind.root$PWD && cp $OUT.debug .debug &&"
		    " strip -g $OUT.debug && cp $OUT.debug behind.root$PWD");
	expect_inlined();
	shell("mv .debug/$(basename $OUT.debug) .");
	expect_inlined();
	shell("rm $OUT.debug");
	assert_int_equal(find(), 0);
	name = debug_names_at(names, begin);
	assert_string_equal(name->symbol, "outer");
	assert_int_equal(name->count, 0);
	assert_string_equal(notes, "");
}

TEST(a_file_with_another_build_id_is_never_used)
{
	build("other", BUILD);
	start(&(struct debug_choice){});
	mapping.build_id[0] ^= 1;
	expect_nothing();
	mapping.build_id[0] ^= 1;
	mapping.build_id_bytes = 0;
	expect_nothing();
	mapping.build_id_bytes = 20;
	expect_inlined();
	shell(SPLIT " && objcopy --add-gnu-debuglink=$OUT.debug $OUT &&"
		    " cp $OUT $OUT.debug"); /* the right name, no debug information */
	expect_nothing();
	shell("cp itself $OUT.debug"); /* a file with another build id */
	expect_nothing();
}

TEST(paths_that_are_no_files_are_left_alone)
{
	build("fifo", BUILD);
	start(&(struct debug_choice){});
	shell("rm $OUT && mkfifo $OUT");
	expect_nothing();
	shell("rm $OUT && ln -s /dev/zero $OUT");
	expect_nothing();
	shell("rm $OUT && mkdir $OUT");
	expect_nothing();
	assert_string_equal(notes, "");
}

/* Makes the section .gnu_debugdata from the symbols of $OUT. */
static void pack_symbols(void)
{
	static u8 plain[1 << 20], packed[1 << 20];
	size_t bytes, out = 0;
	char name[SAMPLE_PATH_BYTES + 8];
	FILE *file;

	snprintf(name, sizeof(name), "%s.debug", path);
	file = fopen(name, "r");
	assert_non_null(file);
	bytes = fread(plain, 1, sizeof(plain), file);
	fclose(file);
	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, plain, bytes, packed,
						 &out, sizeof(packed)),
			 LZMA_OK);
	file = fopen(name, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(packed, 1, out, file), out);
	fclose(file);
}

TEST(a_stripped_file_has_the_symbols_it_carries)
{
	const struct debug_name *name;

	build("mini", BUILD);
	start(&(struct debug_choice){});
	shell("objcopy --only-keep-debug $OUT $OUT.debug && strip -g $OUT.debug && strip $OUT");
	pack_symbols();
	shell("objcopy --add-section .gnu_debugdata=$OUT.debug $OUT");
	assert_int_equal(find(), 0);
	name = debug_names_at(names, begin);
	assert_non_null(name);
	assert_string_equal(name->symbol, "outer");
	assert_true(name->symbol_start <= begin);
	assert_int_equal(name->count, 0);
	debug_names_free(&names);
}

TEST(a_kernel_lies_where_its_stext_is)
{
	struct trace_module module = {.name = "vmlinux", .build_id_bytes = 20};
	const struct debug_code kernel = {.module = &module, .release = "none"};
	const struct debug_name *name;
	u64 place, slide = 0x1a000000;

	build("kernel", BUILD " -Wl,-Ttext=0xffffffff81000000");
	memcpy(module.build_id, mapping.build_id, 20);
	module.start = number_of("nm $OUT | grep ' _stext$'") + slide;
	place = number_of("nm $OUT | grep ' begin$'") + slide;
	start(&(struct debug_choice){.vmlinux = path});
	assert_int_equal(debug_lookup_find_names(lookup, &kernel, &place, 1, &names), 0);
	name = debug_names_at(names, place);
	assert_non_null(name);
	assert_int_equal(name->count, 2);
	assert_string_equal(name->functions[0].function, "inner");
	debug_names_free(&names);
	module.build_id[0] ^= 1;
	assert_int_equal(debug_lookup_find_names(lookup, &kernel, &place, 1, &names), -ENOENT);
	assert_non_null(strstr(notes, "not the recorded kernel"));
	module.build_id[0] ^= 1;
	shell("strip -g $OUT");
	assert_int_equal(debug_lookup_find_names(lookup, &kernel, &place, 1, &names), 0);
	assert_null(debug_names_at(names, place));
	assert_non_null(strstr(notes, "it has none"));
}

TEST(a_hidden_kernel_is_reported)
{
	struct trace_module module = {.name = "vmlinux", .build_id_bytes = 20};
	const struct debug_code kernel = {.module = &module, .release = "none"};
	u64 place = 1ULL << 63;

	build("kernel", BUILD);
	start(&(struct debug_choice){});
	assert_int_equal(debug_lookup_find_names(lookup, &kernel, &place, 1, &names), -ENOENT);
	assert_string_equal(notes, "");
	start(&(struct debug_choice){.vmlinux = path});
	assert_int_equal(debug_lookup_find_names(lookup, &kernel, &place, 1, &names), -ENOENT);
	assert_non_null(strstr(notes, "hidden"));
}

TEST(names_are_found_on_servers)
{
	build("served", BUILD);
	start_servers(DEBUG_SERVERS_USER);
	shell(SPLIT);
	expect_nothing();
	assert_non_null(strstr(notes, "debuginfod: "));
	shell("FILE=$OUT.debug KIND=debuginfo; " SERVE);
	expect_inlined();
	shell("FILE=$OUT KIND=executable; " SERVE);
	expect_inlined();
	shell("rm server/*/*/executable; rm -rf fetched");
	assert_int_equal(find(), 0);
	assert_null(debug_names_at(names, begin));
	shell("rm -rf server/* fetched");
	start(&(struct debug_choice){});
	expect_nothing();
	assert_string_equal(notes, "");
}

TEST(entries_in_a_shared_file_are_found)
{
	if (system("dwz --version >/dev/null 2>&1")) {
		puts("skip: dwz is not installed");
		skip();
	}
	build("shares", BUILD);
	start_servers(DEBUG_SERVERS_USER);
	shell("cp $OUT other && dwz -m shared $OUT other && readelf -S $OUT | grep -q "
	      "debugaltlink");
	expect_inlined();
	shell("FILE=shared KIND=debuginfo; " SERVE);
	expect_inlined();
	assert_string_equal(notes, "");
	shell("rm -rf server/* fetched");
	assert_int_equal(find(), 0);
	assert_int_equal(debug_names_at(names, begin)->count, 0);
	assert_string_equal(debug_names_at(names, begin)->symbol, "outer");
}

TEST(a_kernel_from_servers_if_all_may_be)
{
	struct trace_module module = {.name = "vmlinux", .build_id_bytes = 20};
	const struct debug_code kernel = {.module = &module, .release = "none"};
	u64 place;

	build("kernel", BUILD " -Wl,-Ttext=0xffffffff81000000");
	memcpy(module.build_id, mapping.build_id, 20);
	module.start = number_of("nm $OUT | grep ' _stext$'");
	place = number_of("nm $OUT | grep ' begin$'");
	start_servers(DEBUG_SERVERS_USER);
	shell("FILE=$OUT KIND=debuginfo; " SERVE);
	assert_int_equal(debug_lookup_find_names(lookup, &kernel, &place, 1, &names), -ENOENT);
	assert_string_equal(notes, "");
	start(&(struct debug_choice){.servers = DEBUG_SERVERS_ALL});
	assert_int_equal(debug_lookup_find_names(lookup, &kernel, &place, 1, &names), 0);
	assert_int_equal(debug_names_at(names, place)->count, 2);
	debug_names_free(&names);
}

static void flip_bytes(const char *name, size_t from, unsigned int seed)
{
	int file = open(name, O_RDWR);
	struct stat status;

	assert_int_equal(fstat(file, &status), 0);
	srand(seed);
	for (int i = 0; i < 40; i++) {
		u8 byte = rand();
		off_t at = from + (size_t)rand() % (status.st_size - from);

		assert_int_equal(pwrite(file, &byte, 1, at), 1);
	}
	close(file);
}

/* Any content gives an answer, and the next file has its names. */
TEST(damaged_files_cost_only_their_own_names)
{
	char debug[SAMPLE_PATH_BYTES + 8];

	build("damaged", BUILD);
	start(&(struct debug_choice){});
	shell(SPLIT " && objcopy --add-gnu-debuglink=$OUT.debug $OUT && cp $OUT.debug whole");
	snprintf(debug, sizeof(debug), "%s.debug", path);
	for (unsigned int seed = 0; seed < 100; seed++) {
		shell("cp whole $OUT.debug");
		flip_bytes(debug, 64, seed);
		assert_in_range(-find(), 0, ENOENT);
	}
	shell("head -c 1000 whole >$OUT.debug");
	expect_nothing();
	shell("cp whole $OUT.debug");
	expect_inlined();
}

static int teardown(void **state)
{
	(void)state;
	debug_names_free(&names);
	debug_lookup_free(&lookup);
	assert_null(lookup);
	sample_folder_remove();
	return 0;
}

TEST_GROUP(NULL, teardown)

int main(void)
{
	if (!sample_folder_create())
		return 77;
	return unit_tests_run();
}
