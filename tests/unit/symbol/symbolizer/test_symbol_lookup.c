/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of this process in the form of the BPF programs get the names of its functions, from a
 * sandbox that parses files, as in a recording. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime.h"
#include "sample_program.h"
#include "sample_record.h"
#include "symbol/elf/file_identity.h"
#include "symbol/elf/vdso.h"
#include "symbol/file/mapped_file.h"
#include "symbol/file/whole_file.h"
#include "symbol/kernel/kallsyms.h"
#include "symbol/kernel/kernel_image.h"
#include "symbol/symbolizer/symbol_lookup.h"
#include "unit_test.h"

static struct symbol_lookup *lookup;
static struct kernel_files kernel;

static int setup(void **state)
{
	(void)state;
	kernel_files_open(&kernel);
	return symbol_lookup_create(4, &lookup);
}

static int teardown(void **state)
{
	(void)state;
	kernel_files_close(&kernel);
	symbol_lookup_free(&lookup);
	assert_null(lookup);
	return 0;
}

__attribute__((noinline)) static int nothing_else_has_this_name(int x)
{
	return x * 7;
}

struct seen {
	u32 count;
	struct trace_symbol symbol; /* the last symbol */
	char name[256];
	bool is_undivided;
};

static int keep_found_symbol(void *arg, const struct trace_symbol *symbol, bool is_undivided)
{
	struct seen *seen = arg;

	if (seen->count)
		assert_true(symbol->start > seen->symbol.start);
	seen->count++;
	seen->symbol = *symbol;
	seen->is_undivided = is_undivided;
	snprintf(seen->name, sizeof(seen->name), "%s", symbol->name);
	return 0;
}

/* A mapping of this process. */
struct place {
	u32 number;
	struct mapping_record record;
	u64 offset; /* file offset of the requested address */
};

static struct build_id vdso_id(void)
{
	Elf *vdso = vdso_open();
	struct build_id id = {.bytes = build_id_from_elf(vdso, id.build_id)};

	elf_end(vdso);
	return id;
}

/* Makes the mapping of an address known as `number`. */
static void make_known(struct place *place, u32 number, const void *address)
{
	struct build_id id;

	assert_true(sample_record_mapped(&place->record, address));
	place->number = number;
	place->offset = (uintptr_t)address - place->record.start + place->record.offset;
	if (place->record.key.kind == MAPPING_VDSO)
		id = vdso_id();
	else
		assert_int_equal(
			symbol_lookup_identify(lookup, &place->record, mapped_file_open, &id), 0);
	place->record.build_id_bytes = id.bytes;
	memcpy(place->record.build_id, id.build_id, id.bytes);
}

static int ask(const struct place *place, const u64 *addresses, u32 count, struct seen *seen)
{
	const struct symbol_query query = {
		.number = place->number,
		.record = place->number ? &place->record : NULL,
		.open = mapped_file_open,
		.kernel_files = (int[]){kernel.kallsyms, kernel.modules, -1, -1},
		.addresses = addresses,
		.count = count,
		.each = keep_found_symbol,
		.arg = seen,
	};

	*seen = (struct seen){};
	return symbol_lookup_find(lookup, &query);
}

static void expect_with_failures(const struct place *place, u64 address, const char *name,
				 u64 start, u64 failures)
{
	struct seen seen;

	assert_int_equal(ask(place, &address, 1, &seen), 0);
	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.name, name);
	assert_int_equal(seen.symbol.start, start);
	assert_int_equal(seen.symbol.mapping, place->number);
	assert_int_not_equal(seen.symbol.size, 0);
	assert_int_equal(symbol_lookup_take_failures(lookup), failures);
}

static void expect(const struct place *place, u64 address, const char *name, u64 start)
{
	expect_with_failures(place, address, name, start, 0);
}

static void expect_nothing(const struct place *place, u64 address)
{
	struct seen seen;

	assert_int_equal(ask(place, &address, 1, &seen), 0);
	assert_int_equal(seen.count, 0);
}

