/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Libraries with tables of members like those of OpenJDK's machine. */
#include "symbol/unwind/script_loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample_program.h"
#include "unit_test.h"

/*
 * The tables of OpenJDK's machine, with members in another order and offsets that a constructor
 * stores. `code` is the member that says where a block's code is. The last members lead to names;
 * `tags` is one of these, and `outer` the type that has the method of compiled code.
 */
#define JAVA(first, code) JAVA_NAMED(first, code, "_tags", "nmethod")
#define JAVA_NAMED(first, code, tags, outer) JAVA_PLACED(first, code, tags, outer, "60")
#define JAVA_PLACED(first, code, tags, outer, count)                                               \
	JAVA_SCOPED(first, code, tags, outer, count, JAVA_SCOPES_APART, "272")
/* The members that lead to inlined functions: of OpenJDK 17, and of OpenJDK 25. */
#define JAVA_SCOPES_IN_BLOCK                                                                       \
	JAVA_SCOPES("CompiledMethod\", \"_scopes_data_begin", "nmethod\", \"_metadata_offset",     \
		    "_dependencies_offset", "nmethod\", \"_stack_traversal_mark")
#define JAVA_SCOPES_APART                                                                          \
	JAVA_SCOPES("nmethod\", \"_immutable_data", "CodeBlob\", \"_relocation_size",              \
		    "_scopes_data_offset", "CodeBlob\", \"_mutable_data")
#define JAVA_SCOPES(data, methods, end, last)                                                      \
	"{\"" data "\", \"\"}, {\"" methods "\", \"\"}, "                                          \
	"{\"nmethod\", \"_scopes_pcs_offset\", \"\"}, {\"nmethod\", \"" end "\", \"\"}, "          \
	"{\"PcDesc\", \"_pc_offset\", \"\"}, {\"PcDesc\", \"_scope_decode_offset\", \"\"}, "       \
	"{\"" last "\", \"\"}, "
#define JAVA_SCOPED(first, code, tags, outer, count, scopes, end)                                  \
	"struct member { const char *type, *name, *kind; int is_static; long offset; "             \
	"void *address; };\n"                                                                      \
	"struct type { const char *name, *outer; int kinds[4]; long size; };\n"                    \
	"static long heaps, interpreter, called;\n"                                                \
	"static struct member members[] = {{\"CodeCache\", " first ", \"\", 1, 0, &heaps}, "       \
	"{\"AbstractInterpreter\", \"_code\", \"\", 1, 0, &interpreter}, "                         \
	"{\"StubRoutines\", \"_call_stub_return_address\", \"\", 1, 0, &called}, "                 \
	"{\"GrowableArrayBase\", \"_len\", \"\"}, "                                                \
	"{\"GrowableArray<int>\", \"_data\", \"\"}, "                                              \
	"{\"CodeHeap\", \"_memory\", \"\"}, "                                                      \
	"{\"CodeHeap\", \"_segmap\", \"\"}, "                                                      \
	"{\"CodeHeap\", \"_log2_segment_size\", \"\"}, "                                           \
	"{\"VirtualSpace\", \"_low\", \"\"}, "                                                     \
	"{\"VirtualSpace\", \"_high\", \"\"}, "                                                    \
	"{\"HeapBlock::Header\", \"_used\", \"\"}, "                                               \
	"{\"StubQueue\", \"_stub_buffer\", \"\"}, "                                                \
	"{\"StubQueue\", \"_buffer_limit\", \"\"}, "                                               \
	"{\"Method\", \"_constMethod\", \"\"}, "                                                   \
	"{\"ConstMethod\", \"_code_size\", \"\"}, "                                                \
	"{\"CodeBlob\", \"_frame_size\", \"\"}, "                                                  \
	"{\"CodeBlob\", \"_frame_complete_offset\", \"\"}, "                                       \
	"{\"CodeBlob\", \"" code "\", \"\"}, "                                                     \
	"{\"Symbol\", \"_hash_and_refcount\", \"\"}, "                                             \
	"{\"Symbol\", \"_length\", \"\"}, "                                                        \
	"{\"Symbol\", \"_body[0]\", \"\"}, "                                                       \
	"{\"InstanceKlass\", \"_constants\", \"\"}, "                                              \
	"{\"ConstMethod\", \"_constants\", \"\"}, "                                                \
	"{\"ConstMethod\", \"_name_index\", \"\"}, "                                               \
	"{\"ConstantPool\", \"" tags "\", \"\"}, "                                                 \
	"{\"ConstantPool\", \"_pool_holder\", \"\"}, "                                             \
	"{\"ConstantPool\", \"_source_file_name_index\", \"\"}, "                                  \
	"{\"ConstantPool\", \"_length\", \"\"}, "                                                  \
	"{\"Array<u1>\", \"_data\", \"\"}, "                                                       \
	"{\"Klass\", \"_name\", \"\"}, "                                                           \
	"{\"CodeBlob\", \"_name\", \"\"}, "                                                        \
	"{\"" outer "\", \"_method\", \"\"}, " scopes "{0}};\n"                                    \
	"static struct type types[] = {{\"HeapBlock\", 0, {0}, 24}, {\"ConstMethod\", 0, {0}, "    \
	"56}, {\"ConstantPool\", 0, {0}, 72}, {\"PcDesc\", 0, {0}, 16}, {0}};\n"                   \
	"struct member *gHotSpotVMStructs = members;\nstruct type *gHotSpotVMTypes = types;\n"     \
	"int JNI_CreateJavaVM(void) { return heaps + interpreter + called; }\n"                    \
	"__attribute__((constructor)) static void fill(void)\n{\n"                                 \
	"members[3].offset = 4;"                                                                   \
	"members[4].offset = 8;"                                                                   \
	"members[5].offset = 8;"                                                                   \
	"members[6].offset = 120;"                                                                 \
	"members[7].offset = 256;"                                                                 \
	"members[8].offset = 16;"                                                                  \
	"members[9].offset = 24;"                                                                  \
	"members[10].offset = 12;"                                                                 \
	"members[11].offset = 40;"                                                                 \
	"members[12].offset = 20;"                                                                 \
	"members[13].offset = 48;"                                                                 \
	"members[14].offset = 32;"                                                                 \
	"members[15].offset = 28;"                                                                 \
	"members[16].offset = 52;"                                                                 \
	"members[17].offset = 36;"                                                                 \
	"members[19].offset = 4;"                                                                  \
	"members[20].offset = 6;"                                                                  \
	"members[21].offset = 264;"                                                                \
	"members[22].offset = 9;"                                                                  \
	"members[23].offset = 34;"                                                                 \
	"members[24].offset = 10;"                                                                 \
	"members[25].offset = 25;"                                                                 \
	"members[26].offset = 54;"                                                                 \
	"members[27].offset = " count ";"                                                          \
	"members[28].offset = 5;"                                                                  \
	"members[29].offset = 27;"                                                                 \
	"members[30].offset = 96;"                                                                 \
	"members[31].offset = 112;"                                                                \
	"members[32].offset = 120;"                                                                \
	"members[33].offset = 260;"                                                                \
	"members[34].offset = 268;"                                                                \
	"members[35].offset = " end ";"                                                            \
	"members[37].offset = 4;"                                                                  \
	"members[38].offset = 16;\n}\n"

