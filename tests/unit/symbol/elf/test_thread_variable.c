/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A thread-local variable of programs and libraries: its distance to the thread pointer as the
 * program itself has it, and the word of the dynamic linker as readelf shows the relocation; and
 * the same files with changed bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample_program.h"
#include "symbol/elf/thread_variable.h"
#include "unit_test.h"

#define NAME "otel_thread_ctx_v1"

#if defined(__aarch64__)
#define DESCRIPTOR "-mtls-dialect=desc"
#define MODULE "-mtls-dialect=trad"
#else
#define DESCRIPTOR "-mtls-dialect=gnu2"
#define MODULE "-mtls-dialect=gnu"
#endif

static const char source[] =
	"#include <stdio.h>\n"
	"__thread char before[24] = {1}, after[40] __attribute__((aligned(64)));\n"
	"__thread void *otel_thread_ctx_v1;\n"
	"void *get(void) { return otel_thread_ctx_v1; }\n"
	"int main(void)\n"
	"{\n"
	"	before[1] = after[1];\n"
	"	printf(\"%ld\\n\", (long)((char *)&otel_thread_ctx_v1 -\n"
	"				 (char *)__builtin_thread_pointer()));\n"
	"	return 0;\n"
	"}\n";

static int read_variable(const char *path, const char *name, struct thread_variable *variable)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), result;
	Elf *elf = elf_begin(file, ELF_C_READ, NULL);

	result = thread_variable_find(elf, name, variable);
	elf_end(elf);
	close(file);
	return result;
}

/* The first number, in this base, that a command prints of the file. */
static u64 number_printed_by_command(const char *format, const char *path, int base)
{
	char command[1024], line[256] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), format, path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_non_null(fgets(line, sizeof(line), pipe));
	pclose(pipe);
	return base == 10 ? (u64)strtoll(line, NULL, base) : strtoull(line, NULL, base);
}

TEST(program_has_the_distance_that_it_sees)
{
	static const struct sample samples[] = {
		{"pie", "gcc -O1 -fPIE -pie -rdynamic $IN -o $OUT", source, ".c"},
		{"no_pie", "gcc -O1 -no-pie -rdynamic -s $IN -o $OUT", source, ".c"},
	};

	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		struct thread_variable variable;
		char path[SAMPLE_PATH_BYTES];

		sample_build(&samples[i], path);
		assert_int_equal(read_variable(path, NAME, &variable), 0);
		assert_true(variable.is_found);
		assert_int_equal(variable.distance,
				 (s64)number_printed_by_command("'%s'", path, 10));
		assert_int_equal(read_variable(path, "otel", &variable), 0);
		assert_false(variable.is_found);
	}
}

static const struct {
	struct sample sample;
	u32 kind;
	const char *relocation;
} libraries[] = {
	{{"descriptor", "gcc -O1 -fPIC -shared " DESCRIPTOR " $IN -o $OUT", source, ".c"},
	 THREAD_WORD_DESCRIPTOR,
	 "TLSDESC"},
	{{"module", "gcc -O1 -fPIC -shared " MODULE " $IN -o $OUT", source, ".c"},
	 THREAD_WORD_MODULE,
	 "TLS_DTPMOD\\|DTPMOD64"},
	{{"initial", "gcc -O1 -fPIC -shared -ftls-model=initial-exec $IN -o $OUT", source, ".c"},
	 THREAD_WORD_DISTANCE,
	 "TPOFF64\\|TLS_TPREL"},
};

TEST(library_has_the_word_of_its_relocation)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		struct thread_variable variable;
		char path[SAMPLE_PATH_BYTES], format[256];

		sample_build(&libraries[i].sample, path);
		assert_int_equal(read_variable(path, NAME, &variable), 0);
		assert_true(variable.is_found);
		assert_int_equal(variable.kind, libraries[i].kind);
		snprintf(format, sizeof(format), "readelf -rW '%%s' | grep '\\(%s\\).*" NAME "'",
			 libraries[i].relocation);
		assert_int_equal(variable.word, number_printed_by_command(format, path, 16));
		assert_int_equal(
			variable.value,
			number_printed_by_command("readelf --dyn-syms -W '%s' | awk '$8 == \"" NAME
						  "\" { print $2 }'",
						  path, 16));
	}
}

TEST(changed_bytes_give_an_error_or_another_place)
{
	struct thread_variable variable;
	char path[SAMPLE_PATH_BYTES], *bytes;
	u32 random = 1;
	size_t count;
	FILE *file;

	sample_build(&libraries[0].sample, path);
	file = fopen(path, "re");
	bytes = malloc(1 << 20);
	count = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	for (u32 i = 0; i < 3000; i++) {
		char *copy = malloc(count);
		Elf *elf;
		int result;

		memcpy(copy, bytes, count);
		for (u32 changes = 0; changes < 1 + i % 5; changes++) {
			random = random * 1664525 + 1013904223;
			copy[(random >> 8) % count] = (char)(random >> 3);
		}
		elf = elf_memory(copy, count - (i % 7 ? 0 : (random >> 8) % count));
		result = thread_variable_find(elf, NAME, &variable);
		assert_true(result == 0 || result == -ENOEXEC);
		elf_end(elf);
		free(copy);
	}
	free(bytes);
	assert_int_equal(thread_variable_find(NULL, NAME, &variable), -ENOEXEC);
}

TEST_GROUP(NULL, sample_folder_teardown)

int main(void)
{
	if (elf_version(EV_CURRENT) == EV_NONE || !sample_folder_create())
		return 77;
	return unit_tests_run();
}