TEST(a_function_of_this_program, setup, teardown)
{
	struct place place;
	struct seen seen;

	make_known(&place, 3, nothing_else_has_this_name);
	expect(&place, place.offset, "nothing_else_has_this_name", place.offset);
	expect(&place, place.offset + 1, "nothing_else_has_this_name", place.offset);
	assert_int_equal(ask(&place, &place.offset, 1, &seen), 0);
	assert_true(seen.is_undivided);
}

TEST(several_addresses_give_each_symbol_once, setup, teardown)
{
	struct place place;
	struct seen seen;
	u64 addresses[3];

	make_known(&place, 3, nothing_else_has_this_name);
	addresses[0] = 0;
	addresses[1] = place.offset;
	addresses[2] = place.offset + 1;
	assert_int_equal(ask(&place, addresses, 3, &seen), 0);
	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.name, "nothing_else_has_this_name");
}

TEST(a_function_of_libc, setup, teardown)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *address = libc ? dlsym(libc, "strerror") : NULL;
	struct place place;

	if (!address) {
		printf("skip: this program has no libc.so.6\n");
		skip();
	}
	make_known(&place, 4, address);
	expect(&place, place.offset, "strerror", place.offset);
	dlclose(libc);
}

static const char stripped[] = "static __attribute__((noinline)) int hidden(int x)\n"
			       "{ __asm__ volatile(\"nop\"); return x + 1; }\n"
			       "int (*const pointer)(int) = hidden;\n";

/* The program's addresses differ from its file offsets. */
#define STRIPPED_BUILD                                                                             \
	"gcc -O1 -shared -fPIC -s -Wl,--build-id -Wl,-Ttext-segment=0x10000000 $IN -o $OUT"

TEST(a_function_that_only_the_unwind_table_knows, setup, teardown)
{
	const struct sample sample = {"stripped", STRIPPED_BUILD, stripped, ".c"};
	char path[SAMPLE_PATH_BYTES];
	struct link_map *map;
	struct place place;
	struct seen seen;
	void *library;
	char *function;

	if (!sample_folder_create())
		skip();
	sample_build(&sample, path);
	library = dlopen(path, RTLD_NOW);
	assert_non_null(library);
	function = *(char **)dlsym(library, "pointer");
	assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
	make_known(&place, 7, function);
	assert_int_equal(ask(&place, &(u64){place.offset + 1}, 1, &seen), 0);
	assert_int_equal(seen.count, 1);
	assert_string_equal(seen.name, "");
	assert_int_equal(seen.symbol.start, place.offset);
	assert_in_range(seen.symbol.size, 2, 64);
	assert_int_equal(seen.symbol.address, (u64)(uintptr_t)function - map->l_addr);
	assert_true(seen.symbol.address != seen.symbol.start);
	dlclose(library);
	sample_folder_remove();
}

TEST(a_function_of_the_vdso, setup, teardown)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *address = vdso ? dlsym(vdso, "__vdso_getcpu") : NULL;
	struct place place;
	struct seen seen;

	if (!address) {
		printf("skip: this kernel has no vDSO with __vdso_getcpu\n");
		skip();
	}
	make_known(&place, 5, address);
	assert_int_equal(ask(&place, &place.offset, 1, &seen), 0);
	assert_int_equal(seen.count, 1);
	assert_non_null(strstr(seen.name, "getcpu"));
	assert_int_equal(seen.symbol.start, place.offset);
	dlclose(vdso);
}

TEST(the_build_id_is_read, setup, teardown)
{
	struct mapping_record record;
	struct build_id id, again;

	assert_true(sample_record_mapped(&record, nothing_else_has_this_name));
	assert_int_equal(symbol_lookup_identify(lookup, &record, mapped_file_open, &id), 0);
	assert_in_range(id.bytes, 1, TRACE_BUILD_ID_MAX);
	record.build_id_bytes = id.bytes;
	assert_int_equal(symbol_lookup_identify(lookup, &record, mapped_file_open, &again), 0);
	assert_int_equal(again.bytes, 0);
}