struct library {
	int file;
	struct code_rows rows;
	struct file_spans covered;
};

static int library_build(struct library *library, const char *source)
{
	const struct sample sample = {"java", "cc -shared -fPIC -s -O1 -w -o $OUT $IN", source,
				      ".c"};
	char path[SAMPLE_PATH_BYTES];

	sample_build(&sample, path);
	*library = (struct library){.file = open(path, O_RDONLY | O_CLOEXEC)};
	assert_true(library->file >= 0);
	assert_int_equal(code_rows_read_tables(library->file, &library->rows, &library->covered),
			 0);
	return script_rows_mark(library->file, &library->covered, &library->rows);
}

static void library_close(struct library *library)
{
	code_rows_clear(&library->rows);
	free(library->covered.spans);
	close(library->file);
}

static bool has_marks(const struct library *library)
{
	for (u32 i = 0; i < library->rows.rule_count; i++)
		if (library->rows.rules[i].cfa_kind == CFA_SCRIPT_LOOP)
			return true;
	return false;
}

TEST(the_members_of_javas_machine_are_found)
{
	struct library library;
	const struct java_layout *java = &library.rows.script.java;

	assert_int_equal(library_build(&library, JAVA("\"_heaps\"", "_code_offset")), 0);
	assert_true(code_rows_are_sound(&library.rows));
	assert_int_equal(library.rows.script.runtime, SCRIPT_JAVA);
	assert_int_equal(library.rows.script.link, 0);
	assert_false(has_marks(&library));
	assert_true(java->heaps && java->interpreter && java->call_return);
	assert_int_equal(java->heap_memory, 8);
	assert_int_equal(java->heap_segments, 120);
	assert_int_equal(java->heap_shift, 256);
	assert_int_equal(java->space_low, 16);
	assert_int_equal(java->space_high, 24);
	assert_int_equal(java->array_count, 4);
	assert_int_equal(java->array_data, 8);
	assert_int_equal(java->queue_start, 40);
	assert_int_equal(java->queue_bytes, 20);
	assert_int_equal(java->block_used, 12);
	assert_int_equal(java->block_bytes, 24);
	assert_int_equal(java->blob_code, 36);
	assert_int_equal(java->blob_frame, 28);
	assert_int_equal(java->blob_complete, 52);
	assert_int_equal(java->blob_is_short, 1);
	assert_int_equal(java->method_const, 48);
	assert_int_equal(java->const_count, 32);
	assert_int_equal(java->const_bytes, 56);
	library_close(&library);
	assert_int_equal(library_build(&library, JAVA("\"_heaps\"", "_code_begin")), 0);
	assert_int_equal(java->blob_is_short, 0);
	library_close(&library);
}

