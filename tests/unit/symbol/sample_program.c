/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sources have the difficult parts of symbol tables: aliases, unsized assembler, nested and
 * local functions. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample_program.h"
#include "unit_test.h"

static char folder[] = "/tmp/stackmap-test-XXXXXX";

const char sample_c[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"__asm__(\".text\\n.globl unsized_asm\\nunsized_asm:\\n nop\\n nop\\n nop\\n ret\\n\"\n"
	"        \".globl outer\\n.type outer,@function\\nouter:\\n nop\\n nop\\n\"\n"
	"        \".type inner,@function\\ninner:\\n nop\\n nop\\n.size inner,.-inner\\n\"\n"
	"        \" nop\\n ret\\n.size outer,.-outer\\n\");\n"
	"int shared(int x) { return x * 3; }\n"
	"int __shared(int x) __attribute__((alias(\"shared\")));\n"
	"static __attribute__((noinline)) int hidden(int x) { return rand() + x; }\n"
	"__attribute__((weak)) int weak(int x) { return hidden(x) + 1; }\n"
	"__attribute__((cold, noinline)) int cold(int x) { return puts(\"cold\") + x; }\n"
	"int (*pointer)(const char *) = puts;\n"
	"int data[100];\n"
	"int main(int argc, char **argv) {\n"
	"  char *copy = strdup(argv[0]);\n"
	"  printf(\"%s %d\\n\", copy, weak(argc) + shared(argc) + cold(argc));\n"
	"  free(copy);\n"
	"  return pointer(\"\");\n"
	"}\n";

const char sample_cxx[] =
	"#include <map>\n"
	"#include <string>\n"
	"namespace shop {\n"
	"struct till { std::map<std::string, int> sums; int add(const std::string &who, int n);\n"
	"              virtual ~till() {} };\n"
	"int till::add(const std::string &who, int n) { return sums[who] += n; }\n"
	"}\n"
	"int main(int argc, char **argv) {\n"
	"  shop::till till; auto again = [&](int n) { return till.add(argv[0], n); };\n"
	"  try { return again(argc); } catch (...) { return 1; }\n"
	"}\n";

const char sample_versioned[] =
	"__asm__(\".symver __old_api,api@V1\\n.symver __new_api,api@@V2\");\n"
	"int __old_api(void) { return 1; }\n"
	"int __new_api(void) { return 2; }\n"
	"__attribute__((noinline)) static int hidden(int x) { return x + 1; }\n"
	"int main(int argc, char **argv) { return __old_api() + hidden(argc) + !argv; }\n";

bool sample_folder_create(void)
{
	if (system("gcc --version >/dev/null 2>&1 && nm --version >/dev/null 2>&1")) {
		puts("skipped: gcc and binutils are not installed");
		return false;
	}
	return mkdtemp(folder);
}

void sample_folder_remove(void)
{
	char command[SAMPLE_PATH_BYTES];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	assert_int_equal(system(command), 0);
}

int sample_folder_teardown(void **state)
{
	(void)state;
	sample_folder_remove();
	return 0;
}

const char *sample_folder(void)
{
	return folder;
}

void sample_build(const struct sample *sample, char path[SAMPLE_PATH_BYTES])
{
	char source[SAMPLE_PATH_BYTES];
	FILE *file;

	snprintf(source, sizeof(source), "%s/%s%s", folder, sample->label, sample->suffix);
	snprintf(path, SAMPLE_PATH_BYTES, "%s/%s", folder, sample->label);
	file = fopen(source, "w");
	assert_non_null(file);
	assert_true(fputs(sample->source, file) >= 0);
	assert_int_equal(fclose(file), 0);
	setenv("IN", source, 1);
	setenv("OUT", path, 1);
	assert_int_equal(system(sample->compile), 0);
}