TEST(a_file_that_is_not_there, setup, teardown)
{
	struct mapping_record record;
	struct build_id id;

	assert_true(sample_record_mapped(&record, nothing_else_has_this_name));
	record.key.inode++;
	assert_int_equal(symbol_lookup_identify(lookup, &record, mapped_file_open, &id), -ENOENT);
}

/* The mapping keeps the build id that it had at first. */
TEST(another_file_gives_no_name, setup, teardown)
{
	struct place program, other;
	struct mapping_record record;
	struct seen seen;
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	make_known(&program, 1, nothing_else_has_this_name);
	other = program;
	other.record.key.inode++;
	assert_int_equal(ask(&other, &other.offset, 1, &seen), -ENOENT);
	assert_true(sample_record_mapped(&record, dlsym(libc, "strerror")));
	other.record = record;
	other.record.build_id_bytes = program.record.build_id_bytes;
	memcpy(other.record.build_id, program.record.build_id, sizeof(record.build_id));
	expect_nothing(&other, (uintptr_t)dlsym(libc, "strerror") - record.start + record.offset);
	dlclose(libc);
}

TEST(code_without_a_file_has_no_names, setup, teardown)
{
	struct place place = {
		.number = MAPPINGS_MAX - 1,
		.record = {.key = {.kind = MAPPING_ANON}},
	};

	expect_nothing(&place, 4);
}

/* An address of generated code below 2^40 whose upper half is not 0. */
static struct place generated_code_of_this_process(void)
{
	return (struct place){
		.number = 6,
		.record = {.key = {.kind = MAPPING_ANON,
				   .inode = (u64)getpid() << 24 | 0x7f,
				   .since = start_of(getpid())}},
	};
}

static char map_path[64];

static void write_map(const char *text)
{
	snprintf(map_path, sizeof(map_path), "/tmp/perf-%u.map", getpid());
	write_text(map_path, text);
}

TEST(code_that_a_perf_map_names, setup, teardown)
{
	const struct place place = generated_code_of_this_process();

	write_map("7f0000001000 10 a generated function\n1000 10 another half\n");
	expect(&place, 0x1008, "a generated function", 0x1000);
	expect_nothing(&place, 0x1010);
	unlink(map_path);
}

/* A dump with one function, and the mapping by which it is found. */
struct dump {
	char folder[32];
	char path[80];
	void *mapping;
};