TEST(the_members_that_lead_to_javas_names_are_found)
{
	/* OpenJDK 17, later ones, and OpenJDK 25.0.5, whose pools have their length in the ninth
	 * word */
	static const struct {
		const char *source;
		u32 pool_count;
	} machines[] = {
		{JAVA_NAMED("\"_heaps\"", "_code_begin", "_tags", "CompiledMethod"), 60},
		{JAVA_NAMED("\"_heaps\"", "_code_offset", "_tags", "nmethod"), 60},
		{JAVA_PLACED("\"_heaps\"", "_code_offset", "_tags", "nmethod", "68"), 68},
	};

	for (u32 i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct library library;
		const struct java_layout *java = &library.rows.script.java;

		assert_int_equal(library_build(&library, machines[i].source), 0);
		assert_int_equal(java->has_names, 1);
		assert_int_equal(java->class_pool, 264);
		assert_int_equal(java->const_pool, 9);
		assert_int_equal(java->const_name, 34);
		assert_int_equal(java->pool_tags, 10);
		assert_int_equal(java->pool_class, 25);
		assert_int_equal(java->pool_file, 54);
		assert_int_equal(java->pool_count, machines[i].pool_count);
		assert_int_equal(java->pool_bytes, 72);
		assert_int_equal(java->tags_data, 5);
		assert_int_equal(java->class_name, 27);
		assert_int_equal(java->blob_name, 96);
		assert_int_equal(java->blob_method, 112);
		library_close(&library);
	}
}

TEST(the_members_that_lead_to_javas_inlined_functions_are_found)
{
	static const struct {
		const char *source;
		u32 numbers, apart;
	} machines[] = {
		{JAVA_SCOPED("\"_heaps\"", "_code_begin", "_tags", "CompiledMethod", "60",
			     JAVA_SCOPES_IN_BLOCK, "272"),
		 JAVA_NUMBERS_FROM_0, 0},
		{JAVA("\"_heaps\"", "_code_offset"), JAVA_NUMBERS_FROM_1, 16},
		/* the second distance is not behind the first one */
		{JAVA_SCOPED("\"_heaps\"", "_code_offset", "_tags", "nmethod", "60",
			     JAVA_SCOPES_APART, "276"),
		 JAVA_NUMBERS_UNKNOWN, 16},
		/* no names */
		{JAVA_NAMED("\"_heaps\"", "_code_offset", "_tag", "nmethod"), JAVA_NUMBERS_UNKNOWN,
		 0},
	};

	for (u32 i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct library library;
		const struct java_layout *java = &library.rows.script.java;

		assert_int_equal(library_build(&library, machines[i].source), 0);
		assert_int_equal(java->scope_numbers, machines[i].numbers);
		assert_int_equal(java->scope_apart, machines[i].apart);
		if (java->scope_numbers) {
			assert_int_equal(java->scope_data, 120);
			assert_int_equal(java->scope_places, 268 / 4);
			assert_int_equal(java->scope_methods, 260 / 4);
		}
		library_close(&library);
	}
}

TEST(a_machine_without_a_member_of_names_has_the_layout_for_unwinding)
{
	static const char *const sources[] = {
		JAVA_NAMED("\"_heaps\"", "_code_begin", "_tag", "nmethod"),
		JAVA_NAMED("\"_heaps\"", "_code_begin", "_tags", "Method"),
		/* behind the words that the walk reads */
		JAVA_PLACED("\"_heaps\"", "_code_begin", "_tags", "nmethod", "72")};

	for (u32 i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct library library;

		assert_int_equal(library_build(&library, sources[i]), 0);
		assert_int_equal(library.rows.script.runtime, SCRIPT_JAVA);
		assert_true(library.rows.script.java.heaps);
		assert_int_equal(library.rows.script.java.has_names, 0);
		library_close(&library);
	}
}

TEST(a_machine_without_a_member_has_no_layout)
{
	/* another name; a name that the file does not have */
	static const char *const sources[] = {JAVA("\"_heap\"", "_code_begin"),
					      JAVA("(char *)1", "_code_begin"),
					      JAVA("\"_heaps\"", "_code_end")};

	for (u32 i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct library library;

		assert_int_equal(library_build(&library, sources[i]), -ENOENT);
		assert_int_equal(library.rows.script.runtime, SCRIPT_NONE);
		library_close(&library);
	}
}

static int folder_create(void **state)
{
	(void)state;
	return !sample_folder_create();
}

TEST_GROUP(folder_create, sample_folder_teardown)