static void write_dump(struct dump *dump, u32 magic)
{
	const u32 header[10] = {magic, 1, sizeof(header), 0, 0, getpid()};
	const struct {
		u32 head[6];
		u64 place[4];
		char name[12];
		u8 code[20];
	} load = {{0, sizeof(load), 0, 0, getpid(), getpid()},
		  {0x7f0000001000, 0x7f0000001000, sizeof(load.code)},
		  "in the dump",
		  {}};
	int file;

	strcpy(dump->folder, "/tmp/lookup-XXXXXX");
	assert_non_null(mkdtemp(dump->folder));
	snprintf(dump->path, sizeof(dump->path), "%s/jit-%u.dump", dump->folder, getpid());
	file = open(dump->path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_int_equal(write(file, header, sizeof(header)), sizeof(header));
	assert_int_equal(write(file, &load, sizeof(load)), sizeof(load));
	dump->mapping = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	assert_ptr_not_equal(dump->mapping, MAP_FAILED);
	close(file);
}

static void remove_dump(const struct dump *dump)
{
	munmap(dump->mapping, 1);
	unlink(dump->path);
	rmdir(dump->folder);
}

TEST(code_that_a_jitdump_names, setup, teardown)
{
	const struct place place = generated_code_of_this_process();
	struct dump dump;

	write_dump(&dump, 0x4a695444);
	expect(&place, 0x1013, "in the dump", 0x1000);
	expect_nothing(&place, 0x1014);
	remove_dump(&dump);
}

TEST(code_in_a_perf_map_and_a_jitdump, setup, teardown)
{
	const struct place place = generated_code_of_this_process();
	struct dump dump;

	write_map("7f0000001000 14 in the map\n7f0000002000 10 only in the map\n");
	write_dump(&dump, 0x4a695444);
	expect(&place, 0x1000, "in the dump", 0x1000);
	expect(&place, 0x2000, "only in the map", 0x2000);
	remove_dump(&dump);
	unlink(map_path);
}

/* The failure is noted, and other names are not affected. */
TEST(a_dump_that_cannot_be_read, setup, teardown)
{
	const struct place place = generated_code_of_this_process();
	struct dump dump;

	write_map("7f0000001000 14 in the map\n");
	write_dump(&dump, 0x4454694a);
	expect_with_failures(&place, 0x1000, "in the map", 0x1000, 1);
	remove_dump(&dump);
	unlink(map_path);
}

/* The files with the names of a process's code are open since the process was identified. */
TEST(code_of_a_process_that_has_ended, setup, teardown)
{
	struct build_id id;
	char end;
	struct place place = {.number = 6, .record = {.key = {.kind = MAPPING_ANON}}};
	int ready[2];
	pid_t child;

	if (geteuid()) {
		printf("skip: this user cannot open what is mapped and deleted\n");
		skip();
	}
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (!child) {
		struct dump dump;

		write_dump(&dump, 0x4a695444);
		unlink(dump.path);
		rmdir(dump.folder);
		close(ready[1]);
		pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &end, 1), 0);
	close(ready[0]);
	place.record.key.inode = (u64)child << 24 | 0x7f;
	place.record.key.since = start_of(child);
	assert_int_equal(symbol_lookup_identify(lookup, &place.record, mapped_file_open, &id), 0);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	expect(&place, 0x1000, "in the dump", 0x1000);
}

static int find_schedule(void *arg, const struct kallsyms_line *line)
{
	u64 *address = arg;

	if (line->name_bytes != strlen("schedule") || memcmp(line->name, "schedule", 8))
		return 0;
	*address = line->address;
	return 1;
}

TEST(a_function_of_the_kernel, setup, teardown)
{
	struct place place = {};
	u64 address = 0;
	size_t bytes;
	char *text;

	if (whole_file_read("/proc/kallsyms", &text, &bytes)) {
		printf("skip: no readable /proc/kallsyms\n");
		skip();
	}
	kallsyms_each(text, bytes, find_schedule, &address);
	free(text);
	if (!address) {
		printf("skip: /proc/kallsyms hides addresses (kptr_restrict)\n");
		skip();
	}
	expect(&place, address, "schedule", address);
	expect(&place, address + 4, "schedule", address);
}

static int refuse(void *arg, const struct trace_symbol *symbol, bool is_undivided)
{
	(void)is_undivided;
	(void)arg;
	(void)symbol;
	return -ENOSPC;
}

TEST(the_callbacks_error_is_returned, setup, teardown)
{
	struct place place;
	struct symbol_query query = {.open = mapped_file_open, .each = refuse, .count = 1};

	make_known(&place, 3, nothing_else_has_this_name);
	query.number = place.number;
	query.record = &place.record;
	query.addresses = &place.offset;
	assert_int_equal(symbol_lookup_find(lookup, &query), -ENOSPC);
}

/* Kills the sandbox and waits for its death. */
static void kill_sandbox(void)
{
	siginfo_t info;

	assert_int_equal(kill(symbol_lookup_sandbox_pid(lookup), SIGKILL), 0);
	assert_int_equal(waitid(P_PID, symbol_lookup_sandbox_pid(lookup), &info, WEXITED | WNOWAIT),
			 0);
}

TEST(a_sandbox_that_died_is_replaced, setup, teardown)
{
	struct place place;

	make_known(&place, 3, nothing_else_has_this_name);
	kill_sandbox();
	expect(&place, place.offset, "nothing_else_has_this_name", place.offset);
}
